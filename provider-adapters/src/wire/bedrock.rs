//! Amazon Bedrock's Converse and ConverseStream.

mod message;
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
use crate::wire::{Wire, segment};

/// The adapter for Amazon Bedrock's Converse, for every model on Bedrock.
///
/// Requests are signed with [`AwsCredentials`](crate::AwsCredentials), or carry a Bedrock API key.
///
/// ```
/// use provider_adapters::{Adapter, Bedrock};
///
/// let adapter = Bedrock::new("eu-central-1");
/// assert_eq!(adapter.base_url(), "https://bedrock-runtime.eu-central-1.amazonaws.com");
/// ```
#[derive(Clone, Debug)]
pub struct Bedrock {
    region: String,
    target: Option<Target>,
}

impl Bedrock {
    /// Creates an adapter for a region such as `us-east-1`.
    pub fn new(region: impl Into<String>) -> Self {
        Self {
            region: region.into(),
            target: None,
        }
    }

    /// Sets what the models accept as a tool: `Target::BEDROCK` by default for Amazon's own, which know only a few
    /// keywords, and `Target::ANTHROPIC` for all others.
    #[must_use]
    pub fn with_target(mut self, target: Target) -> Self {
        self.target = Some(target);
        self
    }

    /// The region.
    pub fn region(&self) -> &str {
        &self.region
    }
}

impl Adapter for Bedrock {
    fn wire(&self) -> Wire {
        Wire::Bedrock
    }

    fn base_url(&self) -> String {
        format!("https://bedrock-runtime.{}.amazonaws.com", self.region)
    }

    fn key_header(&self) -> KeyHeader {
        KeyHeader::Bearer
    }

    /// An API key of Bedrock, or else the access key that `AWS_ACCESS_KEY_ID` and `AWS_SECRET_ACCESS_KEY` hold.
    fn environment(&self) -> Environment<'_> {
        Environment {
            keys: &["AWS_BEARER_TOKEN_BEDROCK"],
            aws_region: Some(&self.region),
            base_url: Some("AWS_ENDPOINT_URL_BEDROCK_RUNTIME"),
            ..Environment::default()
        }
    }

    fn target(&self) -> &Target {
        self.target.as_ref().unwrap_or(&Target::BEDROCK)
    }

    fn target_for(&self, model: &str) -> &Target {
        match &self.target {
            None if !model.contains("amazon.") => &Target::ANTHROPIC,
            _ => self.target(),
        }
    }

    fn definitions(&self, tools: &ToolSet) -> RawJson {
        let list: Vec<Object<'_>> = tools.compiled().iter().map(request::definition).collect();
        Json::from(list).to_raw()
    }

    fn encode(&self, request: &Request) -> Result<Encoded, EncodeError> {
        let output = request::output(request)?;
        let (body, omitted) = request::body(request, output.as_ref())?;
        let method = match request.stream {
            true => "converse-stream",
            false => "converse",
        };
        let path = format!("/model/{}/{method}", segment(&request.model));
        let sent = WireRequest::new(path, request.body(body));
        Ok(Encoded::new(request, sent)
            .with_omitted(omitted)
            .with_output(output))
    }

    fn messages(&self, turns: &[Turn], tools: &ToolSet) -> Vec<RawJson> {
        let mut writer = message::Writer::new(tools, RequestLimits::default().media_bytes);
        writer.turns(turns);
        writer.into_messages().iter().map(Json::to_raw).collect()
    }

    fn decoder(&self, expected: Expected) -> Box<dyn Decoder> {
        Box::new(WireDecoder::new(
            stream::ConverseFrames::default(),
            expected,
        ))
    }
}
