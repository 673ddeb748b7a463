//! The tests of the whole provider, against a mock authorization server and resource.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::unreachable,
    clippy::print_stdout,
    reason = "tests"
)]

mod web;

mod realm;

mod confinement;
mod discovery;
mod dpop;
mod grants;
mod login;
mod loopback;
mod migration;
mod race;
mod refresh;
mod secrecy;
mod step_up;
mod store;
mod transport;
mod words;
