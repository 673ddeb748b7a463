//! Tools as the loop knows them.

use std::fmt;
use std::time::Duration;

use mcp_jsonrpc::RawObject;
use mcp_jsonrpc::model::ToolAnnotations;
use serde::{Deserialize, Serialize};

use crate::search::BUILT_IN;

/// A tool that can be called: where it lives, what the model is told of it, and what is known
/// about its manners.
///
/// ```
/// use agent_loop::ToolInfo;
///
/// let schema = serde_json::from_str(r#"{"type":"object"}"#)?;
/// let tool = ToolInfo::new("files", "read", schema).with_description("Reads a file.");
/// assert_eq!(tool.name, "read");
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ToolInfo {
    /// The server's id, where it has one besides its name.
    pub server_id: String,
    /// The server's name with us.
    pub server: String,
    /// Stands for the program or the address behind the server's name: another endpoint has
    /// another identity, and what was approved for one does not count for the other.
    #[serde(default)]
    pub server_identity: String,
    /// The tool's name as its server spells it.
    pub tool: String,
    /// The tool's name as the model sees it: unique among all tools.
    pub name: String,
    /// What it does, for the model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The JSON Schema of its arguments.
    pub input_schema: RawObject,
    /// The server's hints about it. They count only if the server is trusted.
    #[serde(default)]
    pub annotations: ToolAnnotations,
    /// Whether the server's hints count.
    #[serde(default)]
    pub trusted: bool,
    /// Stands for the whole definition: another definition has another fingerprint.
    #[serde(default)]
    pub fingerprint: String,
    /// Whether the definition changed since somebody approved it: then it is asked for again.
    #[serde(default)]
    pub changed: bool,
    /// Whether its server takes several calls at once, whatever they do.
    #[serde(default)]
    pub parallel: bool,
    /// Whether the model is always told of it, even where there are many tools.
    #[serde(default)]
    pub always_load: bool,
    /// The idle timeout of a call, where the tool or its server has one of its own.
    #[serde(default, rename = "timeout", skip_serializing_if = "Option::is_none")]
    pub idle_timeout: Option<Duration>,
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
            changed: false,
            parallel: false,
            always_load: false,
            idle_timeout: None,
        }
    }

    /// With another name for the model.
    #[must_use]
    pub fn with_name(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    /// With what it does.
    #[must_use]
    pub fn with_description(mut self, text: impl Into<String>) -> Self {
        self.description = Some(text.into());
        self
    }

    /// With hints.
    #[must_use]
    pub fn with_annotations(mut self, annotations: ToolAnnotations) -> Self {
        self.annotations = annotations;
        self
    }

    /// Says, with authority, that it changes nothing.
    #[must_use]
    pub fn read_only(mut self) -> Self {
        self.annotations.read_only_hint = Some(true);
        self.trusted = true;
        self
    }

    /// From a server whose hints count, or not.
    #[must_use]
    pub fn with_trust(mut self, trusted: bool) -> Self {
        self.trusted = trusted;
        self
    }

    /// From a server with this identity.
    #[must_use]
    pub fn with_server_identity(mut self, identity: impl Into<String>) -> Self {
        self.server_identity = identity.into();
        self
    }

    /// With a fingerprint of its definition.
    #[must_use]
    pub fn with_fingerprint(mut self, fingerprint: impl Into<String>) -> Self {
        self.fingerprint = fingerprint.into();
        self
    }

    /// With an idle timeout of its own.
    #[must_use]
    pub fn with_idle_timeout(mut self, timeout: Duration) -> Self {
        self.idle_timeout = Some(timeout);
        self
    }

    /// Whether it may be taken to change nothing: it says so, and its server is trusted. A tool
    /// that also says that it may destroy something is not.
    pub fn is_read_only(&self) -> bool {
        self.trusted && self.annotations.is_read_only()
    }

    /// Whether it is one of the loop's own: `tool_search`, `tool_call` or `read_output`. They
    /// change nothing and are never asked for. The tool that `tool_call` names is.
    pub fn is_built_in(&self) -> bool {
        self.server == BUILT_IN
    }

    /// What an approval of it is bound to.
    pub fn definition(&self) -> Definition {
        Definition {
            server: self.server.clone(),
            server_identity: self.server_identity.clone(),
            tool: self.tool.clone(),
            fingerprint: self.fingerprint.clone(),
        }
    }
}

/// A tool as it is defined at one moment, at one server: what an approval is bound to. Another
/// definition, or another endpoint under the same name, has another value.
#[derive(Clone, Debug, Deserialize, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize)]
#[non_exhaustive]
pub struct Definition {
    /// The server's name with us.
    pub server: String,
    /// The [identity](ToolInfo::server_identity) of its endpoint.
    pub server_identity: String,
    /// The tool's name as its server spells it.
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

/// The number of a tool call within its run: never used twice.
#[derive(
    Clone, Copy, Debug, Default, Deserialize, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize,
)]
#[serde(transparent)]
pub struct CallNumber(pub(crate) u64);

impl CallNumber {
    /// The number itself.
    pub fn get(self) -> u64 {
        self.0
    }
}

impl From<u64> for CallNumber {
    fn from(number: u64) -> Self {
        Self(number)
    }
}

impl fmt::Display for CallNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
