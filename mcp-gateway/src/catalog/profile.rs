//! The servers and tools a caller may see and call.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use mcp_server::Caller;

/// The servers and tools of one caller. Others are neither listed nor callable; the names of the omitted servers are in
/// the gateway's instructions.
///
/// ```
/// let profile = mcp_gateway::Profile::default()
///     .with_servers(["files", "notes"])
///     .with_tools("files", ["read"]);
/// assert!(profile.allows_tool("files", "read") && profile.allows_tool("notes", "any"));
/// assert!(!profile.allows_tool("files", "delete") && !profile.allows_server("mail"));
/// ```
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Profile {
    servers: Option<BTreeSet<String>>,
    tools: BTreeMap<String, BTreeSet<String>>,
}

impl Profile {
    /// Allows only these servers. By default all.
    #[must_use]
    pub fn with_servers(mut self, servers: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.servers = Some(servers.into_iter().map(Into::into).collect());
        self
    }

    /// Allows only these tools of this server, by its own names for them. By default all.
    #[must_use]
    pub fn with_tools(
        mut self,
        server: impl Into<String>,
        tools: impl IntoIterator<Item = impl Into<String>>,
    ) -> Self {
        let tools = tools.into_iter().map(Into::into).collect();
        self.tools.insert(server.into(), tools);
        self
    }

    /// Whether the profile allows this server.
    pub fn allows_server(&self, server: &str) -> bool {
        let servers = self.servers.as_ref();
        servers.is_none_or(|servers| servers.contains(server))
    }

    /// Whether the profile allows this tool.
    pub fn allows_tool(&self, server: &str, tool: &str) -> bool {
        let tools = self.tools.get(server);
        self.allows_server(server) && tools.is_none_or(|tools| tools.contains(tool))
    }
}

/// Which profile a caller has; `None` for one that is not authenticated.
pub(crate) type Profiles = Arc<dyn Fn(Option<&Caller>) -> Arc<Profile> + Send + Sync>;
