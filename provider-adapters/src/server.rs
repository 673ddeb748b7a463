//! The provider's side of every wire: replies as a real provider sends them, and parsed requests.
//!
//! A [`ScriptedReply`] is encoded as the bytes that a provider streams or returns whole, and an [`Asked`] is a request
//! as parsed by the provider: enough for a scripted model behind a real HTTP endpoint, so that tests cover the whole
//! path.
//!
//! ```
//! use provider_adapters::server::ScriptedReply;
//! use provider_adapters::{Adapter, Anthropic, Expected, Wire};
//!
//! let reply = ScriptedReply::new().with_text("Let me look.").with_call("c1", "get_time", "{}");
//! let mut decoder = Anthropic::default().decoder(Expected::default());
//! let mut events = Vec::new();
//! for event in reply.stream(Wire::Anthropic) {
//!     decoder.push(event.as_bytes(), &mut events);
//! }
//! assert_eq!(decoder.finish(&mut events).calls().next().unwrap().name, "get_time");
//! ```

mod anthropic;
mod asked;
#[cfg(feature = "bedrock")]
mod bedrock;
mod gemini;
mod openai_chat;
mod openai_responses;
mod prompt;

use serde_json::Value;

pub use self::asked::{Asked, NotAsked, Said, ToolAnswer};
use crate::json::writer::Object;
use crate::reply::stop::StopReason;
use crate::wire::Wire;

/// Default number of characters in one event of a stream.
const PIECE: usize = 12;

/// The reply of a scripted model, in neutral form.
///
/// Parts appear in the order they were added. Reasoning comes first, and calls come last: no wire can express another
/// order in a whole reply.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ScriptedReply {
    id: String,
    model: String,
    parts: Vec<Part>,
    usage: Option<(u64, u64)>,
    stop: Option<StopReason>,
    piece: usize,
}

#[derive(Clone, Debug, Eq, PartialEq)]
enum Part {
    Reasoning(String),
    Text(String),
    Call(Call),
}

#[derive(Clone, Debug, Eq, PartialEq)]
struct Call {
    id: String,
    name: String,
    arguments: String,
}

/// The response of an HTTP endpoint.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct Answer {
    /// The value of `content-type`.
    pub content_type: &'static str,
    /// The body: one item per event if it is a stream, else the whole body.
    pub chunks: Vec<String>,
}

impl ScriptedReply {
    /// Creates an empty reply.
    pub fn new() -> Self {
        Self {
            id: "0".to_owned(),
            model: "scripted".to_owned(),
            parts: Vec::new(),
            usage: None,
            stop: None,
            piece: PIECE,
        }
    }

    /// Adds reasoning. Chat Completions has no standard field for it: it is sent in the field that compatible servers
    /// use.
    #[must_use]
    pub fn with_reasoning(self, text: impl Into<String>) -> Self {
        self.with(Part::Reasoning(text.into()))
    }

    /// Adds text.
    #[must_use]
    pub fn with_text(self, text: impl Into<String>) -> Self {
        self.with(Part::Text(text.into()))
    }

    /// Adds a tool call. Arguments that are not a JSON object, such as truncated ones, are omitted on wires that carry
    /// objects: Gemini, and Anthropic's whole replies.
    #[must_use]
    pub fn with_call(
        self,
        id: impl Into<String>,
        name: impl Into<String>,
        arguments: impl Into<String>,
    ) -> Self {
        self.with(Part::Call(Call {
            id: id.into(),
            name: name.into(),
            arguments: arguments.into(),
        }))
    }

    fn with(mut self, part: Part) -> Self {
        self.parts.push(part);
        self
    }

    /// Sets the tokens of the request and of the reply.
    #[must_use]
    pub fn with_usage(mut self, input: u64, output: u64) -> Self {
        self.usage = Some((input, output));
        self
    }

    /// Sets the reason why it stopped, mapped to the wire's closest value. The default is
    /// [`ToolUse`](StopReason::ToolUse) with calls and [`End`](StopReason::End) without.
    #[must_use]
    pub fn with_stop(mut self, reason: StopReason) -> Self {
        self.stop = Some(reason);
        self
    }

    /// Sets the name of the model.
    #[must_use]
    pub fn with_model(mut self, model: impl Into<String>) -> Self {
        self.model = model.into();
        self
    }

    /// Sets the id, from which the ids of its items are derived.
    #[must_use]
    pub fn with_id(mut self, id: impl Into<String>) -> Self {
        self.id = id.into();
        self
    }

    /// Sets the number of characters in each event of a stream.
    #[must_use]
    pub fn with_piece_chars(mut self, count: usize) -> Self {
        self.piece = count.max(1);
        self
    }

    /// Converts the reply to prompt mode, in which the model writes its calls into the text.
    #[must_use]
    pub fn in_prompt_mode(mut self) -> Self {
        let mut text = String::new();
        let mut parts = Vec::new();
        for part in self.parts {
            match part {
                Part::Text(said) => text.push_str(&said),
                Part::Call(call) => {
                    if !text.is_empty() {
                        text.push('\n');
                    }
                    text.push_str(&prompt::call(&call.name, &call.arguments));
                }
                Part::Reasoning(_) => parts.push(part),
            }
        }
        parts.push(Part::Text(text));
        self.parts = parts;
        if self.stop == Some(StopReason::ToolUse) {
            self.stop = None;
        }
        self
    }

    /// The events a provider streams, each in wire format.
    pub fn stream(&self, wire: Wire) -> Vec<String> {
        match wire {
            Wire::OpenAiChat => openai_chat::stream(self),
            Wire::OpenAiResponses => openai_responses::stream(self),
            Wire::Anthropic => anthropic::stream(self),
            Wire::Gemini | Wire::Vertex => gemini::stream(self),
            // What a wire of another crate looks like is not known here.
            Wire::Prompt | Wire::Bedrock | Wire::Custom => {
                openai_chat::stream(&self.clone().in_prompt_mode())
            }
        }
    }

    /// The messages that Amazon Bedrock streams: bytes, not text.
    #[cfg(feature = "bedrock")]
    pub fn event_stream(&self) -> Vec<Vec<u8>> {
        bedrock::stream(self)
    }

    /// The body of a reply that is not streamed.
    pub fn whole(&self, wire: Wire) -> String {
        let body = match wire {
            Wire::OpenAiChat => openai_chat::whole(self),
            Wire::OpenAiResponses => openai_responses::whole(self),
            Wire::Anthropic => anthropic::whole(self),
            Wire::Gemini | Wire::Vertex => gemini::whole(self),
            Wire::Prompt | Wire::Bedrock | Wire::Custom => {
                return self.clone().in_prompt_mode().whole(Wire::OpenAiChat);
            }
        };
        text(&body)
    }

    fn calls(&self) -> impl Iterator<Item = &Call> {
        self.parts.iter().filter_map(|part| match part {
            Part::Call(call) => Some(call),
            _ => None,
        })
    }

    fn stop_reason(&self) -> StopReason {
        match self.stop {
            Some(reason) => reason,
            None if self.calls().next().is_some() => StopReason::ToolUse,
            None => StopReason::End,
        }
    }

    /// `text` in the pieces it is streamed in.
    fn pieces(&self, text: &str) -> Vec<String> {
        let chars: Vec<char> = text.chars().collect();
        chars.chunks(self.piece).map(String::from_iter).collect()
    }
}

impl Default for ScriptedReply {
    fn default() -> Self {
        Self::new()
    }
}

impl Call {
    /// The arguments where a wire carries an object.
    fn object(&self) -> Option<&str> {
        let is_object =
            serde_json::from_str::<Value>(&self.arguments).is_ok_and(|value| value.is_object());
        is_object.then_some(self.arguments.as_str())
    }
}

/// The body of an error response, in each provider's format.
pub fn failure(wire: Wire, status: u16, message: &str) -> String {
    let error = Object::default().set("message", message);
    let body = match wire {
        Wire::Anthropic => {
            let kind = match status {
                401 => "authentication_error",
                404 => "not_found_error",
                429 => "rate_limit_error",
                529 => "overloaded_error",
                400..=499 => "invalid_request_error",
                _ => "api_error",
            };
            Object::default()
                .set("type", "error")
                .set("error", error.set("type", kind))
        }
        Wire::Gemini | Wire::Vertex => {
            let kind = match status {
                401 => "UNAUTHENTICATED",
                404 => "NOT_FOUND",
                429 => "RESOURCE_EXHAUSTED",
                400..=499 => "INVALID_ARGUMENT",
                503 => "UNAVAILABLE",
                _ => "INTERNAL",
            };
            let error = error.set("code", u64::from(status)).set("status", kind);
            Object::default().set("error", error)
        }
        _ => {
            let kind = match status {
                400..=499 => "invalid_request_error",
                _ => "server_error",
            };
            Object::default().set("error", error.set("type", kind))
        }
    };
    text(&body)
}

fn text(body: &Object<'_>) -> String {
    String::from_utf8(body.to_bytes()).unwrap_or_default()
}

/// An event without a name.
fn event(data: &Object<'_>) -> String {
    format!("data: {}\n\n", text(data))
}

/// An event with a name.
fn named_event(name: &str, data: &Object<'_>) -> String {
    format!("event: {name}\ndata: {}\n\n", text(data))
}
