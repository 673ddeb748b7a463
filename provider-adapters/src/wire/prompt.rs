//! Tool calls as text, for models without native tools.

mod body;
mod decoder;
mod fence;
pub(crate) mod instruction;
mod parser;
mod plain;
mod request;
mod tag;

use std::sync::Arc;

use mcp_jsonrpc::RawJson;
use tool_schema::Target;

use self::decoder::{Keeps, PromptDecoder};
use self::parser::Grammar;
use self::plain::PlainText;
use crate::adapter::decoder::{Decoder, Expected};
use crate::adapter::{Adapter, Environment, KeyHeader};
use crate::conversation::turn::Turn;
use crate::request::tool_set::ToolSet;
use crate::request::{EncodeError, Encoded, Omitted, Request, WireRequest};
use crate::wire::Wire;

/// What a model that only reads the schema of its reply accepts.
pub(crate) const ANY_OUTPUT: Target = Target::json_schema("prompt").with_output();

/// Prompt mode: another adapter carries the text, the instructions describe the tools, and calls are extracted from the
/// text.
///
/// ```
/// use provider_adapters::{Adapter, Dialect, Expected, OpenAiChat, PromptMode};
///
/// let adapter = PromptMode::new(OpenAiChat::new(Dialect::LLAMA_CPP));
/// let mut decoder = adapter.decoder(Expected::default());
/// let mut events = Vec::new();
/// let reply = r#"{"choices":[{"finish_reason":"stop","message":{"content":
///     "Let me look.\n<function_call>{\"name\":\"getTime\",\"arguments\":{}}</function_call>"}}]}"#;
/// decoder.push(reply.as_bytes(), &mut events);
/// let reply = decoder.finish(&mut events);
/// assert_eq!(reply.text(), "Let me look.\n");
/// assert_eq!(reply.calls().next().unwrap().name, "getTime");
/// ```
#[derive(Clone, Debug)]
pub struct PromptMode<A> {
    inner: A,
    format: CallFormat,
    fenced: bool,
}

/// The format in which a model must write its calls. Replies may use any of the formats.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub enum CallFormat {
    /// `<function_call>{"name": …, "arguments": {…}}</function_call>`.
    #[default]
    FunctionCall,
    /// `<tool_use><name>…</name><arguments>{…}</arguments></tool_use>`.
    ToolUse,
}

impl<A: Adapter> PromptMode<A> {
    /// Creates an adapter on top of this one.
    pub fn new(inner: A) -> Self {
        Self {
            inner,
            format: CallFormat::default(),
            fenced: true,
        }
    }

    /// Sets the format of calls.
    #[must_use]
    pub fn with_format(mut self, format: CallFormat) -> Self {
        self.format = format;
        self
    }

    /// Leaves fenced blocks of JSON alone, even if they look like calls.
    #[must_use]
    pub fn without_fenced_calls(mut self) -> Self {
        self.fenced = false;
        self
    }
}

impl<A: Adapter> Adapter for PromptMode<A> {
    fn wire(&self) -> Wire {
        Wire::Prompt
    }

    fn base_url(&self) -> String {
        self.inner.base_url()
    }

    fn key_header(&self) -> KeyHeader {
        self.inner.key_header()
    }

    fn environment(&self) -> Environment<'_> {
        self.inner.environment()
    }

    fn models_request(&self, after: Option<&str>) -> Option<WireRequest> {
        self.inner.models_request(after)
    }

    /// A model that only reads takes any schema.
    fn target(&self) -> &Target {
        const ANY: Target = Target::json_schema("prompt");
        &ANY
    }

    fn definitions(&self, tools: &ToolSet) -> RawJson {
        let text = instruction::tools(tools, self.format);
        RawJson::from_serialize(&text).unwrap_or_else(|_| RawJson::null())
    }

    fn encode(&self, request: &Request) -> Result<Encoded, EncodeError> {
        request.checked_choice()?;
        let output = request.compiled_output(&ANY_OUTPUT)?;
        let textual = request::textual(request, output.as_ref(), self.format);
        let mut encoded = self.inner.encode(&textual)?;
        encoded.expected.tools = request.tools.clone();
        encoded.expected.output = output.map(Arc::new);
        // The stop sequence was our own wish.
        let ours = request.options.stop.is_empty();
        encoded
            .omitted
            .retain(|omitted| !(ours && *omitted == Omitted::Option("stop")));
        Ok(encoded)
    }

    fn messages(&self, turns: &[Turn], _tools: &ToolSet) -> Vec<RawJson> {
        let turns = request::textual_turns(turns, self.format);
        self.inner.messages(&turns, &ToolSet::default())
    }

    fn decoder(&self, expected: Expected) -> Box<dyn Decoder> {
        let inner = self.inner.decoder(expected.without_tools());
        read_calls(inner, self.fenced, expected)
    }
}

/// Extracts calls from plain text, for models without a wire: bytes in, in any chunks, and the same events out as from
/// [`PromptMode`].
///
/// ```
/// use provider_adapters::{Expected, text_decoder};
///
/// let mut decoder = text_decoder(Expected::default());
/// let mut events = Vec::new();
/// decoder.push(b"<tool_use><name>getTime</name><arguments>{}</arguments></tool_use>", &mut events);
/// assert_eq!(decoder.finish(&mut events).calls().count(), 1);
/// ```
pub fn text_decoder(expected: Expected) -> Box<dyn Decoder> {
    let inner = PlainText::new(expected.without_tools());
    read_calls(Box::new(inner), true, expected)
}

fn read_calls(inner: Box<dyn Decoder>, fenced: bool, expected: Expected) -> Box<dyn Decoder> {
    let names: Vec<String> = expected.tools.names().map(str::to_owned).collect();
    let grammar = Grammar {
        tags: &[tag::FUNCTION_CALL, tag::TOOL_USE],
        fenced,
        names: (!names.is_empty()).then_some(names),
    };
    Box::new(PromptDecoder::new(inner, grammar, Keeps::Text, expected))
}

/// Reads the calls that a server should have found in its model's text, but did not.
pub(crate) fn rescue_calls(inner: Box<dyn Decoder>, expected: Expected) -> Box<dyn Decoder> {
    let names = expected.tools.names().map(str::to_owned).collect();
    let tags = &[tag::TOOL_CALL, tag::TOOL_CALLS];
    let grammar = Grammar {
        tags,
        fenced: false,
        names: Some(names),
    };
    Box::new(PromptDecoder::new(inner, grammar, Keeps::Inner, expected))
}
