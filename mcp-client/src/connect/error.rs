//! Why there is no connection: one variant per decision a caller can take.

use std::error::Error;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use mcp_jsonrpc::ErrorObject;
use mcp_transport::TransportError;

/// Why a server could not be connected to.
#[derive(Debug)]
#[non_exhaustive]
pub enum ConnectError {
    /// It could not be started or reached, or the connection failed at once.
    Transport {
        /// The server's name with us.
        server: Arc<str>,
        /// What happened.
        source: Arc<TransportError>,
    },
    /// It took too long.
    Timeout {
        /// The server's name with us.
        server: Arc<str>,
        /// The limit.
        limit: Duration,
        /// What was being waited for.
        phase: &'static str,
    },
    /// The server refused to begin.
    Refused {
        /// The server's name with us.
        server: Arc<str>,
        /// What it was asked.
        method: &'static str,
        /// What it said.
        error: Box<ErrorObject>,
    },
    /// The server speaks no revision of the protocol that we may speak.
    Version {
        /// The server's name with us.
        server: Arc<str>,
        /// What it offers.
        offered: Vec<String>,
    },
    /// The server's part of the handshake makes no sense.
    InvalidReply {
        /// The server's name with us.
        server: Arc<str>,
        /// What it was asked.
        method: &'static str,
        /// What is wrong with the answer.
        detail: String,
    },
    /// The server wants authorization that we do not have, or credentials could not be prepared.
    Unauthorized {
        /// The server's name with us.
        server: Arc<str>,
        /// What it said.
        source: Arc<TransportError>,
    },
    /// The server speaks neither of the two HTTP transports.
    Neither {
        /// How the first try ended.
        first: Box<ConnectError>,
        /// How the second try ended.
        second: Box<ConnectError>,
    },
    /// Both eras' handshakes were tried, and both failed for reasons of their own.
    NeitherEra {
        /// How the first handshake failed.
        first: Box<ConnectError>,
        /// How the second one did.
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
                    "server '{server}' answered {method} against the protocol: {detail}"
                )
            }
            Self::Unauthorized { server, .. } => {
                write!(f, "server '{server}' wants authorization")
            }
            Self::Neither { first, second } | Self::NeitherEra { first, second } => {
                write!(f, "{}; and then: {}", told(first), told(second))
            }
        }
    }
}

/// An error of a try, with its cause: an error has only one source.
fn told(error: &ConnectError) -> String {
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
