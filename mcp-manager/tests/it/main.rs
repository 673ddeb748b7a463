//! Tests of the crate, one file a topic.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests"
)]

mod catalog;
mod config;
mod content;
mod name;
mod pin;
mod resource_cache;
mod search;
