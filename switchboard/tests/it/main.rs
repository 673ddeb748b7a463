//! What the program promises, tried on the program itself.

#![allow(
    clippy::print_stderr,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests"
)]

#[path = "../../../agent-loop/tests/it/accepted.rs"]
mod accepted;
mod cli;
mod consent;
mod database;
mod demo;
mod demo_model;
mod demo_server;
mod gateway;
mod gateway_install;
mod gateway_live;
mod gateway_options;
mod hostile;
mod in_memory;
mod models;
mod mortal;
#[path = "../../../agent-loop/tests/interop/pairing.rs"]
mod pairing;
mod program;
mod rest;
mod serve;
mod servers;
mod session;
mod skills;
mod store;
#[cfg(feature = "telemetry")]
mod telemetry;
mod wires;
