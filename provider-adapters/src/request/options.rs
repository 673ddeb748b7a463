//! Sampling and reasoning options.

use mcp_jsonrpc::RawMap;
use serde::{Deserialize, Serialize};

/// Sampling and reasoning options. All are optional; options that a wire does not support are omitted and reported in
/// [`Encoded::omitted`](crate::Encoded::omitted).
///
/// ```
/// use provider_adapters::{Effort, Options};
///
/// let options = Options::new().with_max_output_tokens(500).with_effort(Effort::Low);
/// ```
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[serde(default)]
#[non_exhaustive]
pub struct Options {
    /// Maximum number of output tokens.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_output_tokens: Option<u64>,
    /// Sampling temperature.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub temperature: Option<f64>,
    /// Nucleus sampling: the probability mass to sample from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub top_p: Option<f64>,
    /// Number of most likely tokens to sample from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub top_k: Option<u64>,
    /// Sampling seed, for providers that support one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
    /// Stop sequences.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub stop: Vec<String>,
    /// Reasoning effort.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub effort: Option<Effort>,
    /// Reasoning budget in tokens, for providers that take a number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thinking_tokens: Option<u64>,
    /// Whether the reply includes the reasoning.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub show_thoughts: Option<bool>,
    /// Whether the model may make several tool calls in one reply.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parallel_tool_calls: Option<bool>,
    /// Additional members of the request body, for provider-specific options. They override ours;
    /// objects are merged.
    #[serde(skip_serializing_if = "RawMap::is_empty")]
    pub extra: RawMap,
}

/// Reasoning effort.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Effort {
    /// No reasoning.
    None,
    /// Minimal.
    Minimal,
    /// Low.
    Low,
    /// Medium.
    Medium,
    /// High.
    High,
    /// Maximum.
    Max,
}

impl Effort {
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Minimal => "minimal",
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
            Self::Max => "max",
        }
    }
}

impl Options {
    /// No options set.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the maximum number of output tokens.
    #[must_use]
    pub fn with_max_output_tokens(mut self, tokens: u64) -> Self {
        self.max_output_tokens = Some(tokens);
        self
    }

    /// Sets the temperature.
    #[must_use]
    pub fn with_temperature(mut self, temperature: f64) -> Self {
        self.temperature = Some(temperature);
        self
    }

    /// Sets the stop sequences.
    #[must_use]
    pub fn with_stop(mut self, stop: Vec<String>) -> Self {
        self.stop = stop;
        self
    }

    /// Sets the reasoning effort.
    #[must_use]
    pub fn with_effort(mut self, effort: Effort) -> Self {
        self.effort = Some(effort);
        self
    }

    /// Sets the reasoning budget, for providers that take a number of tokens.
    #[must_use]
    pub fn with_thinking_tokens(mut self, tokens: u64) -> Self {
        self.thinking_tokens = Some(tokens);
        self
    }

    /// Sets whether the reply includes the reasoning.
    #[must_use]
    pub fn with_thoughts(mut self, shown: bool) -> Self {
        self.show_thoughts = Some(shown);
        self
    }

    /// Sets whether the model may make several tool calls in one reply.
    #[must_use]
    pub fn with_parallel_tool_calls(mut self, allowed: bool) -> Self {
        self.parallel_tool_calls = Some(allowed);
        self
    }
}
