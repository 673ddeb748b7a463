//! Server-sent events over a reply's body.

use reqwest::Response;
use reqwest::header::CONTENT_TYPE;

use crate::TransportError;
use crate::http::HttpLimits;
use crate::http::body::{Body, Pace, TRUSTED};
use crate::http::refusal::refusal;
use crate::http::turns::{LARGE, Turn, Turns};
use crate::sse::{SseFrame, SseParser};

/// An open event stream.
#[derive(Debug)]
pub(crate) struct EventStream {
    body: Body,
    parser: SseParser,
    /// How long all of it will be, until it has begun.
    announced: Option<usize>,
    /// Bytes since the last frame.
    in_hand: usize,
    turn: Option<Turn>,
}

impl EventStream {
    pub(crate) fn new(response: Response, pace: Pace, event_bytes: usize) -> Self {
        let body = Body::new(response, pace);
        Self {
            announced: Some(body.announced()),
            body,
            parser: SseParser::new(event_bytes),
            in_hand: 0,
            turn: None,
        }
    }

    /// Reads large events in turns with other streams.
    pub(crate) fn in_turns(mut self, turns: &Turns) -> Self {
        self.turn = Some(turns.reader());
        self
    }

    /// The event stream that `response` should be.
    pub(crate) async fn of(
        response: Response,
        pace: Pace,
        limits: &HttpLimits,
    ) -> Result<Self, TransportError> {
        if !response.status().is_success() {
            return Err(refusal(response, limits).await.error);
        }
        match media_type(&response).as_str() {
            "text/event-stream" => Ok(Self::new(response, pace, limits.message_bytes)),
            other => Err(TransportError::Malformed {
                detail: format!("its event stream is of type '{other}'"),
            }),
        }
    }

    /// The next frame; `None` at the end. An event that the end cuts short is none.
    pub(crate) async fn next(&mut self) -> Result<Option<SseFrame>, TransportError> {
        let before = std::mem::take(&mut self.in_hand);
        if let Some(turn) = &mut self.turn {
            turn.end(before);
        }
        loop {
            if let Some(frame) = self.parser.next_frame() {
                return Ok(Some(frame));
            }
            if let Some(turn) = &mut self.turn {
                turn.wait(self.in_hand.max(self.body.announced())).await;
            }
            let Some(bytes) = self.body.chunk().await? else {
                return Ok(None);
            };
            self.make_room(bytes.len());
            self.in_hand += bytes.len();
            self.parser.push(&bytes);
        }
    }

    /// Makes room for what these bytes are the start of: what the reply has announced, or as much
    /// as the last large event had once this one is large too.
    fn make_room(&mut self, bytes: usize) {
        let announced = self.announced.take().filter(|length| *length > bytes);
        let becomes_large = self.in_hand < LARGE && self.in_hand + bytes >= LARGE;
        let turn = self.turn.as_ref().filter(|_| becomes_large);
        let expected = turn.map(|turn| turn.expected().saturating_sub(self.in_hand));
        if let Some(room) = announced.or(expected) {
            self.parser.expect(room.min(TRUSTED));
        }
    }

    /// Sets new time limits for what is still to come.
    pub(crate) fn set_pace(&mut self, pace: Pace) {
        self.body.set_pace(pace);
    }

    /// What the stream said about itself so far.
    pub(crate) fn parser(&self) -> &SseParser {
        &self.parser
    }

    /// The failure of a stream with an event over the limit.
    pub(crate) fn too_large(&self) -> TransportError {
        TransportError::TooLarge {
            what: "an event of the reply",
            limit: self.parser.limit(),
        }
    }
}

/// A reply's media type in lower case, without parameters; empty if it names none.
pub(crate) fn media_type(response: &Response) -> String {
    let header = response.headers().get(CONTENT_TYPE);
    let value = header
        .and_then(|value| value.to_str().ok())
        .unwrap_or_default();
    value
        .split(';')
        .next()
        .unwrap_or_default()
        .trim()
        .to_ascii_lowercase()
}
