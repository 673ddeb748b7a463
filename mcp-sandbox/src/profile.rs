//! Profiles: the permissions of a server, which people choose and programs store.

use std::collections::BTreeSet;
use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use mcp_transport::ServerCommand;
use serde::{Deserialize, Serialize};

use crate::containment::Guarantee;

/// The permissions of one server: files, hosts, variables and limits.
///
/// The default is the strictest profile under which most servers start: the system's programs and libraries are
/// readable, the server's own folder and a temporary one are writable, and there is no network.
///
/// ```
/// use mcp_sandbox::{Network, Profile};
///
/// let profile = Profile::new()
///     .with_read("/home/me/notes")
///     .with_network(Network::Hosts(vec!["api.example.com:443".parse()?]));
/// assert!(!profile.may_change_attributes);
/// # Ok::<(), mcp_sandbox::InvalidHost>(())
/// ```
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(default, deny_unknown_fields, rename_all = "camelCase")]
#[non_exhaustive]
pub struct Profile {
    /// Files and folders it may read and run programs from.
    pub read: Vec<PathBuf>,
    /// Files and folders it may read, change and run programs from.
    pub write: Vec<PathBuf>,
    /// The hosts it may connect to.
    pub network: Network,
    /// The environment variables it gets besides `PATH`, the language and the like.
    pub variables: BTreeSet<String>,
    /// The resources it may use.
    pub limits: SandboxLimits,
    /// Whether it may change the permissions, the owner and the times of files by their path. Landlock does not
    /// restrict that to folders, so it applies to every file of the user.
    pub may_change_attributes: bool,
    /// Whether it may open Unix sockets, through which it can reach the session bus, key agents and container daemons,
    /// and through them everything.
    pub may_use_unix_sockets: bool,
    /// What it starts without where a machine cannot enforce it: each was agreed to.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub may_lack: BTreeSet<Guarantee>,
    /// Whether it starts even if this machine cannot enforce any of the above.
    pub may_be_weaker: bool,
}

/// The hosts a server may connect to.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub enum Network {
    /// None: it gets no sockets.
    #[default]
    None,
    /// These hosts, through a proxy that the sandbox starts and sets in `HTTP_PROXY`, `HTTPS_PROXY` and similar
    /// variables. A program that ignores those variables reaches nothing.
    Hosts(Vec<HostRule>),
    /// All hosts, including this machine.
    All,
}

/// A host that a server may connect to: `example.com`, `*.example.com`, either with `:port`.
///
/// A name that resolves to an address of this machine or of a private network is refused, unless the rule is that
/// address itself, or `localhost`.
#[derive(Clone, Debug, Deserialize, Eq, Hash, PartialEq, Serialize)]
#[serde(try_from = "String", into = "String")]
pub struct HostRule {
    name: String,
    with_subdomains: bool,
    port: Option<u16>,
}

/// The error for a text that is not a host.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct InvalidHost {
    /// The text.
    pub text: String,
}

/// The resources a server may use.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(default, deny_unknown_fields, rename_all = "camelCase")]
#[non_exhaustive]
pub struct SandboxLimits {
    /// The bytes of private memory that each of its processes may write to.
    pub memory_bytes: u64,
    /// The number of processes and threads its user may have beyond those at its start.
    pub processes: u64,
    /// The maximum size of a file it writes, in bytes.
    pub file_bytes: u64,
    /// The number of files each of its processes may have open.
    pub open_files: u64,
}

impl Default for SandboxLimits {
    fn default() -> Self {
        Self {
            memory_bytes: 4 << 30,
            processes: 256,
            file_bytes: 1 << 30,
            open_files: 4096,
        }
    }
}

impl Profile {
    /// Creates the strictest profile.
    pub fn new() -> Self {
        Self::default()
    }

    /// Creates the strictest profile for a command: the variables configured for it are passed on.
    pub fn for_command(command: &ServerCommand) -> Self {
        let configured = command.env().keys().map(String::as_str);
        let names = configured.chain(command.inherited());
        Self {
            variables: names.map(str::to_owned).collect(),
            ..Self::default()
        }
    }

    /// Allows it to read a file or a folder.
    #[must_use]
    pub fn with_read(mut self, path: impl Into<PathBuf>) -> Self {
        self.read.push(path.into());
        self
    }

    /// Allows it to read and change a file or a folder.
    #[must_use]
    pub fn with_write(mut self, path: impl Into<PathBuf>) -> Self {
        self.write.push(path.into());
        self
    }

    /// Sets the hosts it may connect to.
    #[must_use]
    pub fn with_network(mut self, network: Network) -> Self {
        self.network = network;
        self
    }

    /// Passes on a variable of its environment.
    #[must_use]
    pub fn with_variable(mut self, name: impl Into<String>) -> Self {
        self.variables.insert(name.into());
        self
    }

    /// Sets the resources it may use.
    #[must_use]
    pub fn with_limits(mut self, limits: SandboxLimits) -> Self {
        self.limits = limits;
        self
    }

    /// Allows it to change permissions, owners and times of files.
    #[must_use]
    pub fn with_attributes(mut self) -> Self {
        self.may_change_attributes = true;
        self
    }

    /// Allows it to open Unix sockets.
    #[must_use]
    pub fn with_unix_sockets(mut self) -> Self {
        self.may_use_unix_sockets = true;
        self
    }

    /// Starts it where a machine cannot enforce this.
    #[must_use]
    pub fn without(mut self, guarantee: Guarantee) -> Self {
        self.may_lack.insert(guarantee);
        self
    }

    /// Starts it even if this machine cannot enforce any of the profile.
    #[must_use]
    pub fn weaker_if_need_be(mut self) -> Self {
        self.may_be_weaker = true;
        self
    }
}

impl SandboxLimits {
    /// Sets the bytes of private memory of each process.
    #[must_use]
    pub fn with_memory_bytes(mut self, bytes: u64) -> Self {
        self.memory_bytes = bytes;
        self
    }

    /// Sets the number of processes and threads beyond those at the start.
    #[must_use]
    pub fn with_processes(mut self, processes: u64) -> Self {
        self.processes = processes;
        self
    }

    /// Sets the maximum size of a file in bytes.
    #[must_use]
    pub fn with_file_bytes(mut self, bytes: u64) -> Self {
        self.file_bytes = bytes;
        self
    }

    /// Sets the number of open files of each process.
    #[must_use]
    pub fn with_open_files(mut self, files: u64) -> Self {
        self.open_files = files;
        self
    }
}

impl HostRule {
    /// Whether it covers a connection to this host, as the server named it, and port.
    pub fn covers(&self, host: &str, port: u16) -> bool {
        let host = host.trim_end_matches('.').to_ascii_lowercase();
        let named = match host.strip_suffix(&self.name) {
            Some("") => !self.with_subdomains,
            Some(rest) => self.with_subdomains && rest.ends_with('.') && rest.len() > 1,
            None => false,
        };
        named && self.port.is_none_or(|only| only == port)
    }

    /// Whether it names an address, or this machine, rather than a name that others resolve.
    pub(crate) fn names_address(&self) -> bool {
        !self.with_subdomains
            && (self.name == "localhost" || self.name.parse::<std::net::IpAddr>().is_ok())
    }
}

impl FromStr for HostRule {
    type Err = InvalidHost;

    fn from_str(text: &str) -> Result<Self, InvalidHost> {
        let invalid = || InvalidHost {
            text: text.to_owned(),
        };
        let text = text.trim();
        let (host, port) = match text.strip_prefix('[') {
            Some(rest) => {
                let (host, after) = rest.split_once(']').ok_or_else(invalid)?;
                let _: std::net::Ipv6Addr = host.parse().map_err(|_| invalid())?;
                (host, after.strip_prefix(':'))
            }
            None => match text.split_once(':') {
                Some((host, port)) => (host, Some(port)),
                None => (text, None),
            },
        };
        let port = match port {
            Some(port) => Some(port.parse().ok().filter(|p| *p != 0).ok_or_else(invalid)?),
            None => None,
        };
        let (host, with_subdomains) = match host.strip_prefix("*.") {
            Some(rest) => (rest, true),
            None => (host, false),
        };
        let legal = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'-' | b'_' | b':');
        let name = host.trim_end_matches('.').to_ascii_lowercase();
        let is_legal = !name.is_empty()
            && name.len() <= 253
            && !name.starts_with('.')
            && name.bytes().all(legal)
            && (!with_subdomains || name.contains('.'));
        if !is_legal {
            return Err(invalid());
        }
        Ok(Self {
            name,
            with_subdomains,
            port,
        })
    }
}

impl TryFrom<String> for HostRule {
    type Error = InvalidHost;

    fn try_from(text: String) -> Result<Self, InvalidHost> {
        text.parse()
    }
}

impl From<HostRule> for String {
    fn from(rule: HostRule) -> Self {
        rule.to_string()
    }
}

impl fmt::Display for HostRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.with_subdomains {
            f.write_str("*.")?;
        }
        if self.name.contains(':') {
            write!(f, "[{}]", self.name)?;
        } else {
            f.write_str(&self.name)?;
        }
        self.port.map_or(Ok(()), |port| write!(f, ":{port}"))
    }
}

impl fmt::Display for InvalidHost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "'{}' is not a host: write `example.com`, `*.example.com` or `example.com:443`",
            self.text.escape_debug()
        )
    }
}

impl std::error::Error for InvalidHost {}
