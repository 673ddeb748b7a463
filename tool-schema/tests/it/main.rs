#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout,
    missing_docs,
    reason = "tests"
)]

mod checker;
mod corpus;
mod generate;
mod laws;
mod oracle;
mod snapshots;
