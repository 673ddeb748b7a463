//! Requests for a person's approval of a call, and the answers.

use std::collections::BTreeMap;
use std::fmt;

use mcp_jsonrpc::RawObject;
use serde::{Deserialize, Serialize};
use tool_policy::{Alarm, AskReason, BUILT_IN, Definition, DefinitionChange, SecretSource};

use crate::run::number::CallNumber;
use crate::run::record::ToolCallRecord;

/// A call that waits for a person's approval.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Approval {
    /// The call, with its full arguments.
    pub record: ToolCallRecord,
    /// The reason why approval is required.
    pub why: AskReason,
    /// Whether the tool is declared read-only and its server is trusted.
    pub read_only: bool,
    /// The server's description of the tool.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The findings of a scan of its definition, if they require attention.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub alarm: Option<Alarm>,
    /// The secret of another server in its arguments, if that is why it is asked for: whose it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub secret: Option<SecretSource>,
    /// The tool's definition, to which the approval is bound.
    pub definition: Definition,
    /// How that differs from the definition that was approved before, where both are known.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<DefinitionChange>,
    /// The server's tools that [`Answer::AlwaysServerReadOnly`] covers: their fingerprints by name,
    /// as they were when the question was asked. Show them.
    pub read_only_tools: BTreeMap<String, String>,
    /// The sub-agents' tools on the path to the call, outermost first; empty for a call of the run itself.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub via: Vec<String>,
    /// The digest of the question: the call, its arguments, the tool's definition and the server's identity.
    pub digest: String,
}

impl Approval {
    /// Whether it is for one of the loop's own tools: only runs stored by earlier versions ask about them.
    pub fn is_built_in(&self) -> bool {
        self.record.server_name == BUILT_IN
    }

    /// Whether it takes this answer.
    pub(crate) fn takes(&self, answer: Answer) -> Result<(), AnswerError> {
        let number = self.record.number;
        match answer {
            Answer::ThisRun | Answer::AlwaysTool | Answer::AlwaysServerReadOnly
                if self.why.is_for_one_call() =>
            {
                Err(AnswerError::OneCall(number))
            }
            Answer::AlwaysServerReadOnly if !self.read_only => {
                Err(AnswerError::NotReadOnly(number))
            }
            _ => Ok(()),
        }
    }

    /// The consent that an answer must name.
    pub fn consent(&self) -> Consent {
        Consent {
            call: self.record.number,
            digest: self.digest.clone(),
        }
    }
}

/// The question a person saw and answers: a call and the [digest](Approval::digest) of the question. An answer to any
/// other question than the waiting one is rejected.
#[derive(Clone, Debug, Deserialize, Eq, Hash, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Consent {
    /// The call.
    pub call: CallNumber,
    /// The digest of the question that was shown.
    pub digest: String,
}

impl Consent {
    /// Creates the consent for a question that was shown.
    pub fn new(call: CallNumber, digest: impl Into<String>) -> Self {
        Self {
            call,
            digest: digest.into(),
        }
    }
}

/// The scope of an answer.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Answer {
    /// Approve once.
    Once,
    /// Approve this tool for the rest of the run.
    ThisRun,
    /// Always approve this tool.
    AlwaysTool,
    /// Always approve this server's read-only tools.
    AlwaysServerReadOnly,
    /// Deny once.
    Deny,
    /// Always deny this tool.
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
    /// The scope.
    pub answer: Answer,
    /// Arguments to use instead of the model's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arguments: Option<RawObject>,
    /// The reason of a denial, for the model.
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
    /// Replaces the model's arguments.
    #[must_use]
    pub fn with_arguments(mut self, arguments: RawObject) -> Self {
        self.arguments = Some(arguments);
        self
    }

    /// Adds a reason for the model.
    #[must_use]
    pub fn with_reason(mut self, reason: impl Into<String>) -> Self {
        self.reason = Some(reason.into());
        self
    }
}

/// The error for an answer that is not accepted.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum AnswerError {
    /// No call with this number waits for such an answer; it may already have been answered.
    NotAsked(CallNumber),
    /// The question that waits now is not the one that was shown. Show this one instead.
    Superseded(Box<Approval>),
    /// The answer to this question counts for the call alone: approve it once, or deny it. The call still waits.
    OneCall(CallNumber),
    /// A whole server can be approved only for read-only tools. The call still waits.
    NotReadOnly(CallNumber),
    /// The edited arguments do not match the tool's schema; the text has the reason. The call still waits.
    Arguments(String),
    /// Too many answers are queued. Try again.
    Busy,
}

impl fmt::Display for AnswerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotAsked(number) => {
                write!(f, "tool call {number} does not wait for an answer")
            }
            Self::Superseded(now) => write!(
                f,
                "tool call {} has changed since it was shown; review it again",
                now.record.number
            ),
            Self::OneCall(number) => write!(
                f,
                "tool call {number} can be approved once only: its tool has signs of an attack, or its \
                 arguments hold a secret of another server"
            ),
            Self::NotReadOnly(number) => write!(
                f,
                "tool call {number} may change something: only tools that change nothing can be \
                 approved for a whole server"
            ),
            Self::Arguments(problem) => write!(f, "the arguments do not fit: {problem}"),
            Self::Busy => f.write_str("too many answers are queued; try again"),
        }
    }
}

impl std::error::Error for AnswerError {}
