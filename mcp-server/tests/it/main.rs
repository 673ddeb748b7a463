#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests"
)]
//! The claims of `mcp_server`, each checked over a real connection.

mod any_request;
#[cfg(feature = "skills")]
mod four_cells;
mod hostile;
mod http;
mod http_kit;
#[cfg(feature = "oauth")]
mod jwks;
mod kit;
#[cfg(feature = "sse")]
mod legacy_sse;
#[cfg(all(target_os = "linux", feature = "skills", feature = "sse"))]
mod memory;
#[cfg(feature = "skills")]
mod method_table;
#[cfg(feature = "oauth")]
mod oauth;
mod questions;
mod server;
mod shares;
mod sockets;
mod stdio;
mod tasks;
mod traps;
