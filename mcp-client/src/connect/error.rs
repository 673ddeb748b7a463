//! Connect errors: one variant per decision a caller can take.

use std::error::Error;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use mcp_jsonrpc::ErrorObject;
use mcp_transport::TransportError;

/// The reason why connecting to a server failed.
#[derive(Debug)]
#[non_exhaustive]
pub enum ConnectError {
    /// It could not be started or reached, or the connection failed immediately.
    Transport {
        /// Our name for the server.
        server: Arc<str>,
        /// The error.
        source: Arc<TransportError>,
    },
    /// It took too long.
    Timeout {
        /// Our name for the server.
        server: Arc<str>,
        /// The limit.
        limit: Duration,
        /// The phase that took too long.
        phase: &'static str,
    },
    /// The server rejected the handshake.
    Refused {
        /// Our name for the server.
        server: Arc<str>,
        /// The request.
        method: &'static str,
        /// Its error.
        error: Box<ErrorObject>,
    },
    /// There is no common protocol revision.
    Version {
        /// Our name for the server.
        server: Arc<str>,
        /// The revisions the server offers.
        offered: Vec<String>,
    },
    /// The server's response to the handshake is invalid.
    InvalidReply {
        /// Our name for the server.
        server: Arc<str>,
        /// The request.
        method: &'static str,
        /// The problem.
        detail: String,
    },
    /// The server requires authorization that we do not have, or credentials could not be prepared.
    Unauthorized {
        /// Our name for the server.
        server: Arc<str>,
        /// The rejection.
        source: Arc<TransportError>,
    },
    /// The server supports neither of the two HTTP transports.
    Neither {
        /// How the first attempt failed.
        first: Box<ConnectError>,
        /// How the second attempt failed.
        second: Box<ConnectError>,
    },
    /// The handshakes of both eras were tried, and failed independently.
    NeitherEra {
        /// How the first handshake failed.
        first: Box<ConnectError>,
        /// How the second handshake failed.
        second: Box<ConnectError>,
    },
}

impl ConnectError {
    /// Whether trying again later could help.
    pub fn is_retryable(&self) -> bool {
        match self {
            Self::Transport { source, .. } => source.is_retryable(),
            Self::Timeout { .. } => true,
            Self::Neither { first, second } => first.is_retryable() || second.is_retryable(),
            Self::NeitherEra { second, .. } => second.is_retryable(),
            Self::Refused { .. }
            | Self::Version { .. }
            | Self::InvalidReply { .. }
            | Self::Unauthorized { .. } => false,
        }
    }
}

impl fmt::Display for ConnectError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Transport { server, .. } => write!(f, "could not connect to server '{server}'"),
            Self::Timeout {
                server,
                limit,
                phase,
            } => write!(
                f,
                "could not connect to server '{server}' within {limit:?}: still {phase}"
            ),
            Self::Refused {
                server,
                method,
                error,
            } => {
                write!(f, "server '{server}' refused {method}: {error}")
            }
            Self::Version { server, offered } => write!(
                f,
                "server '{server}' speaks no common revision of the protocol; it offers: {}",
                if offered.is_empty() {
                    "none".to_owned()
                } else {
                    offered.join(", ")
                }
            ),
            Self::InvalidReply {
                server,
                method,
                detail,
            } => {
                write!(
                    f,
                    "server '{server}' sent an invalid response to {method}: {detail}"
                )
            }
            Self::Unauthorized { server, .. } => {
                write!(f, "server '{server}' requires authorization")
            }
            Self::Neither { first, second } | Self::NeitherEra { first, second } => {
                write!(f, "{}; and then: {}", describe(first), describe(second))
            }
        }
    }
}

/// An error with its cause; an error has only one source.
fn describe(error: &ConnectError) -> String {
    match error.source() {
        Some(source) => format!("{error}: {source}"),
        None => error.to_string(),
    }
}

impl Error for ConnectError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Transport { source, .. } | Self::Unauthorized { source, .. } => {
                Some(source.as_ref())
            }
            _ => None,
        }
    }
}
