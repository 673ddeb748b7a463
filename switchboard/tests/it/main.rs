//! What the program promises, tried on the program itself.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests"
)]

mod demo;
mod demo_model;
mod demo_server;
mod models;
mod program;
mod rest;
mod servers;
mod session;
mod store;
mod talk;
mod wires;
