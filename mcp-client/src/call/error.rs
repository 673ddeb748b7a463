//! Call errors: one variant per decision a caller can take.

use std::borrow::Cow;
use std::error::Error;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use mcp_jsonrpc::ErrorObject;
use mcp_transport::{BoxError, TransportError};

use crate::call::parked::Parked;
use crate::connection::clock::TimeoutKind;
use crate::features::task::TaskTicket;

/// The reason why a call failed.
#[derive(Debug)]
#[non_exhaustive]
pub enum CallError {
    /// The server returned an error.
    Peer {
        /// The call.
        call: CallName,
        /// The server's error.
        error: Box<ErrorObject>,
    },
    /// There was no response in time. The request was cancelled at the server.
    Timeout {
        /// The call.
        call: CallName,
        /// The limit that was reached.
        limit: Duration,
        /// The kind of the limit.
        kind: TimeoutKind,
        /// What arrived instead of a response, if anything.
        trouble: Option<String>,
    },
    /// The call was not executed: it was never sent, or the server rejected it before acting on it.
    NotSent {
        /// The call.
        call: CallName,
        /// The cause.
        source: Arc<TransportError>,
    },
    /// The call was interrupted: the connection or its exchange failed. The server may or may not have acted on it. It
    /// is never retried silently: only the caller knows whether that is safe.
    OutcomeUnknown {
        /// The call.
        call: CallName,
        /// The connection's error.
        source: Arc<TransportError>,
    },
    /// The call was interrupted, but it is idempotent: it can be retried.
    Lost {
        /// The call.
        call: CallName,
        /// The connection's error.
        source: Arc<TransportError>,
    },
    /// The client was closed before the call started.
    Closed {
        /// The call.
        call: CallName,
    },
    /// The server's response is invalid.
    InvalidReply {
        /// The call.
        call: CallName,
        /// The problem.
        detail: String,
    },
    /// The server lacks a capability that the call requires; nothing was sent.
    Unsupported {
        /// The call.
        call: CallName,
        /// The missing capability.
        capability: &'static str,
    },
    /// The server requires authorization that we do not have, or credentials could not be prepared.
    Unauthorized {
        /// The call.
        call: CallName,
        /// The rejection.
        source: Arc<TransportError>,
    },
    /// The call became a task, which was cancelled.
    TaskCancelled {
        /// The call.
        call: CallName,
    },
    /// The server kept asking for input.
    TooManyRounds {
        /// The call.
        call: CallName,
        /// The number of its requests for input.
        rounds: u32,
    },
    /// The server requested input and the host did not supply it.
    InputRefused {
        /// The call.
        call: CallName,
        /// The requested input, and the reason why it was not supplied.
        detail: String,
        /// The host's own error, if it had one.
        source: Option<BoxError>,
    },
    /// The server requested input and the host will answer later: store this, and [`resume`](crate::Client::resume) the
    /// call with the answers, possibly in another process.
    Parked(Box<Parked>),
    /// The request cannot be encoded.
    InvalidRequest {
        /// The call.
        call: CallName,
        /// The cause.
        source: BoxError,
    },
}

/// The call of an error.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct CallName {
    /// Our name for the server.
    pub server: Arc<str>,
    /// The method that was called.
    pub method: Cow<'static, str>,
    /// The tool, prompt or resource of the call.
    pub about: Option<Box<str>>,
    /// The id of the call's task, if it became one: see [`CallError::task`].
    pub task_id: Option<Box<str>>,
}

/// The call of an error, borrowed like the error.
macro_rules! call_of {
    ($error:expr) => {
        match $error {
            CallError::Peer { call, .. }
            | CallError::Timeout { call, .. }
            | CallError::NotSent { call, .. }
            | CallError::OutcomeUnknown { call, .. }
            | CallError::Lost { call, .. }
            | CallError::Closed { call }
            | CallError::InvalidReply { call, .. }
            | CallError::Unsupported { call, .. }
            | CallError::Unauthorized { call, .. }
            | CallError::TaskCancelled { call }
            | CallError::TooManyRounds { call, .. }
            | CallError::InputRefused { call, .. }
            | CallError::InvalidRequest { call, .. } => Some(call),
            CallError::Parked(_) => None,
        }
    };
}

impl CallError {
    /// The call's task, if it became one. The server was asked to cancel it if it was still running;
    /// [`Client::task`](crate::Client::task) returns its state.
    pub fn task(&self) -> Option<TaskTicket> {
        let call = self.call()?;
        Some(TaskTicket {
            server: call.server.to_string(),
            task_id: call.task_id.clone()?.into(),
        })
    }

    /// Turns an error of a task into an error of the `call` that became that task: polling a task may be retried, the
    /// call may not.
    pub(crate) fn of_task(self, call: CallName) -> Self {
        match self {
            Self::NotSent { source, .. } | Self::Lost { source, .. } => {
                Self::OutcomeUnknown { call, source }
            }
            Self::Closed { .. } => Self::OutcomeUnknown {
                call,
                source: Arc::new(TransportError::Closed),
            },
            mut other => {
                if let Some(own) = other.call_mut() {
                    *own = call;
                }
                other
            }
        }
    }

    /// Whether the call can be repeated without executing anything twice: it was not executed, or it is
    /// idempotent.
    pub fn is_safe_to_reissue(&self) -> bool {
        matches!(
            self,
            Self::NotSent { .. } | Self::Lost { .. } | Self::Closed { .. }
        )
    }

    /// The server's error, if it returned one.
    pub fn peer(&self) -> Option<&ErrorObject> {
        match self {
            Self::Peer { error, .. } => Some(error),
            _ => None,
        }
    }

    /// The failed call; `None` for a parked one.
    pub fn call(&self) -> Option<&CallName> {
        call_of!(self)
    }

    fn call_mut(&mut self) -> Option<&mut CallName> {
        call_of!(self)
    }
}

impl fmt::Display for CallName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.about {
            Some(about) => write!(
                f,
                // The name comes from the server: it must not start a line.
                "{} of '{}' on server '{}'",
                self.method,
                about.escape_debug(),
                self.server
            ),
            None => write!(f, "{} on server '{}'", self.method, self.server),
        }?;
        match &self.task_id {
            Some(task) => write!(f, " (task '{task}')"),
            None => Ok(()),
        }
    }
}

impl fmt::Display for CallError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Peer { call, error } => write!(f, "{call} failed: the server says: {error}"),
            Self::Timeout {
                call,
                limit,
                kind,
                trouble,
            } => {
                match kind {
                    TimeoutKind::Idle => write!(
                        f,
                        "{call} got neither a response nor progress within its idle timeout of \
                         {limit:?}"
                    )?,
                    TimeoutKind::Deadline => {
                        write!(f, "{call} was not done within its deadline of {limit:?}")?;
                    }
                }
                match trouble {
                    Some(trouble) => write!(f, "; what came instead: {trouble}"),
                    None => Ok(()),
                }
            }
            Self::NotSent { call, .. } => write!(f, "{call} was not executed"),
            Self::OutcomeUnknown { call, .. } => write!(
                f,
                "{call} broke off; whether the server acted on it is unknown"
            ),
            Self::Lost { call, .. } => {
                write!(f, "{call} broke off; it is safe to retry")
            }
            Self::Closed { call } => {
                write!(
                    f,
                    "{call} was not executed: the connection is closed; connect again"
                )
            }
            Self::InvalidReply { call, detail } => {
                write!(f, "{call} got an invalid response: {detail}")
            }
            Self::Unsupported { call, capability } => {
                write!(
                    f,
                    "{call} was not sent: the server does not offer '{capability}'"
                )
            }
            Self::Unauthorized { call, .. } => {
                write!(f, "{call} needs authorization that was not given")
            }
            Self::TaskCancelled { call } => write!(f, "{call}: the task was cancelled"),
            Self::TooManyRounds { call, rounds } => {
                write!(
                    f,
                    "{call} was abandoned: the server asked for input {rounds} times"
                )
            }
            Self::InputRefused { call, detail, .. } => write!(f, "{call} was abandoned: {detail}"),
            Self::Parked(parked) => write!(f, "{parked}"),
            Self::InvalidRequest { call, .. } => write!(f, "{call} cannot be written as JSON"),
        }
    }
}

impl Error for CallError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::NotSent { source, .. }
            | Self::OutcomeUnknown { source, .. }
            | Self::Lost { source, .. }
            | Self::Unauthorized { source, .. } => Some(source.as_ref()),
            Self::InputRefused {
                source: Some(source),
                ..
            }
            | Self::InvalidRequest { source, .. } => Some(source.as_ref()),
            _ => None,
        }
    }
}
