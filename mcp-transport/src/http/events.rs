//! Server-sent events over a reply's body.

use reqwest::Response;
use reqwest::header::CONTENT_TYPE;

use crate::TransportError;
use crate::http::HttpLimits;
use crate::http::body::{Body, MAX_PREALLOCATION, ReadRate};
use crate::http::body_budget::{BodyBudget, Reservation};
use crate::http::refusal::refusal;
use mcp_jsonrpc::sse::{SseFrame, SseParser};

/// An open event stream.
#[derive(Debug)]
pub(crate) struct EventStream {
    body: Body,
    parser: SseParser,
    /// Bytes since the last frame.
    pending: usize,
    reservation: Option<Reservation>,
}

impl EventStream {
    pub(crate) fn new(response: Response, pace: ReadRate, event_bytes: usize) -> Self {
        let body = Body::new(response, pace);
        let mut parser = SseParser::new(event_bytes);
        parser.reserve(body.announced().min(MAX_PREALLOCATION));
        Self {
            body,
            parser,
            pending: 0,
            reservation: None,
        }
    }

    /// Counts large events against this budget.
    pub(crate) fn with_budget(mut self, budget: &BodyBudget) -> Self {
        self.reservation = Some(budget.reservation());
        self
    }

    /// Checks that `response` is an event stream.
    pub(crate) async fn of(
        response: Response,
        pace: ReadRate,
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

    /// The next frame; `None` at the end. An event truncated by the end is dropped.
    pub(crate) async fn next(&mut self) -> Result<Option<SseFrame>, TransportError> {
        self.pending = 0;
        if let Some(reservation) = &mut self.reservation {
            reservation.release();
        }
        loop {
            if let Some(frame) = self.parser.next_frame() {
                return Ok(Some(frame));
            }
            if let Some(reservation) = &mut self.reservation {
                let expected = self.pending.max(self.body.announced());
                reservation.reserve(expected).await;
            }
            let Some(bytes) = self.body.chunk().await? else {
                return Ok(None);
            };
            self.pending += bytes.len();
            self.parser.push(&bytes);
        }
    }

    /// Sets new time limits for the remainder of the stream.
    pub(crate) fn set_pace(&mut self, pace: ReadRate) {
        self.body.set_pace(pace);
    }

    /// The parser, with the stream's last event id and retry delay.
    pub(crate) fn parser(&self) -> &SseParser {
        &self.parser
    }

    /// The error for a stream with an event over the limit.
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
