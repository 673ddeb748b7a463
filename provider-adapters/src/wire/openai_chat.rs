//! OpenAI Chat Completions, and the many servers more or less compatible with it.

mod chunk;
mod dialect;
mod extras;
mod part;
mod request;
mod resolver;
mod stream;
mod think;

use mcp_jsonrpc::RawJson;
use tool_schema::Target;

pub use dialect::{Dialect, OutputFormat, Thoughts};

use crate::adapter::decoder::{Decoder, Expected, WireDecoder};
use crate::adapter::limits::RequestLimits;
use crate::adapter::{Adapter, Environment, KeyHeader};
use crate::conversation::turn::Turn;
use crate::json::writer::{Json, Object};
use crate::request::tool_set::ToolSet;
use crate::request::{EncodeError, Encoded, Request, WireRequest};
use crate::wire::Wire;
use crate::wire::prompt::{ANY_OUTPUT, rescue_calls};

/// The adapter for Chat Completions, in a server's dialect.
///
/// ```
/// use provider_adapters::{Dialect, OpenAiChat};
///
/// let ollama = OpenAiChat::new(Dialect::OLLAMA);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct OpenAiChat {
    dialect: Dialect,
    target: Target,
    rescue: bool,
}

impl OpenAiChat {
    /// Creates an adapter for this dialect.
    pub fn new(dialect: Dialect) -> Self {
        Self {
            dialect,
            target: dialect.target,
            rescue: false,
        }
    }

    /// Compiles tools for another target, such as a strict one.
    #[must_use]
    pub fn with_target(mut self, target: Target) -> Self {
        self.target = target;
        self
    }

    /// Extracts calls from the text where the server failed to detect them: `<tool_call>{…}` and `[TOOL_CALLS][…]`. Off
    /// by default, because a model may just be writing about them.
    #[must_use]
    pub fn with_rescue(mut self) -> Self {
        self.rescue = true;
        self
    }
}

impl OpenAiChat {
    /// What the server accepts as the schema of a reply.
    fn output_target(&self) -> &'static Target {
        match self.dialect.output.is_instructed() {
            true => &ANY_OUTPUT,
            false => &Target::OPENAI_OUTPUT,
        }
    }
}

impl Default for OpenAiChat {
    /// OpenAI's own.
    fn default() -> Self {
        Self::new(Dialect::OPENAI)
    }
}

impl Adapter for OpenAiChat {
    fn wire(&self) -> Wire {
        Wire::OpenAiChat
    }

    fn base_url(&self) -> String {
        self.dialect.base_url.to_owned()
    }

    fn key_header(&self) -> KeyHeader {
        self.dialect
            .key_header
            .map_or(KeyHeader::Bearer, KeyHeader::Named)
    }

    fn environment(&self) -> Environment<'_> {
        self.dialect.environment
    }

    fn models_request(&self, _after: Option<&str>) -> Option<WireRequest> {
        Some(WireRequest::new("/models", Vec::new()))
    }

    fn target(&self) -> &Target {
        &self.target
    }

    fn definitions(&self, tools: &ToolSet) -> RawJson {
        let define = |tool| request::definition(tool, &self.dialect);
        let list: Vec<Object<'_>> = tools.compiled().iter().map(define).collect();
        Json::from(list).to_raw()
    }

    fn encode(&self, request: &Request) -> Result<Encoded, EncodeError> {
        let output = request.compiled_output(self.output_target())?;
        let (body, omitted) = request::body(request, output.as_ref(), &self.dialect)?;
        let sent = WireRequest::new("/chat/completions", request.body(body));
        Ok(Encoded::new(request, sent)
            .with_omitted(omitted)
            .with_output(output))
    }

    fn messages(&self, turns: &[Turn], tools: &ToolSet) -> Vec<RawJson> {
        let media_bytes = RequestLimits::default().media_bytes;
        let mut writer = request::Writer::new(&self.dialect, tools, media_bytes);
        writer.turns(turns);
        writer.messages.iter().map(Json::to_raw).collect()
    }

    fn decoder(&self, expected: Expected) -> Box<dyn Decoder> {
        let frames = stream::ChatFrames::new(&self.dialect);
        if self.rescue {
            let inner = Box::new(WireDecoder::new(frames, expected.without_tools()));
            return rescue_calls(inner, expected);
        }
        Box::new(WireDecoder::new(frames, expected))
    }
}
