//! Anthropic Messages, both API versions.

mod block;
mod cache;
mod event;
pub(crate) mod generation;
mod output;
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
use crate::wire::vertex::VertexPlace;
use crate::wire::{Wire, segment};

/// A version of the Messages API.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub enum AnthropicVersion {
    /// The first version: has sampling options, and expects the key in `x-api-key`.
    V2023_06_01,
    /// Has no sampling options; newer models take instructions between the turns.
    #[default]
    V2026_10_21,
}

impl AnthropicVersion {
    /// The version as its header spells it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::V2023_06_01 => "2023-06-01",
            Self::V2026_10_21 => "2026-10-21",
        }
    }
}

/// The adapter for Anthropic Messages.
#[derive(Clone, Debug)]
pub struct Anthropic {
    version: AnthropicVersion,
    target: Target,
    /// On Vertex AI; otherwise at Anthropic.
    vertex: Option<VertexPlace>,
}

impl Anthropic {
    /// Creates an adapter for this version.
    pub fn new(version: AnthropicVersion) -> Self {
        Self {
            version,
            target: Target::ANTHROPIC,
            vertex: None,
        }
    }

    /// Creates an adapter for Vertex AI, in a project and a location such as `us-east5` or `global`. Vertex has its own
    /// version of the API, with the sampling options of the first version, and no list of models.
    ///
    /// ```
    /// use provider_adapters::{Adapter, Anthropic};
    ///
    /// let adapter = Anthropic::vertex("my-project", "us-east5");
    /// assert_eq!(adapter.base_url(), "https://us-east5-aiplatform.googleapis.com");
    /// ```
    pub fn vertex(project: impl Into<String>, location: impl Into<String>) -> Self {
        Self {
            vertex: Some(VertexPlace::new(project, location)),
            ..Self::new(AnthropicVersion::V2023_06_01)
        }
    }

    /// Compiles tools for another target, such as a strict one.
    #[must_use]
    pub fn with_target(mut self, target: Target) -> Self {
        self.target = target;
        self
    }
}

impl Anthropic {
    fn with_version(&self, request: WireRequest) -> WireRequest {
        request.with_header("anthropic-version", self.version.as_str())
    }
}

impl Default for Anthropic {
    /// In the newest version.
    fn default() -> Self {
        Self::new(AnthropicVersion::default())
    }
}

impl Adapter for Anthropic {
    fn wire(&self) -> Wire {
        Wire::Anthropic
    }

    fn base_url(&self) -> String {
        match &self.vertex {
            Some(place) => place.base_url(),
            None => "https://api.anthropic.com".to_owned(),
        }
    }

    fn key_header(&self) -> KeyHeader {
        match self.version {
            AnthropicVersion::V2023_06_01 if self.vertex.is_some() => KeyHeader::Bearer,
            AnthropicVersion::V2023_06_01 => KeyHeader::Named("x-api-key"),
            AnthropicVersion::V2026_10_21 => KeyHeader::Bearer,
        }
    }

    fn environment(&self) -> Environment<'_> {
        if self.vertex.is_some() {
            return Environment {
                google: true,
                ..Environment::default()
            };
        }
        Environment {
            keys: &["ANTHROPIC_API_KEY"],
            base_url: Some("ANTHROPIC_BASE_URL"),
            ..Environment::default()
        }
    }

    fn models_request(&self, after: Option<&str>) -> Option<WireRequest> {
        if self.vertex.is_some() {
            return None;
        }
        let mut path = "/v1/models?limit=1000".to_owned();
        if let Some(after) = after {
            path.push_str("&after_id=");
            path.push_str(&segment(after));
        }
        Some(self.with_version(WireRequest::new(path, Vec::new())))
    }

    fn target(&self) -> &Target {
        &self.target
    }

    fn defers_tools(&self, model: &str) -> bool {
        !output::is_old(model)
    }

    fn definitions(&self, tools: &ToolSet) -> RawJson {
        let list: Vec<Object<'_>> = tools.compiled().iter().map(request::definition).collect();
        Json::from(list).to_raw()
    }

    fn encode(&self, request: &Request) -> Result<Encoded, EncodeError> {
        let output = output::compile(request)?;
        let (body, omitted) = request::body(request, output.as_ref(), self)?;
        let body = request.body(body);
        let sent = match &self.vertex {
            None => self.with_version(WireRequest::new("/v1/messages", body)),
            Some(place) => {
                let method = match request.stream {
                    true => "streamRawPredict",
                    false => "rawPredict",
                };
                WireRequest::new(place.path("anthropic", &request.model, method), body)
            }
        };
        Ok(Encoded::new(request, sent)
            .with_omitted(omitted)
            .with_output(output))
    }

    fn messages(&self, turns: &[Turn], tools: &ToolSet) -> Vec<RawJson> {
        let media_bytes = RequestLimits::default().media_bytes;
        let mut writer = request::Writer::new(self.version, "", tools, media_bytes);
        writer.turns(turns);
        writer.into_messages().iter().map(Json::to_raw).collect()
    }

    fn decoder(&self, expected: Expected) -> Box<dyn Decoder> {
        Box::new(WireDecoder::new(
            stream::AnthropicFrames::default(),
            expected,
        ))
    }
}
