//! What mcp-transport promises, claim by claim.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests"
)]

#[cfg(feature = "http")]
mod http;
#[cfg(feature = "sse")]
mod legacy_sse;
mod line;
#[cfg(feature = "http")]
mod server;
mod sse;
