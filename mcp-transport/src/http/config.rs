//! The configuration of a server with a URL.

use std::error::Error;
use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use reqwest::Url;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};

use crate::http::client::{client_builder, loopback_builder, tame};
use crate::http::exchange::Exchange;
use crate::http::headers::is_reserved;
use crate::http::redirect::shown;
use crate::http::{HttpConnect, HttpLimits};
use crate::{
    AuthProvider, BoxError, Connect, Transport, TransportError, TransportKind, is_loopback_host,
};

/// The settings of one server with a URL.
///
/// ```
/// use std::sync::Arc;
/// use mcp_transport::{Connect, HttpConfig, StaticTokenAuth};
///
/// let connect = HttpConfig::new("https://mcp.example.com/mcp?key=1")?
///     .with_header("X-Team", "blue")?
///     .with_auth(Arc::new(StaticTokenAuth::new("s3cret")))
///     .into_connect()?;
/// assert_eq!(connect.target(), "https://mcp.example.com/mcp");
/// # Ok::<(), mcp_transport::HttpConfigError>(())
/// ```
#[derive(Clone)]
pub struct HttpConfig {
    pub(crate) url: Url,
    pub(crate) headers: HeaderMap,
    pub(crate) auth: Option<Arc<dyn AuthProvider>>,
    pub(crate) limits: HttpLimits,
    client: Option<reqwest::Client>,
    kind: Kind,
    #[cfg(feature = "sse")]
    sse_first: Option<bool>,
}

/// Which of the two HTTP transports to use.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Kind {
    /// Whichever the server supports.
    Auto,
    Streamable,
    #[cfg(feature = "sse")]
    LegacySse,
}

/// An invalid configuration.
#[derive(Debug)]
#[non_exhaustive]
pub enum HttpConfigError {
    /// Not a URL this transport supports.
    Url {
        /// The URL.
        url: String,
        /// The problem.
        detail: String,
    },
    /// This header is reserved for the protocol and cannot be set.
    ReservedHeader {
        /// Its name.
        name: String,
    },
    /// This header's name or value is not allowed in HTTP.
    InvalidHeader {
        /// Its name.
        name: String,
    },
    /// The HTTP client could not be set up.
    Client {
        /// The cause.
        source: BoxError,
    },
}

impl HttpConfig {
    /// A server at `url`, over Streamable HTTP or HTTP+SSE, whichever it supports.
    ///
    /// # Errors
    ///
    /// If this is not an `http` or `https` URL, or contains a user name or password, which belong in a header or an
    /// [`AuthProvider`].
    pub fn new(url: &str) -> Result<Self, HttpConfigError> {
        let mut parsed = Url::parse(url).map_err(|error| HttpConfigError::Url {
            url: url.split(['?', '#']).next().unwrap_or_default().to_owned(),
            detail: error.to_string(),
        })?;
        let wrong = |detail: &str| {
            Err(HttpConfigError::Url {
                url: shown(&parsed),
                detail: detail.to_owned(),
            })
        };
        if !matches!(parsed.scheme(), "http" | "https") {
            return wrong("it must begin with http:// or https://");
        }
        if !parsed.username().is_empty() || parsed.password().is_some() {
            return wrong("it has credentials in it; put them into a header");
        }
        parsed.set_fragment(None);
        Ok(Self {
            url: parsed,
            headers: HeaderMap::new(),
            auth: None,
            limits: HttpLimits::default(),
            client: None,
            kind: Kind::Auto,
            #[cfg(feature = "sse")]
            sse_first: None,
        })
    }

    /// Sends this header with every request. Its value is treated as a secret. Headers of the [`AuthProvider`] take
    /// precedence over it.
    ///
    /// # Errors
    ///
    /// If the header is reserved for the protocol (`Content-Type`, `Accept`, `Mcp-…`, …), or is not allowed in HTTP.
    pub fn with_header(mut self, name: &str, value: &str) -> Result<Self, HttpConfigError> {
        let (name, value) = custom_header(name, value)?;
        self.headers.insert(name, value);
        Ok(self)
    }

    /// Gets the credentials of every request from this provider.
    #[must_use]
    pub fn with_auth(mut self, auth: Arc<dyn AuthProvider>) -> Self {
        self.auth = Some(auth);
        self
    }

    /// Sets the limits.
    #[must_use]
    pub fn with_limits(mut self, limits: HttpLimits) -> Self {
        self.limits = limits;
        self
    }

    /// Uses your own HTTP client, for a proxy, certificates or a resolver. Start from [`client_builder`]. Redirects,
    /// retries, the `Referer` header and compression are always switched off; the connect timeout is the client's own.
    ///
    /// # Errors
    ///
    /// If the client cannot be built.
    pub fn with_client(mut self, builder: reqwest::ClientBuilder) -> Result<Self, HttpConfigError> {
        self.client = Some(build(tame(builder))?);
        Ok(self)
    }

    /// Uses Streamable HTTP only.
    #[must_use]
    pub fn streamable_only(mut self) -> Self {
        self.kind = Kind::Streamable;
        self
    }

    /// Uses HTTP+SSE of 2024-11-05 only.
    #[cfg(feature = "sse")]
    #[must_use]
    pub fn sse_only(mut self) -> Self {
        self.kind = Kind::LegacySse;
        self
    }

    /// Tries HTTP+SSE before or after Streamable HTTP, for instance depending on what worked last. Has no effect if the
    /// configuration selects a transport.
    #[cfg(feature = "sse")]
    #[must_use]
    pub fn sse_first(mut self, first: bool) -> Self {
        self.sse_first = Some(first);
        self
    }

    /// A connector with one HTTP client for all its connections. If the configuration selects no transport, Streamable
    /// HTTP is tried first and HTTP+SSE is its [`fallback`](Connect::fallback). The order is reversed if `sse_first` is
    /// set or, if that was not called, for a URL that ends in `/sse`.
    ///
    /// # Errors
    ///
    /// If the HTTP client cannot be set up.
    pub fn into_connect(self) -> Result<Arc<dyn Connect>, HttpConfigError> {
        let kind = self.kind;
        let exchange = Arc::new(Exchange::new(self)?);
        Ok(connect_by(kind, exchange))
    }

    #[cfg(feature = "sse")]
    fn tries_sse_first(&self) -> bool {
        let path = self.url.path().trim_end_matches('/');
        self.sse_first.unwrap_or(path.ends_with("/sse"))
    }

    pub(crate) fn client(&self) -> Result<reqwest::Client, HttpConfigError> {
        if let Some(client) = &self.client {
            return Ok(client.clone());
        }
        let builder = match self.url.scheme() {
            "http" if is_loopback(&self.url) => loopback_builder(),
            _ => client_builder(),
        };
        let builder = builder.map_err(|source| HttpConfigError::Client { source })?;
        build(tame(builder).connect_timeout(self.limits.connect_timeout))
    }
}

/// Each connection gets its own HTTP client, and so its own connection pool. [`into_connect`](HttpConfig::into_connect)
/// creates one client for all of them.
#[async_trait]
impl Connect for HttpConfig {
    async fn connect(&self) -> Result<Arc<dyn Transport>, TransportError> {
        let connect = self.clone().into_connect();
        let connect = connect.map_err(|error| TransportError::Io {
            action: "setting up the HTTP client".to_owned(),
            source: error.into(),
        })?;
        connect.connect().await
    }

    fn target(&self) -> String {
        shown(&self.url)
    }

    fn kind(&self) -> TransportKind {
        match self.kind {
            Kind::Streamable => TransportKind::Http,
            #[cfg(feature = "sse")]
            Kind::LegacySse => TransportKind::LegacySse,
            #[cfg(feature = "sse")]
            Kind::Auto if self.tries_sse_first() => TransportKind::LegacySse,
            Kind::Auto => TransportKind::Http,
        }
    }

    fn fallback(&self) -> Option<Arc<dyn Connect>> {
        self.clone().into_connect().ok()?.fallback()
    }
}

fn build(builder: reqwest::ClientBuilder) -> Result<reqwest::Client, HttpConfigError> {
    builder.build().map_err(|source| HttpConfigError::Client {
        source: source.into(),
    })
}

#[cfg(feature = "sse")]
fn connect_by(kind: Kind, exchange: Arc<Exchange>) -> Arc<dyn Connect> {
    use crate::legacy_sse::SseConnect;

    let streamable = HttpConnect::over(exchange.clone());
    let sse_first = exchange.config().tries_sse_first();
    let sse = SseConnect::over(exchange);
    match kind {
        Kind::Streamable => Arc::new(streamable),
        Kind::LegacySse => Arc::new(sse),
        Kind::Auto if sse_first => Arc::new(sse.or_else(Arc::new(streamable))),
        Kind::Auto => Arc::new(streamable.or_else(Arc::new(sse))),
    }
}

#[cfg(not(feature = "sse"))]
fn connect_by(_: Kind, exchange: Arc<Exchange>) -> Arc<dyn Connect> {
    Arc::new(HttpConnect::over(exchange))
}

/// Validates a header set by the user.
pub(crate) fn custom_header(
    name: &str,
    value: &str,
) -> Result<(HeaderName, HeaderValue), HttpConfigError> {
    let invalid = || HttpConfigError::InvalidHeader {
        name: name.to_owned(),
    };
    let parsed = HeaderName::from_bytes(name.as_bytes()).map_err(|_| invalid())?;
    if is_reserved(&parsed) {
        return Err(HttpConfigError::ReservedHeader {
            name: name.to_owned(),
        });
    }
    let mut value = HeaderValue::from_bytes(value.as_bytes()).map_err(|_| invalid())?;
    value.set_sensitive(true);
    Ok((parsed, value))
}

fn is_loopback(url: &Url) -> bool {
    is_loopback_host(url.host_str().unwrap_or_default())
}

impl fmt::Debug for HttpConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpConfig")
            .field("url", &shown(&self.url))
            .field("headers", &self.headers.keys())
            .field("auth", &self.auth)
            .field("limits", &self.limits)
            .field("kind", &self.kind)
            .finish_non_exhaustive()
    }
}

impl fmt::Display for HttpConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Url { url, detail } => {
                write!(f, "'{url}' is not a valid MCP server URL: {detail}")
            }
            Self::ReservedHeader { name } => {
                write!(
                    f,
                    "header '{name}' belongs to the protocol and cannot be set"
                )
            }
            Self::InvalidHeader { name } => {
                write!(
                    f,
                    "header '{name}' has a name or value that HTTP does not allow"
                )
            }
            Self::Client { .. } => f.write_str("the HTTP client could not be set up"),
        }
    }
}

impl Error for HttpConfigError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Client { source } => Some(source.as_ref()),
            _ => None,
        }
    }
}
