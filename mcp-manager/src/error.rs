//! Errors of servers and calls: one variant per decision a caller can take.

use std::error::Error;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use mcp_client::CallError;
use mcp_config::ServerName;

use crate::server::ServerState;

/// The error of a server; shared by all callers that need it.
pub(crate) type Trouble = Arc<dyn Error + Send + Sync>;

/// The reason why a manager could not do what was requested.
#[derive(Debug)]
#[non_exhaustive]
pub enum ManagerError {
    /// There is no server of this name.
    UnknownServer {
        /// The name.
        server: String,
        /// The known servers.
        known: Vec<ServerName>,
    },
    /// The catalogue has no tool of this name.
    UnknownTool {
        /// The name.
        name: String,
    },
    /// The tool is disabled.
    ToolDisabled {
        /// The server.
        server: ServerName,
        /// The tool.
        tool: String,
    },
    /// The tool's definition is not the one the caller expected
    /// ([`CallOptions::with_fingerprint`](crate::CallOptions::with_fingerprint)); it was not called.
    ToolChanged {
        /// The server.
        server: ServerName,
        /// The tool.
        tool: String,
    },
    /// The server is not connected, and will not be until a person acts.
    Unavailable {
        /// The server.
        server: ServerName,
        /// Its state.
        state: ServerState,
        /// The last error.
        source: Option<Arc<dyn Error + Send + Sync>>,
    },
    /// The server could not be connected yet; the manager will try again.
    NotYet {
        /// The server.
        server: ServerName,
        /// Its state.
        state: ServerState,
        /// The time the call waited for it.
        waited: Duration,
        /// The last error.
        source: Option<Arc<dyn Error + Send + Sync>>,
    },
    /// The call was made and failed.
    Call(CallError),
    /// The resource did not arrive within the caller's time limit.
    ReadTimeout {
        /// The server.
        server: ServerName,
        /// The resource.
        uri: String,
        /// The time limit.
        limit: Duration,
    },
    /// The resource could not be read; concurrent callers share the error.
    Read(Arc<ManagerError>),
    /// A skill is not what its server promised.
    #[cfg(feature = "skills")]
    Skill(mcp_client::SkillError),
    /// The manager was shut down.
    ShutDown,
}

impl ManagerError {
    /// The error of the call, if it was made.
    pub fn call(&self) -> Option<&CallError> {
        match self {
            Self::Call(error) => Some(error),
            Self::Read(error) => error.call(),
            _ => None,
        }
    }
}

impl From<CallError> for ManagerError {
    fn from(error: CallError) -> Self {
        Self::Call(error)
    }
}

impl fmt::Display for ManagerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownServer { server, known } => {
                write!(f, "there is no server '{server}'; there are: ")?;
                match known.as_slice() {
                    [] => f.write_str("none"),
                    [first, rest @ ..] => {
                        write!(f, "{first}")?;
                        rest.iter().try_for_each(|name| write!(f, ", {name}"))
                    }
                }
            }
            Self::UnknownTool { name } => write!(
                f,
                "no server offers a tool called '{name}'; names look like mcp__server__tool and \
                 are listed in the catalogue"
            ),
            Self::ToolDisabled { server, tool } => write!(
                f,
                "tool '{tool}' of server '{server}' is switched off; switch it on to use it"
            ),
            Self::ToolChanged { server, tool } => write!(
                f,
                "tool '{tool}' of server '{server}' was changed by its server; look at its new \
                 definition before calling it"
            ),
            Self::Unavailable { server, state, .. } => match state {
                ServerState::NeedsAuth => write!(
                    f,
                    "server '{server}' requires authorization; log in to it, then retry"
                ),
                ServerState::Failed => write!(
                    f,
                    "server '{server}' failed for good; fix the cause, then retry it"
                ),
                _ => write!(f, "server '{server}' is switched off; connect it first"),
            },
            Self::NotYet {
                server,
                state,
                waited,
                ..
            } => write!(
                f,
                "server '{server}' is not connected yet (it is {state}, after {waited:?}); it is \
                 being tried"
            ),
            Self::Call(error) => error.fmt(f),
            Self::ReadTimeout { server, uri, limit } => write!(
                f,
                "resource '{uri}' of server '{server}' did not come within {limit:?}"
            ),
            Self::Read(error) => error.fmt(f),
            #[cfg(feature = "skills")]
            Self::Skill(error) => error.fmt(f),
            Self::ShutDown => f.write_str("the manager of the servers was shut down"),
        }
    }
}

impl Error for ManagerError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Unavailable {
                source: Some(source),
                ..
            }
            | Self::NotYet {
                source: Some(source),
                ..
            } => Some(source.as_ref()),
            // Its text is ours: the cause below it comes next.
            Self::Call(error) => error.source(),
            Self::Read(error) => error.source(),
            #[cfg(feature = "skills")]
            Self::Skill(error) => error.source(),
            _ => None,
        }
    }
}

/// An error with all its causes, on one line.
pub(crate) fn error_chain(error: &(dyn Error + 'static)) -> String {
    let mut text = error.to_string();
    let mut next = error.source();
    while let Some(error) = next {
        text.push_str(": ");
        text.push_str(&error.to_string());
        next = error.source();
    }
    text
}
