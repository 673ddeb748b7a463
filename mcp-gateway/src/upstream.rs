//! Connections of one client's own, and subscriptions to upstream resources.

pub(crate) mod connections;
pub(crate) mod watches;
