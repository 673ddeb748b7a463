//! How a model is asked.

use mcp_jsonrpc::RawMap;
use serde::{Deserialize, Serialize};

/// How a model is asked. Everything is optional; what a wire cannot say is left out and told in
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
    /// The most tokens of the reply.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_output_tokens: Option<u64>,
    /// How freely it chooses its words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub temperature: Option<f64>,
    /// From how large a share of the likely words it chooses.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub top_p: Option<f64>,
    /// From how many likely words it chooses.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub top_k: Option<u64>,
    /// Makes replies repeatable, as far as the provider can.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
    /// Texts that end the reply.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub stop: Vec<String>,
    /// How hard it thinks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub effort: Option<Effort>,
    /// The most tokens it thinks in, where the provider asks for a number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thinking_tokens: Option<u64>,
    /// Whether it shows what it thinks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub show_thoughts: Option<bool>,
    /// Whether it may make several calls at once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parallel_tool_calls: Option<bool>,
    /// More members of the request's body, for what only one provider knows. They win; objects
    /// are joined.
    #[serde(skip_serializing_if = "RawMap::is_empty")]
    pub extra: RawMap,
}

/// How hard a model thinks.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Effort {
    /// Not at all.
    None,
    /// Hardly.
    Minimal,
    /// A little.
    Low,
    /// As usual.
    Medium,
    /// Hard.
    High,
    /// As hard as it can.
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
    /// Nothing said.
    pub fn new() -> Self {
        Self::default()
    }

    /// With a limit on the reply.
    #[must_use]
    pub fn with_max_output_tokens(mut self, tokens: u64) -> Self {
        self.max_output_tokens = Some(tokens);
        self
    }

    /// With a temperature.
    #[must_use]
    pub fn with_temperature(mut self, temperature: f64) -> Self {
        self.temperature = Some(temperature);
        self
    }

    /// With texts that end the reply.
    #[must_use]
    pub fn with_stop(mut self, stop: Vec<String>) -> Self {
        self.stop = stop;
        self
    }

    /// With how hard to think.
    #[must_use]
    pub fn with_effort(mut self, effort: Effort) -> Self {
        self.effort = Some(effort);
        self
    }

    /// With a limit on thinking, for providers that ask for a number of tokens.
    #[must_use]
    pub fn with_thinking_tokens(mut self, tokens: u64) -> Self {
        self.thinking_tokens = Some(tokens);
        self
    }

    /// With thoughts shown, or not.
    #[must_use]
    pub fn with_thoughts(mut self, shown: bool) -> Self {
        self.show_thoughts = Some(shown);
        self
    }

    /// With several calls at once, or not.
    #[must_use]
    pub fn with_parallel_tool_calls(mut self, allowed: bool) -> Self {
        self.parallel_tool_calls = Some(allowed);
        self
    }
}
