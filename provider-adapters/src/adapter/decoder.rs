//! Decoding bytes to events and a reply: the parts that all wires share.

use std::fmt;
use std::sync::Arc;

use mcp_jsonrpc::sse::{SseFrame, SseParser};
use serde::de::IgnoredAny;

use crate::adapter::error_body;
use crate::adapter::event_stream::{BadFrame, EventStreamParser};
use crate::adapter::limits::RequestLimits;
use crate::adapter::reply_builder::ReplyBuilder;
use crate::conversation::native::Native;
use crate::model::provider_error::ErrorKind;
use crate::output::compiled::CompiledOutput;
use crate::reply::Reply;
use crate::reply::event::ReplyEvent;
use crate::request::tool_set::ToolSet;

/// Decodes one reply, streamed or not: bytes in, in any chunks, events out, and finally the whole reply. Does no IO,
/// never panics, and takes time linear in the bytes.
pub trait Decoder: fmt::Debug + Send {
    /// Takes the next bytes in and appends what happens to `events`.
    fn push(&mut self, bytes: &[u8], events: &mut Vec<ReplyEvent>);

    /// Whether the reply is complete, so that the rest of the stream need not be awaited.
    fn is_done(&self) -> bool;

    /// Nothing more comes: the last events, and the reply.
    fn finish(self: Box<Self>, events: &mut Vec<ReplyEvent>) -> Reply;
}

/// The properties of a request that the decoder of its reply requires.
#[derive(Clone, Debug, Default)]
pub struct Expected {
    pub(crate) tools: Arc<ToolSet>,
    /// Makes the ids of calls that come without one; other for every request.
    pub(crate) seed: u64,
    pub(crate) limits: RequestLimits,
    pub(crate) output: Option<Arc<CompiledOutput>>,
}

impl Expected {
    /// Creates the properties of a request with these tools.
    pub fn new(tools: Arc<ToolSet>) -> Self {
        Self {
            tools,
            ..Self::default()
        }
    }

    /// The same, for a decoder that must not convert names, arguments and output back.
    pub(crate) fn without_tools(&self) -> Self {
        Self {
            tools: Arc::default(),
            output: None,
            ..self.clone()
        }
    }

    /// The request's output schema, in the form that was sent.
    pub fn output(&self) -> Option<&CompiledOutput> {
        self.output.as_deref()
    }

    /// Sets the output schema.
    #[must_use]
    pub fn with_output(mut self, output: CompiledOutput) -> Self {
        self.output = Some(Arc::new(output));
        self
    }

    /// Sets the limits.
    #[must_use]
    pub fn with_limits(mut self, limits: RequestLimits) -> Self {
        self.limits = limits;
        self
    }

    /// Sets the seed for the ids of calls that arrive without one.
    #[must_use]
    pub fn with_seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }
}

/// The part of a decoder that differs from wire to wire: fills a [`ReplyBuilder`] from the events
/// of a stream, or from a whole body.
pub trait Frames: fmt::Debug + Send {
    /// Reads one server-sent event.
    fn event(&mut self, name: &[u8], data: &[u8], turn: &mut ReplyBuilder);

    /// Reads a whole reply that was not streamed.
    fn body(&mut self, json: &[u8], turn: &mut ReplyBuilder);

    /// Whether the wire's own end mark has come.
    fn is_done(&self) -> bool;

    /// Called when nothing more comes.
    fn end(&mut self, _turn: &mut ReplyBuilder) {}

    /// The provider's own form of the reply, if it wants one back.
    fn native(&mut self, reply: &Reply) -> Option<Native> {
        let _ = reply;
        None
    }
}

/// A [`Decoder`] for one wire: detects whether the reply is streamed, splits it into events, and
/// enforces the request's limits.
#[derive(Debug)]
pub struct WireDecoder<F> {
    framing: Framing,
    frames: F,
    turn: ReplyBuilder,
    bytes_left: usize,
    event_bytes: usize,
}

#[derive(Debug)]
enum Framing {
    /// Only white space so far.
    Unknown,
    Sse(SseParser),
    EventStream(EventStreamParser),
    /// Not a stream, even if one was requested.
    Whole(Vec<u8>),
}

impl<F: Frames> WireDecoder<F> {
    /// Creates a decoder for one reply.
    pub fn new(frames: F, expected: Expected) -> Self {
        Self {
            framing: Framing::Unknown,
            frames,
            bytes_left: expected.limits.reply_bytes,
            event_bytes: expected.limits.event_bytes,
            turn: ReplyBuilder::new(expected),
        }
    }

    fn take(&mut self, bytes: &[u8]) {
        if self.turn.has_failed() || self.frames.is_done() {
            return;
        }
        match self.bytes_left.checked_sub(bytes.len()) {
            Some(left) => self.bytes_left = left,
            None => {
                return self
                    .turn
                    .fail(ErrorKind::TooLarge, "the reply has too many bytes");
            }
        }
        let mut bytes = bytes;
        if let Framing::Unknown = self.framing {
            bytes = without_blanks(bytes);
            self.framing = match bytes.first() {
                None => return,
                // The length of a message, of which the first byte is always zero.
                Some(0) => Framing::EventStream(EventStreamParser::new(self.event_bytes)),
                Some(b'{' | b'[' | b'<') => Framing::Whole(Vec::new()),
                Some(_) => Framing::Sse(SseParser::new(self.event_bytes)),
            };
        }
        let Self {
            framing,
            frames,
            turn,
            ..
        } = self;
        match framing {
            Framing::Unknown => {}
            Framing::Whole(body) => body.extend_from_slice(bytes),
            Framing::EventStream(stream) => {
                stream.push(bytes);
                drain_messages(stream, frames, turn);
            }
            Framing::Sse(sse) => {
                sse.push(bytes);
                drain(sse, frames, turn, |_| true);
            }
        }
    }

    fn end(&mut self) -> Reply {
        let Self {
            framing,
            frames,
            turn,
            ..
        } = self;
        match framing {
            Framing::Unknown | Framing::EventStream(_) => {}
            Framing::Sse(sse) => {
                // Some servers omit the last blank line.
                sse.push(b"\n\n");
                drain(sse, frames, turn, is_whole);
            }
            Framing::Whole(body) if body.first() == Some(&b'<') => {
                turn.fail_with(error_body::read(None, body));
            }
            Framing::Whole(body) => match error_body::find(body) {
                Some(error) => turn.fail_with(error),
                None => frames.body(body, turn),
            },
        }
        frames.end(turn);
        let mut reply = turn.finish();
        reply.native = frames
            .native(&reply)
            .filter(|native| !native.items.is_empty());
        reply
    }
}

/// Reads the events that are complete, as far as they are `wanted`.
fn drain<F: Frames>(
    sse: &mut SseParser,
    frames: &mut F,
    turn: &mut ReplyBuilder,
    wanted: fn(&[u8]) -> bool,
) {
    while !frames.is_done() && !turn.has_failed() {
        match sse.next_frame() {
            None => return,
            Some(SseFrame::Event(event)) if wanted(&event.data) => {
                frames.event(event.event.as_bytes(), &event.data, turn);
            }
            Some(SseFrame::Event(_)) => {}
            Some(SseFrame::TooLarge { .. } | SseFrame::Endless) => turn.fail(
                ErrorKind::TooLarge,
                "one event of the reply has too many bytes",
            ),
        }
    }
}

/// Reads the messages that are complete.
fn drain_messages<F: Frames>(
    stream: &mut EventStreamParser,
    frames: &mut F,
    turn: &mut ReplyBuilder,
) {
    while !frames.is_done() && !turn.has_failed() {
        match stream.next_message() {
            Ok(None) => return,
            Ok(Some(message)) if message.message_type == "event" => {
                frames.event(message.name.as_bytes(), &message.payload, turn);
            }
            Ok(Some(message)) => {
                turn.fail_with(error_body::exception(
                    &message.name,
                    &message.error,
                    &message.payload,
                ));
            }
            Err(BadFrame::TooLarge) => turn.fail(
                ErrorKind::TooLarge,
                "one event of the reply has too many bytes",
            ),
            Err(BadFrame::Malformed(problem)) => turn.fail(
                ErrorKind::Malformed,
                format!("a message of the event stream is broken: {problem}"),
            ),
        }
    }
}

/// Whether an event's data was not cut off.
fn is_whole(data: &[u8]) -> bool {
    data == b"[DONE]" || serde_json::from_slice::<IgnoredAny>(data).is_ok()
}

/// `bytes` without the blanks and the byte order mark before them.
fn without_blanks(bytes: &[u8]) -> &[u8] {
    let blank = |byte: &u8| b" \t\r\n\xEF\xBB\xBF".contains(byte);
    let first = bytes
        .iter()
        .position(|byte| !blank(byte))
        .unwrap_or(bytes.len());
    bytes.get(first..).unwrap_or_default()
}

impl<F: Frames> Decoder for WireDecoder<F> {
    fn push(&mut self, bytes: &[u8], events: &mut Vec<ReplyEvent>) {
        std::mem::swap(&mut self.turn.events, events);
        self.take(bytes);
        std::mem::swap(&mut self.turn.events, events);
    }

    fn is_done(&self) -> bool {
        self.frames.is_done() || self.turn.has_failed()
    }

    fn finish(mut self: Box<Self>, events: &mut Vec<ReplyEvent>) -> Reply {
        std::mem::swap(&mut self.turn.events, events);
        let reply = self.end();
        std::mem::swap(&mut self.turn.events, events);
        reply
    }
}
