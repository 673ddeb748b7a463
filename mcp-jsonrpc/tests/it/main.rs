//! The crate's tests, in one binary.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests"
)]

mod arbitrary;
mod envelope;
mod faults;
mod inventory;
mod keeping;
mod laws;
mod lists;
mod official_schema;
mod parts;
mod replies;
mod revision;
mod round_trip;
mod samples;
mod sse;
mod writing;
