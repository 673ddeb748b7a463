//! The crate's tests, in one binary.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests"
)]

mod envelope;
mod faults;
mod keeping;
mod lists;
mod replies;
mod revision;
mod samples;
mod seeds;
mod writing;
