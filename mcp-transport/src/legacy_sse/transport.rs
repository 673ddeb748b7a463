//! One connection over HTTP+SSE.

use std::collections::HashMap;
use std::io;
use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use mcp_jsonrpc::{DecodeLimits, RequestId};
use parking_lot::Mutex;
use reqwest::{Method, Url};
use tokio::sync::{Semaphore, oneshot, watch};
use tokio::task::JoinHandle;

use crate::http::inbox::Inbox;
use crate::http::{EventStream, Exchange, HttpRequest, answered, discard, of_message, refusal};
use crate::{
    Closed, Delivery, Incoming, Outgoing, SendError, Transport, TransportError, TransportKind,
};
use mcp_jsonrpc::sse::SseFrame;

/// One connection over HTTP+SSE. Opened by [`SseConnect`](crate::SseConnect).
#[derive(Debug)]
pub struct SseTransport {
    exchange: Arc<Exchange>,
    endpoint: Url,
    line: Arc<Line>,
    window: Semaphore,
    reader: Mutex<Option<JoinHandle<()>>>,
}

/// The state that the reader and the senders share.
#[derive(Debug)]
struct Line {
    inbox: Inbox,
    /// Requests whose POST has not been acknowledged. The response may arrive first.
    posting: Mutex<HashMap<RequestId, oneshot::Sender<()>>>,
    /// Whether the event stream has ended.
    over: watch::Sender<bool>,
}

impl SseTransport {
    pub(crate) fn new(exchange: Arc<Exchange>, stream: EventStream, endpoint: Url) -> Self {
        let limits = exchange.limits();
        let window = Semaphore::new(limits.requests_in_flight);
        let line = Arc::new(Line {
            inbox: Inbox::new(limits.queued_messages, limits.queued_bytes),
            posting: Mutex::default(),
            over: watch::Sender::new(false),
        });
        let reader = tokio::spawn(read(stream, line.clone(), exchange.target()));
        Self {
            exchange,
            endpoint,
            line,
            window,
            reader: Mutex::new(Some(reader)),
        }
    }

    async fn post(&self, message: Outgoing) -> Result<(), SendError> {
        let headers =
            of_message(&message, None).map_err(|error| SendError::new(error, Delivery::NotSent))?;
        let limits = self.exchange.limits();
        let request = HttpRequest {
            method: Method::POST,
            url: &self.endpoint,
            headers,
            body: Bytes::from(message.body),
            timeout: limits.acknowledge_timeout,
            challenges: limits.challenges,
        };
        let response = self.exchange.send(&request).await?;
        if !response.status().is_success() {
            return Err(refusal(response, limits).await);
        }
        discard(response, limits).await;
        Ok(())
    }

    /// Posts a request. Completes when the POST is acknowledged or the request is answered.
    async fn post_request(&self, id: RequestId, message: Outgoing) -> Result<(), SendError> {
        let _permit = self
            .window
            .acquire()
            .await
            .map_err(|_| self.over(Delivery::NotSent))?;
        let (answered, is_answered) = oneshot::channel();
        self.line.posting.lock().insert(id.clone(), answered);
        let _posting = Posting {
            line: &self.line,
            id,
        };
        tokio::select! {
            done = self.post(message) => done,
            Ok(()) = is_answered => Ok(()),
        }
    }

    /// The error for a message sent after the end of the connection.
    fn over(&self, delivery: Delivery) -> SendError {
        let error = match self.line.inbox.ended() {
            Some(Closed { error: Some(_), .. }) => TransportError::Io {
                action: format!("sending to {}", self.exchange.target()),
                source: Box::new(lost()),
            },
            _ => TransportError::Closed,
        };
        SendError::new(error, delivery)
    }
}

/// Removes a request from the table when its POST ends.
struct Posting<'a> {
    line: &'a Line,
    id: RequestId,
}

impl Drop for Posting<'_> {
    fn drop(&mut self) {
        self.line.posting.lock().remove(&self.id);
    }
}

#[async_trait]
impl Transport for SseTransport {
    async fn send(&self, message: Outgoing) -> Result<(), SendError> {
        let mut over = self.line.over.subscribe();
        if *over.borrow() {
            return Err(self.over(Delivery::NotSent));
        }
        let work = async {
            match message.request_id().cloned() {
                Some(id) => self.post_request(id, message).await,
                None => self.post(message).await,
            }
        };
        tokio::select! {
            biased;
            done = work => done,
            _ = over.wait_for(|over| *over) => Err(self.over(Delivery::Unknown)),
        }
    }

    async fn recv(&self) -> Incoming {
        self.line.inbox.recv().await
    }

    fn release(&self, _: &RequestId) {}

    async fn close(&self) {
        self.window.close();
        self.line.end(Closed::clean());
        let reader = self.reader.lock().take();
        if let Some(reader) = reader {
            reader.abort();
            // An error only means that it was aborted.
            let _ = reader.await;
        }
    }

    fn kind(&self) -> TransportKind {
        TransportKind::LegacySse
    }

    fn is_alive(&self) -> bool {
        !*self.line.over.borrow()
    }
}

impl Drop for SseTransport {
    fn drop(&mut self) {
        if let Some(reader) = self.reader.get_mut() {
            reader.abort();
        }
    }
}

impl Line {
    fn end(&self, closed: Closed) {
        self.inbox.end(closed);
        self.over.send_replace(true);
    }

    /// Completes POSTs whose request has been answered.
    fn acknowledge(&self, body: &[u8]) {
        if self.posting.lock().is_empty() {
            return;
        }
        for id in answered(body, &DecodeLimits::default()) {
            if let Some(posting) = self.posting.lock().remove(&id) {
                let _ = posting.send(());
            }
        }
    }
}

/// Reads the event stream to its end, which ends the connection.
async fn read(mut stream: EventStream, line: Arc<Line>, target: String) {
    let error = loop {
        match stream.next().await {
            Ok(Some(SseFrame::Event(event))) => {
                // A later `endpoint` event is ignored.
                if event.event == "message" && !event.data.is_empty() {
                    line.acknowledge(&event.data);
                    line.inbox
                        .push(Incoming::Message {
                            body: event.data,
                            stream: None,
                        })
                        .await;
                }
            }
            Ok(Some(SseFrame::TooLarge { head })) => {
                let limit = stream.parser().limit();
                line.inbox.push(Incoming::TooLarge { head, limit }).await;
            }
            Ok(Some(SseFrame::Endless)) => break stream.too_large(),
            Ok(None) => {
                let action = format!("reading the event stream of {target}");
                break TransportError::Io {
                    action,
                    source: Box::new(lost()),
                };
            }
            Err(error) => break error,
        }
    };
    line.end(Closed::with_error(error));
}

fn lost() -> io::Error {
    io::Error::new(
        io::ErrorKind::UnexpectedEof,
        "the server has ended its event stream",
    )
}
