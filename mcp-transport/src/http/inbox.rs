//! The bounded queue between the tasks that read from the server and the caller of `recv`.

use std::collections::VecDeque;
use std::pin::pin;

use parking_lot::Mutex;
use tokio::sync::Notify;

use crate::{Closed, Incoming};

/// Bounded in messages and in bytes; a single message always fits into an empty queue.
#[derive(Debug)]
pub(crate) struct Inbox {
    max_messages: usize,
    max_bytes: usize,
    state: Mutex<State>,
    /// An item was queued.
    arrived: Notify,
    /// An item was taken.
    freed: Notify,
}

#[derive(Debug, Default)]
struct State {
    queue: VecDeque<Incoming>,
    bytes: usize,
    end: Option<Closed>,
}

impl Inbox {
    pub(crate) fn new(max_messages: usize, max_bytes: usize) -> Self {
        Self {
            max_messages,
            max_bytes,
            state: Mutex::default(),
            arrived: Notify::new(),
            freed: Notify::new(),
        }
    }

    /// Queues `item`, waiting for room. After [`end`](Self::end) it is discarded.
    pub(crate) async fn push(&self, item: Incoming) {
        let mut waiting = Some(item);
        while !self.try_push(&mut waiting) {
            let mut freed = pin!(self.freed.notified());
            freed.as_mut().enable();
            // Try again: room that was freed before we registered does not wake us.
            if self.try_push(&mut waiting) {
                return;
            }
            freed.await;
        }
    }

    fn try_push(&self, item: &mut Option<Incoming>) -> bool {
        let size = item.as_ref().map_or(0, size);
        let mut state = self.state.lock();
        if state.end.is_some() {
            return true;
        }
        let fits = state.queue.len() < self.max_messages
            && state.bytes.saturating_add(size) <= self.max_bytes;
        if !fits && !state.queue.is_empty() {
            return false;
        }
        if let Some(item) = item.take() {
            state.bytes = state.bytes.saturating_add(size);
            state.queue.push_back(item);
        }
        let room = state.queue.len() < self.max_messages && state.bytes < self.max_bytes;
        drop(state);
        self.arrived.notify_one();
        if room {
            self.freed.notify_one();
        }
        true
    }

    /// The next item; once the queue is empty and ended, its end, every time.
    pub(crate) async fn recv(&self) -> Incoming {
        loop {
            if let Some(item) = self.try_recv() {
                return item;
            }
            // A notification from before this call is stored.
            self.arrived.notified().await;
        }
    }

    fn try_recv(&self) -> Option<Incoming> {
        let mut state = self.state.lock();
        let Some(item) = state.queue.pop_front() else {
            return state.end.clone().map(Incoming::Closed);
        };
        state.bytes = state.bytes.saturating_sub(size(&item));
        drop(state);
        self.freed.notify_one();
        Some(item)
    }

    /// Ends the queue. Queued items are still delivered; only the first end counts.
    pub(crate) fn end(&self, closed: Closed) {
        self.state.lock().end.get_or_insert(closed);
        self.arrived.notify_one();
        self.freed.notify_waiters();
    }

    /// How the queue ended, if it has.
    #[cfg(feature = "sse")]
    pub(crate) fn ended(&self) -> Option<Closed> {
        self.state.lock().end.clone()
    }
}

/// The size of an item in bytes.
fn size(item: &Incoming) -> usize {
    match item {
        Incoming::Message { body, .. } => body.len(),
        Incoming::TooLarge { head, .. } => head.len(),
        Incoming::Ended { .. } | Incoming::Gap | Incoming::Closed(_) => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(bytes: usize) -> Incoming {
        Incoming::Message {
            body: vec![b'x'; bytes],
            stream: None,
        }
    }

    fn bytes(item: &Incoming) -> Option<usize> {
        matches!(item, Incoming::Message { .. }).then(|| size(item))
    }

    #[tokio::test(start_paused = true)]
    async fn a_full_queue_makes_writers_wait_and_loses_nothing() {
        let inbox = Inbox::new(2, 100);
        let write = async {
            for n in 1..=50 {
                inbox.push(message(n)).await;
            }
            inbox.end(Closed::clean());
        };
        let read = async {
            let mut seen = Vec::new();
            while let Some(n) = bytes(&inbox.recv().await) {
                seen.push(n);
            }
            seen
        };
        let ((), seen) = tokio::join!(write, read);
        assert_eq!(seen, (1..=50).collect::<Vec<_>>());
    }

    #[tokio::test]
    async fn a_message_larger_than_the_queue_still_gets_through() {
        let inbox = Inbox::new(2, 10);
        inbox.push(message(1_000)).await;
        assert_eq!(bytes(&inbox.recv().await), Some(1_000));
    }

    #[tokio::test]
    async fn waiting_writers_all_get_in_when_one_large_message_leaves() {
        let inbox = Inbox::new(8, 10);
        inbox.push(message(10)).await;
        let read = async {
            for _ in 0..3 {
                inbox.recv().await;
            }
        };
        tokio::join!(inbox.push(message(5)), inbox.push(message(5)), read);
        assert_eq!(inbox.state.lock().bytes, 0);
    }

    #[tokio::test]
    async fn the_end_comes_after_what_was_queued_and_stays() {
        let inbox = Inbox::new(2, 10);
        inbox.push(message(1)).await;
        inbox.end(Closed::clean());
        inbox.push(message(2)).await;
        assert_eq!(bytes(&inbox.recv().await), Some(1));
        for _ in 0..2 {
            assert!(matches!(inbox.recv().await, Incoming::Closed(_)));
        }
    }
}
