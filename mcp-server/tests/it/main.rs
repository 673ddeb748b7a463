#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests"
)]
//! The claims of `mcp_server`, each checked over a real connection.

mod four_cells;
mod hostile;
mod http;
mod kit;
#[cfg(feature = "oauth")]
mod oauth;
mod questions;
mod server;
mod stdio;
mod tasks;
