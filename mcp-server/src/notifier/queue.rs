//! Messages on their way to one client, and batches of responses.

use std::collections::VecDeque;
use std::sync::Arc;

use parking_lot::Mutex;
use tokio::sync::Notify;

use crate::pipe::outlet::Outlet;

/// A bounded queue with one reader. Responses wait for room; other messages are dropped instead.
pub(crate) struct Queue {
    limit: usize,
    state: Mutex<State>,
    arrived: Notify,
    room: Notify,
}

#[derive(Default)]
struct State {
    messages: VecDeque<Vec<u8>>,
    bytes: usize,
}

impl Queue {
    /// Holds `limit` bytes, or one message that is larger.
    pub(crate) fn new(limit: usize) -> Self {
        Self {
            limit,
            state: Mutex::default(),
            arrived: Notify::new(),
            room: Notify::new(),
        }
    }

    /// Queues a response, waiting for room.
    pub(crate) async fn push_response(&self, mut message: Vec<u8>) {
        loop {
            let room = self.room.notified();
            match self.try_push(message) {
                Ok(()) => return,
                Err(back) => message = back,
            }
            room.await;
        }
    }

    fn try_push(&self, message: Vec<u8>) -> Result<(), Vec<u8>> {
        let mut state = self.state.lock();
        if !state.messages.is_empty() && state.bytes + message.len() > self.limit {
            return Err(message);
        }
        state.bytes += message.len();
        state.messages.push_back(message);
        drop(state);
        self.arrived.notify_one();
        Ok(())
    }

    /// Queues a message whether there is room or not.
    fn force(&self, message: Vec<u8>) {
        let mut state = self.state.lock();
        state.bytes += message.len();
        state.messages.push_back(message);
        drop(state);
        self.arrived.notify_one();
    }

    /// All that waits; waits itself until there is something.
    pub(crate) async fn next(&self) -> Option<Vec<Vec<u8>>> {
        loop {
            let taken = self.take();
            if !taken.is_empty() {
                return Some(taken);
            }
            self.arrived.notified().await;
        }
    }

    /// All that waits now.
    pub(crate) fn take(&self) -> Vec<Vec<u8>> {
        let mut state = self.state.lock();
        state.bytes = 0;
        let taken: Vec<_> = state.messages.drain(..).collect();
        drop(state);
        self.room.notify_waiters();
        taken
    }
}

impl Outlet for Queue {
    fn push(&self, message: Vec<u8>) -> bool {
        self.try_push(message).is_ok()
    }
}

/// The responses to one batch, sent together once the last one is there (2025-03-26).
pub(crate) struct Batch {
    queue: Arc<Queue>,
    bodies: Mutex<Vec<Vec<u8>>>,
}

impl Batch {
    pub(crate) fn new(queue: Arc<Queue>) -> Self {
        Self {
            queue,
            bodies: Mutex::default(),
        }
    }

    pub(crate) fn add(&self, body: Vec<u8>) {
        self.bodies.lock().push(body);
    }
}

/// The last one who could add a response is gone.
impl Drop for Batch {
    fn drop(&mut self) {
        let bodies = std::mem::take(self.bodies.get_mut());
        if bodies.is_empty() {
            return;
        }
        let mut all = vec![b'['];
        all.extend(bodies.join(&b','));
        all.push(b']');
        self.queue.force(all);
    }
}
