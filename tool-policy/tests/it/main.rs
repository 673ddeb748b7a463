//! Tests of the crate, one file per topic.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests"
)]

mod definition_diff;
mod fingerprint;
mod law;
mod meta_tools;
mod policy;
mod scan;
mod scan_evasion;
mod scan_measured;
mod search;
mod secrets;
