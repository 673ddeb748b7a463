//! The destination of messages other than the response: the stream of one request, or the connection's queue.

/// Takes messages for a client. Never blocks.
pub(crate) trait Outlet: Send + Sync {
    /// Queues a message; `false` if it was dropped, because the reader is gone or too slow.
    fn push(&self, message: Vec<u8>) -> bool;

    /// Ends the stream before the response, which the client fetches later, where the era and the
    /// transport have that.
    fn release(&self) {}
}
