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
mod explained;
mod filter;
mod generate;
mod generated;
mod hostile;
mod keywords;
mod laws;
mod lists;
mod names;
mod not_quite_schemas;
mod oracle;
mod restoring;
mod snapshots;
mod strictness;
mod targets;
mod validating;
