//! Guides, one per task.

#[doc = include_str!("docs/approvals.md")]
pub mod approvals {}

#[doc = include_str!("docs/compaction.md")]
pub mod compaction {}

#[doc = include_str!("docs/durable_runs.md")]
pub mod durable_runs {}

#[cfg(feature = "schemars")]
#[doc = include_str!("docs/structured_output.md")]
pub mod structured_output {}

#[doc = include_str!("docs/sub_agents.md")]
pub mod sub_agents {}

#[cfg(feature = "testing")]
#[doc = include_str!("docs/testing.md")]
pub mod testing {}
