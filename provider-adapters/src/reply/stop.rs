//! The reasons why a reply ended.

use serde::{Deserialize, Serialize};

/// The reason why the model stopped, with the same meaning for every provider.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum StopReason {
    /// The model finished its reply.
    End,
    /// It called tools. Any call in the reply takes precedence over [`End`](Self::End).
    ToolUse,
    /// It reached the output limit; the last part may be truncated.
    MaxTokens,
    /// It reached the model's context window.
    ContextWindow,
    /// It wrote one of the request's stop sequences.
    StopSequence,
    /// It declined.
    Refusal,
    /// A filter of the provider intervened, on the request or on the reply.
    Filtered,
    /// It tried to call a tool and the provider could not parse the call. Nothing may be executed.
    MalformedToolCall,
    /// The provider paused a long turn: send the turn back unchanged to continue.
    Pause,
    /// The reply was cancelled on the provider's side.
    Cancelled,
    /// The provider failed.
    Error,
    /// A reason unknown to this version; [`Stop::raw`] has it.
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

/// The reason why a reply ended, as ours and as the provider's.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Stop {
    /// The neutral reason.
    pub reason: StopReason,
    /// The provider's reason.
    pub raw: String,
}

impl Stop {
    /// Creates a stop from the neutral and the provider's reason.
    pub fn new(reason: StopReason, raw: impl Into<String>) -> Self {
        Self {
            reason,
            raw: raw.into(),
        }
    }
}
