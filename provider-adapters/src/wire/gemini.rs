//! Gemini `generateContent`: the Developer API and Vertex.

mod chunk;
mod items;
mod part;
mod partial_args;
mod request;
mod stream;

use mcp_jsonrpc::RawJson;
use tool_schema::Target;

use crate::adapter::decoder::{Decoder, Expected, WireDecoder};
use crate::adapter::limits::RequestLimits;
use crate::adapter::{Adapter, Environment, KeyHeader};
use crate::conversation::turn::Turn;
use crate::json::writer::Json;
use crate::request::tool_set::ToolSet;
use crate::request::{EncodeError, Encoded, Request, WireRequest};
use crate::wire::vertex::VertexPlace;
use crate::wire::{Wire, segment};

/// The adapter for Gemini's `generateContent`.
#[derive(Clone, Debug)]
pub struct Gemini {
    backend: Backend,
    target: Target,
    /// Whether schemas go into `parameters`, in the dialect of OpenAPI.
    openapi: bool,
    validated: bool,
}

#[derive(Clone, Debug)]
enum Backend {
    Developer,
    Vertex(VertexPlace),
}

impl Gemini {
    /// Creates an adapter for the Developer API.
    pub fn developer() -> Self {
        Self {
            backend: Backend::Developer,
            target: Target::GEMINI,
            openapi: false,
            validated: false,
        }
    }

    /// Creates an adapter for Vertex AI, in a project and a location such as `us-central1` or `global`.
    pub fn vertex(project: impl Into<String>, location: impl Into<String>) -> Self {
        Self {
            backend: Backend::Vertex(VertexPlace::new(project, location)),
            ..Self::developer()
        }
    }

    /// Puts schemas into `parameters`, for servers that support no other field.
    #[must_use]
    pub fn with_openapi_parameters(mut self) -> Self {
        self.target = Target::GEMINI_OPENAPI;
        self.openapi = true;
        self
    }

    /// Has the provider validate every call against its schema.
    #[must_use]
    pub fn with_validated_calls(mut self) -> Self {
        self.validated = true;
        self
    }

    fn path(&self, model: &str, stream: bool) -> String {
        let method = if stream {
            "streamGenerateContent?alt=sse"
        } else {
            "generateContent"
        };
        let model = model.strip_prefix("models/").unwrap_or(model);
        match &self.backend {
            Backend::Developer => format!("/v1beta/models/{}:{method}", segment(model)),
            Backend::Vertex(place) => place.path("google", model, method),
        }
    }
}

impl Adapter for Gemini {
    fn wire(&self) -> Wire {
        match self.backend {
            Backend::Developer => Wire::Gemini,
            Backend::Vertex(_) => Wire::Vertex,
        }
    }

    fn base_url(&self) -> String {
        match &self.backend {
            Backend::Developer => "https://generativelanguage.googleapis.com".to_owned(),
            Backend::Vertex(place) => place.base_url(),
        }
    }

    fn key_header(&self) -> KeyHeader {
        match self.backend {
            Backend::Developer => KeyHeader::Named("x-goog-api-key"),
            Backend::Vertex(_) => KeyHeader::Bearer,
        }
    }

    /// The Developer API's; Vertex takes an access token, which no variable holds for long.
    fn environment(&self) -> Environment<'_> {
        match self.backend {
            Backend::Vertex(_) => Environment {
                google: true,
                ..Environment::default()
            },
            Backend::Developer => Environment {
                keys: &["GEMINI_API_KEY", "GOOGLE_API_KEY"],
                ..Environment::default()
            },
        }
    }

    fn models_request(&self, after: Option<&str>) -> Option<WireRequest> {
        if let Backend::Vertex(_) = self.backend {
            return None;
        }
        let mut path = "/v1beta/models?pageSize=1000".to_owned();
        if let Some(after) = after {
            path.push_str("&pageToken=");
            path.push_str(&segment(after));
        }
        Some(WireRequest::new(path, Vec::new()))
    }

    fn target(&self) -> &Target {
        &self.target
    }

    fn definitions(&self, tools: &ToolSet) -> RawJson {
        let tools = request::definitions(tools.compiled().iter(), self);
        tools.unwrap_or_else(|| Json::List(Vec::new())).to_raw()
    }

    fn encode(&self, request: &Request) -> Result<Encoded, EncodeError> {
        let target = match self.openapi {
            true => Target::GEMINI_OPENAPI_OUTPUT,
            false => Target::GEMINI_OUTPUT,
        };
        let output = request.compiled_output(&target)?;
        let (body, omitted) = request::body(request, output.as_ref(), self)?;
        let path = self.path(&request.model, request.stream);
        let sent = WireRequest::new(path, request.body(body));
        Ok(Encoded::new(request, sent)
            .with_omitted(omitted)
            .with_output(output))
    }

    fn messages(&self, turns: &[Turn], tools: &ToolSet) -> Vec<RawJson> {
        let mut writer =
            request::Writer::new(self, "", tools, RequestLimits::default().media_bytes);
        writer.turns(turns);
        writer.into_contents().iter().map(Json::to_raw).collect()
    }

    fn decoder(&self, expected: Expected) -> Box<dyn Decoder> {
        Box::new(WireDecoder::new(
            stream::GeminiFrames::new(self.wire()),
            expected,
        ))
    }
}
