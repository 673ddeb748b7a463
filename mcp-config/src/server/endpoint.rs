//! How a server is reached: a program to start, or an address.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use mcp_transport::{EnvPolicy, Secret, ServerCommand};
#[cfg(feature = "http")]
use mcp_transport::{HttpConfig, HttpConfigError};
use sha2::{Digest as _, Sha256};

/// How a server is reached.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Endpoint {
    /// By a program we start.
    Stdio(StdioEndpoint),
    /// At an address.
    Remote(RemoteEndpoint),
}

/// A program that is a server.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct StdioEndpoint {
    pub(crate) command: String,
    pub(crate) args: Vec<Secret>,
    pub(crate) env: BTreeMap<String, Secret>,
    pub(crate) inherited: BTreeSet<String>,
    pub(crate) env_policy: EnvPolicy,
    pub(crate) env_file: Option<String>,
    pub(crate) cwd: Option<String>,
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

impl StdioEndpoint {
    /// A program: a name to search for, or a path.
    pub fn new(command: impl Into<String>) -> Self {
        Self {
            command: command.into(),
            args: Vec::new(),
            env: BTreeMap::new(),
            inherited: BTreeSet::new(),
            env_policy: EnvPolicy::Safe,
            env_file: None,
            cwd: None,
        }
    }

    /// Adds arguments.
    #[must_use]
    pub fn with_args<A: Into<String>>(mut self, args: impl IntoIterator<Item = A>) -> Self {
        self.args.extend(args.into_iter().map(Secret::new));
        self
    }

    /// Sets an environment variable.
    #[must_use]
    pub fn with_env(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.env.insert(name.into(), Secret::new(value));
        self
    }

    /// Passes on one of the host's variables, whatever the policy says.
    #[must_use]
    pub fn with_inherited(mut self, name: impl Into<String>) -> Self {
        self.inherited.insert(name.into());
        self
    }

    /// Says which other variables of the host's are passed on; otherwise those that programs need
    /// to find themselves ([`EnvPolicy::Safe`]).
    #[must_use]
    pub fn with_env_policy(mut self, policy: EnvPolicy) -> Self {
        self.env_policy = policy;
        self
    }

    /// Sets the working directory.
    #[must_use]
    pub fn with_cwd(mut self, cwd: impl Into<String>) -> Self {
        self.cwd = Some(cwd.into());
        self
    }

    /// The program.
    pub fn command(&self) -> &str {
        &self.command
    }

    /// Its arguments.
    pub fn args(&self) -> &[Secret] {
        &self.args
    }

    /// Its environment variables.
    pub fn env(&self) -> &BTreeMap<String, Secret> {
        &self.env
    }

    /// The host's variables that are passed on whatever the policy says.
    pub fn inherited(&self) -> impl Iterator<Item = &String> {
        self.inherited.iter()
    }

    /// A file of further variables (VS Code's `envFile`), not yet read:
    /// [`ConfigFile::resolve`](crate::ConfigFile::resolve) does that.
    pub fn env_file(&self) -> Option<&str> {
        self.env_file.as_deref()
    }

    /// Its working directory.
    pub fn cwd(&self) -> Option<&str> {
        self.cwd.as_deref()
    }

    /// What to start.
    pub fn to_command(&self) -> ServerCommand {
        let mut command = ServerCommand::new(&self.command)
            .with_args(self.args.iter().map(Secret::expose))
            .with_env_policy(self.env_policy);
        for (name, value) in &self.env {
            command = command.with_env(name, value.expose());
        }
        for name in &self.inherited {
            command = command.with_inherited(name);
        }
        match &self.cwd {
            Some(cwd) => command.with_cwd(cwd),
            None => command,
        }
    }
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
                add(&stdio.command);
                add(stdio.cwd.as_deref().unwrap_or_default());
                stdio.args.iter().for_each(|arg| add(arg.expose()));
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
            Self::Stdio(stdio) => stdio.to_command().fmt(f),
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
