//! An outgoing message, with the metadata that HTTP needs.

use mcp_jsonrpc::{RequestId, Revision};

/// One JSON-RPC message to send, with the metadata a transport would otherwise have to parse.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Outgoing {
    /// The message: one JSON object without raw newlines.
    pub body: Vec<u8>,
    /// The kind of message.
    pub kind: OutgoingKind,
    /// The revision in force, once there is one. HTTP sends it in a header from 2025-06-18 on.
    pub revision: Option<Revision>,
    /// The value of the `Mcp-Name` header (a tool's or prompt's name, a resource's URI, a task's
    /// id), before any escaping. Only modern HTTP sends it.
    pub name: Option<String>,
    /// `Mcp-Param-*` headers: the suffix from the tool's schema and the value, before any escaping. Only modern HTTP
    /// sends them.
    pub params: Vec<(String, String)>,
    #[doc(hidden)]
    /// Whether no other request is in flight, so that waiting for others to join the write gains nothing.
    pub alone: bool,
}

/// The kinds of message that transports treat differently.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum OutgoingKind {
    /// Expects one response.
    Request {
        /// The request's id.
        id: RequestId,
        /// The method, also the value of the `Mcp-Method` header.
        method: String,
        /// The time limits for its reply.
        reply_timeout: ReplyTimeout,
    },
    /// Expects no response.
    Notification {
        /// The method, also the value of the `Mcp-Method` header.
        method: String,
    },
    /// Responds to a request of the server.
    Response {
        /// The id of the server's request.
        id: RequestId,
    },
}

/// The transport's time limits for a request's reply.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub enum ReplyTimeout {
    /// All of them.
    #[default]
    Normal,
    /// Only the limit until the reply begins: the reply is a stream that stays open.
    Stream,
}

impl Outgoing {
    /// A request.
    pub fn request(id: RequestId, method: impl Into<String>, body: Vec<u8>) -> Self {
        Self::new(
            OutgoingKind::Request {
                id,
                method: method.into(),
                reply_timeout: ReplyTimeout::Normal,
            },
            body,
        )
    }

    /// A notification.
    pub fn notification(method: impl Into<String>, body: Vec<u8>) -> Self {
        Self::new(
            OutgoingKind::Notification {
                method: method.into(),
            },
            body,
        )
    }

    /// A response to a request of the server.
    pub fn response(id: RequestId, body: Vec<u8>) -> Self {
        Self::new(OutgoingKind::Response { id }, body)
    }

    fn new(kind: OutgoingKind, body: Vec<u8>) -> Self {
        Self {
            body,
            kind,
            revision: None,
            name: None,
            params: Vec::new(),
            alone: false,
        }
    }

    /// Sets the revision in force.
    #[must_use]
    pub fn with_revision(mut self, revision: Revision) -> Self {
        self.revision = Some(revision);
        self
    }

    /// The request's id, for requests.
    pub fn request_id(&self) -> Option<&RequestId> {
        match &self.kind {
            OutgoingKind::Request { id, .. } => Some(id),
            _ => None,
        }
    }

    /// The method, for requests and notifications.
    pub fn method(&self) -> Option<&str> {
        match &self.kind {
            OutgoingKind::Request { method, .. } | OutgoingKind::Notification { method } => {
                Some(method)
            }
            OutgoingKind::Response { .. } => None,
        }
    }
}
