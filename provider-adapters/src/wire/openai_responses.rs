//! OpenAI Responses.

mod event;
mod request;
mod stream;

use mcp_jsonrpc::RawJson;
use tool_schema::Target;

use crate::adapter::decoder::{Decoder, Expected, WireDecoder};
use crate::adapter::limits::RequestLimits;
use crate::adapter::{Adapter, Environment, KeyHeader};
use crate::conversation::turn::Turn;
use crate::json::writer::{Json, Object};
use crate::request::tool_set::ToolSet;
use crate::request::{EncodeError, Encoded, Request, WireRequest};
use crate::wire::Wire;

/// The adapter for Responses, without storage at the provider.
#[derive(Clone, Copy, Debug)]
pub struct OpenAiResponses {
    target: Target,
}

impl OpenAiResponses {
    /// Compiles tools for another target, such as a strict one.
    #[must_use]
    pub fn with_target(mut self, target: Target) -> Self {
        self.target = target;
        self
    }
}

impl Default for OpenAiResponses {
    fn default() -> Self {
        Self {
            target: Target::OPENAI,
        }
    }
}

impl Adapter for OpenAiResponses {
    fn wire(&self) -> Wire {
        Wire::OpenAiResponses
    }

    fn base_url(&self) -> String {
        "https://api.openai.com/v1".to_owned()
    }

    fn key_header(&self) -> KeyHeader {
        KeyHeader::Bearer
    }

    fn environment(&self) -> Environment<'_> {
        Environment {
            keys: &["OPENAI_API_KEY"],
            base_url: Some("OPENAI_BASE_URL"),
            ..Environment::default()
        }
    }

    fn models_request(&self, _after: Option<&str>) -> Option<WireRequest> {
        Some(WireRequest::new("/models", Vec::new()))
    }

    fn target(&self) -> &Target {
        &self.target
    }

    fn defers_tools(&self, model: &str) -> bool {
        request::defers_tools(model)
    }

    fn definitions(&self, tools: &ToolSet) -> RawJson {
        let list: Vec<Object<'_>> = tools.compiled().iter().map(request::definition).collect();
        Json::from(list).to_raw()
    }

    fn encode(&self, request: &Request) -> Result<Encoded, EncodeError> {
        let output = request.compiled_output(&Target::OPENAI_OUTPUT)?;
        let (body, omitted) = request::body(request, output.as_ref())?;
        let sent = WireRequest::new("/responses", request.body(body));
        Ok(Encoded::new(request, sent)
            .with_omitted(omitted)
            .with_output(output))
    }

    fn messages(&self, turns: &[Turn], tools: &ToolSet) -> Vec<RawJson> {
        let mut writer = request::Writer::new(tools, RequestLimits::default().media_bytes);
        writer.turns(turns);
        writer.items.iter().map(Json::to_raw).collect()
    }

    fn decoder(&self, expected: Expected) -> Box<dyn Decoder> {
        Box::new(WireDecoder::new(
            stream::ResponsesFrames::default(),
            expected,
        ))
    }
}
