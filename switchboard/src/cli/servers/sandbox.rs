//! `switchboard servers suggest-sandbox`, and what other verbs say about sandboxes.

use clap::Args;
use serde_json::{Value, json};

use crate::chat::clean;
use crate::cli::Global;
use crate::display::out::Out;
use crate::exit::{Exit, Failure};
use crate::servers::sandbox::{not_contained, suggested, summary};
use crate::servers::{find, update};
use crate::store::{Server, Timestamp};

#[derive(Args, Debug)]
pub(super) struct Suggest {
    /// The server's name
    name: String,
    /// Start the server under it from now on
    #[arg(long)]
    apply: bool,
}

impl Suggest {
    pub(super) async fn run(self, global: &Global, out: &Out) -> Result<Exit, Failure> {
        let (store, row) = find(global, &self.name).await?;
        let failed = |why| Failure::new(Exit::Other, format!("server {:?}: {why}", self.name));
        let (profile, reasons) = suggested(&row).map_err(failed)?;
        let mut text = format!("Suggested for {}: {}.", self.name, summary(&profile));
        for reason in &reasons {
            text.push_str(&format!("\n  - {}", reason.reason));
        }
        let missing = not_contained(&profile);
        text.push_str(&shortcomings(&missing));
        let value = json!({
            "server": self.name,
            "profile": profile,
            "reasons": reasons.iter().map(|it| it.reason.as_str()).collect::<Vec<_>>(),
            "not_contained": missing,
            "applied": self.apply,
        });
        if self.apply {
            let changed = update(&*store, row, async |mut row| {
                row.sandbox = Some(profile.clone());
                row.updated_at = Timestamp::now();
                Ok::<_, Failure>((row, Vec::new()))
            });
            changed.await?;
            text.push_str("\nFrom its next start on, it runs under this.");
        } else {
            text.push_str(&format!(
                "\nStart it so with `switchboard servers edit {} --sandbox suggested`.",
                self.name
            ));
        }
        store.close().await?;
        out.result(&value, clean(&text));
        Ok(Exit::Done)
    }
}

/// A server's sandbox in lines to add to what a verb says; nothing if it has none.
pub(super) fn sandboxed(row: &Server) -> String {
    let said = row.sandbox.as_ref().map(|profile| {
        let missing = shortcomings(&not_contained(profile));
        format!("\nIn a sandbox: {}.{missing}", summary(profile))
    });
    clean(&said.unwrap_or_default()).into_owned()
}

fn shortcomings(missing: &[String]) -> String {
    let lines = missing
        .iter()
        .map(|it| format!("\n  - not contained on this machine: {it}"));
    lines.collect()
}

/// A server's sandbox as JSON.
pub(super) fn to_json(row: &Server) -> Value {
    row.sandbox.as_ref().map_or(
        Value::Null,
        |profile| json!({"profile": profile, "not_contained": not_contained(profile)}),
    )
}
