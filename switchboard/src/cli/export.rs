//! `switchboard export`: servers as another program's configuration file.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use serde_json::{Value, json};

use crate::cli::Global;
use crate::cli::failure::unwritable;
use crate::display::out::Out;
use crate::exit::{Exit, Failure};
use crate::home;
use crate::servers::{Exported, Program, export};
use crate::store::{Server, UserId};

/// Prints servers as another program's configuration file, as `server.json` of the MCP registry or as
/// the manifest of an MCP bundle. Existing files are left alone.
#[derive(Args, Debug)]
pub(crate) struct Export {
    /// The program whose file format to write
    #[arg(long, value_enum, value_name = "PROGRAM")]
    to: Program,
    /// Write to this new file
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Export only these servers
    #[arg(value_name = "SERVER")]
    servers: Vec<String>,
}

impl Export {
    pub(crate) async fn run(self, global: &Global, out: &Out) -> Result<Exit, Failure> {
        let store = global.store().await?;
        let rows = store.servers(&UserId::local()).await?;
        store.close().await?;
        if let Some(name) = self
            .servers
            .iter()
            .find(|name| rows.iter().all(|row| row.name != **name))
        {
            return Err(Failure::new(
                Exit::Other,
                format!("there is no server {name:?}"),
            ));
        }
        let wanted = |row: &Server| self.servers.is_empty() || self.servers.contains(&row.name);
        let rows: Vec<Server> = rows.into_iter().filter(wanted).collect();
        if self.to.takes_one() && rows.len() != 1 {
            let text = format!(
                "that file is about one server, and {} were chosen",
                rows.len()
            );
            let hint = "Name one: `switchboard export --to PROGRAM SERVER`.";
            return Err(Failure::new(Exit::Other, text).with_hint(hint));
        }
        let Exported {
            text,
            names,
            notices,
        } = export(&rows, self.to);
        for notice in notices {
            out.remark(notice);
        }
        let program = self.to.to_possible_value();
        let program = program.map(|value| value.get_name().to_owned());
        let mut value = json!({"to": program, "servers": names});
        if let Some(path) = &self.output {
            save(path, &text)?;
            let shown = path.display().to_string();
            insert(&mut value, "file", json!(shown));
            out.result(&value, format!("Wrote {shown}."));
        } else {
            let config = serde_json::from_str(&text).unwrap_or_else(|_| Value::from(text.as_str()));
            insert(&mut value, "config", config);
            out.result(&value, text.trim_end());
        }
        Ok(Exit::Done)
    }
}

fn insert(value: &mut Value, name: &str, member: Value) {
    if let Some(members) = value.as_object_mut() {
        members.insert(name.to_owned(), member);
    }
}

/// Never overwrites an existing file.
fn save(path: &PathBuf, text: &str) -> Result<(), Failure> {
    let file = home::private().write(true).create_new(true).open(path);
    let written = file.and_then(|mut file| std::io::Write::write_all(&mut file, text.as_bytes()));
    written.map_err(|error| unwritable(path, error))
}
