//! The test servers, seen from raw clients that share no code with them.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests"
)]

mod http;
mod http_client;
mod line_client;
mod pipe;
