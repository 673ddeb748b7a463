//! The audit records of calls.

use std::fmt;
use std::io;
use std::time::Duration;

use sha2::{Digest as _, Sha256};

/// A log of calls. A call whose decision cannot be recorded is not made.
pub trait AuditLog: Send + Sync + 'static {
    /// Stores a record before the call continues.
    ///
    /// # Errors
    /// If it could not be stored.
    fn record(&self, record: &CallRecord) -> io::Result<()>;
}

/// One of a call's two records: the decision, and later the outcome. A cancelled call has no second record.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct CallRecord {
    /// Identifies the call; both its records have it.
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
    /// Its duration, without the time its caller took to answer questions by repeating the call.
    pub duration: Duration,
}

/// The reason why a call runs, or does not.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
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
}

impl fmt::Display for CallOutcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Succeeded => "succeeded",
            Self::Failed => "failed",
            Self::Task => "task",
            Self::Error => "error",
        })
    }
}

/// `sha256:` and the digest in hexadecimal digits.
pub(crate) fn digest(bytes: impl AsRef<[u8]>) -> String {
    let digest = Sha256::digest(bytes);
    let digits: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("sha256:{digits}")
}
