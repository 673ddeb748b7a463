//! The adapter trait, and the building blocks of adapters.

pub(crate) mod call_draft;
pub(crate) mod content;
pub(crate) mod decoder;
pub(crate) mod error_body;
pub(crate) mod event_stream;
pub(crate) mod limits;
pub(crate) mod replay;
pub(crate) mod reply_builder;
pub(crate) mod text_piece;
pub(crate) mod wire_call;
pub(crate) mod wire_id;

use std::fmt;
use std::sync::Arc;

use mcp_jsonrpc::RawJson;
use tool_schema::Target;

use crate::adapter::decoder::{Decoder, Expected};
use crate::conversation::turn::Turn;
use crate::request::tool::ToolSpec;
use crate::request::tool_set::ToolSet;
use crate::request::{EncodeError, Encoded, Request, WireRequest};
use crate::wire::Wire;

/// Codec of one provider's wire: encodes requests, decodes replies. Pure: no IO, no clock.
///
/// ```
/// use provider_adapters::{Adapter, Anthropic, Conversation, Request};
///
/// let adapter = Anthropic::default();
/// let mut conversation = Conversation::new();
/// conversation.ask("Hello?");
/// let encoded = adapter.encode(&Request::new("claude-sonnet-5-5", conversation))?;
/// assert_eq!(encoded.request.path, "/v1/messages");
///
/// let mut decoder = adapter.decoder(encoded.expected);
/// let mut events = Vec::new();
/// decoder.push(br#"{"content":[{"type":"text","text":"Hi."}],"stop_reason":"end_turn"}"#, &mut events);
/// assert_eq!(decoder.finish(&mut events).text(), "Hi.");
/// # Ok::<(), provider_adapters::EncodeError>(())
/// ```
pub trait Adapter: fmt::Debug + Send + Sync {
    /// The wire it speaks.
    fn wire(&self) -> Wire;

    /// Where the provider usually is.
    fn base_url(&self) -> String;

    /// How the key is sent.
    fn key_header(&self) -> KeyHeader;

    /// The environment variables that the provider's own programs read.
    fn environment(&self) -> Environment<'_> {
        Environment::default()
    }

    /// A request for the provider's list of models, without a body, starting after a page.
    /// [`ModelPage::read`](crate::ModelPage::read) parses the response. `None` if there is no list.
    fn models_request(&self, after: Option<&str>) -> Option<WireRequest> {
        let _ = after;
        None
    }

    /// What the provider accepts as a tool, whichever its model is.
    fn target(&self) -> &Target;

    /// What this model of the provider accepts as a tool.
    fn target_for(&self, model: &str) -> &Target {
        let _ = model;
        self.target()
    }

    /// Compiles tools for the provider.
    fn tools(&self, tools: &[ToolSpec]) -> ToolSet {
        ToolSet::compile(tools, self.target())
    }

    /// Compiles tools for this model of the provider.
    fn tools_for(&self, model: &str, tools: &[ToolSpec]) -> ToolSet {
        ToolSet::compile(tools, self.target_for(model))
    }

    /// Whether the wire has its own search for [deferred](ToolSpec::deferred) tools, with this model. If it has none,
    /// deferred tools are sent like all others.
    fn defers_tools(&self, model: &str) -> bool {
        let _ = model;
        false
    }

    /// The tools' definitions: the value of `tools` in a request.
    fn definitions(&self, tools: &ToolSet) -> RawJson;

    /// Writes a request.
    fn encode(&self, request: &Request) -> Result<Encoded, EncodeError>;

    /// The messages for these turns in a request with these tools, without cache breakpoints.
    fn messages(&self, turns: &[Turn], tools: &ToolSet) -> Vec<RawJson>;

    /// A decoder for one reply.
    fn decoder(&self, expected: Expected) -> Box<dyn Decoder>;
}

/// The header that carries a key.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum KeyHeader {
    /// `authorization: Bearer …`.
    Bearer,
    /// In a dedicated header.
    Named(&'static str),
}

/// The environment variables used by a provider's own programs.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Environment<'a> {
    /// The variables that may hold the key; the first one that is set is used. If empty, no key is required.
    pub keys: &'a [&'a str],
    /// Whether tokens of Google Cloud credentials take the place of a key.
    pub google: bool,
    /// The AWS region whose requests may be signed with an access key instead.
    pub aws_region: Option<&'a str>,
    /// The variable that may hold another base URL.
    pub base_url: Option<&'a str>,
}

macro_rules! forward {
    ($($pointer:ty),*) => {$(
        impl<A: Adapter + ?Sized> Adapter for $pointer {
            fn wire(&self) -> Wire {
                (**self).wire()
            }

            fn base_url(&self) -> String {
                (**self).base_url()
            }

            fn key_header(&self) -> KeyHeader {
                (**self).key_header()
            }

            fn environment(&self) -> Environment<'_> {
                (**self).environment()
            }

            fn models_request(&self, after: Option<&str>) -> Option<WireRequest> {
                (**self).models_request(after)
            }

            fn target(&self) -> &Target {
                (**self).target()
            }

            fn target_for(&self, model: &str) -> &Target {
                (**self).target_for(model)
            }

            fn tools(&self, tools: &[ToolSpec]) -> ToolSet {
                (**self).tools(tools)
            }

            fn tools_for(&self, model: &str, tools: &[ToolSpec]) -> ToolSet {
                (**self).tools_for(model, tools)
            }

            fn defers_tools(&self, model: &str) -> bool {
                (**self).defers_tools(model)
            }

            fn definitions(&self, tools: &ToolSet) -> RawJson {
                (**self).definitions(tools)
            }

            fn encode(&self, request: &Request) -> Result<Encoded, EncodeError> {
                (**self).encode(request)
            }

            fn messages(&self, turns: &[Turn], tools: &ToolSet) -> Vec<RawJson> {
                (**self).messages(turns, tools)
            }

            fn decoder(&self, expected: Expected) -> Box<dyn Decoder> {
                (**self).decoder(expected)
            }
        }
    )*};
}

forward!(Box<A>, Arc<A>);
