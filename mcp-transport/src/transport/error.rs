//! Transport errors: one variant per decision a caller can take.

use std::error::Error;
use std::fmt;
use std::time::Duration;

/// A cause, boxed so that no dependency's version becomes part of our API.
pub type BoxError = Box<dyn Error + Send + Sync>;

/// The reason why a connection, or one exchange on it, failed.
#[derive(Debug)]
#[non_exhaustive]
pub enum TransportError {
    /// We closed the connection ourselves.
    Closed,
    /// The program to start was not found.
    NotFound {
        /// The configured program.
        program: String,
        /// The directories that were searched, in order.
        searched: Vec<String>,
    },
    /// The program was found but could not be started.
    Spawn {
        /// The program.
        program: String,
        /// The cause.
        source: BoxError,
    },
    /// The server's process has exited or has closed its output.
    Exited(ProcessExit),
    /// The operating system or the HTTP stack failed; a new connection may help.
    Io {
        /// The operation, with the address it concerned.
        action: String,
        /// The failure.
        source: BoxError,
    },
    /// The peer does not speak the protocol; a new connection will not help.
    Malformed {
        /// What was found, and what was expected.
        detail: String,
    },
    /// A size limit was exceeded.
    TooLarge {
        /// What was too large.
        what: &'static str,
        /// The limit in bytes.
        limit: usize,
    },
    /// A time limit was exceeded.
    Timeout {
        /// The phase that took too long.
        phase: &'static str,
        /// The limit.
        limit: Duration,
    },
    /// The server responded with an HTTP status other than success.
    Http(HttpFailure),
    /// The server no longer knows our session: initialize again, then repeat the rejected request.
    SessionExpired,
    /// The server requires authorization that the provider could not supply.
    Unauthorized {
        /// The rejected request's status: 401 or 403.
        status: u16,
        /// The provider's error; `None` if it had none.
        source: Option<BoxError>,
    },
    /// The provider could not supply the credentials of a request; nothing was sent.
    Credentials {
        /// The server they were for.
        server: String,
        /// The provider's error.
        source: BoxError,
    },
    /// The reply ended without a response.
    NoResponse {
        /// How it ended.
        detail: String,
    },
}

/// An HTTP response other than success.
#[derive(Debug)]
#[non_exhaustive]
pub struct HttpFailure {
    /// The status code.
    pub status: u16,
    /// The URL, without query and credentials.
    pub url: String,
    /// The start of the body: a JSON-RPC error, a proxy's page, or nothing.
    pub body: Vec<u8>,
    /// The server's `Retry-After`.
    pub retry_after: Option<Duration>,
}

/// How a server's process exited, with the tail of its stderr.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct ProcessExit {
    /// The command that was run, without its environment.
    pub program: String,
    /// Exit code, if it exited by itself.
    pub code: Option<i32>,
    /// Signal number, if a signal ended it.
    pub signal: Option<i32>,
    /// The tail of stderr.
    pub stderr: String,
    /// The first line on stdout that was not a message, if any: often the real error message.
    pub stray: Option<String>,
}

/// The failure to send a message.
#[derive(Debug)]
#[non_exhaustive]
pub struct SendError {
    /// The reason.
    pub error: TransportError,
    /// What is known about its delivery.
    pub delivery: Delivery,
}

/// What is known about the delivery of a message that failed: decides whether it may be resent.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
#[non_exhaustive]
pub enum Delivery {
    /// Nothing was sent, or the server rejected it before acting on it: resending is safe.
    NotSent,
    /// It was sent completely: the server may have acted on it.
    Sent,
    /// It may have been sent in part or completely.
    Unknown,
}

impl HttpFailure {
    /// A status without a body.
    pub fn new(status: u16, url: impl Into<String>) -> Self {
        Self {
            status,
            url: url.into(),
            body: Vec::new(),
            retry_after: None,
        }
    }
}

impl ProcessExit {
    /// Creates an exit of this program with no other details.
    pub fn new(program: impl Into<String>) -> Self {
        Self {
            program: program.into(),
            code: None,
            signal: None,
            stderr: String::new(),
            stray: None,
        }
    }
}

impl SendError {
    /// Pairs a failure with what is known about delivery.
    pub fn new(error: TransportError, delivery: Delivery) -> Self {
        Self { error, delivery }
    }
}

impl TransportError {
    /// Whether a new connection could succeed where this one failed.
    pub fn is_retryable(&self) -> bool {
        match self {
            Self::Closed
            | Self::Exited(_)
            | Self::Io { .. }
            | Self::Timeout { .. }
            | Self::SessionExpired
            | Self::NoResponse { .. } => true,
            Self::Http(failure) => matches!(failure.status, 408 | 429 | 500..),
            Self::NotFound { .. }
            | Self::Spawn { .. }
            | Self::Malformed { .. }
            | Self::TooLarge { .. }
            | Self::Unauthorized { .. }
            | Self::Credentials { .. } => false,
        }
    }
}

impl fmt::Display for TransportError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Closed => write!(f, "the connection is closed"),
            Self::NotFound { program, searched } => {
                write!(
                    f,
                    "program '{program}' was not found; searched: {}",
                    searched.join(", ")
                )
            }
            Self::Spawn { program, .. } => write!(f, "could not start '{program}'"),
            Self::Exited(exit) => exit.fmt(f),
            Self::Io { action, .. } => write!(f, "{action} failed"),
            Self::Malformed { detail } => write!(f, "the server broke the protocol: {detail}"),
            Self::TooLarge { what, limit } => {
                write!(f, "{what} is larger than the limit of {limit} bytes")
            }
            Self::Timeout { phase, limit } => write!(f, "{phase} took longer than {limit:?}"),
            Self::Http(failure) => failure.fmt(f),
            Self::SessionExpired => write!(f, "the server no longer knows this session"),
            Self::Unauthorized { status, .. } => {
                write!(f, "the server requires authorization (HTTP {status})")
            }
            Self::Credentials { server, .. } => {
                write!(f, "the credentials for {server} could not be prepared")
            }
            Self::NoResponse { detail } => {
                write!(f, "the reply ended without a response: {detail}")
            }
        }
    }
}

impl Error for TransportError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Spawn { source, .. }
            | Self::Io { source, .. }
            | Self::Credentials { source, .. }
            | Self::Unauthorized {
                source: Some(source),
                ..
            } => Some(source.as_ref()),
            _ => None,
        }
    }
}

impl fmt::Display for HttpFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} answered HTTP {}", self.url, self.status)?;
        let mut body = String::from_utf8_lossy(&self.body).into_owned();
        if body.trim_start().starts_with('<') {
            body = without_tags(&body);
        }
        let line = body.trim().lines().next().unwrap_or_default();
        match line.char_indices().nth(200) {
            _ if line.is_empty() => Ok(()),
            Some((cut, _)) => write!(f, ": {}…", line.get(..cut).unwrap_or_default()),
            None => write!(f, ": {line}"),
        }
    }
}

/// The text of a proxy's error page, without its markup.
fn without_tags(page: &str) -> String {
    let texts = page
        .split('<')
        .map(|part| part.split_once('>').map_or(part, |(_, text)| text));
    texts.collect()
}

impl fmt::Display for ProcessExit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "server process '{}' ", self.program)?;
        match (self.code, self.signal) {
            (Some(code), _) => write!(f, "exited with code {code}")?,
            (None, Some(signal)) => write!(f, "was ended by signal {signal}")?,
            (None, None) => write!(f, "closed its output")?,
        }
        if let Some(stray) = &self.stray {
            write!(f, "; it wrote to stdout: {stray}")?;
        }
        match self.stderr.trim() {
            "" => write!(f, "; it wrote nothing to stderr"),
            tail => write!(f, "; the end of its stderr:\n{tail}"),
        }
    }
}

impl fmt::Display for SendError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let delivery = match self.delivery {
            Delivery::NotSent => "the message was not sent",
            Delivery::Sent => "the message was sent",
            Delivery::Unknown => "the message may have been sent",
        };
        write!(f, "{} ({delivery})", self.error)
    }
}

impl Error for SendError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.error.source()
    }
}
