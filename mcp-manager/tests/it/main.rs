//! Tests of the crate, one file a topic.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests"
)]

mod belongs;
mod call;
mod catalog;
mod content;
mod elicitation;
mod event;
mod fake;
mod lifecycle;
mod listing;
mod name;
mod pool;
mod process;
mod remote;
mod resource_cache;
mod simulation;
#[cfg(feature = "skills")]
mod skills;
mod watch;
