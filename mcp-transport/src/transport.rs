//! The contract of every transport: whole JSON messages in and out, with one end.

pub(crate) mod error;
pub(crate) mod incoming;
pub(crate) mod outgoing;

use std::fmt::Debug;
use std::sync::Arc;

use async_trait::async_trait;
use mcp_jsonrpc::RequestId;

use crate::{Incoming, Outgoing, ProcessExit, SendError, TransportError};

/// One open connection to one server.
///
/// A transport moves whole JSON messages and never inspects their params or results. It does not know about pending
/// calls, eras or retries. It reports what only a transport can know (whether bytes left the process, which reply
/// stream belongs to which request, how the server's process ended) through [`SendError`] and [`Incoming`].
///
/// Many tasks may [`send`](Self::send) at once; one task calls [`recv`](Self::recv).
#[async_trait]
pub trait Transport: Debug + Send + Sync {
    /// Sends one message.
    ///
    /// `Ok` means accepted, not answered: responses, and later failures of this message, arrive through
    /// [`recv`](Self::recv). Over HTTP the future completes with the head of the HTTP response, so that a rejected
    /// request fails here, with its status.
    ///
    /// Waits while the outbound queue is full, except for messages that are not requests: responses and cancellations
    /// never wait behind requests. Dropping the future withdraws the message if it has not been sent yet, and over HTTP
    /// closes its exchange.
    async fn send(&self, message: Outgoing) -> Result<(), SendError>;

    /// Sends a request. Where the response belongs to the request's own exchange, as over HTTP, it may be returned here
    /// and does not go through [`recv`](Self::recv) then. This future may read the reply: dropping it cancels the
    /// reading, as [`release`](Self::release) does.
    async fn send_request(&self, request: Outgoing) -> Result<Option<Vec<u8>>, SendError> {
        self.send(request).await.map(|()| None)
    }

    /// Sends the message if that neither waits nor fails. Returns `true` on success, which consumes the message's body;
    /// otherwise nothing has happened, and the caller uses `send`.
    fn try_send(&self, message: &mut Outgoing) -> bool {
        let _ = message;
        false
    }

    /// Receives the next event. After [`Incoming::Closed`] every further call returns `Closed` again.
    ///
    /// Cancel-safe: a dropped future loses nothing.
    async fn recv(&self) -> Incoming;

    /// Releases what is held for a request that no longer has a caller. Over HTTP that is its reply stream, which is
    /// closed and not resumed; after the response there is nothing to release. Never blocks.
    fn release(&self, request: &RequestId);

    /// Closes the connection and returns when everything it held has ended: child processes, sockets, tasks.
    /// Idempotent; bounded in time.
    async fn close(&self);

    /// The kind of connection, for the rules that depend on it.
    fn kind(&self) -> TransportKind;

    /// Whether the peer is alive, as far as known. Over HTTP a server is assumed alive until proven otherwise.
    fn is_alive(&self) -> bool {
        true
    }

    /// How the server's process exited, if it has; always `None` where there is no process.
    fn exit(&self) -> Option<ProcessExit> {
        None
    }
}

/// Opens connections to one server: the first one, and every later one after a loss.
#[async_trait]
pub trait Connect: Debug + Send + Sync {
    /// Opens a fresh connection. It is ready when this returns.
    async fn connect(&self) -> Result<Arc<dyn Transport>, TransportError>;

    /// The server's address for display: the command line or the URL, without secrets.
    fn target(&self) -> String;

    /// The kind of connection that [`connect`](Self::connect) opens.
    fn kind(&self) -> TransportKind;

    /// The alternative to try if the server turns out not to speak this transport at all.
    fn fallback(&self) -> Option<Arc<dyn Connect>> {
        None
    }
}

#[async_trait]
impl<C: Connect + ?Sized> Connect for Arc<C> {
    async fn connect(&self) -> Result<Arc<dyn Transport>, TransportError> {
        (**self).connect().await
    }

    fn target(&self) -> String {
        (**self).target()
    }

    fn kind(&self) -> TransportKind {
        (**self).kind()
    }

    fn fallback(&self) -> Option<Arc<dyn Connect>> {
        (**self).fallback()
    }
}

/// The kinds of connection that protocol rules distinguish.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
#[non_exhaustive]
pub enum TransportKind {
    /// One shared duplex channel to one process: stdio, or an in-memory pair.
    Pipe,
    /// Streamable HTTP: an exchange per message.
    Http,
    /// HTTP+SSE of 2024-11-05: one event stream in, POSTs out. Never modern.
    LegacySse,
}
