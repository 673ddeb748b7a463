//! Events that a transport reports to its reader.

use std::sync::Arc;

use mcp_jsonrpc::RequestId;

use crate::TransportError;

/// One event on a connection.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Incoming {
    /// A whole message arrived. It has not been parsed and may be malformed.
    Message {
        /// The bytes, without framing.
        body: Vec<u8>,
        /// The request whose reply stream carried it; `None` on a shared channel.
        stream: Option<RequestId>,
    },
    /// The reply to this request has ended. If there has been no response, none will follow, and `error` is the reason;
    /// the request did reach the server.
    Ended {
        /// The request.
        request: RequestId,
        /// Why its reply stream ended.
        error: Arc<TransportError>,
    },
    /// A message was larger than the limit and has been discarded.
    TooLarge {
        /// Its first bytes, usually enough to find the id.
        head: Vec<u8>,
        /// The limit it exceeded.
        limit: usize,
    },
    /// The stream for unsolicited messages was lost and is open again: notifications in between may be missing.
    Gap,
    /// The connection is closed. Buffered messages were delivered before.
    Closed(Closed),
}

/// How a connection ended.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Closed {
    /// The reason. `None` after [`close`](crate::Transport::close) and after a clean end.
    pub error: Option<Arc<TransportError>>,
    /// Requests that were accepted but of which no byte reached the server: safe to resend.
    pub unsent: Vec<RequestId>,
}

impl Closed {
    /// A clean end with nothing left over.
    pub fn clean() -> Self {
        Self {
            error: None,
            unsent: Vec::new(),
        }
    }

    /// An end for this reason.
    pub fn with_error(error: TransportError) -> Self {
        Self {
            error: Some(Arc::new(error)),
            unsent: Vec::new(),
        }
    }
}
