//! The two protocol eras and the three kinds of connection.

use std::fmt;

/// The two eras of the protocol.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
#[non_exhaustive]
pub enum Era {
    /// 2024-11-05 to 2025-11-25: `initialize`, sessions, requests in both directions.
    Legacy,
    /// 2026-07-28: every request is self-contained and names its revision.
    Modern,
}

impl fmt::Display for Era {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Legacy => "legacy",
            Self::Modern => "modern",
        })
    }
}

/// The connection between a client and a server.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
#[non_exhaustive]
pub enum TransportKind {
    /// One line of JSON per message, over a pair of byte streams.
    Stdio,
    /// Streamable HTTP.
    Http,
    /// The HTTP+SSE transport of 2024-11-05.
    Sse,
}

impl fmt::Display for TransportKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Stdio => "stdio",
            Self::Http => "http",
            Self::Sse => "sse",
        })
    }
}
