//! Endpoints: a program to start, or a URL.

use std::collections::BTreeMap;
use std::fmt;

#[cfg(feature = "http")]
use mcp_transport::{HttpConfig, HttpConfigError};
use mcp_transport::{Secret, ServerCommand};
use sha2::{Digest as _, Sha256};

/// The endpoint of a server.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Endpoint {
    /// A program to start.
    Stdio(ServerCommand),
    /// A remote server.
    Remote(RemoteEndpoint),
}

/// A remote server.
#[derive(Clone, Debug)]
pub struct RemoteEndpoint {
    pub(crate) url: Secret,
    pub(crate) kind: RemoteKind,
    pub(crate) headers: BTreeMap<String, Secret>,
    last_kind: RemoteKind,
}

/// The transport that worked last does not affect equality.
impl PartialEq for RemoteEndpoint {
    fn eq(&self, other: &Self) -> bool {
        (&self.url, self.kind, &self.headers) == (&other.url, other.kind, &other.headers)
    }
}

impl Eq for RemoteEndpoint {}

/// The transport of a remote server.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub enum RemoteKind {
    /// Detected by trying: Streamable HTTP, then HTTP+SSE.
    #[default]
    Auto,
    /// Streamable HTTP.
    StreamableHttp,
    /// HTTP+SSE of 2024-11-05.
    Sse,
}

impl RemoteEndpoint {
    /// Creates an endpoint with an `http` or `https` URL.
    pub fn new(url: impl Into<String>) -> Self {
        Self {
            url: Secret::new(url),
            kind: RemoteKind::default(),
            headers: BTreeMap::new(),
            last_kind: RemoteKind::default(),
        }
    }

    /// Sets the transport.
    #[must_use]
    pub fn with_kind(mut self, kind: RemoteKind) -> Self {
        self.kind = kind;
        self
    }

    /// Sets the transport that worked last: it is tried first where [`kind`](Self::kind) is `Auto`. It is a hint, not a
    /// setting: the other one is still tried, it does not affect equality, and it is not written to files.
    #[must_use]
    pub fn with_last_kind(mut self, kind: RemoteKind) -> Self {
        self.last_kind = kind;
        self
    }

    /// Adds a header to every request.
    #[must_use]
    pub fn with_header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.headers.insert(name.into(), Secret::new(value));
        self
    }

    /// Its URL. It is a secret, because URLs may contain keys: `Display` shows the public part.
    pub fn url(&self) -> &Secret {
        &self.url
    }

    /// The transport.
    pub fn kind(&self) -> RemoteKind {
        self.kind
    }

    /// The headers of every request.
    pub fn headers(&self) -> &BTreeMap<String, Secret> {
        &self.headers
    }

    /// The configuration of an HTTP transport for it.
    ///
    /// # Errors
    ///
    /// If the URL or a header is invalid.
    #[cfg(feature = "http")]
    pub fn to_http(&self) -> Result<HttpConfig, HttpConfigError> {
        let mut http = HttpConfig::new(self.url.expose())?;
        for (name, value) in &self.headers {
            http = http.with_header(name, value.expose())?;
        }
        Ok(match self.kind {
            RemoteKind::Auto => match self.last_kind {
                RemoteKind::Auto => http,
                last => http.sse_first(last == RemoteKind::Sse),
            },
            RemoteKind::StreamableHttp => http.streamable_only(),
            RemoteKind::Sse => http.sse_only(),
        })
    }
}

impl Endpoint {
    /// SHA-256 of the program or URL, each part with its length.
    pub(crate) fn identity(&self) -> String {
        let mut hash = Sha256::new();
        let mut add = |part: &str| {
            hash.update((part.len() as u64).to_le_bytes());
            hash.update(part);
        };
        match self {
            Self::Stdio(stdio) => {
                add("stdio");
                add(stdio.program());
                add(&stdio.cwd().unwrap_or("".as_ref()).to_string_lossy());
                stdio.args().iter().for_each(|arg| add(arg.expose()));
            }
            Self::Remote(remote) => {
                add("remote");
                add(remote.url.expose());
            }
        }
        let digest = hash.finalize();
        let hex = digest.iter().map(|byte| format!("{byte:02x}"));
        format!("sha256:{}", hex.collect::<String>())
    }
}

impl fmt::Display for Endpoint {
    /// For display: secrets are omitted.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Stdio(command) => command.fmt(f),
            Self::Remote(remote) => remote.fmt(f),
        }
    }
}

impl fmt::Display for RemoteEndpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let url = self.url.expose();
        let (base, query) = url
            .split_once(['?', '#'])
            .map_or((url, ""), |(b, _)| (b, "?…"));
        let (scheme, rest) = base.split_once("://").unwrap_or(("", base));
        let (host, path) = rest.find('/').map_or((rest, ""), |at| rest.split_at(at));
        let (user, host) = host.rsplit_once('@').map_or(("", host), |(_, h)| ("…@", h));
        write!(f, "{scheme}://{user}{host}{path}{query}")
    }
}
