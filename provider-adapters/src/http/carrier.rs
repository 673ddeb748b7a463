//! Carries bytes to a provider and back: over the network, recorded on a cassette, or played back from one.

use std::fmt;
use std::sync::Arc;

use mcp_jsonrpc::Secret;
use parking_lot::Mutex;
use reqwest::Client;

use super::anonymous;
use super::cassette::{Exchange, Player, Recorder};
use crate::model::{BoxError, ModelError};
use crate::request::WireRequest;

#[derive(Debug)]
pub(crate) enum HttpBackend {
    Http(Client),
    Record(Client, Arc<Mutex<Recorder>>),
    Replay(Arc<Mutex<Player>>),
}

/// The beginning of a reply.
pub(crate) struct ResponseHead {
    pub(crate) status: u16,
    /// Names in lower case.
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Body,
}

/// The bytes of a reply.
pub(crate) enum Body {
    Net(reqwest::Response),
    /// The exchange is written when the reply ends or is dropped.
    Recorded(reqwest::Response, Recording),
    Played(std::vec::IntoIter<Vec<u8>>),
}

impl HttpBackend {
    pub(crate) fn is_replay(&self) -> bool {
        matches!(self, Self::Replay(_))
    }

    /// What sends; `None` if nothing is sent.
    #[cfg(feature = "vertex")]
    pub(crate) fn client(&self) -> Option<&Client> {
        match self {
            Self::Http(client) | Self::Record(client, _) => Some(client),
            Self::Replay(_) => None,
        }
    }

    pub(crate) async fn send(
        &self,
        url: &str,
        headers: &[(String, Secret)],
        request: &WireRequest,
    ) -> Result<ResponseHead, ModelError> {
        let (client, recorder) = match self {
            Self::Http(client) => (client, None),
            Self::Record(client, recorder) => (client, Some(recorder)),
            Self::Replay(player) => return player.lock().play(request),
        };
        // Without a body, something is looked up. That is not part of a conversation.
        let is_lookup = request.body.is_empty();
        let recorder = recorder.filter(|_| !is_lookup);
        let mut call = match is_lookup {
            true => client.get(url),
            false => client.post(url).body(request.body.clone()),
        };
        for (name, value) in headers {
            call = call.header(name, value.expose());
        }
        let failed = |error: reqwest::Error| match error.is_builder() {
            true => ModelError::Setup(anonymous(error)),
            false => ModelError::Unreachable(Box::new(NoConnection {
                origin: origin(url),
                cause: anonymous(error),
            })),
        };
        let response = call.send().await.map_err(failed)?;
        let status = response.status().as_u16();
        let readable =
            |(name, value): (&reqwest::header::HeaderName, &reqwest::header::HeaderValue)| {
                Some((name.as_str().to_owned(), value.to_str().ok()?.to_owned()))
            };
        let headers: Vec<(String, String)> =
            response.headers().iter().filter_map(readable).collect();
        let body = match recorder {
            None => Body::Net(response),
            Some(recorder) => {
                let exchange = Exchange::new(request, status, &headers);
                let cassette = Recording {
                    recorder: recorder.clone(),
                    exchange: Some(exchange),
                };
                Body::Recorded(response, cassette)
            }
        };
        Ok(ResponseHead {
            status,
            headers,
            body,
        })
    }
}

/// Where a request was to go, and why it did not get there.
#[derive(Debug)]
struct NoConnection {
    origin: String,
    cause: BoxError,
}

/// Scheme, host and port: the rest of an address may hold a key.
fn origin(url: &str) -> String {
    match reqwest::Url::parse(url) {
        Ok(url) => url.origin().ascii_serialization(),
        Err(_) => "its address".to_owned(),
    }
}

impl fmt::Display for NoConnection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "no reply from {}", self.origin)
    }
}

impl std::error::Error for NoConnection {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(self.cause.as_ref())
    }
}

impl Body {
    /// Hands the next bytes to `take`; `false` at the end.
    pub(crate) async fn chunk(&mut self, take: impl FnOnce(&[u8])) -> Result<bool, BoxError> {
        let response = match self {
            Self::Net(response) | Self::Recorded(response, _) => response,
            Self::Played(chunks) => return Ok(chunks.next().map(|chunk| take(&chunk)).is_some()),
        };
        let Some(bytes) = response.chunk().await.map_err(anonymous)? else {
            return Ok(false);
        };
        if let Self::Recorded(
            _,
            Recording {
                exchange: Some(exchange),
                ..
            },
        ) = self
        {
            exchange.push(&bytes);
        }
        take(&bytes);
        Ok(true)
    }

    /// Everything, or the first chunks up to `limit` bytes.
    pub(crate) async fn read_up_to(&mut self, limit: usize) -> Vec<u8> {
        let mut bytes = Vec::new();
        // If the connection breaks, what was received so far is enough.
        while bytes.len() < limit
            && let Ok(true) = self.chunk(|chunk| bytes.extend_from_slice(chunk)).await
        {}
        bytes
    }
}

/// What is being recorded of one reply.
pub(crate) struct Recording {
    recorder: Arc<Mutex<Recorder>>,
    exchange: Option<Exchange>,
}

impl Drop for Recording {
    fn drop(&mut self) {
        if let Some(exchange) = self.exchange.take() {
            self.recorder.lock().write(&exchange);
        }
    }
}
