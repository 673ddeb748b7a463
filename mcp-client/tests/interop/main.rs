#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests"
)]
//! The client against real servers of other people's making. `cargo xtask interop` installs them
//! and runs this.

mod answers;
mod everything;
mod filesystem;
mod folder;
mod git;
mod http_server;
mod installed;
mod memory;
mod pages;
mod recording;
mod session;
mod time;
