//! The revisions of the protocol and their features.

use std::error::Error;
use std::fmt;
use std::str::FromStr;

use serde::de::{self, Deserialize, Deserializer};
use serde::ser::{Serialize, Serializer};

/// A published revision of the Model Context Protocol, older ones first.
///
/// Its methods describe the features of a revision, so that no other code compares dates.
///
/// ```
/// use mcp_jsonrpc::Revision;
///
/// let revision: Revision = "2025-06-18".parse()?;
/// assert!(revision.has_elicitation() && !revision.has_batches() && !revision.is_modern());
/// # Ok::<(), mcp_jsonrpc::UnknownRevision>(())
/// ```
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
#[non_exhaustive]
pub enum Revision {
    /// 2024-11-05: the first; HTTP+SSE.
    V2024_11_05,
    /// 2025-03-26: Streamable HTTP, batches, audio, tool annotations.
    V2025_03_26,
    /// 2025-06-18: elicitation, structured output, titles; no batches.
    V2025_06_18,
    /// 2025-11-25: icons, URL elicitation, sampling with tools, experimental tasks.
    V2025_11_25,
    /// 2026-07-28: stateless; no handshake, no server requests.
    V2026_07_28,
}

/// The form of tasks in a revision.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
#[non_exhaustive]
pub enum TaskForm {
    /// No tasks.
    None,
    /// Experimental, part of the core (2025-11-25): `model::experimental_task`.
    Experimental,
    /// As the extension `io.modelcontextprotocol/tasks` (2026-07-28): `model::task`.
    Extension,
}

impl Revision {
    /// All revisions, oldest first.
    pub const ALL: [Self; 5] = [
        Self::V2024_11_05,
        Self::V2025_03_26,
        Self::V2025_06_18,
        Self::V2025_11_25,
        Self::V2026_07_28,
    ];
    /// The newest revision.
    pub const LATEST: Self = Self::V2026_07_28;
    /// The newest revision that begins with `initialize`.
    pub const LATEST_LEGACY: Self = Self::V2025_11_25;

    /// The date on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::V2024_11_05 => "2024-11-05",
            Self::V2025_03_26 => "2025-03-26",
            Self::V2025_06_18 => "2025-06-18",
            Self::V2025_11_25 => "2025-11-25",
            Self::V2026_07_28 => "2026-07-28",
        }
    }

    /// Whether it is stateless: every request carries its own `_meta`, and nothing is negotiated first.
    pub fn is_modern(self) -> bool {
        self >= Self::V2026_07_28
    }

    /// Whether a connection begins with `initialize`. Modern clients may send `server/discover`.
    pub fn has_handshake(self) -> bool {
        !self.is_modern()
    }

    /// Whether HTTP uses the legacy pair of an SSE stream and a POST address.
    pub fn has_http_sse(self) -> bool {
        self == Self::V2024_11_05
    }

    /// Whether HTTP has sessions, a GET stream and DELETE.
    pub fn has_http_sessions(self) -> bool {
        (Self::V2025_03_26..=Self::V2025_11_25).contains(&self)
    }

    /// Whether an SSE stream may be closed early and resumed by polling (`retry`).
    pub fn has_stream_polling(self) -> bool {
        self == Self::V2025_11_25
    }

    /// Whether HTTP requests carry `MCP-Protocol-Version`: after `initialize` or, if modern, always.
    pub fn wants_version_header(self) -> bool {
        self >= Self::V2025_06_18
    }

    /// Whether HTTP requests carry `Mcp-Method`, `Mcp-Name` and `Mcp-Param-*`.
    pub fn wants_method_headers(self) -> bool {
        self.is_modern()
    }

    /// Whether a peer may send several messages in one array.
    pub fn has_batches(self) -> bool {
        self == Self::V2025_03_26
    }

    /// Whether the server may send requests. Modern ones return `input_required` instead.
    pub fn has_server_requests(self) -> bool {
        !self.is_modern()
    }

    /// Whether a result may ask for input before it is complete.
    pub fn has_input_required(self) -> bool {
        self.is_modern()
    }

    /// Whether there is audio content.
    pub fn has_audio(self) -> bool {
        self >= Self::V2025_03_26
    }

    /// Whether tools have annotations.
    pub fn has_tool_annotations(self) -> bool {
        self >= Self::V2025_03_26
    }

    /// Whether progress has a `message`.
    pub fn has_progress_message(self) -> bool {
        self >= Self::V2025_03_26
    }

    /// Whether servers declare `completions`; earlier revisions have completion without a capability.
    pub fn has_completions_capability(self) -> bool {
        self >= Self::V2025_03_26
    }

    /// Whether servers may ask the user with forms.
    pub fn has_elicitation(self) -> bool {
        self >= Self::V2025_06_18
    }

    /// Whether servers may send the user to a URL.
    pub fn has_url_elicitation(self) -> bool {
        self >= Self::V2025_11_25
    }

    /// Whether forms have multiple choice and defaults of every type.
    pub fn has_rich_forms(self) -> bool {
        self >= Self::V2025_11_25
    }

    /// Whether objects have a `title` besides their name.
    pub fn has_titles(self) -> bool {
        self >= Self::V2025_06_18
    }

    /// Whether tools have an output schema and structured results.
    pub fn has_structured_output(self) -> bool {
        self >= Self::V2025_06_18
    }

    /// Whether a structured result may be any JSON; before, only an object.
    pub fn has_any_structured_output(self) -> bool {
        self.is_modern()
    }

    /// Whether results may link to resources.
    pub fn has_resource_links(self) -> bool {
        self >= Self::V2025_06_18
    }

    /// Whether tools, resources, prompts, content and roots may have `_meta`.
    pub fn has_meta_on_objects(self) -> bool {
        self >= Self::V2025_06_18
    }

    /// Whether annotations have `lastModified`.
    pub fn has_last_modified(self) -> bool {
        self >= Self::V2025_06_18
    }

    /// Whether completion requests have a `context`.
    pub fn has_completion_context(self) -> bool {
        self >= Self::V2025_06_18
    }

    /// Whether objects have icons.
    pub fn has_icons(self) -> bool {
        self >= Self::V2025_11_25
    }

    /// Whether sampling requests may carry tools.
    pub fn has_sampling_tools(self) -> bool {
        self >= Self::V2025_11_25
    }

    /// Whether a schema without `$schema` uses JSON Schema 2020-12.
    pub fn has_default_dialect(self) -> bool {
        self >= Self::V2025_11_25
    }

    /// The form of its tasks.
    pub fn has_tasks(self) -> TaskForm {
        match self {
            Self::V2024_11_05 | Self::V2025_03_26 | Self::V2025_06_18 => TaskForm::None,
            Self::V2025_11_25 => TaskForm::Experimental,
            Self::V2026_07_28 => TaskForm::Extension,
        }
    }

    /// Whether capabilities have `extensions`.
    pub fn has_extensions(self) -> bool {
        self.is_modern()
    }

    /// Whether results have a `resultType`.
    pub fn has_result_type(self) -> bool {
        self.is_modern()
    }

    /// Whether results carry cache hints: `ttlMs` and `cacheScope`.
    pub fn has_caching(self) -> bool {
        self.is_modern()
    }

    /// Whether there is `ping`.
    pub fn has_ping(self) -> bool {
        !self.is_modern()
    }

    /// Whether there is `logging/setLevel`. Modern requests carry the level in `_meta`.
    pub fn has_set_level(self) -> bool {
        !self.is_modern()
    }

    /// Whether there is `resources/subscribe`. Modern clients use `subscriptions/listen`.
    pub fn has_resource_subscribe(self) -> bool {
        !self.is_modern()
    }

    /// Whether there is `subscriptions/listen`.
    pub fn has_subscriptions_listen(self) -> bool {
        self.is_modern()
    }

    /// Whether the client announces that its roots changed.
    pub fn has_roots_list_changed(self) -> bool {
        !self.is_modern()
    }

    /// The error code a server returns for an unknown resource; clients should accept either code.
    pub fn resource_not_found(self) -> crate::ErrorCode {
        if self.is_modern() {
            crate::ErrorCode::INVALID_PARAMS
        } else {
            crate::ErrorCode::RESOURCE_NOT_FOUND
        }
    }
}

impl fmt::Display for Revision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Revision {
    type Err = UnknownRevision;

    fn from_str(text: &str) -> Result<Self, UnknownRevision> {
        Self::ALL
            .into_iter()
            .find(|revision| revision.as_str() == text)
            .ok_or_else(|| UnknownRevision {
                revision: text.to_owned(),
            })
    }
}

impl Serialize for Revision {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for Revision {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?
            .parse()
            .map_err(de::Error::custom)
    }
}

/// A peer named a revision this crate does not know.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct UnknownRevision {
    /// The revision's name.
    pub revision: String,
}

impl fmt::Display for UnknownRevision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "unknown protocol revision {:?}; known are",
            self.revision
        )?;
        Revision::ALL
            .into_iter()
            .try_for_each(|revision| write!(f, " {revision}"))
    }
}

impl Error for UnknownRevision {}
