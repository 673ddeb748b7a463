//! A tool, as seen by policies and models.

use std::sync::Arc;
use std::time::Duration;

use mcp_jsonrpc::RawObject;
use mcp_jsonrpc::model::{Tool, ToolAnnotations};
use serde::{Deserialize, Serialize};

use crate::meta_tools::BUILT_IN;
use crate::scan::Alarm;

/// A callable tool: its server, its definition for the model, and what is known about its behaviour.
///
/// ```
/// use tool_policy::ToolInfo;
///
/// let schema = serde_json::from_str(r#"{"type":"object"}"#)?;
/// let tool = ToolInfo::new("files", "read", schema).with_description("Reads a file.");
/// assert_eq!(tool.name, "read");
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ToolInfo {
    /// The server's id; its name where it has no id.
    pub server_id: String,
    /// The server's name.
    pub server: String,
    /// Identifies the program or the address behind the server's name. An approval for one identity does not apply to
    /// another.
    #[serde(default)]
    pub server_identity: String,
    /// The server's name for the tool.
    pub tool: String,
    /// The name the model sees, unique among all tools.
    pub name: String,
    /// The description for the model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The JSON Schema of its arguments.
    pub input_schema: RawObject,
    /// The server's annotations. They are used only if the server is trusted.
    #[serde(default)]
    pub annotations: ToolAnnotations,
    /// Whether the server's annotations are used.
    #[serde(default)]
    pub trusted: bool,
    /// The fingerprint of the whole definition.
    #[serde(default)]
    pub fingerprint: String,
    /// Whether several calls may run concurrently, even if they are not read-only.
    #[serde(default)]
    pub parallel: bool,
    /// Whether the tool is always listed to the model, even where there are many tools.
    #[serde(default)]
    pub always_load: bool,
    /// The idle timeout of a call, where the tool or its server has its own.
    #[serde(default, rename = "timeout", skip_serializing_if = "Option::is_none")]
    pub idle_timeout: Option<Duration>,
    /// The findings of a scan of its definition, if they require attention.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alarm: Option<Alarm>,
    /// The whole definition, as its server gives it, where it is at hand; it is not stored.
    #[serde(skip)]
    pub source: Option<Arc<Tool>>,
}

impl ToolInfo {
    /// A tool of a server; the model sees the tool's own name.
    pub fn new(
        server: impl Into<String>,
        tool: impl Into<String>,
        input_schema: RawObject,
    ) -> Self {
        let (server, tool) = (server.into(), tool.into());
        Self {
            server_id: server.clone(),
            name: tool.clone(),
            server,
            server_identity: String::new(),
            tool,
            description: None,
            input_schema,
            annotations: ToolAnnotations::default(),
            trusted: false,
            fingerprint: String::new(),
            parallel: false,
            always_load: false,
            idle_timeout: None,
            alarm: None,
            source: None,
        }
    }

    /// Sets the name the model sees.
    #[must_use]
    pub fn with_name(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    /// Sets the description.
    #[must_use]
    pub fn with_description(mut self, text: impl Into<String>) -> Self {
        self.description = Some(text.into());
        self
    }

    /// Sets the server's annotations.
    #[must_use]
    pub fn with_annotations(mut self, annotations: ToolAnnotations) -> Self {
        self.annotations = annotations;
        self
    }

    /// Marks the tool as read-only, and its annotations as trusted.
    #[must_use]
    pub fn read_only(mut self) -> Self {
        self.annotations.read_only_hint = Some(true);
        self.trusted = true;
        self
    }

    /// Sets whether the server's annotations are used.
    #[must_use]
    pub fn with_trust(mut self, trusted: bool) -> Self {
        self.trusted = trusted;
        self
    }

    /// Sets the server's identity.
    #[must_use]
    pub fn with_server_identity(mut self, identity: impl Into<String>) -> Self {
        self.server_identity = identity.into();
        self
    }

    /// Sets the fingerprint of the definition.
    #[must_use]
    pub fn with_fingerprint(mut self, fingerprint: impl Into<String>) -> Self {
        self.fingerprint = fingerprint.into();
        self
    }

    /// Sets the idle timeout of a call.
    #[must_use]
    pub fn with_idle_timeout(mut self, timeout: Duration) -> Self {
        self.idle_timeout = Some(timeout);
        self
    }

    /// Sets the result of a scan of its definition.
    #[must_use]
    pub fn with_alarm(mut self, alarm: Option<Alarm>) -> Self {
        self.alarm = alarm;
        self
    }

    /// Sets the whole definition, so that a change of it can be shown.
    #[must_use]
    pub fn with_source(mut self, tool: Arc<Tool>) -> Self {
        self.source = Some(tool);
        self
    }

    /// Whether it counts as read-only: it has the hint, its server is trusted, and it does not also
    /// have the destructive hint.
    pub fn is_read_only(&self) -> bool {
        self.trusted && self.annotations.is_read_only()
    }

    /// Whether it is a built-in tool: `tool_search`, `tool_call` or `read_output`. They change
    /// nothing and never need approval; the tool that `tool_call` names does.
    pub fn is_built_in(&self) -> bool {
        self.server == BUILT_IN
    }

    /// The definition that an approval is bound to.
    pub fn definition(&self) -> Definition {
        Definition {
            server: self.server.clone(),
            server_identity: self.server_identity.clone(),
            tool: self.tool.clone(),
            fingerprint: self.fingerprint.clone(),
        }
    }
}

/// A tool's definition at one moment at one server: what an approval is bound to. A changed tool, or
/// another endpoint under the same server name, has another value.
#[derive(Clone, Debug, Deserialize, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize)]
#[non_exhaustive]
pub struct Definition {
    /// The server's name.
    pub server: String,
    /// The [identity](ToolInfo::server_identity) of its endpoint.
    pub server_identity: String,
    /// The server's name for the tool.
    pub tool: String,
    /// The fingerprint of its definition.
    pub fingerprint: String,
}

impl Definition {
    /// A tool's definition.
    pub fn new(
        server: impl Into<String>,
        server_identity: impl Into<String>,
        tool: impl Into<String>,
        fingerprint: impl Into<String>,
    ) -> Self {
        Self {
            server: server.into(),
            server_identity: server_identity.into(),
            tool: tool.into(),
            fingerprint: fingerprint.into(),
        }
    }
}
