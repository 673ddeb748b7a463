//! Line framing as a pure state machine: push bytes in, pull lines out.

use std::fmt;

use memchr::memchr;

/// The room for a single read.
const READ: usize = 64 * 1024;
/// Lines of at least this size take the framer's buffer with them instead of being copied.
const LARGE: usize = 32 * 1024;
/// The part of an oversized line that is kept.
const HEAD: usize = 4 * 1024;
/// How many times the limit of one line is discarded before the stream is abandoned.
const DISCARD_FACTOR: usize = 16;
const BOM: &[u8] = b"\xEF\xBB\xBF";

/// Splits a byte stream into lines.
///
/// A line ends with LF; one CR before it belongs to the line ending. Blank lines are skipped, and so is one byte order
/// mark at the very start. The chunk boundaries never matter.
///
/// ```
/// use mcp_transport::{Line, LineFramer};
///
/// let mut framer = LineFramer::new(1024);
/// framer.push(b"{\"id\":1}\r\n\n{\"id\"");
/// assert_eq!(framer.next_line(), Some(Line::Whole(b"{\"id\":1}".to_vec())));
/// assert_eq!(framer.next_line(), None);
/// framer.push(b":2}");
/// framer.finish();
/// assert_eq!(framer.next_line(), Some(Line::Whole(b"{\"id\":2}".to_vec())));
/// ```
pub struct LineFramer {
    /// Unread bytes are `buffer[start..]`; none of `buffer[start..scanned]` is a newline.
    buffer: Vec<u8>,
    start: usize,
    scanned: usize,
    limit: usize,
    /// The size of the last large line: the next one is likely as large.
    large: usize,
    state: State,
    finished: bool,
}

#[derive(Debug)]
enum State {
    /// Nothing has been read: a byte order mark may follow.
    Fresh,
    Lines,
    /// Inside an oversized line, this many bytes past its report.
    Discarding(usize),
    /// The line exceeded the limit 16 times over: nothing more is yielded.
    Abandoned,
}

/// The output of [`LineFramer`].
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Line {
    /// A line within the limit, without its line ending. Never blank.
    Whole(Vec<u8>),
    /// A line over the limit. The remainder is discarded as it arrives.
    TooLarge {
        /// Its first 4 KiB, or as many as the limit allows.
        head: Vec<u8>,
    },
    /// The oversized line exceeded the limit 16 times over: the framer yields nothing more.
    Endless,
}

/// Does not print the content.
impl fmt::Debug for LineFramer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LineFramer")
            .field("unread", &(self.buffer.len() - self.start))
            .field("limit", &self.limit)
            .field("state", &self.state)
            .finish_non_exhaustive()
    }
}

impl LineFramer {
    /// Creates a framer for lines of up to `limit` bytes.
    pub fn new(limit: usize) -> Self {
        Self {
            buffer: Vec::new(),
            start: 0,
            scanned: 0,
            limit,
            large: 0,
            state: State::Fresh,
            finished: false,
        }
    }

    /// The maximum length of a line.
    pub fn limit(&self) -> usize {
        self.limit
    }

    /// Appends bytes of the stream.
    pub fn push(&mut self, bytes: &[u8]) {
        self.room().extend_from_slice(bytes);
    }

    /// The buffer, with room for a large read, for readers that append to it directly. Bytes already in it must not be
    /// changed.
    pub fn room(&mut self) -> &mut Vec<u8> {
        if self.start > 0 {
            self.buffer.drain(..self.start);
            self.scanned -= self.start;
            self.start = 0;
        }
        let held = self.buffer.len();
        if (LARGE..self.large).contains(&held) && self.buffer.capacity() - held < READ {
            self.buffer.reserve_exact(self.large - held + READ);
        }
        self.buffer.reserve(READ);
        &mut self.buffer
    }

    /// Ends the stream: the remaining bytes count as a line.
    pub fn finish(&mut self) {
        self.finished = true;
    }

    /// Whether the stream has ended.
    pub fn is_finished(&self) -> bool {
        self.finished
    }

    /// The next line, or `None` until more bytes are pushed.
    pub fn next_line(&mut self) -> Option<Line> {
        loop {
            match self.state {
                State::Fresh => {
                    if !self.drop_bom() {
                        return None;
                    }
                    self.state = State::Lines;
                }
                State::Lines => {
                    let end = self.line_end();
                    let size = end.unwrap_or(self.buffer.len()) - self.start;
                    if size > self.limit {
                        return Some(self.refuse());
                    }
                    let end = match end {
                        Some(end) => end,
                        None if self.finished && size > 0 => self.buffer.len(),
                        None => return None,
                    };
                    if let Some(line) = self.take(end) {
                        return Some(Line::Whole(line));
                    }
                }
                State::Discarding(seen) => {
                    let end = self.line_end();
                    let seen = seen + end.unwrap_or(self.buffer.len()) - self.start;
                    if seen > self.limit.saturating_mul(DISCARD_FACTOR) {
                        self.state = State::Abandoned;
                        return Some(Line::Endless);
                    }
                    match end {
                        Some(end) => {
                            self.state = State::Lines;
                            self.skip_to(end + 1);
                        }
                        None => {
                            self.state = State::Discarding(seen);
                            self.skip_to(self.buffer.len());
                            return None;
                        }
                    }
                }
                State::Abandoned => {
                    self.skip_to(self.buffer.len());
                    return None;
                }
            }
        }
    }

    /// Drops a leading byte order mark; `false` while it is undecided whether there is one.
    fn drop_bom(&mut self) -> bool {
        if self.buffer.starts_with(BOM) {
            self.skip_to(BOM.len());
        } else if BOM.starts_with(&self.buffer) && !self.finished {
            return false;
        }
        true
    }

    /// The position of the next newline. Scans every byte once, however often it is called.
    fn line_end(&mut self) -> Option<usize> {
        let found = memchr(b'\n', self.buffer.get(self.scanned..)?);
        match found {
            Some(offset) => self.scanned += offset,
            None => self.scanned = self.buffer.len(),
        }
        found.map(|_| self.scanned)
    }

    /// Abandons the current line, whose end may not have arrived yet.
    fn refuse(&mut self) -> Line {
        let line = self.buffer.get(self.start..).unwrap_or_default();
        let head = line.get(..HEAD.min(self.limit)).unwrap_or(line).to_vec();
        // From here on the excess over the limit is counted, wherever the chunks were cut.
        self.state = State::Discarding(0);
        self.start += self.limit;
        Line::TooLarge { head }
    }

    /// Takes the line up to `end`, without a CR at its end; `None` if it is blank.
    fn take(&mut self, end: usize) -> Option<Vec<u8>> {
        let line = self.buffer.get(self.start..end)?;
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let size = line.len();
        let next = (end + 1).min(self.buffer.len());
        if line.iter().all(u8::is_ascii_whitespace) {
            self.skip_to(next);
            return None;
        }
        let rest = self.buffer.get(next..).unwrap_or_default();
        if size < LARGE.max(rest.len()) {
            let line = line.to_vec();
            self.skip_to(next);
            return Some(line);
        }
        let mut buffer = Vec::with_capacity(READ + rest.len());
        buffer.extend_from_slice(rest);
        let mut line = std::mem::replace(&mut self.buffer, buffer);
        line.truncate(self.start + size);
        line.drain(..self.start);
        self.start = 0;
        self.scanned = 0;
        self.large = size;
        Some(line)
    }

    fn skip_to(&mut self, place: usize) {
        self.start = place;
        self.scanned = self.scanned.max(place);
        if place == self.buffer.len() {
            self.buffer.clear();
            self.start = 0;
            self.scanned = 0;
        }
    }
}
