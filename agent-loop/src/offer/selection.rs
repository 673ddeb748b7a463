//! The servers whose tools are offered.

use std::collections::BTreeMap;

use mcp_jsonrpc::RawJson;
use provider_adapters::{Adapter, ToolSpec};
use serde::{Deserialize, Serialize};
use tool_policy::ToolInfo;

/// The servers whose tools are offered, in the format of chat programs' settings.
///
/// Unset means off: `{}` selects nothing.
///
/// ```
/// use agent_loop::Selection;
///
/// let selection: Selection = serde_json::from_str(
///     r#"{"enabled": true, "mode": "manual", "selectedServers": ["files"]}"#,
/// )?;
/// assert_eq!(selection, Selection::only(["files"]));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(default, rename_all = "camelCase")]
#[non_exhaustive]
pub struct Selection {
    /// Whether any tools are offered. Unset means no.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub enabled: Option<bool>,
    /// Whether all active servers are included, or only the selected ones. Unset means all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mode: Option<SelectMode>,
    /// The selected servers, by id or by name.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub selected_servers: Vec<String>,
    /// Tools that are left out, by the id or the name of their server.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub left_out: BTreeMap<String, Vec<String>>,
}

/// The servers that are included.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum SelectMode {
    /// All that are active.
    Auto,
    /// The selected ones.
    Manual,
}

impl Selection {
    /// All servers.
    pub fn all() -> Self {
        Self {
            enabled: Some(true),
            mode: Some(SelectMode::Auto),
            ..Self::default()
        }
    }

    /// These servers, by id or by name.
    pub fn only<S: Into<String>>(servers: impl IntoIterator<Item = S>) -> Self {
        Self {
            enabled: Some(true),
            mode: Some(SelectMode::Manual),
            selected_servers: servers.into_iter().map(Into::into).collect(),
            ..Self::default()
        }
    }

    /// The same without these tools of a server, by its id or its name.
    #[must_use]
    pub fn without<S: Into<String>>(
        mut self,
        server: impl Into<String>,
        tools: impl IntoIterator<Item = S>,
    ) -> Self {
        let left_out = self.left_out.entry(server.into()).or_default();
        left_out.extend(tools.into_iter().map(Into::into));
        self
    }

    /// The tools of these servers, in the order of `tools`.
    pub fn choose(&self, tools: &[ToolInfo]) -> Vec<ToolInfo> {
        if self.enabled != Some(true) {
            return Vec::new();
        }
        let chosen = |tool: &&ToolInfo| match self.mode {
            Some(SelectMode::Manual) => {
                let names = &self.selected_servers;
                names.contains(&tool.server_id) || names.contains(&tool.server)
            }
            Some(SelectMode::Auto) | None => true,
        };
        let stays = |tool: &&ToolInfo| {
            let of = |server| self.left_out.get(server).into_iter().flatten();
            let mut left_out = of(&tool.server_id).chain(of(&tool.server));
            !left_out.any(|name| *name == tool.tool)
        };
        let kept = tools.iter().filter(chosen).filter(stays);
        kept.cloned().collect()
    }
}

/// The definitions in a request to this provider, and their tools; nothing if no tool is included.
pub fn setup_tools(
    tools: &[ToolInfo],
    selection: &Selection,
    adapter: &dyn Adapter,
) -> Option<(RawJson, Vec<ToolInfo>)> {
    let chosen = selection.choose(tools);
    if chosen.is_empty() {
        return None;
    }
    let mut by_server: BTreeMap<&str, usize> = BTreeMap::new();
    for tool in &chosen {
        *by_server.entry(&tool.server).or_default() += 1;
    }
    for (server, count) in by_server {
        tracing::debug!(server, count, "tools");
    }
    let specs: Vec<ToolSpec> = chosen.iter().map(spec).collect();
    let definitions = adapter.definitions(&adapter.tools(&specs));
    Some((definitions, chosen))
}

/// The specification of a tool for the model.
pub(crate) fn spec(tool: &ToolInfo) -> ToolSpec {
    let mut spec = ToolSpec::new(&tool.name, tool.input_schema.clone());
    spec.description.clone_from(&tool.description);
    spec
}
