//! A connected in-memory pair: the transport of built-in servers, tests and examples.
//!
//! ```
//! use mcp_transport::{Incoming, Outgoing, Transport, memory};
//!
//! # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
//! let (client, server) = memory::pair();
//! client.send(Outgoing::notification("hello", b"{}".to_vec())).await?;
//! let Incoming::Message { body, .. } = server.recv().await else { panic!() };
//! assert_eq!(body, b"{}");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! # })?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::collections::VecDeque;
use std::fmt;
use std::io;
use std::sync::Arc;

use async_trait::async_trait;
use mcp_jsonrpc::RequestId;
use parking_lot::Mutex;
use tokio::sync::{Notify, mpsc};

use crate::{
    Closed, Connect, Delivery, Incoming, Outgoing, SendError, Transport, TransportError,
    TransportKind,
};

/// The default number of messages per direction.
const CAPACITY: usize = 256;
/// The number of connections that may wait to be accepted.
const BACKLOG: usize = 16;

/// Creates the two ends of a connection: what one sends, the other receives.
pub fn pair() -> (MemoryTransport, MemoryTransport) {
    pair_with_capacity(CAPACITY)
}

/// Creates the two ends of a connection that holds `capacity` messages each way before requests wait; as many other
/// messages again are held without waiting.
pub fn pair_with_capacity(capacity: usize) -> (MemoryTransport, MemoryTransport) {
    let (there, back) = <(Arc<Lane>, Arc<Lane>)>::default();
    let end = |outbound: &Arc<Lane>, inbound: &Arc<Lane>| MemoryTransport {
        outbound: Arc::clone(outbound),
        inbound: Arc::clone(inbound),
        capacity: capacity.max(1),
    };
    (end(&there, &back), end(&back, &there))
}

/// Creates an in-memory server that accepts any number of connections.
pub fn listen() -> (MemoryConnect, MemoryListener) {
    let (sender, accepted) = mpsc::channel(BACKLOG);
    (MemoryConnect { sender }, MemoryListener { accepted })
}

/// One end of a [`pair`]. Dropping it closes it.
pub struct MemoryTransport {
    outbound: Arc<Lane>,
    inbound: Arc<Lane>,
    capacity: usize,
}

/// Connects to the [`MemoryListener`] it was created with.
#[derive(Clone, Debug)]
pub struct MemoryConnect {
    sender: mpsc::Sender<MemoryTransport>,
}

/// Accepts the server's ends of connections.
#[derive(Debug)]
pub struct MemoryListener {
    accepted: mpsc::Receiver<MemoryTransport>,
}

/// One direction of a connection.
#[derive(Default)]
struct Lane {
    state: Mutex<LaneState>,
    arrived: Notify,
    room: Notify,
}

#[derive(Default)]
struct LaneState {
    queue: VecDeque<(Option<RequestId>, Vec<u8>)>,
    sender_gone: bool,
    receiver_gone: bool,
}

/// Does not print the messages.
impl fmt::Debug for MemoryTransport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let to_send = self.outbound.state.lock().queue.len();
        let to_receive = self.inbound.state.lock().queue.len();
        f.debug_struct("MemoryTransport")
            .field("to_send", &to_send)
            .field("to_receive", &to_receive)
            .field("is_alive", &self.is_alive())
            .finish_non_exhaustive()
    }
}

impl MemoryListener {
    /// The server's end of the next connection; `None` once there are no connectors left.
    ///
    /// Cancel-safe.
    pub async fn accept(&mut self) -> Option<MemoryTransport> {
        self.accepted.recv().await
    }
}

impl MemoryTransport {
    fn end(&self) {
        self.outbound.state.lock().sender_gone = true;
        self.outbound.arrived.notify_one();
        self.outbound.room.notify_waiters();
        self.inbound.state.lock().receiver_gone = true;
        self.inbound.arrived.notify_one();
        self.inbound.room.notify_waiters();
    }

    /// Queues the message, unless it has to wait.
    fn try_send(&self, message: &mut Outgoing) -> Option<Result<(), TransportError>> {
        let mut lane = self.outbound.state.lock();
        let is_request = message.request_id().is_some();
        let room = if is_request {
            self.capacity
        } else {
            2 * self.capacity
        };
        if lane.sender_gone {
            Some(Err(TransportError::Closed))
        } else if lane.receiver_gone {
            Some(Err(peer_gone("sending to the other end in memory")))
        } else if lane.queue.len() < room {
            let body = std::mem::take(&mut message.body);
            let was_empty = lane.queue.is_empty();
            lane.queue.push_back((message.request_id().cloned(), body));
            drop(lane);
            if was_empty {
                self.outbound.arrived.notify_one();
            }
            Some(Ok(()))
        } else if is_request {
            None
        } else {
            Some(Err(io_error(
                "queueing a message for the other end in memory",
                io::Error::new(
                    io::ErrorKind::WouldBlock,
                    format!("{room} messages wait already"),
                ),
            )))
        }
    }
}

#[async_trait]
impl Transport for MemoryTransport {
    async fn send(&self, mut message: Outgoing) -> Result<(), SendError> {
        loop {
            let room = self.outbound.room.notified();
            match self.try_send(&mut message) {
                Some(sent) => {
                    return sent.map_err(|error| SendError::new(error, Delivery::NotSent));
                }
                None => room.await,
            }
        }
    }

    async fn recv(&self) -> Incoming {
        loop {
            {
                let mut lane = self.inbound.state.lock();
                if lane.receiver_gone {
                    return Incoming::Closed(Closed::clean());
                }
                if let Some((_, body)) = lane.queue.pop_front() {
                    drop(lane);
                    self.inbound.room.notify_one();
                    return Incoming::Message { body, stream: None };
                }
                if lane.sender_gone {
                    let unread = &self.outbound.state.lock().queue;
                    let unsent = unread.iter().filter_map(|(id, _)| id.clone()).collect();
                    return Incoming::Closed(Closed {
                        unsent,
                        ..Closed::clean()
                    });
                }
            }
            self.inbound.arrived.notified().await;
        }
    }

    fn release(&self, _: &RequestId) {}

    async fn close(&self) {
        self.end();
    }

    fn kind(&self) -> TransportKind {
        TransportKind::Pipe
    }

    fn is_alive(&self) -> bool {
        !self.inbound.state.lock().sender_gone
    }
}

impl Drop for MemoryTransport {
    fn drop(&mut self) {
        self.end();
    }
}

#[async_trait]
impl Connect for MemoryConnect {
    async fn connect(&self) -> Result<Arc<dyn Transport>, TransportError> {
        let (ours, theirs) = pair();
        match self.sender.send(theirs).await {
            Ok(()) => Ok(Arc::new(ours)),
            Err(_) => Err(peer_gone("connecting to the server in memory")),
        }
    }

    fn target(&self) -> String {
        "memory".to_owned()
    }

    fn kind(&self) -> TransportKind {
        TransportKind::Pipe
    }
}

fn peer_gone(action: &str) -> TransportError {
    io_error(action, io::ErrorKind::BrokenPipe.into())
}

fn io_error(action: &str, source: io::Error) -> TransportError {
    let action = action.to_owned();
    TransportError::Io {
        action,
        source: Box::new(source),
    }
}
