//! Why a reply ended.

use serde::{Deserialize, Serialize};

/// Why the model stopped, in words that mean the same for every provider.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum StopReason {
    /// The model finished its reply.
    End,
    /// It wants its tool calls answered. Any call in the reply wins over [`End`](Self::End).
    ToolUse,
    /// It ran into the output limit; the last part may be cut.
    MaxTokens,
    /// It ran into the model's context window.
    ContextWindow,
    /// It wrote one of the request's stop sequences.
    StopSequence,
    /// It declined.
    Refusal,
    /// A filter of the provider cut in, on the request or on the reply.
    Filtered,
    /// It tried to call a tool and the provider could not read the call. Nothing may be executed.
    MalformedToolCall,
    /// The provider paused a long turn: send the turn back as it is to go on.
    Pause,
    /// The reply was cancelled on the provider's side.
    Cancelled,
    /// The provider failed.
    Error,
    /// A reason this version does not know; [`Stop::raw`] has it.
    Other,
}

impl StopReason {
    /// Whether the model, or the provider, would not answer, or has not finished its turn.
    pub(crate) fn declines(self) -> bool {
        matches!(
            self,
            Self::Refusal | Self::Filtered | Self::Pause | Self::Cancelled | Self::Error
        )
    }

    /// Whether the reply may have been cut in the middle of a part.
    pub(crate) fn cuts(self) -> bool {
        !matches!(
            self,
            Self::End | Self::ToolUse | Self::StopSequence | Self::Pause | Self::Other
        )
    }
}

/// Why a reply ended, in our word and in the provider's.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Stop {
    /// Our word.
    pub reason: StopReason,
    /// The provider's word.
    pub raw: String,
}

impl Stop {
    /// Joins our word and the provider's.
    pub fn new(reason: StopReason, raw: impl Into<String>) -> Self {
        Self {
            reason,
            raw: raw.into(),
        }
    }
}
