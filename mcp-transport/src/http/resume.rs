//! The reply to one request as an event stream: handed on as it comes, resumed if it breaks.

use std::sync::Arc;
use std::time::Duration;

use mcp_jsonrpc::{Limits, RequestId, likely_answer};
use tokio::sync::oneshot;
use tokio::time::sleep;

use crate::http::EventStream;
use crate::http::body::Pace;
use crate::http::reconnect::{Next, Reconnect};
use crate::http::reply::answered;
use crate::inbox::Inbox;
use crate::sse::SseFrame;
use crate::{Incoming, TransportError};

/// How long a stream may stay open after the answer, so that its connection can be used again.
const AFTERWARDS: Duration = Duration::from_secs(1);

/// Opens an event stream, anew or where it broke.
pub(crate) trait Open: Send + Sync {
    /// Opens the stream after this event.
    fn open(
        &self,
        last_event_id: Option<&str>,
    ) -> impl Future<Output = Result<EventStream, TransportError>> + Send;
}

/// A way for the answer past the inbox.
#[derive(Debug)]
pub(crate) enum Direct {
    /// There is none, or something else has come before the answer.
    No,
    /// For whoever waits at its end, if still somebody does.
    Open(oneshot::Sender<Vec<u8>>),
    /// The answer went there: the inbox hears neither of it nor of the end.
    Told,
}

/// One request's reply.
#[derive(Debug)]
pub(crate) struct ReplyStream<'a, O> {
    pub(crate) request: RequestId,
    pub(crate) inbox: &'a Inbox,
    pub(crate) direct: Direct,
    pub(crate) limits: Limits,
    /// How to resume; `None` where the protocol has no resumption.
    pub(crate) resume: Option<(O, Reconnect)>,
}

impl<O: Open> ReplyStream<'_, O> {
    /// Hands on every message until the reply is over, and then says that it is. `on_answer` is
    /// called when the answer has come.
    pub(crate) async fn run(mut self, stream: EventStream, on_answer: impl FnOnce() + Send) {
        let mut on_answer = Some(on_answer);
        let mut stream = stream;
        let error = loop {
            let broken = self.read(&mut stream, &mut on_answer).await;
            if matches!(self.direct, Direct::Told) {
                return;
            }
            if on_answer.is_none() {
                break over();
            }
            // Apart, like all that is rare, so that the usual reply stays small.
            match Box::pin(self.reopen(&stream, broken)).await {
                Ok(again) => stream = again,
                Err(error) => break error,
            }
        };
        let (request, error) = (self.request, Arc::new(error));
        self.inbox.push(Incoming::Ended { request, error }).await;
    }

    /// Reads the stream to its end; says how it broke, if it did.
    async fn read(
        &mut self,
        stream: &mut EventStream,
        on_answer: &mut Option<impl FnOnce() + Send>,
    ) -> Option<TransportError> {
        loop {
            let event = match stream.next().await {
                Ok(Some(SseFrame::Event(event))) => event,
                Ok(Some(SseFrame::TooLarge { .. } | SseFrame::Endless)) => {
                    self.resume = None;
                    return Some(stream.too_large());
                }
                Ok(None) => return None,
                Err(error) => return Some(error),
            };
            if event.event != "message" || event.data.is_empty() {
                continue;
            }
            if let Some((_, plan)) = &mut self.resume {
                plan.progressed();
            }
            if answered(&event.data, &self.limits).contains(&self.request)
                && let Some(on_answer) = on_answer.take()
            {
                // Before anybody can act on the answer: what is left is ours to finish.
                stream.set_pace(Pace::within(AFTERWARDS));
                on_answer();
            }
            if let Some(body) = self.tell_directly(event.data) {
                let stream = Some(self.request.clone());
                self.inbox.push(Incoming::Message { body, stream }).await;
            }
        }
    }

    /// Hands the answer to whoever waits for it; returns what has to go through the inbox.
    fn tell_directly(&mut self, body: Vec<u8>) -> Option<Vec<u8>> {
        if matches!(self.direct, Direct::Told) {
            return Some(body);
        }
        let answered = likely_answer(&body).map(|(id, _)| id.into());
        match std::mem::replace(&mut self.direct, Direct::No) {
            Direct::Open(to) if answered.as_ref() == Some(&self.request) => {
                let unheard = to.send(body).err();
                if unheard.is_none() {
                    self.direct = Direct::Told;
                }
                unheard
            }
            _ => Some(body),
        }
    }

    /// Opens the stream again where it broke, when it is time.
    async fn reopen(
        &mut self,
        stream: &EventStream,
        broken: Option<TransportError>,
    ) -> Result<EventStream, TransportError> {
        let mut error = broken.unwrap_or_else(over);
        let Some((open, plan)) = &mut self.resume else {
            return Err(error);
        };
        if matches!(error, TransportError::Timeout { .. }) {
            return Err(error);
        }
        let mut next = plan.ended(stream.parser());
        if plan.last_event_id().is_none() {
            return Err(error);
        }
        loop {
            match next {
                Next::After(wait) => sleep(wait).await,
                Next::Exhausted => return Err(error),
                Next::TooLong(wait) => {
                    return Err(TransportError::NoAnswer {
                        detail: format!("the server asks to wait {wait:?} for the rest of it"),
                    });
                }
            }
            match open.open(plan.last_event_id()).await {
                Ok(stream) => {
                    plan.opened();
                    return Ok(stream);
                }
                Err(failure @ TransportError::SessionExpired) => return Err(failure),
                Err(failure) if failure.is_retryable() => error = failure,
                Err(failure) => return Err(failure),
            }
            next = plan.failed();
        }
    }
}

fn over() -> TransportError {
    TransportError::NoAnswer {
        detail: "the event stream ended without it".to_owned(),
    }
}

#[cfg(test)]
mod tests;
