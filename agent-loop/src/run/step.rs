//! The steps of a run, and the reasons why it ends.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::approval::Approval;
use crate::compaction::ToSummarise;
use crate::run::limits::LimitKind;
use crate::run::number::CallNumber;
use crate::toolbox::Invocation;

/// The next step.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Step {
    /// Call the model, and feed its reply.
    CallModel {
        /// Whether it may call tools.
        tools: bool,
    },
    /// Summarise these turns, and feed the [summary](crate::Run::summarised), which takes their place.
    Compact(Box<ToSummarise>),
    /// Start these calls concurrently, and feed each outcome. The run already records them as running: store it first
    /// if it must survive a crash.
    RunTools(Vec<Invocation>),
    /// Wait for the outcome of a running call.
    Wait,
    /// Wait for approval of one of these calls.
    AskApproval(Vec<Approval>),
    /// Wait for the answer to a server's question about one of these calls.
    Park(Vec<CallNumber>),
    /// The run has ended.
    Done(Reason),
}

/// The reason why a run ended.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Reason {
    /// The model had nothing more to do.
    Finished,
    /// The reply reached its output limit.
    Truncated,
    /// The conversation no longer fits the model's context.
    ContextFull,
    /// The model declined, or the provider's filter intervened.
    Refused,
    /// The model's answer does not match the output schema.
    InvalidOutput {
        /// What is wrong with it.
        message: String,
    },
    /// A limit of the run was reached. It can be continued.
    Limit(LimitKind),
    /// The model repeated the same calls.
    Loop,
    /// It was cancelled. It can be continued.
    Cancelled,
    /// The request to the model failed, or its reply did. It can be continued.
    Failed {
        /// What happened.
        message: String,
    },
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Finished => "finished",
            Self::Truncated => "the reply ran into its output limit",
            Self::ContextFull => "the conversation no longer fits the model's context",
            Self::Refused => "the model declined",
            Self::Limit(LimitKind::Rounds) => "the limit on rounds is reached",
            Self::Limit(LimitKind::Calls) => "the limit on tool calls is reached",
            Self::Limit(LimitKind::Tokens) => "the limit on tokens is reached",
            Self::Limit(LimitKind::Cost) => "the limit on cost is reached",
            Self::Limit(LimitKind::Time) => "the limit on time is reached",
            Self::Loop => "the model repeated the same calls",
            Self::Cancelled => "cancelled",
            Self::InvalidOutput { message } => return f.write_str(message),
            Self::Failed { message } => {
                return write!(f, "the model could not be asked: {message}");
            }
        })
    }
}
