//! One server: its name, its endpoint, the settings of its tools.

pub(crate) mod endpoint;
pub(crate) mod name;
pub(crate) mod tools;

use std::collections::BTreeMap;
use std::time::Duration;

use mcp_transport::ServerCommand;
use serde_json::{Map, Value};

use crate::server::endpoint::{Endpoint, RemoteEndpoint, RemoteKind};
use crate::server::name::{InvalidServerName, ServerName};
use crate::server::tools::ToolSettings;

/// A configured server.
///
/// ```
/// use mcp_config::{ServerCommand, ServerConfig, ServerName};
///
/// let name: ServerName = "files".parse()?;
/// let files = ServerConfig::stdio(name, ServerCommand::new("npx").with_args(["-y", "files-server"]))
///     .required()
///     .with_connect_timeout(std::time::Duration::from_secs(10));
/// assert!(files.is_enabled() && files.is_required());
/// # Ok::<(), mcp_config::InvalidServerName>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct ServerConfig {
    pub(crate) name: ServerName,
    /// The program's own id for the server, besides its name.
    pub(crate) id: Option<String>,
    pub(crate) endpoint: Endpoint,
    /// A file of further environment variables (VS Code's `envFile`), not yet read.
    pub(crate) env_file: Option<String>,
    /// The identity of the endpoint before its variables were replaced.
    pub(crate) identity: Option<String>,
    pub(crate) enabled: bool,
    pub(crate) required: bool,
    pub(crate) start: Start,
    pub(crate) parallel: bool,
    pub(crate) trusted: bool,
    pub(crate) always_load: bool,
    pub(crate) connect_timeout: Option<Duration>,
    pub(crate) call_idle_timeout: Option<Duration>,
    pub(crate) tool_idle_timeouts: BTreeMap<String, Duration>,
    pub(crate) tools: ToolSettings,
    pub(crate) sandbox: Option<Map<String, Value>>,
    pub(crate) extra: Map<String, Value>,
}

/// When a server is connected.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub enum Start {
    /// Immediately.
    #[default]
    Eager,
    /// On first use.
    Lazy,
}

impl ServerConfig {
    /// Creates a server that is started by a command: a shortcut for [`stdio`](Self::stdio).
    ///
    /// ```
    /// let git = mcp_config::ServerConfig::command("git", "uvx", ["mcp-server-git"])?;
    /// # Ok::<(), mcp_config::InvalidServerName>(())
    /// ```
    ///
    /// # Errors
    ///
    /// If the name is not a valid server name.
    pub fn command<A: Into<String>>(
        name: &str,
        program: impl Into<String>,
        args: impl IntoIterator<Item = A>,
    ) -> Result<Self, InvalidServerName> {
        let command = ServerCommand::new(program).with_args(args);
        Ok(Self::stdio(ServerName::new(name)?, command))
    }

    /// Creates a server with a URL: a shortcut for [`remote`](Self::remote).
    ///
    /// # Errors
    ///
    /// If the name is not a valid server name.
    pub fn url(name: &str, url: impl Into<String>) -> Result<Self, InvalidServerName> {
        Ok(Self::remote(
            ServerName::new(name)?,
            RemoteEndpoint::new(url),
        ))
    }

    /// Creates a server that is started as a program.
    pub fn stdio(name: ServerName, command: ServerCommand) -> Self {
        Self::new(name, Endpoint::Stdio(command))
    }

    /// Creates a remote server.
    pub fn remote(name: ServerName, endpoint: RemoteEndpoint) -> Self {
        Self::new(name, Endpoint::Remote(endpoint))
    }

    /// Sets an id chosen by the program, which stays the same when the server is renamed.
    #[must_use]
    pub fn with_id(mut self, id: impl Into<String>) -> Self {
        self.id = Some(id.into());
        self
    }

    /// The program's own id for the server, if it was set.
    pub fn id(&self) -> Option<&str> {
        self.id.as_deref()
    }

    /// Creates a server with `endpoint`.
    pub fn new(name: ServerName, endpoint: Endpoint) -> Self {
        Self {
            name,
            endpoint,
            env_file: None,
            identity: None,
            enabled: true,
            required: false,
            start: Start::default(),
            parallel: false,
            trusted: false,
            id: None,
            always_load: false,
            connect_timeout: None,
            call_idle_timeout: None,
            tool_idle_timeouts: BTreeMap::new(),
            tools: ToolSettings::default(),
            sandbox: None,
            extra: Map::new(),
        }
    }

    /// Enables the server (default).
    #[must_use]
    pub fn enabled(mut self) -> Self {
        self.enabled = true;
        self
    }

    /// Disables the server.
    #[must_use]
    pub fn disabled(mut self) -> Self {
        self.enabled = false;
        self
    }

    /// Marks the server as required: a host should not start without it.
    #[must_use]
    pub fn required(mut self) -> Self {
        self.required = true;
        self
    }

    /// Sets when the server is connected.
    #[must_use]
    pub fn with_start(mut self, start: Start) -> Self {
        self.start = start;
        self
    }

    /// Sets the transport that worked last ([`RemoteEndpoint::with_last_kind`]); has no effect for programs.
    #[must_use]
    pub fn with_last_kind(mut self, kind: RemoteKind) -> Self {
        if let Endpoint::Remote(remote) = self.endpoint {
            self.endpoint = Endpoint::Remote(remote.with_last_kind(kind));
        }
        self
    }

    /// Allows several concurrent calls, even if its tools are not read-only.
    #[must_use]
    pub fn parallel(mut self) -> Self {
        self.parallel = true;
        self
    }

    /// Trusts the server's annotations of its tools: read-only ones may run concurrently, and a host may rely on them.
    #[must_use]
    pub fn trusted(mut self) -> Self {
        self.trusted = true;
        self
    }

    /// Lists its tools to the model even if there are too many to list all.
    #[must_use]
    pub fn always_load(mut self) -> Self {
        self.always_load = true;
        self
    }

    /// Sets the time limit for connecting.
    #[must_use]
    pub fn with_connect_timeout(mut self, timeout: Duration) -> Self {
        self.connect_timeout = Some(timeout);
        self
    }

    /// Sets the idle timeout of a call, which progress restarts; the deadline is ten times that.
    #[must_use]
    pub fn with_call_idle_timeout(mut self, timeout: Duration) -> Self {
        self.call_idle_timeout = Some(timeout);
        self
    }

    /// Sets the idle timeout of a call of `tool`.
    #[must_use]
    pub fn with_tool_idle_timeout(mut self, tool: impl Into<String>, timeout: Duration) -> Self {
        self.tool_idle_timeouts.insert(tool.into(), timeout);
        self
    }

    /// Sets which tools are enabled, and which the configuration approves.
    #[must_use]
    pub fn with_tools(mut self, tools: ToolSettings) -> Self {
        self.tools = tools;
        self
    }

    /// Sets the server's sandbox profile, in the format of the program that applies it: this crate only stores it.
    #[must_use]
    pub fn with_sandbox(mut self, profile: Map<String, Value>) -> Self {
        self.sandbox = Some(profile);
        self
    }

    /// The identity of its endpoint: another program, other arguments, another folder or another URL have another
    /// identity. The environment, the headers and the values of variables are not part of it: a rotated key does not
    /// change the identity. An approval given for one identity does not apply to another.
    pub fn identity(&self) -> String {
        self.identity
            .clone()
            .unwrap_or_else(|| self.endpoint.identity())
    }

    /// Its name.
    pub fn name(&self) -> &ServerName {
        &self.name
    }

    /// Its endpoint.
    pub fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }

    /// A file of further environment variables (VS Code's `envFile`), not yet read:
    /// [`ConfigFile::resolve`](crate::ConfigFile::resolve) does that.
    pub fn env_file(&self) -> Option<&str> {
        self.env_file.as_deref()
    }

    /// Whether it is enabled.
    pub fn is_enabled(&self) -> bool {
        self.enabled
    }

    /// Whether it is required: a host should not start without it.
    pub fn is_required(&self) -> bool {
        self.required
    }

    /// When it is connected.
    pub fn start(&self) -> Start {
        self.start
    }

    /// Whether it accepts several calls at once.
    pub fn is_parallel(&self) -> bool {
        self.parallel
    }

    /// Whether its annotations of tools are trusted.
    pub fn is_trusted(&self) -> bool {
        self.trusted
    }

    /// Whether its tools are always listed to the model.
    pub fn is_always_loaded(&self) -> bool {
        self.always_load
    }

    /// The time limit for connecting, if the server has its own.
    pub fn connect_timeout(&self) -> Option<Duration> {
        self.connect_timeout
    }

    /// The idle timeout of a call of `tool`: the tool's own, else the server's.
    pub fn call_idle_timeout(&self, tool: &str) -> Option<Duration> {
        self.tool_idle_timeouts
            .get(tool)
            .copied()
            .or(self.call_idle_timeout)
    }

    /// Its enabled tools, and those the file approves.
    pub fn tools(&self) -> &ToolSettings {
        &self.tools
    }

    /// Its sandbox profile, in the format of the program that applies it (`sandboxProfile`).
    pub fn sandbox(&self) -> Option<&Map<String, Value>> {
        self.sandbox.as_ref()
    }

    /// The unknown members of its entry, kept for writing it back.
    pub fn extra(&self) -> &Map<String, Value> {
        &self.extra
    }

    /// Whether a connection made for `other` can be used for this configuration as well: same name, same endpoint, same
    /// sandbox. All other changes take effect without a new connection.
    pub fn connects_like(&self, other: &Self) -> bool {
        self.name == other.name && self.endpoint == other.endpoint && self.sandbox == other.sandbox
    }
}
