//! Deferral: long lists of tools are searched instead of listed.

use serde::{Deserialize, Serialize};
use tool_policy::ToolInfo;

/// The settings of deferral: when tools are searched instead of listed.
///
/// ```
/// use agent_loop::Deferral;
///
/// let deferral = Deferral::default().with_context_tokens(1_000_000).with_always("get_time");
/// ```
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(default)]
pub struct Deferral {
    tools: usize,
    context_tokens: usize,
    context_percent: usize,
    always: Vec<String>,
    native: bool,
}

impl Default for Deferral {
    fn default() -> Self {
        Self {
            tools: 30,
            context_tokens: 128_000,
            context_percent: 10,
            always: Vec::new(),
            native: false,
        }
    }
}

impl Deferral {
    /// Never: every tool is listed, up to the provider's limit.
    pub fn never() -> Self {
        Self {
            tools: usize::MAX,
            context_tokens: usize::MAX,
            context_percent: 100,
            always: Vec::new(),
            native: false,
        }
    }

    /// Sets the maximum number of tools listed. Default: 30.
    #[must_use]
    pub fn with_tools(mut self, tools: usize) -> Self {
        self.tools = tools;
        self
    }

    /// Sets the model's context in tokens. Default: 128,000; the tools may take a tenth of it.
    #[must_use]
    pub fn with_context_tokens(mut self, tokens: usize) -> Self {
        self.context_tokens = tokens;
        self
    }

    /// Sets the share of the context the tools may take, in percent. Default: 10.
    #[must_use]
    pub fn with_context_percent(mut self, percent: usize) -> Self {
        self.context_percent = percent;
        self
    }

    /// Always lists a tool, by the name the model sees.
    #[must_use]
    pub fn with_always(mut self, name: impl Into<String>) -> Self {
        self.always.push(name.into());
        self
    }

    /// Whether the provider itself searches, where its wire and the model have that: Anthropic and the
    /// Responses API. Off by default, since what only speaks a provider's wire, such as a proxy, may
    /// have no search, nor may a [`Failover`](provider_adapters::Failover)'s other models.
    #[must_use]
    pub fn native(mut self, native: bool) -> Self {
        self.native = native;
        self
    }

    pub(crate) fn is_native(&self) -> bool {
        self.native
    }

    /// Whether there are too many of these to list.
    pub(crate) fn applies(&self, tools: &[ToolInfo]) -> bool {
        let allowed = (self.context_tokens / 100).saturating_mul(self.context_percent);
        tools.len() > self.tools || tools.iter().map(tokens).sum::<usize>() > allowed
    }

    pub(crate) fn keeps(&self, tool: &ToolInfo) -> bool {
        tool.always_load || self.always.contains(&tool.name)
    }
}

/// About how many tokens a tool's definition costs.
pub(crate) fn tokens(tool: &ToolInfo) -> usize {
    12 + tool_schema::estimate_tokens(&tool.name)
        + tool_schema::estimate_tokens(tool.description.as_deref().unwrap_or_default())
        + tool_schema::estimate_tokens(tool.input_schema.get())
}
