//! The messages that are queued for writing, and those already written. Pure.

use std::collections::VecDeque;

use mcp_jsonrpc::RequestId;
use memchr::memchr2;

use super::StdioLimits;
use crate::{Outgoing, OutgoingKind};

/// Buffers larger than this are not kept for reuse.
const KEEP: usize = 256 * 1024;
/// More than a pipe holds: requests written before that have been read.
const PIPE: u64 = 256 * 1024;

/// Outgoing lines: one buffer is filled while the other is written.
pub(super) struct Queue {
    waiting: Vec<u8>,
    spare: Vec<u8>,
    /// The requests that may not have been read yet, in order.
    requests: VecDeque<Request>,
    /// The number of bytes accepted, of bytes written, and of written bytes that will never be read.
    accepted: u64,
    written: u64,
    unread: u64,
    /// Whether a batch is being written.
    is_out: bool,
    request_bound: usize,
    control_bound: usize,
}

/// A request, and the position of its line in the stream of accepted bytes.
struct Request {
    id: RequestId,
    start: u64,
}

/// The outcome of offering a message.
#[derive(Debug, Eq, PartialEq)]
pub(super) enum Offer {
    /// Accepted as the first message: the writer may be asleep.
    First,
    /// Accepted behind other messages.
    Taken,
    /// There is currently no room for this request.
    Wait,
    /// There is no room for this message, which is not a request.
    Full,
}

impl Queue {
    pub(super) fn new(limits: &StdioLimits) -> Self {
        Self {
            waiting: Vec::new(),
            spare: Vec::new(),
            requests: VecDeque::new(),
            accepted: 0,
            written: 0,
            unread: 0,
            is_out: false,
            request_bound: limits.outbound_bytes,
            control_bound: limits.outbound_bytes.saturating_add(limits.control_bytes),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// Accepts the message, which is one line, if there is room.
    pub(super) fn offer(&mut self, message: &mut Outgoing) -> Offer {
        let is_request = matches!(message.kind, OutgoingKind::Request { .. });
        let bound = if is_request {
            self.request_bound
        } else {
            self.control_bound
        };
        let before = self.waiting.len();
        if before > bound {
            return if is_request { Offer::Wait } else { Offer::Full };
        }
        if let OutgoingKind::Request { id, .. } = &message.kind {
            self.requests.push_back(Request {
                id: id.clone(),
                start: self.accepted,
            });
        }
        self.append(&mut message.body);
        self.accepted += (self.waiting.len() - before) as u64;
        if before == 0 {
            Offer::First
        } else {
            Offer::Taken
        }
    }

    /// Takes everything queued, to be written; `None` if there is nothing.
    pub(super) fn take(&mut self) -> Option<Vec<u8>> {
        let spare = std::mem::take(&mut self.spare);
        let batch = std::mem::replace(&mut self.waiting, spare);
        self.is_out = !batch.is_empty();
        self.is_out.then_some(batch)
    }

    /// Whether a batch is being written.
    pub(super) fn is_out(&self) -> bool {
        self.is_out
    }

    /// Takes back the unwritten part of the last batch; nothing may have been queued since.
    pub(super) fn put_back(&mut self, mut batch: Vec<u8>, written: usize) {
        batch.drain(..written.min(batch.len()));
        self.spare = std::mem::replace(&mut self.waiting, batch);
        self.is_out = false;
    }

    /// Counts bytes of the batch that the pipe has accepted.
    pub(super) fn wrote(&mut self, bytes: usize) {
        self.written += bytes as u64;
        while self
            .requests
            .front()
            .is_some_and(|request| request.start + PIPE < self.written)
        {
            self.requests.pop_front();
        }
    }

    /// Ends the batch, which has been written; its buffer is reused.
    pub(super) fn done(&mut self, mut buffer: Vec<u8>) {
        self.is_out = false;
        if buffer.capacity() <= KEEP {
            buffer.clear();
            self.spare = buffer;
        }
    }

    /// Counts bytes in the pipe that will never be read.
    pub(super) fn lose(&mut self, bytes: usize) {
        self.unread = (bytes as u64).min(self.written);
    }

    /// The requests of which no byte has reached the server.
    pub(super) fn unsent(&self) -> Vec<RequestId> {
        let reached = self.written - self.unread;
        let unsent = self
            .requests
            .iter()
            .filter(|request| request.start >= reached);
        unsent.map(|request| request.id.clone()).collect()
    }

    fn append(&mut self, line: &mut Vec<u8>) {
        if self.is_empty() && line.len() > self.waiting.capacity() {
            self.waiting = std::mem::take(line);
        } else {
            self.waiting.extend_from_slice(line);
        }
        self.waiting.push(b'\n');
    }
}

/// Puts a message on one line. Outside of strings a line break is white space; inside strings it is always escaped.
pub(super) fn make_line(body: &mut [u8]) {
    if memchr2(b'\n', b'\r', body).is_some() {
        for byte in body.iter_mut().filter(|byte| matches!(byte, b'\n' | b'\r')) {
            *byte = b' ';
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn message(id: Option<i64>, size: usize) -> Outgoing {
        let body = vec![b'x'; size];
        match id {
            Some(id) => Outgoing::request(id.into(), "m", body),
            None => Outgoing::notification("m", body),
        }
    }

    #[test]
    fn requests_wait_and_other_messages_have_a_reserve() {
        let limits = StdioLimits::default()
            .with_outbound_bytes(10)
            .with_control_bytes(10);
        let mut queue = Queue::new(&limits);
        assert_eq!(queue.offer(&mut message(Some(1), 10)), Offer::First);
        assert_eq!(queue.offer(&mut message(Some(2), 0)), Offer::Wait);
        assert_eq!(queue.offer(&mut message(None, 9)), Offer::Taken);
        assert_eq!(queue.offer(&mut message(None, 0)), Offer::Full);
        let batch = queue.take().unwrap();
        assert_eq!(queue.offer(&mut message(Some(2), 0)), Offer::First);
        queue.wrote(batch.len());
        queue.done(batch);
        assert_eq!(queue.take(), Some(b"\n".to_vec()));
        assert_eq!(queue.take(), None);
    }

    #[derive(Clone, Debug)]
    enum Step {
        Offer(bool, usize),
        Take,
        Write(usize),
        PutBack,
    }

    fn steps() -> impl Strategy<Value = Vec<Step>> {
        let step = prop_oneof![
            4 => (any::<bool>(), 0..60_000_usize).prop_map(|(is, size)| Step::Offer(is, size)),
            2 => Just(Step::Take),
            2 => (1..100_000_usize).prop_map(Step::Write),
            1 => Just(Step::PutBack),
        ];
        prop::collection::vec(step, 0..60)
    }

    proptest! {
        /// Whatever is offered and written in whatever portions, a request is unsent exactly if none of its bytes was
        /// written.
        #[test]
        fn unsent_is_what_no_byte_got_through_of(steps in steps(), lost in 0..64 * 1024_usize) {
            let mut queue = Queue::new(&StdioLimits::default());
            let (mut in_hand, mut written) = (None::<(Vec<u8>, usize)>, 0);
            let (mut next, mut starts, mut accepted) = (0, Vec::new(), 0);
            for step in steps {
                match step {
                    Step::Offer(is_request, size) => {
                        let id = is_request.then_some(next);
                        if matches!(queue.offer(&mut message(id, size)), Offer::First | Offer::Taken) {
                            starts.extend(id.map(|id| (id, accepted)));
                            accepted += size + 1;
                        }
                        next += 1;
                    }
                    Step::Take if in_hand.is_none() => in_hand = queue.take().map(|batch| (batch, 0)),
                    Step::Take => {}
                    Step::PutBack if queue.is_empty() => {
                        if let Some((batch, done)) = in_hand.take() {
                            queue.put_back(batch, done);
                        }
                    }
                    Step::PutBack => {}
                    Step::Write(most) => {
                        if let Some((batch, done)) = &mut in_hand {
                            let size = most.min(batch.len() - *done);
                            queue.wrote(size);
                            written += size;
                            *done += size;
                        }
                        if let Some((batch, _)) = in_hand.take_if(|(batch, done)| *done == batch.len()) {
                            queue.done(batch);
                        }
                    }
                }
            }
            let unsent = |reached: usize| -> Vec<RequestId> {
                starts.iter().filter(|(_, start)| *start >= reached).map(|(id, _)| (*id).into()).collect()
            };
            prop_assert_eq!(queue.is_out(), in_hand.is_some());
            prop_assert_eq!(queue.unsent(), unsent(written));
            queue.lose(lost);
            prop_assert_eq!(queue.unsent(), unsent(written.saturating_sub(lost)));
        }
    }
}
