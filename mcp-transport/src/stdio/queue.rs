//! What waits to be written, and what has been: a pure machine.

use mcp_jsonrpc::RequestId;
use memchr::memchr2;

use super::StdioLimits;
use crate::{Outgoing, OutgoingKind};

/// Buffers larger than this are not kept for reuse.
const KEEP: usize = 256 * 1024;

/// Lines on their way to the server, as one buffer that is filled while another is written.
#[derive(Debug)]
pub(super) struct Queue {
    waiting: Batch,
    /// What the writer has in hand: its requests, and how much of it the pipe has taken.
    writing: Vec<Mark>,
    written: usize,
    spare: Vec<u8>,
    request_bound: usize,
    control_bound: usize,
}

#[derive(Debug, Default)]
struct Batch {
    bytes: Vec<u8>,
    marks: Vec<Mark>,
}

/// A request, and where in its batch its line begins.
#[derive(Debug)]
struct Mark {
    id: RequestId,
    start: usize,
}

/// What became of a message that was offered.
#[derive(Debug, Eq, PartialEq)]
pub(super) enum Offer {
    /// Taken, and it is the first: the writer may be asleep.
    First,
    /// Taken, behind others.
    Taken,
    /// A request for which there is no room now.
    Wait,
    /// Another message for which there is no room.
    Full,
}

impl Queue {
    pub(super) fn new(limits: &StdioLimits) -> Self {
        Self {
            waiting: Batch::default(),
            writing: Vec::new(),
            written: 0,
            spare: Vec::new(),
            request_bound: limits.outbound_bytes,
            control_bound: limits.outbound_bytes.saturating_add(limits.control_bytes),
        }
    }

    /// Takes the message if there is room, leaving `message` without its body.
    pub(super) fn offer(&mut self, message: &mut Outgoing) -> Offer {
        let is_request = matches!(message.kind, OutgoingKind::Request { .. });
        let bound = if is_request {
            self.request_bound
        } else {
            self.control_bound
        };
        let start = self.waiting.bytes.len();
        if start > bound {
            return if is_request { Offer::Wait } else { Offer::Full };
        }
        if let OutgoingKind::Request { id, .. } = &message.kind {
            self.waiting.marks.push(Mark {
                id: id.clone(),
                start,
            });
        }
        self.waiting.append(std::mem::take(&mut message.body));
        if start == 0 {
            Offer::First
        } else {
            Offer::Taken
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.waiting.bytes.is_empty()
    }

    /// Hands out all that waits, to be written; `None` if there is nothing.
    pub(super) fn take(&mut self) -> Option<Vec<u8>> {
        if self.waiting.bytes.is_empty() {
            return None;
        }
        self.writing = std::mem::take(&mut self.waiting.marks);
        self.written = 0;
        Some(std::mem::replace(
            &mut self.waiting.bytes,
            std::mem::take(&mut self.spare),
        ))
    }

    /// The pipe has taken so many more bytes of what was handed out.
    pub(super) fn wrote(&mut self, bytes: usize) {
        self.written += bytes;
    }

    /// All that was handed out has been written; the buffer comes back.
    pub(super) fn done(&mut self, mut buffer: Vec<u8>) {
        self.writing.clear();
        if buffer.capacity() <= KEEP {
            buffer.clear();
            self.spare = buffer;
        }
    }

    /// The requests of which not a byte has been written.
    pub(super) fn unsent(&self) -> Vec<RequestId> {
        let begun = self
            .writing
            .iter()
            .filter(|mark| mark.start >= self.written);
        begun
            .chain(&self.waiting.marks)
            .map(|mark| mark.id.clone())
            .collect()
    }
}

impl Batch {
    fn append(&mut self, body: Vec<u8>) {
        let start = self.bytes.len();
        if start == 0 && body.len() > self.bytes.capacity() {
            self.bytes = body;
        } else {
            self.bytes.extend_from_slice(&body);
        }
        let line = self.bytes.get_mut(start..).unwrap_or_default();
        if memchr2(b'\n', b'\r', line).is_some() {
            // Outside of strings a line break is white space, and inside it cannot be raw.
            for byte in line.iter_mut().filter(|byte| matches!(byte, b'\n' | b'\r')) {
                *byte = b' ';
            }
        }
        self.bytes.push(b'\n');
    }
}
