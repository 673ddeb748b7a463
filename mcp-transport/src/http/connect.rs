//! Opens connections over Streamable HTTP.

use std::sync::Arc;

use async_trait::async_trait;

use crate::http::{Exchange, HttpConfig, HttpConfigError, HttpTransport};
use crate::{Connect, Transport, TransportError, TransportKind};

/// Opens connections to one server over Streamable HTTP.
///
/// Opening is free: the first message connects. All connections share one pool.
#[derive(Clone, Debug)]
pub struct HttpConnect {
    exchange: Arc<Exchange>,
    fallback: Option<Arc<dyn Connect>>,
}

impl HttpConnect {
    /// Connects over Streamable HTTP, whichever transport the configuration selects. [`HttpConfig::into_connect`]
    /// respects that setting.
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

    #[cfg(feature = "sse")]
    pub(crate) fn or_else(mut self, fallback: Arc<dyn Connect>) -> Self {
        self.fallback = Some(fallback);
        self
    }
}

#[async_trait]
impl Connect for HttpConnect {
    async fn connect(&self) -> Result<Arc<dyn Transport>, TransportError> {
        Ok(Arc::new(HttpTransport::new(self.exchange.clone())))
    }

    fn target(&self) -> String {
        self.exchange.target()
    }

    fn kind(&self) -> TransportKind {
        TransportKind::Http
    }

    fn fallback(&self) -> Option<Arc<dyn Connect>> {
        self.fallback.clone()
    }
}
