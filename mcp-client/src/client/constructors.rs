//! Shortcuts to a client: from a command or from a URL.

#[cfg(feature = "http")]
use std::sync::Arc;

#[cfg(feature = "http")]
use mcp_transport::{AuthProvider, HttpConfig, HttpConfigError, StaticTokenAuth};

use crate::client::Client;
use crate::client::builder::ClientBuilder;
#[cfg(feature = "http")]
use crate::connect::error::ConnectError;

impl Client {
    /// Creates a builder for a server that runs as a child process and communicates through its stdin and stdout.
    ///
    /// For an environment, a working directory or a sandbox, pass a
    /// [`ServerCommand`](mcp_transport::ServerCommand) or a
    /// [`StdioConnect`](mcp_transport::StdioConnect) to [`Client::builder`].
    ///
    /// ```no_run
    /// # async fn example() -> Result<(), mcp_client::ConnectError> {
    /// let client = mcp_client::Client::stdio("uvx", ["mcp-server-git"]).connect().await?;
    /// # Ok(())
    /// # }
    /// ```
    #[cfg(feature = "stdio")]
    pub fn stdio<A: Into<String>>(
        program: impl Into<String>,
        args: impl IntoIterator<Item = A>,
    ) -> ClientBuilder {
        Self::builder(mcp_transport::ServerCommand::new(program).with_args(args))
    }

    /// Creates a builder for a server with a URL, over Streamable HTTP or HTTP+SSE, whichever it supports.
    ///
    /// ```no_run
    /// # async fn example(token: String) -> Result<(), Box<dyn std::error::Error>> {
    /// use mcp_client::Client;
    ///
    /// let client = Client::http("https://example.com/mcp")?.bearer(token).connect().await?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// If this is not an `http` or `https` URL, or if it contains credentials.
    #[cfg(feature = "http")]
    pub fn http(url: &str) -> Result<HttpClientBuilder, HttpConfigError> {
        let config = HttpConfig::new(url)?;
        Ok(HttpClientBuilder { config })
    }
}

/// Builds a [`Client`] for a server with a URL.
#[cfg(feature = "http")]
#[derive(Debug)]
#[must_use = "a builder does nothing until `connect`"]
pub struct HttpClientBuilder {
    config: HttpConfig,
}

#[cfg(feature = "http")]
impl HttpClientBuilder {
    /// Authenticates with a bearer token.
    pub fn bearer(self, token: impl Into<String>) -> Self {
        self.auth(Arc::new(StaticTokenAuth::new(token)))
    }

    /// Authenticates with this provider, such as `mcp_auth::OAuth`.
    pub fn auth(self, auth: Arc<dyn AuthProvider>) -> Self {
        self.config(|config| config.with_auth(auth))
    }

    /// Sends this header with every request.
    ///
    /// # Errors
    ///
    /// If the header is reserved for the protocol or is not allowed in HTTP.
    pub fn header(self, name: &str, value: &str) -> Result<Self, HttpConfigError> {
        let config = self.config.with_header(name, value)?;
        Ok(Self { config })
    }

    /// Changes the HTTP configuration.
    pub fn config(self, change: impl FnOnce(HttpConfig) -> HttpConfig) -> Self {
        Self {
            config: change(self.config),
        }
    }

    /// Returns the builder of the settings that all clients have: host, events, limits.
    pub fn client(self) -> ClientBuilder {
        Client::builder(self.config)
    }

    /// Connects with the default settings.
    ///
    /// # Errors
    ///
    /// As [`ClientBuilder::connect`].
    pub async fn connect(self) -> Result<Client, ConnectError> {
        self.client().connect().await
    }
}
