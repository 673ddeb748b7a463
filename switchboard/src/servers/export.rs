//! Export of servers as another program's file.

use std::sync::LazyLock;

use clap::ValueEnum;
use clap::builder::PossibleValue;
use mcp_config::{ConfigFile, Dialect};
use serde::Deserialize;

use super::entry::to_config;
use crate::store::Server;

/// Whose file.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(try_from = "String")]
pub(crate) struct Program(Dialect);

/// All that are not this program.
static PROGRAMS: LazyLock<Vec<Program>> = LazyLock::new(|| {
    let all = Dialect::ALL.iter().copied();
    let others = all.filter(|dialect| *dialect != Dialect::Plain);
    others.map(Program).collect()
});

impl ValueEnum for Program {
    fn value_variants<'a>() -> &'a [Self] {
        &PROGRAMS
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        let value = PossibleValue::new(self.0.name()).help(self.0.title());
        Some(match self.0 {
            Dialect::Gemini => value.alias(GEMINI),
            _ => value,
        })
    }
}

/// Its name in earlier versions.
const GEMINI: &str = "gemini";

impl TryFrom<String> for Program {
    type Error = String;

    fn try_from(name: String) -> Result<Self, String> {
        <Self as ValueEnum>::from_str(&name, false)
            .map_err(|_| format!("there is no program {name:?} to export to"))
    }
}

impl Program {
    /// Whether its file is about one server.
    pub(crate) fn takes_one(self) -> bool {
        self.0.is_single()
    }

    /// A name for its file.
    pub(crate) fn file_name(self) -> &'static str {
        match self.0 {
            Dialect::Codex => "config.toml",
            Dialect::Goose | Dialect::Continue => "config.yaml",
            Dialect::LibreChat => "librechat.yaml",
            Dialect::Registry => "server.json",
            Dialect::Bundle => "manifest.json",
            _ => "mcp.json",
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
    let losses = file.losses(program.0);
    notices.extend(
        losses
            .iter()
            .map(|loss| format!("{}: {}.", loss.server, loss.message)),
    );
    Exported {
        text: file.write(program.0),
        names,
        notices,
    }
}
