//! The program a file belongs to.

pub(crate) mod keys;

use std::path::Path;

/// The program a configuration file belongs to. The keys of all dialects are accepted in every file; the
/// dialect decides how references are written, the unit of `timeout`, and which keys are written.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub enum Dialect {
    /// No particular program's: `mcpServers`. A `timeout` below 1000 is in seconds, else in
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
    /// Gemini CLI's `settings.json`: `mcpServers`, references as `$NAME`; `timeout` in milliseconds.
    Gemini,
    /// `opencode.json`: `mcp`, references as `{env:NAME}` and `{file:path}`; `timeout` in
    /// milliseconds.
    OpenCode,
    /// Windsurf's `mcp_config.json`: `mcpServers`, addresses as `serverUrl`.
    Windsurf,
    /// Zed's `settings.json`: `context_servers`.
    Zed,
    /// Codex' `config.toml`: `mcp_servers`; times in seconds.
    #[cfg(feature = "toml")]
    Codex,
}

/// What a number of a `timeout` counts.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Unit {
    Seconds,
    Milliseconds,
    /// Seconds if below 1000.
    Guess,
}

impl Dialect {
    /// Whose file this is, by its name and folder. `None` if that does not tell.
    ///
    /// ```
    /// use mcp_config::Dialect;
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
            "opencode.json" | "opencode.jsonc" => Some(Self::OpenCode),
            "settings.json" if within(".gemini") => Some(Self::Gemini),
            "settings.json" if within("zed") || within(".zed") => Some(Self::Zed),
            "mcp_config.json" if within("windsurf") || within(".codeium") => Some(Self::Windsurf),
            #[cfg(feature = "toml")]
            name if name.ends_with(".toml") => Some(Self::Codex),
            "mcp.json" if within(".cursor") => Some(Self::Cursor),
            "mcp.json" | "settings.json" if within(".vscode") || within("Code") => {
                Some(Self::VsCode)
            }
            _ => None,
        }
    }

    pub(crate) fn is_toml(self) -> bool {
        #[cfg(feature = "toml")]
        if self == Self::Codex {
            return true;
        }
        false
    }

    /// The unit of `timeout`.
    pub(crate) fn unit(self) -> Unit {
        match self {
            Self::Plain => Unit::Guess,
            Self::Cline => Unit::Seconds,
            #[cfg(feature = "toml")]
            Self::Codex => Unit::Seconds,
            _ => Unit::Milliseconds,
        }
    }

    /// Whose file this is, by its name, else by what it says.
    ///
    /// ```
    /// use mcp_config::Dialect;
    ///
    /// let text = r#"{"mcp": {"a": {"type": "local", "command": ["run", "{env:KEY}"]}}}"#;
    /// assert_eq!(Dialect::of("saved.json", text), Dialect::OpenCode);
    /// ```
    pub fn of(path: impl AsRef<Path>, text: &str) -> Self {
        Self::of_path(path).unwrap_or_else(|| Self::of_text(text))
    }

    /// Whose file this is, by what it says; [`Plain`](Self::Plain) if that does not tell.
    pub fn of_text(text: &str) -> Self {
        #[cfg(feature = "toml")]
        if is_toml(text) {
            return Self::Codex;
        }
        let Ok(root) = crate::file::document::parse(text, Self::Plain) else {
            return Self::Plain;
        };
        let has = |name: &str| root.get(name).is_some();
        let entries = |name: &str| root.get(name).and_then(|node| node.members());
        let entries = |name: &str| entries(name).unwrap_or_default().iter();
        let is_type = |entry: &crate::file::document::Member, words: [&str; 2]| {
            let kind = entry.value.get("type").map(|kind| &kind.kind);
            matches!(kind, Some(crate::file::document::Kind::Text(kind)) if words.contains(&kind.as_str()))
        };
        if has("context_servers") {
            Self::Zed
        } else if entries("mcp").any(|entry| is_type(entry, ["local", "remote"])) {
            Self::OpenCode
        } else if entries("mcpServers").any(|entry| entry.value.get("httpUrl").is_some()) {
            Self::Gemini
        } else if has("servers") && has("inputs") {
            Self::VsCode
        } else {
            Self::Plain
        }
    }
}

/// Whether a text is TOML, if it is anything: its first line that says something is a table's head
/// or sets a key.
#[cfg(feature = "toml")]
fn is_toml(text: &str) -> bool {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut lines = text.lines().map(str::trim_start);
    let Some(line) = lines.find(|line| !line.is_empty() && !line.starts_with('#')) else {
        return false;
    };
    let word = |c: char| c.is_ascii_alphanumeric() || "_-\"'".contains(c);
    match line.strip_prefix('[') {
        Some(head) => head
            .trim_start_matches(['[', ' '])
            .starts_with(|c: char| c.is_ascii_alphabetic() || c == '_'),
        None => {
            line.split_once('=').is_some_and(|(key, _)| {
                key.trim()
                    .split('.')
                    .all(|key| key.trim().chars().all(word))
            }) && !line.starts_with('=')
        }
    }
}
