//! Outgoing JSON-RPC messages, and their queue.

use std::fmt;
use std::sync::Arc;

use serde_json::{Value, json};
use tokio::sync::{mpsc, oneshot};

use crate::Refusal;

/// The number of pieces that may wait for a slow reader.
const QUEUE: usize = 64;

pub(crate) fn result(id: &Value, result: &Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "result": result})
}

pub(crate) fn error(id: &Value, refusal: &Refusal) -> Value {
    let mut error = json!({"code": refusal.code, "message": refusal.message});
    if let (Some(members), Some(data)) = (error.as_object_mut(), &refusal.data) {
        members.insert("data".to_owned(), data.clone());
    }
    json!({"jsonrpc": "2.0", "id": id, "error": error})
}

pub(crate) fn notification(method: &str, params: Value) -> Value {
    json!({"jsonrpc": "2.0", "method": method, "params": params})
}

pub(crate) fn request(id: &Value, method: &str, params: &Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
}

/// The response to one request: usually one message, with its HTTP status.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) pieces: Vec<Piece>,
}

/// An item for a stream.
#[derive(Clone)]
pub(crate) enum Piece {
    /// One message, with the stream's framing.
    Message(Vec<u8>),
    /// This many messages, each created when it is due.
    Many(u64, Arc<dyn Fn(u64) -> Vec<u8> + Send + Sync>),
    /// These bytes, repeated, without framing.
    Raw(Arc<[u8]>, u64),
    /// Notifies when everything before it has been written.
    Flush(Arc<parking_lot::Mutex<Option<oneshot::Sender<()>>>>),
    /// The normal end of the stream.
    End,
    /// The end of the stream by a TCP reset.
    Reset,
}

impl Piece {
    pub(crate) fn raw(bytes: impl Into<Arc<[u8]>>) -> Self {
        Self::Raw(bytes.into(), 1)
    }
}

impl From<&Value> for Piece {
    fn from(message: &Value) -> Self {
        Self::Message(message.to_string().into_bytes())
    }
}

impl fmt::Debug for Piece {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Message(bytes) => write!(f, "Message({})", String::from_utf8_lossy(bytes)),
            Self::Many(times, _) => write!(f, "Many({times})"),
            Self::Raw(bytes, times) => write!(f, "Raw({} bytes, {times})", bytes.len()),
            Self::Flush(_) => f.write_str("Flush"),
            Self::End => f.write_str("End"),
            Self::Reset => f.write_str("Reset"),
        }
    }
}

/// The queue to a client, or to one of its streams.
#[derive(Clone, Debug)]
pub(crate) struct Out {
    queue: mpsc::Sender<Piece>,
}

impl Out {
    pub(crate) fn channel() -> (Self, mpsc::Receiver<Piece>) {
        let (queue, pieces) = mpsc::channel(QUEUE);
        (Self { queue }, pieces)
    }

    /// Queues a piece; `false` if the reader has ended.
    pub(crate) async fn send(&self, piece: impl Into<Piece>) -> bool {
        self.queue.send(piece.into()).await.is_ok()
    }

    /// Queues a piece unless the queue is full.
    pub(crate) fn try_send(&self, piece: impl Into<Piece>) -> bool {
        self.queue.try_send(piece.into()).is_ok()
    }

    /// Waits until everything queued before has been written; `false` if it never will be.
    pub(crate) async fn flush(&self) -> bool {
        let (written, wait) = oneshot::channel();
        let flush = Piece::Flush(Arc::new(parking_lot::Mutex::new(Some(written))));
        self.send(flush).await && wait.await.is_ok()
    }

    /// Returns when the reader has ended.
    pub(crate) async fn closed(&self) {
        self.queue.closed().await;
    }
}
