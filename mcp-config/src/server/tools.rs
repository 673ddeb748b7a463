//! Settings of a server's tools: enabled ones and approved ones.

use std::collections::BTreeSet;

/// The configuration of a server's tools, by the server's own names for them.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct ToolSettings {
    pub(crate) only: Option<BTreeSet<String>>,
    pub(crate) disabled: BTreeSet<String>,
    pub(crate) auto_approve: BTreeSet<String>,
}

impl ToolSettings {
    /// Enables only these tools.
    #[must_use]
    pub fn with_only<T: Into<String>>(mut self, tools: impl IntoIterator<Item = T>) -> Self {
        self.only = Some(tools.into_iter().map(Into::into).collect());
        self
    }

    /// Disables a tool.
    #[must_use]
    pub fn with_disabled(mut self, tool: impl Into<String>) -> Self {
        self.disabled.insert(tool.into());
        self
    }

    /// Enables a tool again.
    #[must_use]
    pub fn with_enabled(mut self, tool: impl Into<String>) -> Self {
        let tool = tool.into();
        self.disabled.remove(&tool);
        if let Some(only) = &mut self.only {
            only.insert(tool);
        }
        self
    }

    /// Marks a tool as approved. The host decides whether it then runs without asking.
    #[must_use]
    pub fn with_auto_approve(mut self, tool: impl Into<String>) -> Self {
        self.auto_approve.insert(tool.into());
        self
    }

    /// Whether a tool is enabled.
    pub fn is_enabled(&self, tool: &str) -> bool {
        let listed = self.only.as_ref().is_none_or(|only| only.contains(tool));
        listed && !self.disabled.contains(tool)
    }

    /// Whether the configuration approves a tool.
    pub fn is_auto_approve(&self, tool: &str) -> bool {
        self.auto_approve.contains(tool)
    }

    /// The tools the configuration approves.
    pub fn auto_approved(&self) -> impl Iterator<Item = &str> {
        self.auto_approve.iter().map(String::as_str)
    }
}
