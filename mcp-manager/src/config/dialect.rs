//! Whose file it is.

use std::path::Path;

use super::variable::Spelling;

/// Whose configuration a file is. All are read alike; it decides the unit of `timeout`, and how
/// things are spelt when they are written.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub enum Dialect {
    /// Nobody's in particular: `mcpServers`. A `timeout` below 1000 is in seconds, else in
    /// milliseconds.
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
    /// Codex' `config.toml`: `mcp_servers`; times in seconds.
    #[cfg(feature = "toml")]
    Codex,
}

/// What a number of a `timeout` counts.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Unit {
    Seconds,
    Milliseconds,
    /// Seconds if below 1000.
    Guess,
}

impl Dialect {
    /// Whose file this is, by its name and folder. `None` if that does not tell.
    ///
    /// ```
    /// use mcp_manager::Dialect;
    ///
    /// assert_eq!(Dialect::of_path("project/.vscode/mcp.json"), Some(Dialect::VsCode));
    /// assert_eq!(Dialect::of_path("notes.json"), None);
    /// ```
    pub fn of_path(path: impl AsRef<Path>) -> Option<Self> {
        let path = path.as_ref();
        let name = path.file_name()?.to_str()?;
        let within = |folder: &str| {
            let mut folders = path.iter().filter_map(|part| part.to_str());
            folders.any(|part| part.eq_ignore_ascii_case(folder))
        };
        match name {
            "claude_desktop_config.json" => Some(Self::ClaudeDesktop),
            ".mcp.json" | ".claude.json" => Some(Self::ClaudeCode),
            "cline_mcp_settings.json" => Some(Self::Cline),
            #[cfg(feature = "toml")]
            "config.toml" if within(".codex") => Some(Self::Codex),
            "mcp.json" if within(".cursor") => Some(Self::Cursor),
            "mcp.json" | "settings.json" if within(".vscode") || within("Code") => {
                Some(Self::VsCode)
            }
            _ => None,
        }
    }

    pub(super) fn is_toml(self) -> bool {
        #[cfg(feature = "toml")]
        if self == Self::Codex {
            return true;
        }
        false
    }

    /// The unit of `timeout`.
    pub(super) fn unit(self) -> Unit {
        match self {
            Self::Plain => Unit::Guess,
            Self::Cline => Unit::Seconds,
            #[cfg(feature = "toml")]
            Self::Codex => Unit::Seconds,
            _ => Unit::Milliseconds,
        }
    }

    /// How it writes environment variables.
    pub(super) fn spelling(self) -> Spelling {
        match self {
            Self::ClaudeCode => Spelling::Short,
            Self::VsCode | Self::Cursor | Self::Cline => Spelling::Long,
            _ => Spelling::Any,
        }
    }

    /// The key that the servers are under.
    pub(super) fn container(self) -> &'static str {
        match self {
            Self::VsCode => "servers",
            #[cfg(feature = "toml")]
            Self::Codex => "mcp_servers",
            _ => "mcpServers",
        }
    }
}
