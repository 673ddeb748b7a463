//! The audit records of calls.

use std::fmt;
use std::io;
use std::time::Duration;

use mcp_jsonrpc::model::CallToolResult;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

/// A log of calls. A call whose decision cannot be recorded is not made.
pub trait AuditLog: Send + Sync + 'static {
    /// Stores a record before the call continues.
    ///
    /// # Errors
    /// If it could not be stored.
    fn record(&self, record: &CallRecord) -> io::Result<()>;
}

/// One of a call's records: the decision, and later the outcome. A call that continues as a task has a third one, the
/// task's outcome, once its client has got it.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct CallRecord {
    /// Identifies the call; all its records have it.
    pub call: String,
    /// The caller; empty where callers are not authenticated.
    pub caller: String,
    /// The name the caller's program gives itself.
    pub client: Option<String>,
    /// The server.
    pub server: String,
    /// The tool, by its server's name for it.
    pub tool: String,
    /// The fingerprint of the tool's definition.
    pub fingerprint: String,
    /// The digest of the arguments.
    pub arguments: String,
    /// Whether it runs, and the reason.
    pub decision: CallDecision,
    /// Its end; `None` in the first record of a call that runs.
    pub end: Option<CallEnd>,
}

/// The end of a call.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct CallEnd {
    /// The outcome.
    pub outcome: CallOutcome,
    /// The digest of its result; `None` for an error.
    pub result: Option<String>,
    /// Its duration, from its admission to its end.
    pub duration: Duration,
}

/// The reason why a call runs, or does not.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum CallDecision {
    /// The policy allows it.
    Allowed,
    /// Its caller approved it.
    Approved,
    /// The policy denies it.
    Denied,
    /// Its caller declined it.
    Declined,
    /// It needs approval, and its caller cannot be asked.
    NotAskable,
    /// It was not approved in time.
    Expired,
    /// The caller's profile has not this tool.
    NotPermitted,
    /// Too many calls run already.
    TooMany,
}

impl fmt::Display for CallDecision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Allowed => "allowed",
            Self::Approved => "approved",
            Self::Denied => "denied",
            Self::Declined => "declined",
            Self::NotAskable => "not_askable",
            Self::Expired => "expired",
            Self::NotPermitted => "not_permitted",
            Self::TooMany => "too_many",
        })
    }
}

/// The outcome of a call.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum CallOutcome {
    /// The tool succeeded.
    Succeeded,
    /// The tool reports that it failed.
    Failed,
    /// It continues as a task at its server.
    Task,
    /// There is no result.
    Error,
    /// It was cancelled, took too long, or its client is gone or did not answer a question in time. The tool may have
    /// run. A late answer can continue the call, which then has another end.
    Cancelled,
}

impl CallOutcome {
    /// What a tool says of itself.
    pub(crate) fn of(result: &CallToolResult) -> Self {
        match result.failed() {
            true => Self::Failed,
            false => Self::Succeeded,
        }
    }
}

impl fmt::Display for CallOutcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Succeeded => "succeeded",
            Self::Failed => "failed",
            Self::Task => "task",
            Self::Error => "error",
            Self::Cancelled => "cancelled",
        })
    }
}

/// `sha256:` and the digest in hexadecimal digits.
pub(crate) fn digest(bytes: impl AsRef<[u8]>) -> String {
    let digest = Sha256::digest(bytes);
    let digits: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("sha256:{digits}")
}
