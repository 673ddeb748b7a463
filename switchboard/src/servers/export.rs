//! Export of servers as another program's file.

use clap::ValueEnum;
use mcp_config::{ConfigFile, Dialect};
use serde::Deserialize;

use super::entry::to_config;
use crate::store::Server;

/// Whose file.
#[derive(Clone, Copy, Debug, Deserialize, ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Program {
    /// `claude_desktop_config.json`
    ClaudeDesktop,
    /// `.mcp.json`
    ClaudeCode,
    /// `mcp.json` of VS Code
    Vscode,
    /// `mcp.json` of Cursor
    Cursor,
    /// `cline_mcp_settings.json`
    Cline,
    /// `config.toml` of Codex
    Codex,
    /// `settings.json` of Gemini CLI
    Gemini,
    /// `opencode.json`
    Opencode,
}

impl Program {
    fn dialect(self) -> Dialect {
        match self {
            Self::ClaudeDesktop => Dialect::ClaudeDesktop,
            Self::ClaudeCode => Dialect::ClaudeCode,
            Self::Vscode => Dialect::VsCode,
            Self::Cursor => Dialect::Cursor,
            Self::Cline => Dialect::Cline,
            Self::Codex => Dialect::Codex,
            Self::Gemini => Dialect::Gemini,
            Self::Opencode => Dialect::OpenCode,
        }
    }
}

/// An exported file.
#[derive(Debug)]
pub(crate) struct Exported {
    /// Its text.
    pub(crate) text: String,
    /// The servers in it.
    pub(crate) names: Vec<String>,
    /// What it cannot express.
    pub(crate) notices: Vec<String>,
}

/// Writes servers as a program's file, with notices about what it cannot express.
pub(crate) fn export(rows: &[Server], program: Program) -> Exported {
    let mut file = ConfigFile::new();
    let (mut names, mut notices) = (Vec::new(), Vec::new());
    for row in rows {
        match to_config(row) {
            Ok(config) => file = file.with_server(config),
            Err(why) => {
                notices.push(format!("{} is left out: {why}", row.name));
                continue;
            }
        }
        names.push(row.name.clone());
    }
    let losses = file.losses(program.dialect());
    notices.extend(
        losses
            .iter()
            .map(|loss| format!("{}: {}.", loss.server, loss.message)),
    );
    Exported {
        text: file.write(program.dialect()),
        names,
        notices,
    }
}
