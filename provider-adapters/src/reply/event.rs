//! Events of a reply during its arrival.

use serde::Serialize;
use serde_json::Value;

use crate::conversation::call_id::CallId;
use crate::conversation::media::Media;
use crate::model::provider_error::ProviderError;
use crate::reply::stop::Stop;
use crate::reply::usage::Usage;

/// An event of a reply, the same for every provider.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case", tag = "type")]
#[non_exhaustive]
pub enum ReplyEvent {
    /// More text.
    Text {
        /// The new piece.
        text: String,
    },
    /// More of the model's reasoning.
    Reasoning {
        /// The new piece.
        text: String,
    },
    /// More of the model's reason for declining.
    Refusal {
        /// The new piece.
        text: String,
    },
    /// The model generated an image, audio or a file.
    Media(Media),
    /// A tool call begins.
    ToolCallStart {
        /// The call's name.
        tool_call_id: CallId,
        /// The tool's name.
        tool_call_name: String,
    },
    /// More of a call's arguments: JSON text, cut anywhere.
    ToolCallChunk {
        /// The call's name.
        tool_call_id: CallId,
        /// The new piece.
        tool_call_arguments_chunk: String,
    },
    /// A tool call has ended.
    ToolCallEnd {
        /// The call's name.
        tool_call_id: CallId,
        /// The tool's name.
        tool_call_name: String,
        /// The arguments, whole: a JSON object if `complete`, else what there was of one.
        tool_call_arguments_complete: String,
        /// Whether the call may be executed.
        complete: bool,
    },
    /// The structured output so far, in the shape of the request's output schema. Strings may be
    /// incomplete and members missing; [`Reply::output`](crate::Reply::output) has the whole value.
    PartialOutput {
        /// The value so far.
        value: Value,
    },
    /// The provider's token counters, so far.
    Usage(Usage),
    /// The reply has ended, for this reason.
    Stop(Stop),
    /// The reply failed. What arrived before remains valid as far as it goes; no call may be executed.
    Error(Box<ProviderError>),
    /// The provider rejected a tool's definition; the tool was omitted and the request sent again.
    ToolQuarantined {
        /// The tool's name.
        tool: String,
        /// The provider's message.
        reason: String,
    },
}
