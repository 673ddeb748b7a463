//! Which tools of a server are on, and which may run unasked.

use std::collections::BTreeSet;

/// What the configuration says about a server's tools, by the server's own names for them.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct ToolSettings {
    pub(crate) only: Option<BTreeSet<String>>,
    pub(crate) disabled: BTreeSet<String>,
    pub(crate) auto_approve: BTreeSet<String>,
}

impl ToolSettings {
    /// Switches on these tools and no others.
    #[must_use]
    pub fn with_only<T: Into<String>>(mut self, tools: impl IntoIterator<Item = T>) -> Self {
        self.only = Some(tools.into_iter().map(Into::into).collect());
        self
    }

    /// Switches a tool off.
    #[must_use]
    pub fn with_disabled(mut self, tool: impl Into<String>) -> Self {
        self.disabled.insert(tool.into());
        self
    }

    /// Switches a tool on again.
    #[must_use]
    pub fn with_enabled(mut self, tool: impl Into<String>) -> Self {
        let tool = tool.into();
        self.disabled.remove(&tool);
        if let Some(only) = &mut self.only {
            only.insert(tool);
        }
        self
    }

    /// Calls a tool approved. Whether it then runs unasked is for the host to decide.
    #[must_use]
    pub fn with_auto_approve(mut self, tool: impl Into<String>) -> Self {
        self.auto_approve.insert(tool.into());
        self
    }

    /// Whether a tool is switched on.
    pub fn is_enabled(&self, tool: &str) -> bool {
        let listed = self.only.as_ref().is_none_or(|only| only.contains(tool));
        listed && !self.disabled.contains(tool)
    }

    /// Whether the configuration calls a tool approved.
    pub fn is_auto_approve(&self, tool: &str) -> bool {
        self.auto_approve.contains(tool)
    }

    /// The tools that the configuration calls approved.
    pub fn auto_approved(&self) -> impl Iterator<Item = &str> {
        self.auto_approve.iter().map(String::as_str)
    }
}
