//! Guides, a task each.

#[doc = include_str!("docs/approvals.md")]
pub mod approvals {}

#[doc = include_str!("docs/durable_runs.md")]
pub mod durable_runs {}

#[cfg(feature = "testing")]
#[doc = include_str!("docs/testing.md")]
pub mod testing {}
