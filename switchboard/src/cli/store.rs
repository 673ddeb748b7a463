//! `switchboard store`: copies and checks everything that is kept.

use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use serde_json::{Map, Value, json};

use crate::cli::Global;
use crate::display::out::Out;
use crate::exit::{Exit, Failure};
use crate::home;
use crate::store::{StoreError, archive};

/// Copies and checks everything that is kept.
#[derive(Args, Debug)]
pub(crate) struct Store {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// Copy everything to another file or PostgreSQL database, which must be empty
    Copy {
        /// A file, or postgres://…
        #[arg(value_name = "FROM")]
        from: PathBuf,
        /// A file, or postgres://…
        #[arg(value_name = "TO")]
        to: PathBuf,
    },
    /// Check that nothing is missing and nothing contradicts itself
    Check,
}

impl Store {
    pub(crate) async fn run(self, global: &Global, out: &Out) -> Result<Exit, Failure> {
        match self.verb {
            Verb::Copy { from, to } => copy(&from, &to, out).await,
            Verb::Check => check(&home::named_database(global.database.as_deref()), out).await,
        }
    }
}

async fn copy(from: &Path, to: &Path, out: &Out) -> Result<Exit, Failure> {
    let source = home::shown_database(Some(from));
    if home::postgres_url(from).is_none() && !from.is_file() {
        let text = format!("there is no file {source}");
        let failure = Failure::new(Exit::Other, text);
        return Err(failure.with_hint("`switchboard config path` prints where yours is."));
    }
    let is_empty = std::fs::metadata(from).is_ok_and(|file| file.len() == 0);
    if home::postgres_url(from).is_none() && is_empty {
        // To open it would make a database of it.
        let text = format!("{source} is empty: it is no database");
        return Err(Failure::new(Exit::Other, text));
    }
    let target = home::shown_database(Some(to));
    if source == target {
        let text = format!("{source} cannot be copied to itself");
        return Err(Failure::new(Exit::Other, text));
    }
    let copied = archive::copy(from, to).await.map_err(|error| match error {
        StoreError::Conflict { what: "target" } => {
            let text = format!("{target} is not empty, and was left as it is");
            let failure = Failure::new(Exit::Other, text);
            failure.with_hint("Name a new file, or a database without tables.")
        }
        error => Failure::from(error),
    })?;
    let rows: u64 = copied.tables.iter().map(|(_, rows)| rows).sum();
    let tables = copied.tables.into_iter();
    let tables: Map<String, Value> = tables
        .map(|(name, rows)| (name.to_owned(), rows.into()))
        .collect();
    let text = format!("Copied {rows} rows from {source} to {target}, read again and compared.");
    out.result(
        &json!({ "from": source, "to": target, "rows": rows, "tables": tables }),
        text,
    );
    out.note("Secrets in the keyring stay where they are; the files of tokens too.");
    Ok(Exit::Done)
}

async fn check(store: &Path, out: &Out) -> Result<Exit, Failure> {
    let shown = home::shown_database(Some(store));
    let findings = archive::check(store).await?;
    let report: Vec<Value> = findings
        .iter()
        .map(|it| json!({ "problem": it.problem, "rows": it.rows }))
        .collect();
    let text = match findings.as_slice() {
        [] => format!("{shown} is in order."),
        findings => {
            let line = |it: &archive::Finding| format!("{} ({})", it.problem, it.rows);
            let lines: Vec<String> = findings.iter().map(line).collect();
            lines.join("\n")
        }
    };
    out.result(&json!({ "store": shown, "findings": report }), text);
    Ok(match findings.is_empty() {
        true => Exit::Done,
        false => Exit::Other,
    })
}
