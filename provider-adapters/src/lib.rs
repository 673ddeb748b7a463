#![doc = include_str!("../README.md")]

mod adapter;
mod conversation;
pub mod guide;
#[cfg(feature = "http")]
mod http;
mod json;
mod model;
mod output;
mod reply;
mod request;
#[cfg(feature = "server")]
pub mod server;
mod wire;

pub use adapter::{
    Adapter, Environment, KeyHeader,
    decoder::{Decoder, Expected, Frames, WireDecoder},
    limits::RequestLimits,
    reply_builder::{PartIndex, ReplyBuilder},
    wire_id::IdRule,
};
pub use conversation::{
    Conversation,
    arguments::Arguments,
    call_id::CallId,
    history::{History, Repair},
    media::{Media, MediaSource},
    native::Native,
    part::{AssistantPart, UserPart},
    tool_call::{CallProblem, ToolCall},
    tool_result::ToolResult,
    turn::{AssistantTurn, SystemTurn, Turn, Unpaired, UserTurn},
};
#[cfg(all(feature = "bedrock", feature = "http"))]
pub use http::aws::AwsCredentials;
#[cfg(feature = "vertex")]
pub use http::google::GoogleCredentials;
#[cfg(feature = "http")]
pub use http::{HttpModel, Retry, Timeouts, client_builder};
pub use mcp_jsonrpc::Secret;
pub use mcp_jsonrpc::model::flatten;
pub use model::{
    Model, ModelError, Phase, ReplyStream,
    failover::Failover,
    listing::{ModelInfo, ModelPage},
    provider_error::{ErrorKind, ProviderError},
};
pub use output::{OutputSchema, compiled::CompiledOutput, invalid::InvalidOutput};
pub use reply::{
    Note, Reply,
    event::ReplyEvent,
    stop::{Stop, StopReason},
    usage::Usage,
};
pub use request::{
    EncodeError, Encoded, Omitted, Request, WireRequest,
    cache::{Cache, CachePoint},
    messages_of,
    options::{Effort, Options},
    tool::{ToolChoice, ToolSpec},
    tool_set::{CompiledTool, LeftOut, ToolSet},
};
#[cfg(feature = "bedrock")]
pub use wire::bedrock::Bedrock;
pub use wire::{
    UnknownWire, Wire,
    anthropic::{Anthropic, AnthropicVersion},
    gemini::Gemini,
    openai_chat::{Dialect, OpenAiChat, OutputFormat, Thoughts},
    openai_responses::OpenAiResponses,
    prompt::{CallFormat, PromptMode},
};

// For tests, fuzzing and the `codec` example: a reply without a wire around it.
#[doc(hidden)]
pub use wire::prompt::text_decoder;
