//! What can become of a call other than its answer: one variant per decision a caller can take.

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

/// Why a call has no answer.
#[derive(Debug)]
#[non_exhaustive]
pub enum CallError {
    /// The server answered with an error.
    Peer {
        /// Which call.
        call: CallName,
        /// What the server said.
        error: Box<ErrorObject>,
    },
    /// No answer came in time. The server was told that nobody waits any more.
    Timeout {
        /// Which call.
        call: CallName,
        /// The limit that was reached.
        limit: Duration,
        /// Which of the two limits that is.
        kind: TimeoutKind,
        /// What came instead of an answer, if something did.
        trouble: Option<String>,
    },
    /// The call did not happen: it never left, or the server refused it before acting on it.
    NotSent {
        /// Which call.
        call: CallName,
        /// Why.
        source: Arc<TransportError>,
    },
    /// The call broke off under way: the connection failed, or its exchange did. The server may or
    /// may not have acted on it. Never repeated silently: only you know whether that is safe.
    OutcomeUnknown {
        /// Which call.
        call: CallName,
        /// What happened to the connection.
        source: Arc<TransportError>,
    },
    /// The call broke off under way, but it only reads: asking again does no harm.
    Lost {
        /// Which call.
        call: CallName,
        /// What happened to the connection.
        source: Arc<TransportError>,
    },
    /// The client was closed before the call began.
    Closed {
        /// Which call.
        call: CallName,
    },
    /// The server answered, but not with what the protocol lets it answer.
    InvalidReply {
        /// Which call.
        call: CallName,
        /// What is wrong with the answer.
        detail: String,
    },
    /// The server does not have what the call needs; it was not asked.
    Unsupported {
        /// Which call.
        call: CallName,
        /// The missing capability.
        capability: &'static str,
    },
    /// The server wants authorization that we do not have, or credentials could not be prepared.
    Unauthorized {
        /// Which call.
        call: CallName,
        /// What it said.
        source: Arc<TransportError>,
    },
    /// The task that the call had become was cancelled.
    TaskCancelled {
        /// Which call.
        call: CallName,
    },
    /// The server kept asking for input.
    TooManyRounds {
        /// Which call.
        call: CallName,
        /// How often it asked.
        rounds: u32,
    },
    /// The server asked for input and the host did not give it.
    InputRefused {
        /// Which call.
        call: CallName,
        /// What was asked for, and why it was not given.
        detail: String,
        /// The host's own error, if it had one.
        source: Option<BoxError>,
    },
    /// The server asked for input and the host will answer later: store this, and
    /// [`resume`](crate::Client::resume) the call with the answers, in another process if need be.
    Parked(Box<Parked>),
    /// What was to be sent cannot be written as JSON.
    InvalidRequest {
        /// Which call.
        call: CallName,
        /// Why not.
        source: BoxError,
    },
}

/// Which call an error is about.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct CallName {
    /// The server's name with us.
    pub server: Arc<str>,
    /// The method that was called.
    pub method: Cow<'static, str>,
    /// What it was about: a tool, a prompt, a resource.
    pub about: Option<Box<str>>,
    /// The task that the call had become, if it had: see [`CallError::task`].
    pub task_id: Option<Box<str>>,
}

/// The call of an error, borrowed as the error is.
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
    /// The task that the call had become, if it had. The server was asked to cancel it if it was
    /// still running; what became of it, [`Client::task`](crate::Client::task) tells.
    pub fn task(&self) -> Option<TaskTicket> {
        let call = self.call()?;
        Some(TaskTicket {
            server: call.server.to_string(),
            task_id: call.task_id.clone()?.into(),
        })
    }

    /// What the caller of `call` is told, which had become a task: asking where a task stands may
    /// be repeated, making the call may not.
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

    /// Whether sending the same call again cannot do a second time what was done already: it did
    /// not happen, or it only reads.
    pub fn is_safe_to_reissue(&self) -> bool {
        matches!(
            self,
            Self::NotSent { .. } | Self::Lost { .. } | Self::Closed { .. }
        )
    }

    /// What the server said, if it answered with an error.
    pub fn peer(&self) -> Option<&ErrorObject> {
        match self {
            Self::Peer { error, .. } => Some(error),
            _ => None,
        }
    }

    /// Which call this is about; `None` for one that is merely parked.
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
                // The name is the server's: it must not begin a line of its own.
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
            Self::NotSent { call, .. } => write!(f, "{call} did not happen"),
            Self::OutcomeUnknown { call, .. } => write!(
                f,
                "{call} broke off; whether the server acted on it is unknown"
            ),
            Self::Lost { call, .. } => {
                write!(f, "{call} broke off; it is safe to ask again")
            }
            Self::Closed { call } => {
                write!(
                    f,
                    "{call} did not happen: the connection is closed; connect again"
                )
            }
            Self::InvalidReply { call, detail } => {
                write!(f, "{call} was answered against the protocol: {detail}")
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
                    "{call} was given up: the server asked for input {rounds} times"
                )
            }
            Self::InputRefused { call, detail, .. } => write!(f, "{call} was given up: {detail}"),
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
