//! The bounded lines of an event stream, ended by LF, CR or CRLF.

use memchr::memchr2;

use super::{DISCARD_FACTOR, HEAD};

/// Lines of at least this size take the buffer with them instead of being copied.
const LARGE: usize = 32 * 1024;
const BOM: &[u8] = b"\xEF\xBB\xBF";

/// Splits a byte stream into lines, after a byte order mark if there is one.
pub(super) struct SseLines {
    /// Unread bytes are `buffer[start..]`; none of `buffer[start..scanned]` ends a line.
    buffer: Vec<u8>,
    start: usize,
    scanned: usize,
    limit: usize,
    state: State,
}

#[derive(Clone, Copy)]
enum State {
    /// Nothing has been read yet: a byte order mark may follow.
    Fresh,
    Lines,
    /// The last line ended with CR: an LF that follows belongs to it.
    AfterCr,
    /// Inside an overlong line, this many bytes past the limit.
    Discarding(usize),
}

/// The items of the stream.
pub(super) enum SseLine<'a> {
    /// A line within the limit, without its line ending.
    Whole(&'a [u8]),
    /// The start of a line over the limit; the remainder is discarded.
    Long(&'a [u8]),
    /// The line exceeds the limit 16 times over.
    Endless,
}

impl SseLines {
    pub(super) fn new(limit: usize) -> Self {
        Self {
            buffer: Vec::new(),
            start: 0,
            scanned: 0,
            limit,
            state: State::Fresh,
        }
    }

    pub(super) fn limit(&self) -> usize {
        self.limit
    }

    /// Takes the last `size` bytes of the line returned last, without a copy if they are most of the buffer.
    pub(super) fn take_last(&mut self, size: usize) -> Vec<u8> {
        let end = self.start.saturating_sub(1);
        let rest = self.buffer.get(self.start..).unwrap_or_default();
        let from = end.saturating_sub(size);
        if size < LARGE.max(rest.len()) {
            return self.buffer.get(from..end).unwrap_or_default().to_vec();
        }
        let rest = rest.to_vec();
        let mut last = std::mem::replace(&mut self.buffer, rest);
        last.truncate(end);
        last.drain(..from);
        self.scanned -= self.start;
        self.start = 0;
        last
    }

    /// Reserves room for `bytes` more bytes, which may all be one line.
    pub(super) fn reserve(&mut self, bytes: usize) {
        self.buffer.reserve_exact(bytes);
    }

    pub(super) fn push(&mut self, bytes: &[u8]) {
        self.buffer.drain(..self.start);
        self.scanned -= self.start;
        self.start = 0;
        self.buffer.extend_from_slice(bytes);
    }

    pub(super) fn next_line(&mut self) -> Option<SseLine<'_>> {
        loop {
            match self.state {
                State::Fresh => {
                    if self.buffer.starts_with(BOM) {
                        self.skip_to(BOM.len());
                    } else if BOM.starts_with(&self.buffer) {
                        return None;
                    }
                    self.state = State::Lines;
                }
                State::AfterCr => {
                    if *self.buffer.get(self.start)? == b'\n' {
                        self.skip_to(self.start + 1);
                    }
                    self.state = State::Lines;
                }
                State::Lines => {
                    let (start, end) = (self.start, self.line_end());
                    let size = end.unwrap_or(self.buffer.len()) - start;
                    if size > self.limit {
                        self.state = State::Discarding(0);
                        self.start += self.limit;
                        let head = start..start + HEAD.min(self.limit);
                        return self.buffer.get(head).map(SseLine::Long);
                    }
                    let end = end?;
                    self.pass(end);
                    return self.buffer.get(start..end).map(SseLine::Whole);
                }
                State::Discarding(seen) => {
                    let end = self.line_end();
                    let seen = seen + end.unwrap_or(self.buffer.len()) - self.start;
                    if seen > self.limit.saturating_mul(DISCARD_FACTOR) {
                        return Some(SseLine::Endless);
                    }
                    self.state = State::Discarding(seen);
                    match end {
                        Some(end) => self.pass(end),
                        None => {
                            self.skip_to(self.buffer.len());
                            return None;
                        }
                    }
                }
            }
        }
    }

    /// The position of the next CR or LF. Scans every byte once, however often it is called.
    fn line_end(&mut self) -> Option<usize> {
        let found = memchr2(b'\r', b'\n', self.buffer.get(self.scanned..)?);
        match found {
            Some(offset) => self.scanned += offset,
            None => self.scanned = self.buffer.len(),
        }
        found.map(|_| self.scanned)
    }

    /// Skips the line ending at `end`.
    fn pass(&mut self, end: usize) {
        let cr = self.buffer.get(end) == Some(&b'\r');
        self.state = if cr { State::AfterCr } else { State::Lines };
        self.skip_to(end + 1);
    }

    fn skip_to(&mut self, place: usize) {
        self.start = place;
        self.scanned = self.scanned.max(place);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_with_reserved_room_is_not_reallocated() {
        let (line, mut lines) = ([b'x'; 50_000], SseLines::new(1 << 20));
        lines.reserve(150_001);
        for _ in 0..3 {
            lines.push(&line);
            assert!(lines.next_line().is_none());
        }
        lines.push(b"\n");
        let Some(SseLine::Whole(whole)) = lines.next_line() else {
            panic!("a whole line")
        };
        let size = whole.len();
        let taken = lines.take_last(size);
        assert_eq!(taken.len(), 150_000);
        assert!(taken.capacity() < 160_000, "{}", taken.capacity());
    }
}
