//! The reply to one request as an event stream: delivered as it arrives, resumed if it breaks.

use std::sync::Arc;
use std::time::Duration;

use mcp_jsonrpc::{DecodeLimits, RequestId, peek_response};
use tokio::time::sleep;

use crate::http::EventStream;
use crate::http::body::ReadRate;
use crate::http::inbox::Inbox;
use crate::http::reconnect::{Next, Reconnect};
use crate::http::reply::answered;
use crate::{Incoming, TransportError};
use mcp_jsonrpc::sse::SseFrame;

/// The time a stream may stay open after the response, so that its connection can be reused.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(1);

/// Opens an event stream, from its beginning or after the event where it broke.
pub(crate) trait Open: Send + Sync {
    /// Opens the stream after this event.
    fn open(
        &self,
        last_event_id: Option<&str>,
    ) -> impl Future<Output = Result<EventStream, TransportError>> + Send;
}

/// The reply to one request.
#[derive(Debug)]
pub(crate) struct ReplyStream<O> {
    pub(crate) request: RequestId,
    pub(crate) stream: EventStream,
    pub(crate) inbox: Arc<Inbox>,
    pub(crate) limits: DecodeLimits,
    /// The means of resumption; `None` where the protocol has none.
    pub(crate) resume: Option<(O, Reconnect)>,
}

/// The message that answers the request.
#[derive(Debug)]
pub(crate) struct ResponseMessage {
    pub(crate) body: Vec<u8>,
    /// Whether it is a plain response and nothing came before it. If so, it may be returned to the caller; otherwise it
    /// has to follow the earlier messages through the inbox.
    pub(crate) is_direct: bool,
}

impl<O: Open> ReplyStream<O> {
    /// Reads up to the response, which is returned. Everything before it goes to the inbox. A stream that breaks is
    /// resumed.
    pub(crate) async fn response(&mut self) -> Result<ResponseMessage, TransportError> {
        let mut is_first = true;
        loop {
            let broken = match self.next_message().await {
                Ok(Some(body)) if answered(&body, &self.limits).contains(&self.request) => {
                    self.stream.set_pace(ReadRate::within(DRAIN_TIMEOUT));
                    let is_direct = is_first && self.is_plain_response(&body);
                    return Ok(ResponseMessage { body, is_direct });
                }
                Ok(Some(body)) => {
                    is_first = false;
                    self.deliver(body).await;
                    continue;
                }
                Ok(None) => over(),
                Err(error) => error,
            };
            // Boxed, like every rare path, so that the future of an ordinary request stays small.
            self.stream = Box::pin(self.reopen(broken)).await?;
        }
    }

    /// Delivers what follows the response, for a short time.
    pub(crate) async fn drain(&mut self) {
        while let Ok(Some(body)) = self.next_message().await {
            self.deliver(body).await;
        }
    }

    /// Queues a message of this reply.
    pub(crate) async fn deliver(&self, body: Vec<u8>) {
        let stream = Some(self.request.clone());
        self.inbox.push(Incoming::Message { body, stream }).await;
    }

    /// Queues the end of this reply.
    pub(crate) async fn deliver_end(&self, error: TransportError) {
        let (request, error) = (self.request.clone(), Arc::new(error));
        self.inbox.push(Incoming::Ended { request, error }).await;
    }

    /// The next message; `None` at the end of the stream.
    async fn next_message(&mut self) -> Result<Option<Vec<u8>>, TransportError> {
        loop {
            let event = match self.stream.next().await? {
                Some(SseFrame::Event(event)) => event,
                Some(SseFrame::TooLarge { .. } | SseFrame::Endless) => {
                    self.resume = None;
                    return Err(self.stream.too_large());
                }
                None => return Ok(None),
            };
            if event.event != "message" || event.data.is_empty() {
                continue;
            }
            if let Some((_, plan)) = &mut self.resume {
                plan.progressed();
            }
            return Ok(Some(event.data));
        }
    }

    fn is_plain_response(&self, body: &[u8]) -> bool {
        peek_response(body).is_some_and(|(id, _)| self.request == id.into())
    }

    /// Reopens the stream where it broke, after the delay.
    async fn reopen(&mut self, mut error: TransportError) -> Result<EventStream, TransportError> {
        let Some((open, plan)) = &mut self.resume else {
            return Err(error);
        };
        if matches!(error, TransportError::Timeout { .. }) {
            return Err(error);
        }
        let mut next = plan.ended(self.stream.parser());
        if plan.last_event_id().is_none() {
            return Err(error);
        }
        loop {
            match next {
                Next::After(wait) => sleep(wait).await,
                Next::Exhausted => return Err(error),
                Next::TooLong(wait) => {
                    return Err(TransportError::NoResponse {
                        detail: format!(
                            "the server asks to wait {wait:?} before the stream is resumed"
                        ),
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

/// The end of a stream that had no response.
pub(crate) fn over() -> TransportError {
    TransportError::NoResponse {
        detail: "the event stream is over".to_owned(),
    }
}

#[cfg(test)]
mod tests;
