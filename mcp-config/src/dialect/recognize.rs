//! Detection of a file's dialect.

use std::path::Path;

use crate::dialect::Dialect;
use crate::file::document::{self, Kind, Node};

impl Dialect {
    /// The dialect of a file, by its name and folder. `None` if they are ambiguous.
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
            "mcp_settings.json" => Some(Self::Roo),
            "mcp-config.json" => Some(Self::CopilotCli),
            "opencode.json" | "opencode.jsonc" => Some(Self::OpenCode),
            "settings.json" if within(".gemini") => Some(Self::Gemini),
            "settings.json" if within("zed") || within(".zed") => Some(Self::Zed),
            "mcp_config.json" if within("windsurf") || within(".codeium") => Some(Self::Windsurf),
            #[cfg(feature = "toml")]
            name if name.ends_with(".toml") => Some(Self::Codex),
            #[cfg(feature = "yaml")]
            name if is_yaml_name(name) => match name {
                "librechat.yaml" | "librechat.yml" => Some(Self::LibreChat),
                _ if within("goose") => Some(Self::Goose),
                _ if within(".continue") => Some(Self::Continue),
                _ => None,
            },
            "mcp.json" if within(".cursor") => Some(Self::Cursor),
            "mcp.json" if within(".roo") => Some(Self::Roo),
            "mcp.json" if within(".amazonq") || within("amazonq") => Some(Self::AmazonQ),
            "mcp.json" if within(".lmstudio") || within("lm-studio") => Some(Self::LmStudio),
            "mcp.json" if within(".github") => Some(Self::CopilotCli),
            "mcp.json" | "settings.json" if within(".vscode") || within("Code") => {
                Some(Self::VsCode)
            }
            _ => None,
        }
    }

    /// The dialect of a file, by its name, else by its content.
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

    /// The dialect of a file, by its content; [`Plain`](Self::Plain) if that is ambiguous.
    pub fn of_text(text: &str) -> Self {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        #[cfg(feature = "toml")]
        if is_toml(text) {
            return Self::Codex;
        }
        #[cfg(feature = "yaml")]
        if let Some(dialect) = of_yaml(text) {
            return dialect;
        }
        match document::parse(text, Self::Plain) {
            Ok(root) => of_json(&root),
            Err(_) => Self::Plain,
        }
    }
}

fn of_json(root: &Node) -> Dialect {
    let has = |name: &str| root.get(name).is_some();
    let is_list = |name: &str| matches!(root.get(name).map(|it| &it.kind), Some(Kind::List(_)));
    let entries = |name: &str| root.get(name).and_then(|node| node.members());
    let entries = |name: &str| entries(name).unwrap_or_default().iter();
    let is_type = |entry: &Node, words: [&str; 2]| {
        let kind = entry.get("type").map(|kind| &kind.kind);
        matches!(kind, Some(Kind::Text(kind)) if words.contains(&kind.as_str()))
    };
    if has("context_servers") {
        Dialect::Zed
    } else if (has("manifest_version") || has("dxt_version")) && has("server") {
        Dialect::Bundle
    } else if has("name") && (is_list("packages") || is_list("remotes")) {
        Dialect::Registry
    } else if entries("mcp").any(|entry| is_type(&entry.value, ["local", "remote"])) {
        Dialect::OpenCode
    } else if entries("mcpServers").any(|entry| entry.value.get("httpUrl").is_some()) {
        Dialect::Gemini
    } else if has("servers") && has("inputs") {
        Dialect::VsCode
    } else {
        Dialect::Plain
    }
}

#[cfg(feature = "yaml")]
fn is_yaml_name(name: &str) -> bool {
    name.ends_with(".yaml") || name.ends_with(".yml")
}

/// The dialect of a YAML text; `None` if it is JSON.
#[cfg(feature = "yaml")]
fn of_yaml(text: &str) -> Option<Dialect> {
    // JSON is YAML as well.
    let first = lines_that_count(text).next()?;
    if first.starts_with(['{', '[', '"', '/']) {
        return None;
    }
    let root = document::parse(text, Dialect::Goose).ok()?;
    let is_map = |name: &str| root.get(name).is_some_and(|node| node.members().is_some());
    if is_map("extensions") {
        Some(Dialect::Goose)
    } else if is_map("mcpServers") {
        Some(Dialect::LibreChat)
    } else {
        root.get("mcpServers").map(|_| Dialect::Continue)
    }
}

/// The significant lines of a text, without leading blanks, empty lines and comments.
#[cfg(any(feature = "toml", feature = "yaml"))]
fn lines_that_count(text: &str) -> impl Iterator<Item = &str> {
    let lines = text.lines().map(str::trim_start);
    lines.filter(|line| !line.is_empty() && !line.starts_with('#'))
}

/// Whether a text looks like TOML: its first significant line is a table's header or sets a key.
#[cfg(feature = "toml")]
fn is_toml(text: &str) -> bool {
    let Some(line) = lines_that_count(text).next() else {
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
