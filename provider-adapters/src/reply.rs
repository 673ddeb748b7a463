//! A complete reply.

pub(crate) mod event;
pub(crate) mod stop;
pub(crate) mod usage;

use mcp_jsonrpc::RawJson;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::conversation::native::Native;
use crate::conversation::part::AssistantPart;
use crate::conversation::tool_call::ToolCall;
use crate::conversation::tool_result::ToolResult;
use crate::conversation::turn::{AssistantTurn, Unpaired, calls, text};
use crate::model::provider_error::ProviderError;
use crate::output::invalid::InvalidOutput;
use crate::reply::stop::{Stop, StopReason};
use crate::reply::usage::Usage;

/// A model's reply to one request.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[serde(default)]
#[non_exhaustive]
pub struct Reply {
    /// The parts, in order.
    pub parts: Vec<AssistantPart>,
    /// The provider's own form of the reply, sent back to that provider only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub native: Option<Native>,
    /// The reason why it stopped; `None` if it did not get that far.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stop: Option<Stop>,
    /// The value that matches the request's output schema, or the reason why there is none. `None` if the request has
    /// no output schema, or if the reply ended in tool calls, a refusal or an error.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output: Option<Result<RawJson, InvalidOutput>>,
    /// Token usage.
    #[serde(skip_serializing_if = "Usage::is_empty")]
    pub usage: Usage,
    /// The error, if there was one. The parts are then those that arrived before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<ProviderError>,
    /// Irregularities that were corrected.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<Note>,
}

/// An irregularity in a reply that was corrected.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case", tag = "note")]
#[non_exhaustive]
pub enum Note {
    /// A call's arguments were encoded twice, as a JSON string.
    ArgumentsEncodedTwice {
        /// The tool.
        name: String,
    },
    /// Two calls had the same id; the later one got another.
    IdTwice {
        /// The id they shared.
        id: String,
    },
    /// A call in the text had no end: it stays text.
    UnclosedCall,
}

impl Reply {
    /// The text parts, joined.
    pub fn text(&self) -> String {
        text(&self.parts)
    }

    /// The tool calls, in order, including those that must not be executed.
    pub fn calls(&self) -> impl Iterator<Item = &ToolCall> {
        calls(&self.parts)
    }

    /// The reason why it stopped.
    pub fn stop_reason(&self) -> Option<StopReason> {
        self.stop.as_ref().map(|stop| stop.reason)
    }

    /// The structured output, deserialized.
    ///
    /// # Errors
    /// [`InvalidOutput`] if there is none, if it does not match the request's output schema, or if it is not a `T`.
    pub fn output_as<T: DeserializeOwned>(&self) -> Result<T, InvalidOutput> {
        let invalid = |violation: String| InvalidOutput::new(&self.text(), vec![violation]);
        match &self.output {
            Some(Ok(output)) => output.parse().map_err(|error| invalid(error.to_string())),
            Some(Err(error)) => Err(error.clone()),
            None => Err(invalid("the reply has no structured output".to_owned())),
        }
    }

    /// The turn this reply becomes once its calls have results. If the reply failed, the provider's
    /// own form is dropped: an incomplete one is worse than none.
    pub fn into_turn(self, results: Vec<ToolResult>) -> Result<AssistantTurn, Unpaired> {
        let native = self.native.filter(|_| self.error.is_none());
        AssistantTurn::build(self.parts, results, native)
    }
}
