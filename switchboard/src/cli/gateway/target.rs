//! A client's file, and how a change of it is shown and agreed to.

use std::path::{Path, PathBuf};

use clap::Args;
use mcp_config::{ConfigEdit, ConfigProblem, ServerConfig, ServerName};
use serde_json::Value;

use crate::chat::{Input, Line};
use crate::cli::text::table;
use crate::display::out::Out;
use crate::exit::{Exit, Failure};
use crate::gateway::client_file::Client;
use crate::gateway::install::is_ours;
use crate::servers::import::{Item, Place};

/// Where the entry goes.
#[derive(Args, Debug)]
pub(super) struct Target {
    /// The client
    #[arg(value_enum)]
    pub(super) client: Client,
    /// Use this file of the client's instead of the usual one
    #[arg(long, value_name = "PATH", conflicts_with = "project")]
    pub(super) file: Option<PathBuf>,
    /// Use the file of the project in the current folder
    #[arg(long)]
    pub(super) project: bool,
    /// The name of the entry
    #[arg(long, value_name = "NAME", default_value = "switchboard")]
    pub(super) name: ServerName,
    /// Change the file without asking
    #[arg(long, short)]
    pub(super) yes: bool,
    /// Show what would change, and change nothing
    #[arg(long)]
    pub(super) dry_run: bool,
}

/// What becomes of another entry of the file.
pub(super) struct Fate<'a> {
    pub(super) item: &'a Item,
    /// Why it stays; `None` if it moves.
    pub(super) stays: Option<String>,
}

impl Target {
    pub(super) fn place(&self) -> Result<Place, Failure> {
        if let Some(file) = &self.file {
            return Ok(self.client.file(file));
        }
        let folder = self.project.then(std::env::current_dir).transpose();
        let folder = folder.map_err(|error| unreadable(Path::new("."), error))?;
        self.client.place(folder.as_deref()).ok_or_else(|| {
            let text = match self.project {
                true => format!("{} has no file for projects", self.client.name()),
                false => format!("{} has no file of yours here", self.client.name()),
            };
            Failure::new(Exit::Other, text)
                .with_hint("Name a file with --file, or use the one of the project with --project.")
        })
    }

    /// Refuses to touch an entry of this name that is another program's.
    pub(super) fn check_ours(&self, edit: &ConfigEdit) -> Result<(), Failure> {
        match edit.entry(self.name.as_str()) {
            Some(entry) if !is_ours(&entry) => {
                let text = format!(
                    "the file has an entry {:?} that is no gateway of this program",
                    self.name.as_str()
                );
                Err(Failure::new(Exit::Other, text).with_hint("Choose another with --name."))
            }
            _ => Ok(()),
        }
    }

    /// What changes: only what is ours is shown as it is written, for other entries may have
    /// secrets.
    pub(super) fn shown(
        &self,
        place: &Place,
        edit: &ConfigEdit,
        entry: Option<&ServerConfig>,
        fates: &[Fate<'_>],
    ) -> String {
        let name = self.name.as_str();
        let mut lines = vec![place.path.display().to_string()];
        let old = edit.entry(name);
        let new = entry.map(|entry| edit.entry_of(entry));
        let mut side = |sign: &str, value: &Value| {
            let text = format!("{}: {value:#}", Value::from(name));
            lines.extend(text.lines().map(|line| format!("  {sign} {line}")));
        };
        if let Some(old) = old.as_ref().filter(|old| Some(*old) != new.as_ref()) {
            side("-", old);
        }
        if let Some(new) = new.as_ref().filter(|new| Some(*new) != old.as_ref()) {
            side("+", new);
        }
        let rows = fates.iter().map(|fate| {
            let (sign, text) = match &fate.stays {
                None => ("-", "moves behind the gateway".to_owned()),
                Some(why) => ("=", format!("stays: {why}")),
            };
            let row = [
                format!("  {sign} {}", fate.item.row.name),
                fate.item.endpoint.clone(),
                text,
            ];
            row.to_vec()
        });
        let rows: Vec<Vec<String>> = rows.collect();
        if !rows.is_empty() {
            lines.push(table(&rows));
        }
        lines.push(String::new());
        lines.join("\n")
    }

    pub(super) async fn agreed(&self, out: &Out) -> Result<bool, Failure> {
        if self.dry_run {
            return Ok(false);
        }
        if self.yes {
            return Ok(true);
        }
        if !out.is_interactive() {
            let text = "nothing was changed: there is no terminal to ask in";
            return Err(Failure::new(Exit::Other, text)
                .with_hint("--yes changes the file, --dry-run shows the change."));
        }
        match Input::answers(*out)
            .answer("Change the file? [y/N] ", "")
            .await
        {
            Line::Text(line) => Ok(matches!(line.trim(), "y" | "Y" | "yes")),
            Line::Interrupted => Err(Failure::new(Exit::Cancelled, "cancelled")),
            Line::End => Ok(false),
        }
    }
}

pub(super) fn insert(value: &mut Value, name: &str, member: Value) {
    if let Some(members) = value.as_object_mut() {
        members.insert(name.to_owned(), member);
    }
}

pub(super) fn unreadable(file: &Path, error: std::io::Error) -> Failure {
    let text = format!("{} cannot be read", file.display());
    Failure::new(Exit::Other, text).caused_by(error)
}

pub(super) fn unchangeable(file: &Path, problem: ConfigProblem) -> Failure {
    let text = format!("{} cannot be changed", file.display());
    Failure::new(Exit::Other, text)
        .caused_by(problem)
        .with_hint("It was left as it is.")
}
