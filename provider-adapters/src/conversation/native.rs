//! A provider's own form of a turn.

use mcp_jsonrpc::RawJson;
use serde::{Deserialize, Serialize};

use crate::wire::Wire;

/// A turn in its provider's own form, including signatures and encrypted reasoning.
///
/// It is sent back to the same provider in place and unchanged, and never to another one.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Native {
    /// Its wire.
    pub wire: Wire,
    /// The dialect's name, if several servers share the wire.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub dialect: String,
    /// The items: content blocks, parts, output items, or one message.
    pub items: Vec<RawJson>,
}

impl Native {
    /// Creates a turn of these items, for a wire.
    pub fn new(wire: Wire, items: Vec<RawJson>) -> Self {
        Self {
            wire,
            dialect: String::new(),
            items,
        }
    }

    /// Sets the dialect's name, if several servers share the wire.
    #[must_use]
    pub fn with_dialect(mut self, name: impl Into<String>) -> Self {
        self.dialect = name.into();
        self
    }
}
