//! How a server is reached: a program to start, or an address.

use std::collections::BTreeMap;
use std::fmt;

#[cfg(feature = "http")]
use mcp_transport::{HttpConfig, HttpConfigError};
use mcp_transport::{Secret, ServerCommand};
use sha2::{Digest as _, Sha256};

/// How a server is reached.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Endpoint {
    /// By a program we start.
    Stdio(ServerCommand),
    /// At an address.
    Remote(RemoteEndpoint),
}

/// A server somewhere else.
#[derive(Clone, Debug)]
pub struct RemoteEndpoint {
    pub(crate) url: Secret,
    pub(crate) kind: RemoteKind,
    pub(crate) headers: BTreeMap<String, Secret>,
    last_kind: RemoteKind,
}

/// What worked last makes no other endpoint of it.
impl PartialEq for RemoteEndpoint {
    fn eq(&self, other: &Self) -> bool {
        (&self.url, self.kind, &self.headers) == (&other.url, other.kind, &other.headers)
    }
}

impl Eq for RemoteEndpoint {}

/// Which transport a remote server speaks.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub enum RemoteKind {
    /// Found out by trying: Streamable HTTP, then HTTP+SSE.
    #[default]
    Auto,
    /// Streamable HTTP.
    StreamableHttp,
    /// HTTP+SSE of 2024-11-05.
    Sse,
}

impl RemoteEndpoint {
    /// An address, `http` or `https`.
    pub fn new(url: impl Into<String>) -> Self {
        Self {
            url: Secret::new(url),
            kind: RemoteKind::default(),
            headers: BTreeMap::new(),
            last_kind: RemoteKind::default(),
        }
    }

    /// Says which transport it speaks.
    #[must_use]
    pub fn with_kind(mut self, kind: RemoteKind) -> Self {
        self.kind = kind;
        self
    }

    /// Says which transport worked last: it is tried first where [`kind`](Self::kind) names none.
    /// A hint, not a setting: the other one is still tried, endpoints that differ in nothing else
    /// are equal, and it is not written to files.
    #[must_use]
    pub fn with_last_kind(mut self, kind: RemoteKind) -> Self {
        self.last_kind = kind;
        self
    }

    /// Sends a header along with every request.
    #[must_use]
    pub fn with_header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.headers.insert(name.into(), Secret::new(value));
        self
    }

    /// Its address. A secret, as keys like to hide in addresses: `Display` shows what may be shown.
    pub fn url(&self) -> &Secret {
        &self.url
    }

    /// Which transport it speaks.
    pub fn kind(&self) -> RemoteKind {
        self.kind
    }

    /// The headers sent along with every request.
    pub fn headers(&self) -> &BTreeMap<String, Secret> {
        &self.headers
    }

    /// The configuration of an HTTP transport to it.
    ///
    /// # Errors
    ///
    /// If the address or a header cannot be used.
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
    /// SHA-256 over what is started or addressed, each part with its length.
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
    /// Fit for people's eyes: secrets are left out.
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
