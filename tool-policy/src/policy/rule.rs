//! Rules for tools.

use serde::{Deserialize, Serialize};

use crate::policy::grant::Caller;
use crate::policy::pattern::Pattern;
use crate::tool::ToolInfo;

/// The effect of a rule.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Effect {
    /// The call runs.
    Allow,
    /// The call needs approval.
    Ask,
    /// The call does not run. Wins over every other rule and every grant.
    Deny,
}

/// A rule for tools, by patterns for the caller, the server and the tool.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Rule {
    /// The effect.
    pub effect: Effect,
    /// The callers it applies to.
    #[serde(default = "Pattern::any", skip_serializing_if = "Pattern::is_any")]
    pub caller: Pattern,
    /// The servers it applies to.
    pub server: Pattern,
    /// The tools it applies to, by the names their servers give them.
    pub tool: Pattern,
}

impl Rule {
    /// A rule for any caller.
    pub fn new(effect: Effect, server: impl Into<Pattern>, tool: impl Into<Pattern>) -> Self {
        Self {
            effect,
            caller: Pattern::any(),
            server: server.into(),
            tool: tool.into(),
        }
    }

    /// Restricts the rule to some callers.
    #[must_use]
    pub fn for_caller(mut self, caller: impl Into<Pattern>) -> Self {
        self.caller = caller.into();
        self
    }

    pub(crate) fn covers(&self, caller: &Caller, tool: &ToolInfo) -> bool {
        self.caller.matches(caller.as_str())
            && self.server.matches(&tool.server)
            && self.tool.matches(&tool.tool)
    }
}
