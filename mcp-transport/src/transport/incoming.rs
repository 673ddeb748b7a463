//! What a transport tells its reader.

use std::sync::Arc;

use mcp_jsonrpc::RequestId;

use crate::TransportError;

/// One thing that happened on a connection.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Incoming {
    /// A whole message arrived. It may still be malformed: nobody has parsed it yet.
    Message {
        /// The bytes, without framing.
        body: Vec<u8>,
        /// The request whose reply stream carried it; `None` on a shared channel.
        stream: Option<RequestId>,
    },
    /// The reply to this request is over. If it has not been answered by now, it never will be,
    /// and `error` says why; the request did reach the server.
    Ended {
        /// The request.
        request: RequestId,
        /// What ended its reply stream.
        error: Arc<TransportError>,
    },
    /// A message was larger than the limit and has been thrown away.
    TooLarge {
        /// Its first bytes, enough to find the id in most cases.
        head: Vec<u8>,
        /// The limit it broke.
        limit: usize,
    },
    /// The stream on which the server speaks unasked was lost and is open again: notifications in
    /// between may be missing.
    Gap,
    /// Nothing more will come. Buffered messages have been delivered before.
    Closed(Closed),
}

/// How a connection ended.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Closed {
    /// Why. `None` after [`close`](crate::Transport::close) and after a clean end.
    pub error: Option<Arc<TransportError>>,
    /// Requests that were accepted but of which no byte reached the server: safe to send again.
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
