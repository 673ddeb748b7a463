#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests"
)]
//! The claims of `mcp_gateway`, with our client before it and our server behind it.

mod calls;
mod changes;
mod connections;
mod differential;
mod faults;
mod kit;
mod lists;
mod logging;
mod meta_tools;
mod policy;
mod questions;
mod roots;
mod screening;
mod status;
mod tasks;
