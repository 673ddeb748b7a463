//! One tool of one server.

use std::sync::{Arc, OnceLock};

use mcp_config::{ServerName, ToolSettings};
use mcp_jsonrpc::RawObject;
use mcp_jsonrpc::model::{Tool, ToolAnnotations};
use serde::ser::{Serialize, SerializeStruct, Serializer};
use tool_policy::{Document, Fingerprint, ToolScan};

use crate::catalog::name::ExposedName;

/// A tool with its server: the data for display, for a model, and for routing calls.
#[derive(Clone, Debug)]
pub struct Entry {
    server: ServerName,
    server_title: Option<Arc<str>>,
    tool: Arc<Tool>,
    exposed: ExposedName,
    fingerprint: Fingerprint,
    tokens: usize,
    enabled: bool,
    auto_approve: bool,
    /// Made when it is first asked for, and kept as long as the definition stays.
    scan: Arc<OnceLock<ToolScan>>,
}

impl Entry {
    pub(super) fn new(
        server: &ServerName,
        server_title: Option<&Arc<str>>,
        tool: Tool,
        policy: &ToolSettings,
    ) -> Self {
        let exposed = ExposedName::new(server, &tool.name);
        let texts = [
            exposed.as_str(),
            tool.description.as_deref().unwrap_or_default(),
            tool.input_schema.get(),
        ];
        Self {
            server: server.clone(),
            server_title: server_title.cloned(),
            fingerprint: Fingerprint::of(&tool),
            tokens: texts.into_iter().map(tokens).sum(),
            enabled: policy.is_enabled(&tool.name),
            auto_approve: policy.is_auto_approve(&tool.name),
            exposed,
            tool: Arc::new(tool),
            scan: Arc::default(),
        }
    }

    /// The same tool, scanned as this one was if it has the same definition.
    #[must_use]
    pub(super) fn scanned_as(mut self, known: &Self) -> Self {
        if self.fingerprint == known.fingerprint {
            self.scan = Arc::clone(&known.scan);
        }
        self
    }

    /// The same tool under other settings; `None` if that makes no difference.
    pub(super) fn under(&self, policy: &ToolSettings) -> Option<Self> {
        let enabled = policy.is_enabled(self.name());
        let auto_approve = policy.is_auto_approve(self.name());
        ((enabled, auto_approve) != (self.enabled, self.auto_approve)).then(|| Self {
            enabled,
            auto_approve,
            ..self.clone()
        })
    }

    pub(super) fn rename(&mut self, attempt: u32) {
        self.exposed = self.exposed.again(&self.server, &self.tool.name, attempt);
    }

    /// Our name for its server.
    pub fn server(&self) -> &ServerName {
        &self.server
    }

    /// The server's display name: its own title, else our name.
    pub fn server_title(&self) -> &str {
        self.server_title.as_deref().unwrap_or(self.server.as_str())
    }

    /// Its name, as its server spells it.
    pub fn name(&self) -> &str {
        &self.tool.name
    }

    /// The name a model calls it by.
    pub fn exposed_name(&self) -> &ExposedName {
        &self.exposed
    }

    /// Whether the exposed name differs from `mcp__server__tool`.
    pub fn is_renamed(&self) -> bool {
        let rest = self.exposed.as_str().strip_prefix("mcp__");
        let rest = rest.and_then(|rest| rest.strip_prefix(self.server.as_str()));
        rest.and_then(|rest| rest.strip_prefix("__")) != Some(self.name())
    }

    /// The complete definition.
    pub fn tool(&self) -> &Arc<Tool> {
        &self.tool
    }

    /// Its server's description, unchanged.
    pub fn description(&self) -> Option<&str> {
        self.tool.description.as_deref()
    }

    /// Its description and its origin: for hosts that show a model many servers.
    pub fn description_with_origin(&self) -> String {
        match self.description().map(str::trim_end) {
            None | Some("") => format!("From the MCP server {}.", self.server),
            Some(text) => format!("{text}\n\nFrom the MCP server {}.", self.server),
        }
    }

    /// The schema of its arguments, byte for byte.
    pub fn input_schema(&self) -> &RawObject {
        &self.tool.input_schema
    }

    /// Its server's annotations. A server may lie.
    pub fn annotations(&self) -> Option<&ToolAnnotations> {
        self.tool.annotations.as_ref()
    }

    /// Whether it is declared read-only.
    pub fn is_read_only(&self) -> bool {
        self.annotations()
            .is_some_and(ToolAnnotations::is_read_only)
    }

    /// Whether it is enabled.
    pub fn is_enabled(&self) -> bool {
        self.enabled
    }

    /// Whether the configuration approves it, by its name alone. A [`Policy`](tool_policy::Policy) also checks whether
    /// its definition has changed since.
    pub fn is_auto_approve(&self) -> bool {
        self.auto_approve
    }

    /// The fingerprint of its definition.
    pub fn fingerprint(&self) -> &Fingerprint {
        &self.fingerprint
    }

    /// What its definition says, to be judged beside the tools of other servers.
    pub fn scan(&self) -> &ToolScan {
        self.scan.get_or_init(|| ToolScan::of(&self.tool))
    }

    /// The approximate number of tokens its definition costs a model.
    pub fn tokens(&self) -> usize {
        self.tokens
    }
}

/// Estimates four ASCII characters per token; any other character is one token.
fn tokens(text: &str) -> usize {
    let ascii = text.bytes().filter(u8::is_ascii).count();
    let starts = text.chars().count();
    ascii.div_ceil(4) + (starts - ascii)
}

impl PartialEq for Entry {
    /// Compares the tool, the name, the definition and the flags.
    fn eq(&self, other: &Self) -> bool {
        self.server == other.server
            && self.server_title == other.server_title
            && self.exposed == other.exposed
            && (self.enabled, self.auto_approve) == (other.enabled, other.auto_approve)
            && (Arc::ptr_eq(&self.tool, &other.tool) || self.tool == other.tool)
    }
}

impl Serialize for Entry {
    /// Includes its server, its display name and its flags.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut entry = serializer.serialize_struct("Entry", 10)?;
        entry.serialize_field("serverId", &self.server)?;
        entry.serialize_field("serverName", self.server_title())?;
        entry.serialize_field("name", self.name())?;
        entry.serialize_field("displayName", &self.exposed)?;
        entry.serialize_field("description", self.description().unwrap_or_default())?;
        entry.serialize_field("inputSchema", self.input_schema())?;
        entry.serialize_field("isEnabled", &self.enabled)?;
        entry.serialize_field("isAutoApprove", &self.auto_approve)?;
        entry.serialize_field("fingerprint", &self.fingerprint)?;
        entry.serialize_field("tokens", &self.tokens)?;
        entry.end()
    }
}

/// The document that a [`SearchIndex`](tool_policy::SearchIndex) reads for a tool.
impl<'a> From<&'a Entry> for Document<'a> {
    fn from(entry: &'a Entry) -> Self {
        let mut document = Self::new(entry.server().as_str(), entry.name(), entry.input_schema());
        document.title = entry.tool().title.as_deref();
        document.description = entry.description();
        document
    }
}
