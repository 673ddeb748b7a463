//! The server's log: always drained, with its tail kept.

use std::io;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::sync::watch;
use tokio::time::timeout;

use super::pipe::ReadPipe;

/// The size of one read.
const READ: usize = 16 * 1024;
/// The usual capacity of a pipe.
const PIPE: usize = 64 * 1024;

pub(super) struct Stderr {
    pipe: ReadPipe,
    tail: Mutex<Tail>,
    is_drained: watch::Sender<bool>,
}

/// The last bytes of a stream.
struct Tail {
    bytes: Vec<u8>,
    limit: usize,
    is_cut: bool,
}

impl Stderr {
    pub(super) fn new(pipe: ReadPipe, limit: usize) -> Self {
        let tail = Tail {
            bytes: Vec::new(),
            limit,
            is_cut: false,
        };
        Self {
            pipe,
            tail: Mutex::new(tail),
            is_drained: watch::Sender::new(false),
        }
    }

    /// Drains the stream to its end.
    pub(super) async fn drain(&self) {
        while self.pipe.readable().await.is_ok() && is_open(&self.read()) {
            // A flood must not starve the other tasks.
            tokio::task::consume_budget().await;
        }
        self.is_drained.send_replace(true);
    }

    /// Waits briefly until the stream is drained: a process that the server has left behind may keep it open. What the
    /// server wrote before its exit is always read; it is in the pipe, even if the draining task has not run yet.
    pub(super) async fn drained(&self, limit: Duration) {
        let mut is_drained = self.is_drained.subscribe();
        let waited = timeout(limit, is_drained.wait_for(|drained| *drained)).await;
        if waited.is_err() {
            // Bounded by the capacity of a pipe: a writer cannot keep us here.
            let mut reads = PIPE / READ;
            while reads > 0 && matches!(self.read(), Ok(1..)) {
                reads -= 1;
            }
        }
    }

    /// The tail of the bytes read so far, in whole lines if possible.
    pub(super) fn tail(&self) -> String {
        self.tail.lock().text()
    }

    /// Reads what is available.
    fn read(&self) -> io::Result<usize> {
        let mut tail = self.tail.lock();
        tail.bytes.reserve(READ);
        let taken = self.pipe.try_read_buf(&mut tail.bytes);
        tail.cut();
        taken
    }
}

/// Whether more may follow after a read.
fn is_open(read: &io::Result<usize>) -> bool {
    match read {
        Ok(taken) => *taken > 0,
        Err(error) => matches!(
            error.kind(),
            io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted
        ),
    }
}

impl Tail {
    fn cut(&mut self) {
        if let Some(excess @ 1..) = self.bytes.len().checked_sub(self.limit) {
            self.bytes.drain(..excess);
            self.is_cut = true;
        }
    }

    /// Converts any bytes to valid text without control characters.
    fn text(&self) -> String {
        let mut bytes = self.bytes.as_slice();
        if self.is_cut
            && let Some(line_end) = memchr::memchr(b'\n', bytes)
            && line_end + 1 < bytes.len()
        {
            bytes = bytes.get(line_end + 1..).unwrap_or_default();
        }
        let text = String::from_utf8_lossy(bytes);
        text.chars()
            .filter(|c| matches!(c, '\n' | '\t') || !c.is_control())
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_tail_is_the_end_of_the_stream_whatever_the_chunks(
            chunks in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..30), 0..20),
            limit in 0..100_usize,
        ) {
            let mut tail = Tail { bytes: Vec::new(), limit, is_cut: false };
            for chunk in &chunks {
                tail.bytes.extend_from_slice(chunk);
                tail.cut();
            }
            let stream = chunks.concat();
            prop_assert_eq!(&tail.bytes, &stream[stream.len().saturating_sub(limit)..]);
            prop_assert_eq!(tail.is_cut, stream.len() > limit);
            prop_assert!(tail.text().chars().all(|c| c == '\n' || c == '\t' || !c.is_control()));
        }
    }

    #[test]
    fn a_cut_tail_begins_with_a_whole_line() {
        let tail = |bytes: &[u8]| {
            Tail {
                bytes: bytes.to_vec(),
                limit: 0,
                is_cut: true,
            }
            .text()
        };
        assert_eq!(tail(b"half a line\nwhole\n"), "whole\n");
        assert_eq!(tail(b"no line end"), "no line end");
        assert_eq!(tail(b"only one\n"), "only one\n");
    }
}
