//! Server-sent events as a pure machine, to the letter of the WHATWG HTML standard, section 9.2.6.

mod lines;

use std::fmt;
use std::time::Duration;

use lines::{SseLine, SseLines};

/// How much of an oversized event is kept.
const HEAD: usize = 4 * 1024;
/// How many limits' worth of one event are thrown away before the stream is given up.
const PATIENCE: usize = 16;

/// Cuts a byte stream into server-sent events.
///
/// Lines end with LF, CR or CRLF; comments and unknown fields are skipped; an event that the stream
/// does not finish is not an event. How the stream was cut into chunks never matters.
///
/// ```
/// use mcp_jsonrpc::sse::{SseFrame, SseParser};
///
/// let mut parser = SseParser::new(1024);
/// parser.push(b"id: 7\nretry: 1500\ndata: {\"id\":1}\n\n");
/// let Some(SseFrame::Event(event)) = parser.next_frame() else { panic!() };
/// assert_eq!((event.event.as_str(), event.data.as_slice()), ("message", &b"{\"id\":1}"[..]));
/// assert_eq!(parser.last_event_id(), Some("7"));
/// assert_eq!(parser.retry().unwrap().as_millis(), 1500);
/// ```
pub struct SseParser {
    lines: SseLines,
    pending: Pending,
    given_up: bool,
    last_event_id: String,
    retry: Option<Duration>,
}

/// The event being collected.
#[derive(Default)]
struct Pending {
    event: String,
    data: Option<Vec<u8>>,
    id: Option<String>,
    /// Once it has outgrown the limit and has been reported: the bytes thrown away since.
    refused: Option<usize>,
}

/// What an [`SseParser`] yields.
#[derive(Clone, Debug, Eq, PartialEq)]
#[allow(clippy::exhaustive_enums, reason = "readers must handle every kind")]
pub enum SseFrame {
    /// A whole event.
    Event(SseEvent),
    /// An event over the limit. The rest of it is thrown away as it comes; its id still counts.
    TooLarge {
        /// The first 4 KiB of its data, or as many as the limit allows.
        head: Vec<u8>,
    },
    /// What was too large went on for 16 times the limit: the stream is not worth reading on, and
    /// nothing more will come out.
    Endless,
}

/// One dispatched event.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct SseEvent {
    /// Its type: `message` unless the stream says otherwise.
    pub event: String,
    /// Its data lines, joined by LF. Empty if they all were, as in an event that is there only to
    /// announce an id.
    pub data: Vec<u8>,
}

/// Content is not shown.
impl fmt::Debug for SseParser {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SseParser")
            .field("limit", &self.limit())
            .field("last_event_id", &self.last_event_id)
            .field("retry", &self.retry)
            .finish_non_exhaustive()
    }
}

impl SseParser {
    /// Reads events whose lines and data each have up to `limit` bytes.
    pub fn new(limit: usize) -> Self {
        Self {
            lines: SseLines::new(limit),
            pending: Pending::default(),
            given_up: false,
            last_event_id: String::new(),
            retry: None,
        }
    }

    /// The largest event let through.
    pub fn limit(&self) -> usize {
        self.lines.limit()
    }

    /// The id of the last finished event that set one: what a resumption asks for. `None` when
    /// there was none, or the stream took it back with an empty one.
    pub fn last_event_id(&self) -> Option<&str> {
        Some(self.last_event_id.as_str()).filter(|id| !id.is_empty())
    }

    /// The time the stream last asked to wait before a reconnection.
    pub fn retry(&self) -> Option<Duration> {
        self.retry
    }

    /// Reserves room for at least `bytes` more bytes of the stream.
    pub fn reserve(&mut self, bytes: usize) {
        self.lines.reserve(bytes);
    }

    /// Appends bytes of the stream.
    pub fn push(&mut self, bytes: &[u8]) {
        if !self.given_up {
            self.lines.push(bytes);
        }
    }

    /// The next event, or `None` until more bytes are pushed.
    pub fn next_frame(&mut self) -> Option<SseFrame> {
        while !self.given_up {
            let limit = self.lines.limit();
            let frame = match self.lines.next_line()? {
                SseLine::Whole(b"") => {
                    let done = std::mem::take(&mut self.pending);
                    if let Some(id) = &done.id {
                        self.last_event_id.clone_from(id);
                    }
                    done.dispatch()
                }
                SseLine::Whole(line) => match field(line) {
                    (b"retry", value) => {
                        self.retry = milliseconds(value).or(self.retry);
                        None
                    }
                    (b"data", value) if self.pending.is_blank() => {
                        let size = value.len();
                        self.pending.data = Some(self.lines.take_last(size));
                        None
                    }
                    (name, value) => self.pending.take_field(name, value, limit),
                },
                SseLine::Long(head) => self.pending.take_overlong(head, limit),
                SseLine::Endless => Some(SseFrame::Endless),
            };
            if frame == Some(SseFrame::Endless) {
                self.given_up = true;
                self.lines = SseLines::new(limit);
            }
            if frame.is_some() {
                return frame;
            }
        }
        None
    }
}

impl Pending {
    /// Whether it has no data yet, and may have.
    fn is_blank(&self) -> bool {
        self.data.is_none() && self.refused.is_none()
    }

    /// The blank line has come.
    fn dispatch(self) -> Option<SseFrame> {
        if self.refused.is_some() {
            return None;
        }
        let data = self.data?;
        let event = if self.event.is_empty() {
            "message".to_owned()
        } else {
            self.event
        };
        Some(SseFrame::Event(SseEvent { event, data }))
    }

    fn take_field(&mut self, name: &[u8], value: &[u8], limit: usize) -> Option<SseFrame> {
        if let Some(frame) = self.throw_away(name.len() + value.len(), limit) {
            return Some(frame);
        }
        match name {
            b"id" if !value.contains(&0) => self.id = Some(text(value)),
            b"event" => self.event = text(value),
            b"data" if self.refused.is_none() => {
                let data = self.data.get_or_insert_default();
                data.push(b'\n');
                data.extend_from_slice(value);
                if data.len() > limit {
                    return Some(self.refuse(limit));
                }
            }
            _ => {}
        }
        None
    }

    /// A line over the limit has begun like this; the rest of it is gone.
    fn take_overlong(&mut self, head: &[u8], limit: usize) -> Option<SseFrame> {
        if head.starts_with(b":") || self.refused.is_some() {
            return self.throw_away(limit, limit);
        }
        let (_, value) = field(head);
        self.data.get_or_insert_with(|| value.to_vec());
        Some(self.refuse(limit))
    }

    /// Counts what is lost of an event that was refused.
    fn throw_away(&mut self, bytes: usize, limit: usize) -> Option<SseFrame> {
        let thrown = self.refused.as_mut()?;
        *thrown += bytes;
        (*thrown > limit.saturating_mul(PATIENCE)).then_some(SseFrame::Endless)
    }

    fn refuse(&mut self, limit: usize) -> SseFrame {
        self.refused = Some(0);
        let mut head = self.data.take().unwrap_or_default();
        head.truncate(HEAD.min(limit));
        head.shrink_to_fit();
        SseFrame::TooLarge { head }
    }
}

/// Splits a line at its first colon; one space after it is not part of the value.
fn field(line: &[u8]) -> (&[u8], &[u8]) {
    let colon = memchr::memchr(b':', line).unwrap_or(line.len());
    let (name, value) = line.split_at_checked(colon).unwrap_or((line, b""));
    let value = value.strip_prefix(b":").unwrap_or(value);
    (name, value.strip_prefix(b" ").unwrap_or(value))
}

/// The value of a `retry` field, if it is one.
fn milliseconds(digits: &[u8]) -> Option<Duration> {
    let all_digits = !digits.is_empty() && digits.iter().all(u8::is_ascii_digit);
    // Digits beyond 64 bits are still a wish to wait: the longest there is.
    all_digits.then(|| Duration::from_millis(text(digits).parse().unwrap_or(u64::MAX)))
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
