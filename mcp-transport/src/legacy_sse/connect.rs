//! Opens connections over HTTP+SSE.

use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use reqwest::{Method, Url};
use tokio::time::timeout;

use crate::http::{
    EventStream, Exchange, HttpConfig, HttpConfigError, HttpRequest, ReadRate, of_stream,
};
use crate::legacy_sse::SseTransport;
use crate::legacy_sse::endpoint::endpoint;
use crate::{Connect, ReplyTimeout, Transport, TransportError, TransportKind};
use mcp_jsonrpc::sse::SseFrame;

/// Opens connections to one server over HTTP+SSE, the transport of 2024-11-05.
///
/// A connection is ready once the server has announced its endpoint for messages. A lost event stream ends the
/// connection; a new one starts from scratch.
#[derive(Clone, Debug)]
pub struct SseConnect {
    exchange: Arc<Exchange>,
    fallback: Option<Arc<dyn Connect>>,
}

impl SseConnect {
    /// Connects over HTTP+SSE, whichever transport the configuration selects. [`HttpConfig::into_connect`] respects
    /// that setting.
    ///
    /// # Errors
    ///
    /// If the HTTP client cannot be set up.
    pub fn new(config: HttpConfig) -> Result<Self, HttpConfigError> {
        Ok(Self::over(Arc::new(Exchange::new(config)?)))
    }

    pub(crate) fn over(exchange: Arc<Exchange>) -> Self {
        Self {
            exchange,
            fallback: None,
        }
    }

    pub(crate) fn or_else(mut self, fallback: Arc<dyn Connect>) -> Self {
        self.fallback = Some(fallback);
        self
    }

    async fn open(&self) -> Result<(EventStream, Url), TransportError> {
        let limits = self.exchange.limits();
        let request = HttpRequest {
            method: Method::GET,
            url: &self.exchange.config().url,
            headers: of_stream(None, None, None),
            body: Bytes::new(),
            timeout: limits.endpoint_timeout,
            challenges: limits.challenges,
        };
        let response = self
            .exchange
            .send(&request)
            .await
            .map_err(|failed| failed.error)?;
        let url = response.url().clone();
        let pace = ReadRate::new(limits, ReplyTimeout::Stream);
        let mut stream = EventStream::of(response, pace, limits).await?;
        let limit = limits.endpoint_timeout;
        let data = timeout(limit, first_endpoint(&mut stream))
            .await
            .map_err(|_| TransportError::Timeout {
                phase: "waiting for the endpoint event",
                limit,
            })??;
        Ok((stream, endpoint(&url, &data)?))
    }
}

/// Reads up to the `endpoint` event and returns its data.
async fn first_endpoint(stream: &mut EventStream) -> Result<Vec<u8>, TransportError> {
    loop {
        match stream.next().await? {
            Some(SseFrame::Event(event)) if event.event == "endpoint" => return Ok(event.data),
            Some(SseFrame::Event(_)) => {}
            Some(SseFrame::TooLarge { .. } | SseFrame::Endless) => return Err(stream.too_large()),
            None => {
                return Err(TransportError::Malformed {
                    detail: "its event stream ended before the endpoint event".to_owned(),
                });
            }
        }
    }
}

#[async_trait]
impl Connect for SseConnect {
    async fn connect(&self) -> Result<Arc<dyn Transport>, TransportError> {
        let (stream, endpoint) = self.open().await?;
        Ok(Arc::new(SseTransport::new(
            self.exchange.clone(),
            stream,
            endpoint,
        )))
    }

    fn target(&self) -> String {
        self.exchange.target()
    }

    fn kind(&self) -> TransportKind {
        TransportKind::LegacySse
    }

    fn fallback(&self) -> Option<Arc<dyn Connect>> {
        self.fallback.clone()
    }
}
