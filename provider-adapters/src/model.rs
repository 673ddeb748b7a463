//! Models that can be called.

pub(crate) mod failover;
pub(crate) mod listing;
pub(crate) mod provider_error;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use futures_core::Stream;
use futures_util::stream::unfold;

use crate::adapter::Adapter;
use crate::model::provider_error::ProviderError;
use crate::output::invalid::InvalidOutput;
use crate::reply::Reply;
use crate::reply::event::ReplyEvent;
use crate::request::{EncodeError, Request};

/// Any error of another crate.
pub(crate) type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// A language model. Wrap one to observe or change requests and replies.
#[async_trait]
pub trait Model: fmt::Debug + Send + Sync {
    /// The adapter of its wire, which compiles a request's tools.
    fn adapter(&self) -> &dyn Adapter;

    /// The model's name at its provider, for callers that set none in their requests. Empty if unknown.
    fn name(&self) -> &str {
        ""
    }

    /// Sends a request and returns once the reply begins.
    ///
    /// Dropping the future, or the stream, cancels the request.
    async fn start(&self, request: &Request) -> Result<Box<dyn ReplyStream>, ModelError>;

    /// Sends a request and waits for the whole reply. A reply that fails midway, or that does not match the request's
    /// output schema, is an error.
    async fn ask(&self, request: &Request) -> Result<Reply, ModelError> {
        let mut stream = self.start(request).await?;
        while stream.next().await.is_some() {}
        let mut reply = stream.finish();
        match reply.error.take() {
            Some(error) => Err(ModelError::Provider(Box::new(error))),
            None => match reply.output {
                Some(Err(invalid)) => Err(ModelError::Output(Box::new(invalid))),
                _ => Ok(reply),
            },
        }
    }
}

#[async_trait]
impl<M: Model + ?Sized> Model for Arc<M> {
    fn adapter(&self) -> &dyn Adapter {
        (**self).adapter()
    }

    fn name(&self) -> &str {
        (**self).name()
    }

    async fn start(&self, request: &Request) -> Result<Box<dyn ReplyStream>, ModelError> {
        (**self).start(request).await
    }

    async fn ask(&self, request: &Request) -> Result<Reply, ModelError> {
        (**self).ask(request).await
    }
}

#[async_trait]
impl<M: Model + ?Sized> Model for Box<M> {
    fn adapter(&self) -> &dyn Adapter {
        (**self).adapter()
    }

    fn name(&self) -> &str {
        (**self).name()
    }

    async fn start(&self, request: &Request) -> Result<Box<dyn ReplyStream>, ModelError> {
        (**self).start(request).await
    }

    async fn ask(&self, request: &Request) -> Result<Reply, ModelError> {
        (**self).ask(request).await
    }
}

/// A reply in progress.
#[async_trait]
pub trait ReplyStream: Send {
    /// The next event; `None` when the reply has ended.
    ///
    /// Cancel-safe: no event is lost if the future is dropped.
    async fn next(&mut self) -> Option<ReplyEvent>;

    /// The reply, as far as it has come.
    fn finish(self: Box<Self>) -> Reply;
}

impl dyn ReplyStream + '_ {
    /// The remaining events, as a [`Stream`]; after that [`finish`](ReplyStream::finish) returns the reply.
    pub fn events(&mut self) -> impl Stream<Item = ReplyEvent> + Send + Unpin {
        Box::pin(unfold(self, |reply| async {
            let event = reply.next().await?;
            Some((event, reply))
        }))
    }
}

/// The reason why a request to a model failed.
#[derive(Debug)]
#[non_exhaustive]
pub enum ModelError {
    /// The request cannot be encoded for this provider.
    Request(EncodeError),
    /// The provider rejected the request, or failed.
    Provider(Box<ProviderError>),
    /// The reply does not match the request's output schema.
    Output(Box<InvalidOutput>),
    /// The provider could not be reached; another try may succeed.
    Unreachable(BoxError),
    /// The provider did not answer in time; another try may succeed.
    Timeout(Phase, Duration),
    /// The client is not configured correctly.
    Setup(BoxError),
    /// The request is not the recorded one, or none is recorded. Nothing was sent.
    NotRecorded(String),
}

/// The phase that took too long.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Phase {
    /// The first byte of the reply.
    FirstByte,
    /// The next byte of the reply.
    Idle,
    /// The reply as a whole.
    Total,
}

impl ModelError {
    /// Whether the same request may succeed later.
    pub fn is_retryable(&self) -> bool {
        match self {
            Self::Provider(error) => error.is_retryable(),
            Self::Unreachable(_) | Self::Timeout(..) => true,
            Self::Request(_) | Self::Output(_) | Self::Setup(_) | Self::NotRecorded(_) => false,
        }
    }
}

impl fmt::Display for Phase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::FirstByte => "the first byte of the reply",
            Self::Idle => "the next byte of the reply",
            Self::Total => "the end of the reply",
        })
    }
}

impl fmt::Display for ModelError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Request(_) => f.write_str("the request cannot be written"),
            Self::Provider(error) => error.fmt(f),
            Self::Output(invalid) => invalid.fmt(f),
            Self::Unreachable(_) => f.write_str("the provider could not be reached"),
            Self::Timeout(phase, limit) => write!(f, "{phase} did not come within {limit:?}"),
            Self::Setup(_) => f.write_str("the HTTP client cannot be set up"),
            Self::NotRecorded(difference) => {
                write!(f, "the request was not recorded: {difference}")
            }
        }
    }
}

impl std::error::Error for ModelError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Request(error) => Some(error),
            Self::Unreachable(error) | Self::Setup(error) => Some(error.as_ref()),
            Self::Provider(_) | Self::Output(_) | Self::Timeout(..) | Self::NotRecorded(_) => None,
        }
    }
}
