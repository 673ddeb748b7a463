//! `switchboard gateway uninstall`: a client's file without the gateway's entry.

use clap::Args;
use mcp_config::{ConfigEdit, ConfigProblem};
use serde_json::json;

use super::target::{Target, insert, unchangeable, unreadable};
use crate::cli::Global;
use crate::cli::failure::unwritable;
use crate::display::out::Out;
use crate::exit::{Exit, Failure};
use crate::gateway::client_file::{back_up, read, replace};
use crate::gateway::install::{Installed, Undone, record_name, restored};
use crate::gateway::records::{self, Kind, Records};

/// Removes the gateway's entry from a client's file, and puts entries back that were moved.
#[derive(Args, Debug)]
pub(crate) struct Uninstall {
    #[command(flatten)]
    target: Target,
}

impl Uninstall {
    pub(crate) async fn run(self, global: &Global, out: &Out) -> Result<Exit, Failure> {
        let target = &self.target;
        let place = target.place()?;
        let dialect = target.client.dialect();
        let found = read(&place).map_err(|error| unreadable(&place.path, error))?;
        let store = global.store().await?;
        let record_name = record_name(&place.path);
        let known: Option<Installed> = Records::read(&*store)
            .await?
            .get(Kind::Install, &record_name);
        let known = known.filter(|it| it.name == target.name.as_str());
        let mut value = json!({
            "client": target.client.name(), "file": place.path, "name": target.name.as_str(),
            "changed": false, "restored": [],
        });
        let text = found.unwrap_or_default();
        let unusable = |problem: ConfigProblem| unchangeable(&place.path, problem);
        let edit = ConfigEdit::new(&text, dialect).map_err(unusable)?;
        target.check_ours(&edit)?;
        let (undone, missing) =
            restored(&text, dialect, target.name.as_str(), known.as_ref()).map_err(unusable)?;
        if undone == Undone::Text(text.clone()) {
            store
                .commit(vec![records::delete(Kind::Install, &record_name)])
                .await?;
            store.close().await?;
            out.result(
                &value,
                format!("{} has no such entry.", place.path.display()),
            );
            return Ok(Exit::Done);
        }
        let moved = known
            .iter()
            .flat_map(|it| &it.moved)
            .map(|it| it.name.as_str());
        let back: Vec<&str> = moved
            .filter(|name| !missing.iter().any(|it| it == name))
            .collect();
        out.say(target.shown(&place, &edit, None, &[]));
        for name in &back {
            out.say(format!("  + {name}"));
        }
        if !target.agreed(out).await? {
            store.close().await?;
            out.result(&value, "Nothing changed.");
            return Ok(Exit::Done);
        }
        let failed = |error| unwritable(&place.path, error);
        let backup = back_up(&place.path).map_err(failed)?;
        match &undone {
            Undone::Removed => std::fs::remove_file(&place.path).map_err(failed)?,
            Undone::Text(text) => replace(&place.path, text).map_err(failed)?,
        }
        store
            .commit(vec![records::delete(Kind::Install, &record_name)])
            .await?;
        store.close().await?;
        for name in &missing {
            out.remark(format!(
                "{name} could not be put back: the copy of the file is gone. `switchboard export` \
                 prints it."
            ));
        }
        insert(&mut value, "changed", json!(true));
        insert(&mut value, "restored", json!(back));
        insert(&mut value, "backup", json!(backup));
        let mut text = match undone {
            Undone::Removed => format!(
                "Removed {}, which was not there before.",
                place.path.display()
            ),
            Undone::Text(_) => format!("Wrote {}.", place.path.display()),
        };
        text.push_str(&format!("\nA copy of what it was: {}", backup.display()));
        if !back.is_empty() {
            text.push_str("\nThe servers that were put back are still stored here, too.");
        }
        out.result(&value, text);
        Ok(Exit::Done)
    }
}
