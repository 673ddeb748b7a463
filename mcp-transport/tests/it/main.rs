//! What mcp-transport promises, claim by claim.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests"
)]

mod error_text;
#[cfg(feature = "http")]
mod http;
#[cfg(feature = "sse")]
mod legacy_sse;
mod line;
mod memory;
#[cfg(feature = "http")]
mod server;
#[cfg(all(unix, feature = "stdio"))]
mod stdio;
