//! The test servers, seen from raw clients that share no code with them.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests"
)]

mod case_table;
mod driver;
mod http;
mod http_client;
mod http_faults;
mod law;
mod line_client;
mod message_faults;
mod pipe;
#[cfg(unix)]
mod process;
mod raw_http;
mod sse_faults;
mod verdict;
mod wire_text;
