//! Dialects: the programs that configuration files belong to.

pub(crate) mod keys;
pub(crate) mod location;
mod recognize;

/// The program a configuration file belongs to. The keys of all dialects are accepted in every file; the
/// dialect decides how references are written, the unit of `timeout`, and which keys are written.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
#[non_exhaustive]
pub enum Dialect {
    /// No particular program: `mcpServers`. A `timeout` below 1000 is in seconds, else in milliseconds.
    #[default]
    Plain,
    /// `claude_desktop_config.json`: `mcpServers`.
    ClaudeDesktop,
    /// `.mcp.json` and `~/.claude.json`: `mcpServers` with `type`; `timeout` in milliseconds.
    ClaudeCode,
    /// VS Code's `mcp.json`: `servers` and `inputs`.
    VsCode,
    /// Cursor's `mcp.json`: `mcpServers`.
    Cursor,
    /// `cline_mcp_settings.json`: `mcpServers`; `timeout` in seconds.
    Cline,
    /// Gemini CLI's `settings.json`: `mcpServers`, references as `$NAME`; `timeout` in milliseconds.
    Gemini,
    /// `opencode.json`: `mcp`, references as `{env:NAME}` and `{file:path}`; `timeout` in
    /// milliseconds.
    OpenCode,
    /// Windsurf's `mcp_config.json`: `mcpServers`, with URLs as `serverUrl`.
    Windsurf,
    /// Zed's `settings.json`: `context_servers`; `timeout` in seconds.
    Zed,
    /// LM Studio's `mcp.json`: `mcpServers`, like Cursor's.
    LmStudio,
    /// Roo Code's `mcp_settings.json` and `.roo/mcp.json`: `mcpServers`; `timeout` in seconds.
    Roo,
    /// Amazon Q Developer's `mcp.json`: `mcpServers`; `timeout` in milliseconds.
    AmazonQ,
    /// GitHub Copilot CLI's `mcp-config.json`: `mcpServers` with `tools`; `timeout` in milliseconds.
    CopilotCli,
    /// goose's `config.yaml`: `extensions`; `timeout` in seconds.
    #[cfg(feature = "yaml")]
    Goose,
    /// Continue's `config.yaml`: `mcpServers`, a list; references as `${{ secrets.NAME }}`.
    #[cfg(feature = "yaml")]
    Continue,
    /// `librechat.yaml`: `mcpServers`; `timeout` in milliseconds.
    #[cfg(feature = "yaml")]
    LibreChat,
    /// Codex's `config.toml`: `mcp_servers`; times in seconds.
    #[cfg(feature = "toml")]
    Codex,
    /// `server.json` of the MCP registry: one server, as a package or a URL.
    Registry,
    /// `manifest.json` of an MCP bundle (MCPB): one server, whose program is beside the file.
    Bundle,
}

/// The format of a file.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Format {
    Json,
    #[cfg(feature = "toml")]
    Toml,
    #[cfg(feature = "yaml")]
    Yaml,
}

/// The unit of a `timeout`.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Unit {
    Seconds,
    Milliseconds,
    /// Seconds if below 1000.
    Guess,
}

impl Dialect {
    /// All dialects.
    pub const ALL: &'static [Self] = &[
        Self::Plain,
        Self::ClaudeDesktop,
        Self::ClaudeCode,
        Self::VsCode,
        Self::Cursor,
        Self::Cline,
        Self::Gemini,
        Self::OpenCode,
        Self::Windsurf,
        Self::Zed,
        Self::LmStudio,
        Self::Roo,
        Self::AmazonQ,
        Self::CopilotCli,
        #[cfg(feature = "yaml")]
        Self::Goose,
        #[cfg(feature = "yaml")]
        Self::Continue,
        #[cfg(feature = "yaml")]
        Self::LibreChat,
        #[cfg(feature = "toml")]
        Self::Codex,
        Self::Registry,
        Self::Bundle,
    ];

    /// The program's display name.
    pub const fn title(self) -> &'static str {
        self.keys().program
    }

    /// The name for a command line: `claude-code`.
    ///
    /// ```
    /// use mcp_config::Dialect;
    ///
    /// for &dialect in Dialect::ALL {
    ///     assert_eq!(Dialect::by_name(dialect.name()), Some(dialect));
    /// }
    /// ```
    pub const fn name(self) -> &'static str {
        match self {
            Self::Plain => "switchboard",
            Self::ClaudeDesktop => "claude-desktop",
            Self::ClaudeCode => "claude-code",
            Self::VsCode => "vscode",
            Self::Cursor => "cursor",
            Self::Cline => "cline",
            Self::Gemini => "gemini-cli",
            Self::OpenCode => "opencode",
            Self::Windsurf => "windsurf",
            Self::Zed => "zed",
            Self::LmStudio => "lm-studio",
            Self::Roo => "roo",
            Self::AmazonQ => "amazon-q",
            Self::CopilotCli => "copilot-cli",
            #[cfg(feature = "yaml")]
            Self::Goose => "goose",
            #[cfg(feature = "yaml")]
            Self::Continue => "continue",
            #[cfg(feature = "yaml")]
            Self::LibreChat => "librechat",
            #[cfg(feature = "toml")]
            Self::Codex => "codex",
            Self::Registry => "server-json",
            Self::Bundle => "mcpb",
        }
    }

    /// The dialect of a [`name`](Self::name).
    pub fn by_name(name: &str) -> Option<Self> {
        let mut all = Self::ALL.iter().copied();
        all.find(|dialect| dialect.name() == name)
    }

    /// Whether its file describes one server rather than listing several.
    pub const fn is_single(self) -> bool {
        matches!(self, Self::Registry | Self::Bundle)
    }

    pub(crate) const fn format(self) -> Format {
        match self {
            #[cfg(feature = "toml")]
            Self::Codex => Format::Toml,
            #[cfg(feature = "yaml")]
            Self::Goose | Self::Continue | Self::LibreChat => Format::Yaml,
            _ => Format::Json,
        }
    }

    pub(crate) const fn is_toml(self) -> bool {
        #[cfg(feature = "toml")]
        if matches!(self.format(), Format::Toml) {
            return true;
        }
        false
    }

    pub(crate) const fn is_yaml(self) -> bool {
        #[cfg(feature = "yaml")]
        if matches!(self.format(), Format::Yaml) {
            return true;
        }
        false
    }

    pub(crate) const fn is_goose(self) -> bool {
        #[cfg(feature = "yaml")]
        if matches!(self, Self::Goose) {
            return true;
        }
        false
    }

    /// The unit of `timeout`.
    pub(crate) fn unit(self) -> Unit {
        match self {
            Self::Plain => Unit::Guess,
            Self::Cline | Self::Roo | Self::Zed => Unit::Seconds,
            #[cfg(feature = "yaml")]
            Self::Goose => Unit::Seconds,
            #[cfg(feature = "toml")]
            Self::Codex => Unit::Seconds,
            _ => Unit::Milliseconds,
        }
    }
}
