#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests"
)]
//! The whole path: real servers of other people's making, and a scripted provider that speaks every
//! real wire. `cargo xtask interop` installs the servers and runs this.

mod pairing;
mod provider;
mod task;
