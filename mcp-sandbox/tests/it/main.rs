//! What mcp-sandbox promises, claim by claim.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "tests"
)]

mod denial;
#[cfg(target_os = "linux")]
mod escape;
#[cfg(target_os = "linux")]
mod hosts;
mod plan;
mod profile;
#[cfg(target_os = "linux")]
mod sockets;
