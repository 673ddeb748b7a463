//! What a reply cost, in tokens.

use serde::{Deserialize, Serialize};

use crate::json_text::count;

/// Token counters as the provider reported them. What it did not report is `None`, never zero.
///
/// Providers count differently: Anthropic leaves cached tokens out of [`input`](Self::input),
/// Gemini leaves thoughts out of [`output`](Self::output), everybody else counts both in.
/// [`Wire::sum`](crate::Wire::sum) evens that out.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(default)]
#[non_exhaustive]
pub struct Usage {
    /// Tokens of the request.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input: Option<u64>,
    /// Tokens of the reply.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output: Option<u64>,
    /// Tokens the model thought in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reasoning: Option<u64>,
    /// Tokens of the request that came from the provider's cache.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache_read: Option<u64>,
    /// Tokens of the request that went into the provider's cache.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache_write: Option<u64>,
    /// The provider's own sum.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total: Option<u64>,
}

impl Usage {
    /// Whether nothing at all was reported.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Takes over what `newer` reports and keeps the rest.
    pub(crate) fn update(&mut self, newer: Self) {
        self.input = newer.input.or(self.input);
        self.output = newer.output.or(self.output);
        self.reasoning = newer.reasoning.or(self.reasoning);
        self.cache_read = newer.cache_read.or(self.cache_read);
        self.cache_write = newer.cache_write.or(self.cache_write);
        self.total = newer.total.or(self.total);
    }
}

/// What OpenAI's two wires say about a count in detail.
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
