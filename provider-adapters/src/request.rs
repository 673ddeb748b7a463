//! Requests, and their encoded form.

pub(crate) mod options;
pub(crate) mod tool;
pub(crate) mod tool_set;

use std::fmt;
use std::sync::Arc;

use mcp_jsonrpc::RawJson;

use crate::adapter::decoder::Expected;
use crate::adapter::limits::RequestLimits;
use crate::conversation::Conversation;
use crate::conversation::call_id::hash;
use crate::json::writer::Object;
use crate::request::options::Options;
use crate::request::tool::ToolChoice;
use crate::request::tool_set::ToolSet;

/// A request, the same for every provider.
///
/// Keep it and let its conversation grow: nothing needs to be rebuilt for the next turn.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Request {
    /// The model's name.
    pub model: String,
    /// The conversation so far.
    pub conversation: Conversation,
    /// The tools it may call, compiled by [`Adapter::tools`](crate::Adapter::tools).
    pub tools: Arc<ToolSet>,
    /// Whether it may or must call them.
    pub choice: ToolChoice,
    /// Sampling and reasoning options.
    pub options: Options,
    /// Whether the reply is streamed.
    pub stream: bool,
    /// Bounds on what is sent and received.
    pub limits: RequestLimits,
}

impl Request {
    /// A request to continue a conversation with a streamed reply.
    pub fn new(model: impl Into<String>, conversation: Conversation) -> Self {
        Self {
            model: model.into(),
            conversation,
            stream: true,
            ..Self::default()
        }
    }

    /// Sets the tools.
    #[must_use]
    pub fn with_tools(mut self, tools: impl Into<Arc<ToolSet>>) -> Self {
        self.tools = tools.into();
        self
    }

    /// Sets the tool choice.
    #[must_use]
    pub fn with_choice(mut self, choice: ToolChoice) -> Self {
        self.choice = choice;
        self
    }

    /// Sets the options.
    #[must_use]
    pub fn with_options(mut self, options: Options) -> Self {
        self.options = options;
        self
    }

    /// Sets whether the reply is streamed.
    #[must_use]
    pub fn with_stream(mut self, stream: bool) -> Self {
        self.stream = stream;
        self
    }

    /// Sets the bounds.
    #[must_use]
    pub fn with_limits(mut self, limits: RequestLimits) -> Self {
        self.limits = limits;
        self
    }
}

/// A request as it goes over the wire: an HTTP POST without host and key.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct WireRequest {
    /// Path after the base URL, with its leading slash.
    pub path: String,
    /// Headers that are part of the protocol.
    pub headers: Vec<(&'static str, String)>,
    /// The body: JSON.
    pub body: Vec<u8>,
}

/// An encoded request, and what the decoder of its reply needs to know.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Encoded {
    /// What to send.
    pub request: WireRequest,
    /// What a decoder must know.
    pub expected: Expected,
    /// What the wire could not express.
    pub omitted: Vec<Omitted>,
}

/// Something a wire cannot express.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Omitted {
    /// An option, by its field in [`Options`] or [`Request`].
    Option(&'static str),
    /// An image, a sound or a file: the model sees a placeholder with its type.
    Media(String),
}

impl Omitted {
    /// Those of these options that are there.
    pub(crate) fn options(unknown: &[(&'static str, bool)]) -> impl Iterator<Item = Self> {
        let there = unknown.iter().filter(|(_, there)| *there);
        there.map(|(name, _)| Self::Option(name))
    }
}

/// Why a request cannot be encoded.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum EncodeError {
    /// The conversation has no turn the model could answer.
    Empty,
    /// The choice names a tool that is not among the request's.
    UnknownTool {
        /// The tool's name.
        name: String,
    },
}

impl fmt::Display for EncodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str("the conversation is empty: add a user turn first"),
            Self::UnknownTool { name } => {
                write!(
                    f,
                    "the tool choice names {name:?}, which is not among the request's tools"
                )
            }
        }
    }
}

impl std::error::Error for EncodeError {}

impl Request {
    /// The request's choice, checked. `None` if there is nothing to choose from.
    pub(crate) fn checked_choice(&self) -> Result<Option<&ToolChoice>, EncodeError> {
        let named: &[String] = match &self.choice {
            ToolChoice::Tool(name) => std::slice::from_ref(name),
            ToolChoice::Among(names) => names,
            _ => &[],
        };
        match named.iter().find(|name| !self.tools.contains(name)) {
            Some(name) => Err(EncodeError::UnknownTool { name: name.clone() }),
            None => Ok((!self.tools.is_empty()).then_some(&self.choice)),
        }
    }

    /// Puts a body, with the request's extra members, under its path.
    pub(crate) fn encoded(
        &self,
        path: String,
        headers: Vec<(&'static str, String)>,
        body: Object<'_>,
        omitted: Vec<Omitted>,
    ) -> Encoded {
        let extra = self.options.extra.iter();
        let body = extra.fold(body, |body, (key, value)| body.merge(key.to_owned(), value));
        let body = body.to_bytes();
        let expected = Expected {
            tools: self.tools.clone(),
            seed: hash(&body),
            limits: self.limits,
        };
        Encoded {
            request: WireRequest {
                path,
                headers,
                body,
            },
            expected,
            omitted,
        }
    }
}

/// The messages in an encoded request's body, on any wire.
pub fn messages_of(request: &WireRequest) -> Vec<RawJson> {
    let Ok(body) = serde_json::from_slice::<mcp_jsonrpc::RawMap>(&request.body) else {
        return Vec::new();
    };
    let lists = ["messages", "input", "contents"];
    lists
        .iter()
        .find_map(|key| body.read_as::<Vec<RawJson>>(key))
        .unwrap_or_default()
}
