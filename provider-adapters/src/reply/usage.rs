//! The token usage of a reply.

use serde::{Deserialize, Serialize};

use crate::json::text::count;

/// Token counters, with the same meaning on every wire. Counters the provider did not report are `None`, never zero.
///
/// Cached tokens are part of [`input`](Self::input) and reasoning is part of [`output`](Self::output), even if the
/// provider counts them separately.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(default)]
#[non_exhaustive]
pub struct Usage {
    /// Tokens of the request, those read from or written to the cache included.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input: Option<u64>,
    /// Tokens of the reply, reasoning included.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output: Option<u64>,
    /// Reasoning tokens of the reply.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reasoning: Option<u64>,
    /// Tokens of the request that were read from the provider's cache.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache_read: Option<u64>,
    /// Tokens of the request that were written to the provider's cache.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache_write: Option<u64>,
}

impl Usage {
    /// Whether nothing was reported.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Tokens of the request and of the reply together.
    pub fn total(&self) -> Option<u64> {
        sum(self.input, self.output)
    }
}

/// The sum of two counters; `None` if neither was reported.
pub(crate) fn sum(a: Option<u64>, b: Option<u64>) -> Option<u64> {
    match (a, b) {
        (None, None) => None,
        (a, b) => Some(a.unwrap_or(0).saturating_add(b.unwrap_or(0))),
    }
}

/// OpenAI's breakdown of a counter, the same on both of its wires.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Details {
    #[serde(deserialize_with = "count")]
    pub(crate) cached_tokens: Option<u64>,
    #[serde(deserialize_with = "count")]
    pub(crate) cache_write_tokens: Option<u64>,
    #[serde(deserialize_with = "count")]
    pub(crate) reasoning_tokens: Option<u64>,
}
