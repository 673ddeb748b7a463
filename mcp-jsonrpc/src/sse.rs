//! A parser for server-sent events as the WHATWG HTML standard defines them (section 9.2.6): bytes in, events out, no
//! IO.

mod lines;

use std::fmt;
use std::time::Duration;

use lines::{SseLine, SseLines};

/// The reported part of an oversized event.
const HEAD: usize = 4 * 1024;
/// How many times the limit of one event is discarded before the stream is abandoned.
const DISCARD_FACTOR: usize = 16;

/// Splits a byte stream into server-sent events.
///
/// Lines end with LF, CR or CRLF; comments and unknown fields are skipped; an incomplete event at the end of the stream
/// is dropped. The chunk boundaries never matter.
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
    is_abandoned: bool,
    last_event_id: String,
    retry: Option<Duration>,
}

/// The event being collected.
#[derive(Default)]
struct Pending {
    event: String,
    data: Option<Vec<u8>>,
    id: Option<String>,
    /// The number of bytes discarded since the event exceeded the limit and was reported.
    refused: Option<usize>,
}

/// The output of [`SseParser`].
#[derive(Clone, Debug, Eq, PartialEq)]
#[allow(clippy::exhaustive_enums, reason = "readers must handle every kind")]
pub enum SseFrame {
    /// A complete event.
    Event(SseEvent),
    /// An event over the limit. The remainder is discarded as it arrives; its id still applies.
    TooLarge {
        /// The first 4 KiB of its data, or as many as the limit allows.
        head: Vec<u8>,
    },
    /// The oversized event exceeded the limit 16 times over: the parser yields nothing more.
    Endless,
}

/// A dispatched event.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct SseEvent {
    /// Its type: `message` unless the stream names another.
    pub event: String,
    /// Its data lines, joined by LF. Empty if all of them were, as in an event that only announces an id.
    pub data: Vec<u8>,
}

/// Does not print the content.
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
    /// Creates a parser for events whose lines and data each have up to `limit` bytes.
    pub fn new(limit: usize) -> Self {
        Self {
            lines: SseLines::new(limit),
            pending: Pending::default(),
            is_abandoned: false,
            last_event_id: String::new(),
            retry: None,
        }
    }

    /// The maximum size of an event.
    pub fn limit(&self) -> usize {
        self.lines.limit()
    }

    /// The id of the last complete event that set one, to be sent on resumption. `None` if there was none, or if the
    /// stream reset it with an empty one.
    pub fn last_event_id(&self) -> Option<&str> {
        Some(self.last_event_id.as_str()).filter(|id| !id.is_empty())
    }

    /// The reconnection time that the stream requested last.
    pub fn retry(&self) -> Option<Duration> {
        self.retry
    }

    /// Reserves room for at least `bytes` more bytes of the stream.
    pub fn reserve(&mut self, bytes: usize) {
        self.lines.reserve(bytes);
    }

    /// Appends bytes of the stream.
    pub fn push(&mut self, bytes: &[u8]) {
        if !self.is_abandoned {
            self.lines.push(bytes);
        }
    }

    /// The next event, or `None` until more bytes are pushed.
    pub fn next_frame(&mut self) -> Option<SseFrame> {
        while !self.is_abandoned {
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
                self.is_abandoned = true;
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
    /// Whether it has no data yet and is not oversized.
    fn is_blank(&self) -> bool {
        self.data.is_none() && self.refused.is_none()
    }

    /// Ends the event at its blank line.
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
        if let Some(frame) = self.discard(name.len() + value.len(), limit) {
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

    /// Takes the start of a line over the limit; the remainder of the line is lost.
    fn take_overlong(&mut self, head: &[u8], limit: usize) -> Option<SseFrame> {
        if head.starts_with(b":") || self.refused.is_some() {
            return self.discard(limit, limit);
        }
        let (_, value) = field(head);
        self.data.get_or_insert_with(|| value.to_vec());
        Some(self.refuse(limit))
    }

    /// Counts what is discarded of an oversized event.
    fn discard(&mut self, bytes: usize, limit: usize) -> Option<SseFrame> {
        let discarded = self.refused.as_mut()?;
        *discarded += bytes;
        (*discarded > limit.saturating_mul(DISCARD_FACTOR)).then_some(SseFrame::Endless)
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
    // A number too large for 64 bits means the longest possible wait.
    all_digits.then(|| Duration::from_millis(text(digits).parse().unwrap_or(u64::MAX)))
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
