//! Questions to a person about a call, and their answers.

use std::fmt;

use mcp_jsonrpc::RawObject;
use serde::{Deserialize, Serialize};

use crate::policy::Why;
use crate::record::ToolCallRecord;
use crate::tool::CallNumber;

/// A call that waits for somebody's yes.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Approval {
    /// The call, with its full arguments.
    pub record: ToolCallRecord,
    /// Why it is asked for.
    pub why: Why,
    /// Whether the tool says that it changes nothing and its server is trusted.
    pub read_only: bool,
    /// The tool's definition, as it is approved.
    pub fingerprint: String,
}

/// How far an answer goes.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Answer {
    /// Yes, this once.
    Once,
    /// Yes, and for this tool as long as this run lives.
    ThisRun,
    /// Yes, and for this tool always.
    AlwaysTool,
    /// Yes, and always for those tools of this server that change nothing.
    AlwaysServerReadOnly,
    /// No.
    Deny,
    /// No, and never for this tool.
    AlwaysDeny,
}

/// A person's answer to an [`Approval`].
///
/// ```
/// use agent_loop::{Answer, Decision};
///
/// let no = Decision::from(Answer::Deny).with_reason("Not on a Friday.");
/// ```
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Decision {
    /// How far it goes.
    pub answer: Answer,
    /// Arguments to use instead of the model's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arguments: Option<RawObject>,
    /// Why not, for the model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

impl From<Answer> for Decision {
    fn from(answer: Answer) -> Self {
        Self {
            answer,
            arguments: None,
            reason: None,
        }
    }
}

impl Decision {
    /// With other arguments than the model's.
    #[must_use]
    pub fn with_arguments(mut self, arguments: RawObject) -> Self {
        self.arguments = Some(arguments);
        self
    }

    /// With a reason for the model.
    #[must_use]
    pub fn with_reason(mut self, reason: impl Into<String>) -> Self {
        self.reason = Some(reason.into());
        self
    }
}

/// Why an answer does not count.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum AnswerError {
    /// No call of this number waits for such an answer; perhaps somebody was faster.
    NotAsked(CallNumber),
    /// The edited arguments do not fit the tool; the text says why. The call still waits.
    Arguments(String),
    /// Too many answers wait to be heard. Try again.
    Busy,
}

impl fmt::Display for AnswerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotAsked(number) => {
                write!(f, "tool call {number} does not wait for an answer")
            }
            Self::Arguments(problem) => write!(f, "the arguments do not fit: {problem}"),
            Self::Busy => f.write_str("too many answers wait to be heard; try again"),
        }
    }
}

impl std::error::Error for AnswerError {}
