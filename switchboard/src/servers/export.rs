//! Servers as another program's file has them.

use clap::ValueEnum;
use mcp_manager::{ConfigFile, Dialect};
use serde::Deserialize;

use super::entry::to_config;
use crate::store::{Server, StoredValue};

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
        }
    }
}

/// A file to be.
#[derive(Debug)]
pub(crate) struct Exported {
    /// Its text.
    pub(crate) text: String,
    /// The servers in it.
    pub(crate) names: Vec<String>,
    /// What it does not say.
    pub(crate) notices: Vec<String>,
}

/// Writes servers as a program's file. What cannot be written is told.
pub(crate) fn export(rows: &[Server], program: Program) -> Exported {
    let mut file = ConfigFile::new();
    let (mut names, mut notices) = (Vec::new(), Vec::new());
    for row in rows {
        let mut values = row.env.iter().chain(&row.headers);
        if let Some((name, _)) = values.find(|(_, value)| matches!(value, StoredValue::Keyring(_)))
        {
            notices.push(format!(
                "{}: {name} is in your keyring, which other programs do not know: put it in by hand.",
                row.name
            ));
        }
        match to_config(row) {
            Ok(config) => file = file.with_server(config),
            Err(why) => {
                notices.push(format!("{} is left out: {why}", row.name));
                continue;
            }
        }
        names.push(row.name.clone());
    }
    Exported {
        text: file.write(program.dialect()),
        names,
        notices,
    }
}
