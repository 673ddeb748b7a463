//! A reply during its arrival from the network.

use std::collections::VecDeque;
use std::pin::Pin;
use std::time::Duration;

use async_trait::async_trait;
use tokio::time::{Instant, timeout};

use super::carrier::Body;
use crate::adapter::decoder::Decoder;
use crate::model::provider_error::{ErrorKind, ProviderError};
use crate::model::{ModelError, Phase, ReplyStream};
use crate::reply::Reply;
use crate::reply::event::ReplyEvent;

/// Bytes of one reply and the decoder that reads them.
pub(crate) struct StreamingReply {
    source: Option<(Body, Box<dyn Decoder>)>,
    queue: VecDeque<ReplyEvent>,
    /// The reply, once it is over.
    reply: Option<Reply>,
    idle: Duration,
    deadline: Option<Instant>,
}

impl StreamingReply {
    pub(crate) fn new(
        body: Body,
        decoder: Box<dyn Decoder>,
        idle: Duration,
        deadline: Option<Instant>,
    ) -> Self {
        Self {
            source: Some((body, decoder)),
            queue: VecDeque::new(),
            reply: None,
            idle,
            deadline,
        }
    }

    /// The same reply, after what happened before it.
    pub(crate) fn after(mut self, mut news: VecDeque<ReplyEvent>) -> Self {
        news.append(&mut self.queue);
        self.queue = news;
        self
    }

    /// The first event, which stays in its place.
    pub(crate) async fn peek(&mut self) -> Option<&ReplyEvent> {
        while self.queue.is_empty() && self.source.is_some() {
            self.read().await;
        }
        self.queue.front()
    }

    /// Reads on until something happens.
    async fn read(&mut self) {
        let Some((body, decoder)) = &mut self.source else {
            return;
        };
        let queue = &mut self.queue;
        let read = body.chunk(|bytes| {
            let mut events = Vec::from(std::mem::take(queue));
            decoder.push(bytes, &mut events);
            *queue = events.into();
        });
        let failure = match within(Phase::Idle, self.idle, self.deadline, read).await {
            Ok(Ok(true)) if !decoder.is_done() => return,
            Ok(Ok(_)) => None,
            Ok(Err(error)) => Some(format!("the connection broke: {error}")),
            Err(error) => Some(error.to_string()),
        };
        self.end(failure);
    }

    /// The reply is over, or has failed. Letting go of the body ends the request.
    fn end(&mut self, failure: Option<String>) {
        let Some((_, decoder)) = self.source.take() else {
            return;
        };
        let mut events = Vec::new();
        let mut reply = decoder.finish(&mut events);
        // The decoder only sees that the stream ended; we know why.
        if let (Some(failure), Some(error)) = (failure, &mut reply.error)
            && error.kind == ErrorKind::Truncated
        {
            *error = ProviderError::new(ErrorKind::Truncated, failure);
            for event in &mut events {
                if let ReplyEvent::Error(reported) = event {
                    **reported = error.clone();
                }
            }
        }
        self.queue.extend(events);
        self.reply = Some(reply);
    }
}

#[async_trait]
impl ReplyStream for StreamingReply {
    /// Most events are there already: a future that only hands one over is much smaller than one
    /// that reads.
    fn next<'s, 'f>(&'s mut self) -> Pin<Box<dyn Future<Output = Option<ReplyEvent>> + Send + 'f>>
    where
        's: 'f,
        Self: 'f,
    {
        if self.queue.is_empty() {
            Box::pin(async move {
                self.peek().await;
                self.queue.pop_front()
            })
        } else {
            Box::pin(async move { self.queue.pop_front() })
        }
    }

    fn finish(mut self: Box<Self>) -> Reply {
        self.end(Some("the reply was dropped".to_owned()));
        self.reply.take().unwrap_or_default()
    }
}

/// Waits for `work`, for so long and not beyond the deadline.
pub(crate) async fn within<T>(
    phase: Phase,
    limit: Duration,
    deadline: Option<Instant>,
    work: impl Future<Output = T>,
) -> Result<T, ModelError> {
    let left = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
    match left {
        Some(left) if left < limit => timeout(left, work)
            .await
            .map_err(|_| ModelError::Timeout(Phase::Total, left)),
        _ => timeout(limit, work)
            .await
            .map_err(|_| ModelError::Timeout(phase, limit)),
    }
}
