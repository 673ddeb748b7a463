//! What a model is asked, and how that is written.

use std::fmt;
use std::sync::Arc;

use mcp_jsonrpc::RawJson;

use crate::call_id::hash;
use crate::conversation::Conversation;
use crate::decoder::Expected;
use crate::json_out::Object;
use crate::limits::Limits;
use crate::options::Options;
use crate::tool::ToolChoice;
use crate::tool_set::ToolSet;

/// A request, the same for every provider.
///
/// Keep it and let its conversation grow: nothing in it needs to be made anew for the next turn.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Request {
    /// The model's name.
    pub model: String,
    /// What was said.
    pub conversation: Conversation,
    /// What it may call, compiled by [`Adapter::tools`](crate::Adapter::tools).
    pub tools: Arc<ToolSet>,
    /// Whether it may, or must.
    pub choice: ToolChoice,
    /// How it is asked.
    pub options: Options,
    /// Whether the reply comes in pieces.
    pub stream: bool,
    /// How much may be sent and received.
    pub limits: Limits,
}

impl Request {
    /// Asks a model to go on with a conversation, and to answer as a stream.
    pub fn new(model: impl Into<String>, conversation: Conversation) -> Self {
        Self {
            model: model.into(),
            conversation,
            stream: true,
            ..Self::default()
        }
    }

    /// With these tools.
    #[must_use]
    pub fn with_tools(mut self, tools: impl Into<Arc<ToolSet>>) -> Self {
        self.tools = tools.into();
        self
    }

    /// With this choice among the tools.
    #[must_use]
    pub fn with_choice(mut self, choice: ToolChoice) -> Self {
        self.choice = choice;
        self
    }

    /// With these options.
    #[must_use]
    pub fn with_options(mut self, options: Options) -> Self {
        self.options = options;
        self
    }

    /// With a streamed reply, or a whole one.
    #[must_use]
    pub fn with_stream(mut self, stream: bool) -> Self {
        self.stream = stream;
        self
    }

    /// With these bounds.
    #[must_use]
    pub fn with_limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }
}

/// A request as it goes over the wire: all of an HTTP POST but the host and the key.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct WireRequest {
    /// What follows the base URL, from the slash on.
    pub path: String,
    /// Headers that are part of the protocol.
    pub headers: Vec<(&'static str, String)>,
    /// The body: JSON.
    pub body: Vec<u8>,
}

/// A request in a provider's words, and what is to be known for reading the reply.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Encoded {
    /// What to send.
    pub request: WireRequest,
    /// What a decoder must know.
    pub expected: Expected,
    /// What could not be said.
    pub omitted: Vec<Omitted>,
}

/// Something that a provider's wire has no words for.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Omitted {
    /// An option, by its field in [`Options`] or [`Request`].
    Option(&'static str),
    /// An image, a sound or a file: the model is told its kind only.
    Media(String),
}

impl Omitted {
    /// Those of these options that are there.
    pub(crate) fn options(unknown: &[(&'static str, bool)]) -> impl Iterator<Item = Self> {
        let there = unknown.iter().filter(|(_, there)| *there);
        there.map(|(name, _)| Self::Option(name))
    }
}

/// Why a request cannot be written.
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

/// The messages in a request's body, whatever the wire calls them.
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
