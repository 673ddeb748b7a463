//! Requests, and their encoded form.

pub(crate) mod cache;
pub(crate) mod options;
pub(crate) mod tool;
pub(crate) mod tool_set;

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use mcp_jsonrpc::RawJson;
use tool_schema::Target;

use crate::adapter::decoder::Expected;
use crate::adapter::limits::RequestLimits;
use crate::conversation::Conversation;
use crate::conversation::call_id::hash;
use crate::json::writer::Object;
use crate::output::OutputSchema;
use crate::output::compiled::CompiledOutput;
use crate::request::cache::Cache;
use crate::request::options::Options;
use crate::request::tool::ToolChoice;
use crate::request::tool_set::ToolSet;

/// A request, the same for every provider.
///
/// Keep it and let its conversation grow: nothing has to be rebuilt for the next turn.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Request {
    /// The model's name.
    pub model: String,
    /// The conversation so far.
    pub conversation: Conversation,
    /// The tools the model may call, compiled by [`Adapter::tools`](crate::Adapter::tools).
    pub tools: Arc<ToolSet>,
    /// Whether the model may or must call them.
    pub choice: ToolChoice,
    /// Sampling and reasoning options.
    pub options: Options,
    /// The JSON schema that the reply must match.
    pub output: Option<OutputSchema>,
    /// The prompt caching of the request.
    pub cache: Cache,
    /// Whether the reply is streamed.
    pub stream: bool,
    /// Limits on what is sent and received.
    pub limits: RequestLimits,
}

impl Request {
    /// Creates a request to continue a conversation with a streamed reply.
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

    /// Requests a reply that matches a JSON schema.
    ///
    /// The schema is compiled for the wire when the request is encoded; one that cannot be compiled
    /// is an error then, before anything is sent. The value is in
    /// [`Reply::output`](crate::Reply::output).
    ///
    /// ```
    /// use provider_adapters::{Adapter, Conversation, OpenAiChat, Request};
    /// use serde_json::json;
    ///
    /// let mut conversation = Conversation::new();
    /// conversation.ask("Which cities are in the text?");
    /// let schema = json!({"type": "array", "items": {"type": "string"}});
    /// let request = Request::new("gpt-5.6", conversation).with_output_schema(schema);
    /// let adapter = OpenAiChat::default();
    /// let encoded = adapter.encode(&request)?;
    ///
    /// let mut decoder = adapter.decoder(encoded.expected);
    /// let mut events = Vec::new();
    /// let reply = br#"{"choices":[{"message":{"content":"{\"value\":[\"Oslo\"]}"},"finish_reason":"stop"}]}"#;
    /// decoder.push(reply, &mut events);
    /// let cities: Vec<String> = decoder.finish(&mut events).output_as()?;
    /// assert_eq!(cities, ["Oslo"]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[cfg(feature = "structured-output")]
    #[must_use]
    pub fn with_output_schema(mut self, schema: impl Into<OutputSchema>) -> Self {
        self.output = Some(schema.into());
        self
    }

    /// Requests a reply that can be deserialized as `T`.
    ///
    /// ```
    /// use provider_adapters::{Conversation, Request};
    ///
    /// #[derive(schemars::JsonSchema, serde::Deserialize)]
    /// struct Invoice { number: String, total: f64 }
    ///
    /// let mut conversation = Conversation::new();
    /// conversation.ask("Invoice 17 is over 20 €.");
    /// let request = Request::new("any", conversation).with_output::<Invoice>();
    /// assert_eq!(request.output.unwrap().name(), "Invoice");
    /// ```
    #[cfg(feature = "schemars")]
    #[must_use]
    pub fn with_output<T: schemars::JsonSchema>(self) -> Self {
        let schema = schemars::SchemaGenerator::default().into_root_schema_for::<T>();
        self.with_output_schema(schema)
    }

    /// Sets the prompt caching of the request.
    #[must_use]
    pub fn with_cache(mut self, cache: Cache) -> Self {
        self.cache = cache;
        self
    }

    /// Sets whether the reply is streamed.
    #[must_use]
    pub fn with_stream(mut self, stream: bool) -> Self {
        self.stream = stream;
        self
    }

    /// Sets the limits.
    #[must_use]
    pub fn with_limits(mut self, limits: RequestLimits) -> Self {
        self.limits = limits;
        self
    }
}

/// A request in wire format: an HTTP POST without host and key.
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

/// An encoded request, and the data for the decoder of its reply.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Encoded {
    /// The request to send.
    pub request: WireRequest,
    /// The data for the decoder.
    pub expected: Expected,
    /// The parts the wire could not express.
    pub omitted: Vec<Omitted>,
}

/// A part of a request that a wire cannot express.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Omitted {
    /// An option, by its field in [`Options`] or [`Request`].
    Option(&'static str),
    /// An image, audio or a file: the model sees a placeholder with its type.
    Media(String),
}

impl Omitted {
    /// Those of these options that are there.
    pub(crate) fn options(unknown: &[(&'static str, bool)]) -> impl Iterator<Item = Self> {
        let there = unknown.iter().filter(|(_, there)| *there);
        there.map(|(name, _)| Self::Option(name))
    }
}

/// The reason why a request cannot be encoded.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum EncodeError {
    /// The conversation has no turn for the model to answer.
    Empty,
    /// The choice names a tool that is not in the request.
    UnknownTool {
        /// The tool's name.
        name: String,
    },
    /// The output schema cannot be compiled for the provider.
    OutputSchema {
        /// Why not.
        reason: String,
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
            Self::OutputSchema { reason } => {
                write!(f, "the output schema cannot be compiled: {reason}")
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

    /// The output schema in the form that `target` accepts.
    ///
    /// # Errors
    /// [`EncodeError::OutputSchema`] if there is no such form.
    pub fn compiled_output(&self, target: &Target) -> Result<Option<CompiledOutput>, EncodeError> {
        let output = self.output.as_ref();
        output
            .map(|output| CompiledOutput::new(output, target))
            .transpose()
    }

    /// The instructions, with those for a reply in a JSON schema.
    pub(crate) fn system_with(&self, output: Option<&CompiledOutput>) -> Option<Cow<'_, str>> {
        match (self.conversation.system(), output) {
            (system, None) => system.map(Cow::Borrowed),
            (None, Some(output)) => Some(output.instruction().into()),
            (Some(system), Some(output)) => {
                Some(format!("{system}\n\n{}", output.instruction()).into())
            }
        }
    }

    /// A body as bytes, with the request's extra members.
    pub(crate) fn body(&self, body: Object<'_>) -> Vec<u8> {
        let extra = self.options.extra.iter();
        let body = extra.fold(body, |body, (key, value)| body.merge(key.to_owned(), value));
        body.to_bytes()
    }
}

impl WireRequest {
    /// Creates a request with a body, for a path after the base URL, which starts with a slash.
    pub fn new(path: impl Into<String>, body: Vec<u8>) -> Self {
        Self {
            path: path.into(),
            headers: Vec::new(),
            body,
        }
    }

    /// Adds a header that is part of the protocol.
    #[must_use]
    pub fn with_header(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }
}

impl Encoded {
    /// Creates the encoded form of a request.
    pub fn new(request: &Request, encoded: WireRequest) -> Self {
        let expected = Expected {
            tools: request.tools.clone(),
            seed: hash(&encoded.body),
            limits: request.limits,
            output: None,
        };
        Self {
            request: encoded,
            expected,
            omitted: Vec::new(),
        }
    }

    /// Sets the parts the wire could not express.
    #[must_use]
    pub fn with_omitted(mut self, omitted: Vec<Omitted>) -> Self {
        self.omitted = omitted;
        self
    }

    /// Sets the output schema, in the form that is sent.
    #[must_use]
    pub fn with_output(mut self, output: Option<CompiledOutput>) -> Self {
        self.expected.output = output.map(Arc::new);
        self
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
