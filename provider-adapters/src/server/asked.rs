//! A request, as parsed by the provider.

use std::fmt;

use mcp_jsonrpc::RawObject;
use serde_json::Value;

use super::{Answer, ScriptedReply, anthropic, gemini, openai_chat, openai_responses, prompt};
use crate::request::tool::ToolSpec;
use crate::wire::Wire;

/// A request to a model: the parts of its body that a scripted model depends on.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Asked {
    /// The wire the request is written for; in prompt mode the one that carries it.
    pub wire: Wire,
    /// The model's name.
    pub model: String,
    /// Whether the reply must be streamed.
    pub stream: bool,
    /// The instructions, including those of prompt mode.
    pub system: String,
    /// The tools it may call, with their names on the wire.
    pub tools: Vec<ToolSpec>,
    /// Whether it may call tools now.
    pub may_call: bool,
    /// Whether the instructions describe the tools and calls are written as text.
    pub prompt_mode: bool,
    /// The conversation, in order.
    pub said: Vec<Said>,
}

/// One entry of a conversation.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Said {
    /// The user's text.
    User(String),
    /// The model's text.
    Assistant(String),
    /// An image, audio or a file.
    Media,
    /// A call by the model.
    Call {
        /// Its id; blank if it has none.
        id: String,
        /// The tool's name.
        name: String,
        /// The arguments, as JSON text.
        arguments: String,
    },
    /// A tool's result.
    Answer(ToolAnswer),
}

/// A tool's result.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct ToolAnswer {
    /// The tool's name.
    pub name: String,
    /// The id of the call; empty if it has none.
    pub id: String,
    /// The text of the result.
    pub text: String,
    /// Whether it is a failure.
    pub is_error: bool,
}

/// The error for a request that belongs to no wire.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum NotAsked {
    /// No wire has this path.
    Path(String),
    /// The body is not a JSON object.
    Body,
}

impl Asked {
    /// Parses a request from its body and the path of its URL, with or without the prefix before the API's own part.
    pub fn read(path: &str, body: &[u8]) -> Result<Self, NotAsked> {
        let bare = path.split('?').next().unwrap_or_default();
        let wire = wire_of(bare).ok_or_else(|| NotAsked::Path(bare.to_owned()))?;
        let body: Value = serde_json::from_slice(body).map_err(|_| NotAsked::Body)?;
        if !body.is_object() {
            return Err(NotAsked::Body);
        }
        let mut asked = Self {
            wire,
            model: string(&body, "model"),
            stream: body.get("stream").and_then(Value::as_bool) == Some(true),
            system: String::new(),
            tools: Vec::new(),
            may_call: true,
            prompt_mode: false,
            said: Vec::new(),
        };
        match wire {
            Wire::OpenAiResponses => openai_responses::read(&body, &mut asked),
            Wire::Anthropic => anthropic::read(&body, &mut asked),
            Wire::Gemini | Wire::Vertex => {
                let model = bare
                    .rsplit('/')
                    .next()
                    .and_then(|last| last.split(':').next());
                asked.model = model.unwrap_or_default().to_owned();
                asked.stream = bare.ends_with(":streamGenerateContent");
                gemini::read(&body, &mut asked);
            }
            _ => openai_chat::read(&body, &mut asked),
        }
        drop_captions(&mut asked.said);
        prompt::read(&mut asked);
        Ok(asked)
    }

    /// The user's last message.
    pub fn question(&self) -> Option<&str> {
        self.said.iter().rev().find_map(|said| match said {
            Said::User(text) => Some(text.as_str()),
            _ => None,
        })
    }

    /// The results of tools since the user's last message, in order.
    pub fn answers(&self) -> Vec<&ToolAnswer> {
        let mut answers = Vec::new();
        for said in &self.said {
            match said {
                Said::User(_) => answers.clear(),
                Said::Answer(answer) => answers.push(answer),
                _ => {}
            }
        }
        answers
    }

    /// The tool with this name, if it may be called.
    pub fn tool(&self, name: &str) -> Option<&ToolSpec> {
        self.tools
            .iter()
            .find(|tool| tool.name == name && self.may_call)
    }

    /// Encodes `reply` in the requested form: on this wire, streamed or whole, with calls as text in prompt mode.
    pub fn answer(&self, reply: &ScriptedReply) -> Answer {
        let written;
        let reply = if self.prompt_mode {
            written = reply.clone().in_prompt_mode();
            &written
        } else {
            reply
        };
        if self.stream {
            return Answer {
                content_type: "text/event-stream",
                chunks: reply.stream(self.wire),
            };
        }
        Answer {
            content_type: "application/json",
            chunks: vec![reply.whole(self.wire)],
        }
    }

    pub(super) fn push(&mut self, said: Said) {
        let blank = matches!(&said, Said::User(text) | Said::Assistant(text) if text.is_empty());
        if !blank {
            self.said.push(said);
        }
    }

    pub(super) fn system(&mut self, text: &str) {
        if !self.system.is_empty() && !text.is_empty() {
            self.system.push_str("\n\n");
        }
        self.system.push_str(text);
    }

    /// The answer to the call of this id.
    pub(super) fn answer_of(&mut self, call: &str, text: &str, is_error: bool) {
        let named = self.said.iter().rev().find_map(|said| match said {
            Said::Call { id, name, .. } if id == call => Some(name.clone()),
            _ => None,
        });
        self.answer_by(&named.unwrap_or_default(), call, text, is_error);
    }

    /// The answer of the tool of this name.
    pub(super) fn answer_by(&mut self, name: &str, id: &str, text: &str, is_error: bool) {
        self.said.push(Said::Answer(ToolAnswer {
            name: name.to_owned(),
            id: id.to_owned(),
            text: text.to_owned(),
            is_error,
        }));
    }
}

fn wire_of(path: &str) -> Option<Wire> {
    let ends = |end| path.ends_with(end);
    if ends("/chat/completions") {
        Some(Wire::OpenAiChat)
    } else if ends("/responses") {
        Some(Wire::OpenAiResponses)
    } else if ends("/messages") {
        Some(Wire::Anthropic)
    } else if ends(":generateContent") || ends(":streamGenerateContent") {
        let vertex = path.contains("/projects/");
        Some(if vertex { Wire::Vertex } else { Wire::Gemini })
    } else {
        None
    }
}

/// Media of a tool's answer may be shown in the user's name, under a line that says whose it is:
/// that line is not the user's.
fn drop_captions(said: &mut Vec<Said>) {
    let caption = |at: usize| {
        let line = matches!(said.get(at), Some(Said::User(text))
            if text.starts_with('[') && text.contains("] from ") && text.ends_with(':'));
        line && said.get(at + 1) == Some(&Said::Media)
    };
    let captions: Vec<usize> = (0..said.len()).filter(|at| caption(*at)).collect();
    let mut at = 0;
    said.retain(|_| {
        at += 1;
        captions.binary_search(&(at - 1)).is_err()
    });
}

impl fmt::Display for NotAsked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Path(path) => write!(f, "no model provider's API has the path {path:?}"),
            Self::Body => f.write_str("the body is not a JSON object"),
        }
    }
}

impl std::error::Error for NotAsked {}

/// The string member `key`.
pub(super) fn field<'a>(value: &'a Value, key: &str) -> Option<&'a str> {
    value.get(key)?.as_str()
}

/// The string member `key`; blank if there is none.
pub(super) fn string(value: &Value, key: &str) -> String {
    field(value, key).unwrap_or_default().to_owned()
}

/// The list member `key`; empty if there is none.
pub(super) fn list<'a>(value: &'a Value, key: &str) -> &'a [Value] {
    value
        .get(key)
        .and_then(Value::as_array)
        .map(Vec::as_slice)
        .unwrap_or_default()
}

/// A tool's definition, its schema in one of these members.
pub(super) fn spec(tool: &Value, schemas: &[&str]) -> Option<ToolSpec> {
    let schema = schemas.iter().find_map(|key| tool.get(*key));
    let schema = schema.and_then(|schema| RawObject::from_serialize(schema).ok());
    let spec = ToolSpec::new(
        field(tool, "name")?,
        schema.unwrap_or_else(RawObject::empty),
    );
    Some(match field(tool, "description") {
        Some(text) => spec.with_description(text),
        None => spec,
    })
}
