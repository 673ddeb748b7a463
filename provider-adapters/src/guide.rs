//! Guides, one per task.

#[doc = include_str!("docs/add_a_provider.md")]
pub mod add_a_provider {}

#[doc = include_str!("docs/caching.md")]
pub mod caching {}

#[cfg(feature = "schemars")]
#[doc = include_str!("docs/structured_output.md")]
pub mod structured_output {}
