//! `switchboard servers update`.

use clap::Args;
use mcp_config::Input;
use serde_json::{Value, json};

use super::ask::{agreed, ask, given};
use super::install::{shown, to_json};
use crate::chat::clean;
use crate::cli::Global;
use crate::display::out::Out;
use crate::display::untrusted;
use crate::exit::{Exit, Failure};
use crate::home::database_file;
use crate::lang::t;
use crate::servers::install::{
    Difference, Finder, Found, Plan, Registry, Source, Standing, apply, merged, standing,
    stored_answers,
};
use crate::servers::{PlainSecrets, update};
use crate::store::{Server, Store, UserId};

#[derive(Args, Debug)]
pub(super) struct Update {
    /// Names of installed servers; all of them by default
    names: Vec<String>,
    /// Update it from this bundle or server.json, or to this version: FILE or VERSION
    #[arg(long, value_name = "FILE|VERSION")]
    to: Option<String>,
    /// Give a value that it asks for; may be repeated
    #[arg(long = "input", value_name = "ID=VALUE")]
    inputs: Vec<String>,
    /// Update without asking
    #[arg(long, short)]
    yes: bool,
    /// Store secrets as plain text instead of in the keyring
    #[arg(long)]
    plain: bool,
}

/// What became of one server.
struct Outcome {
    value: Value,
    text: String,
    failed: bool,
}

impl Update {
    pub(super) async fn run(self, global: &Global, out: &Out) -> Result<Exit, Failure> {
        let store = global.store().await?;
        let user = UserId::local();
        let rows = store.servers(&user).await?;
        for name in &self.names {
            let row = rows.iter().find(|row| row.name == *name);
            if row.is_none_or(|row| row.installed.is_none()) {
                store.close().await?;
                let text = format!("there is no installed server {name:?}");
                let failure = Failure::new(Exit::Other, text);
                return Err(failure.with_hint("`switchboard servers list` names the servers."));
            }
        }
        if self.to.is_some() && self.names.len() != 1 {
            store.close().await?;
            return Err(Failure::new(
                Exit::Other,
                "--to is for one server, by its name",
            ));
        }
        let wanted = |row: &&Server| {
            row.installed.is_some() && (self.names.is_empty() || self.names.contains(&row.name))
        };
        let mut values = Vec::new();
        let mut texts = Vec::new();
        let mut failed = false;
        for row in rows.iter().filter(wanted) {
            let database = database_file(global.database.as_deref());
            let outcome = match self
                .one(&*store, &database.display().to_string(), &rows, row, out)
                .await
            {
                Ok(outcome) => outcome,
                Err(failure) => {
                    out.failure(&failure);
                    Outcome {
                        value: json!({"server": row.name, "state": "failed"}),
                        text: t!("{name} was not updated.", name = row.name),
                        failed: true,
                    }
                }
            };
            failed |= outcome.failed;
            values.push(outcome.value);
            texts.push(outcome.text);
        }
        store.close().await?;
        if texts.is_empty() {
            texts.push(t!("No server was installed.").into_owned());
        }
        out.result(&json!({ "servers": values }), clean(&texts.join("\n")));
        Ok(if failed { Exit::Other } else { Exit::Done })
    }

    /// What there is to update a server to; or why there is nothing.
    async fn newer(&self, row: &Server) -> Result<Result<Found, Outcome>, Failure> {
        let installed = row.installed.clone().unwrap_or_default();
        let finder = Finder::new(Registry::at(installed.registry.as_deref()), None)?;
        let stays = |state: &str, text: String| {
            let value = json!({"server": row.name, "state": state});
            Ok(Err(Outcome {
                value,
                text,
                failed: false,
            }))
        };
        let kind = Some(installed.kind.as_str());
        let name = installed.name.clone();
        let source = match &self.to {
            Some(to) if is_file(to) => Source::of(to)?,
            Some(version) => Source::Registry {
                name,
                version: Some(version.clone()),
            },
            None => match standing(&finder, &installed).await? {
                Standing::Current => {
                    return stays("current", t!("{name} is up to date.", name = row.name));
                }
                Standing::Unknown => {
                    let text = t!(
                        "{name} came from a file or a package: `servers update {name} --to FILE`.",
                        name = row.name
                    );
                    return stays("unknown", text);
                }
                Standing::Gone => {
                    let text = t!("{name} is not in its registry any more.", name = row.name);
                    return stays("gone", text);
                }
                Standing::Withdrawn(latest) => {
                    let text = t!(
                        "{name} stays: its registry has only the older version {version} (--to {version} takes it).",
                        name = row.name,
                        version = untrusted::line(&latest)
                    );
                    return stays("withdrawn", text);
                }
                Standing::Outdated(version) => Source::Registry {
                    name,
                    version: Some(version),
                },
            },
        };
        let found = finder.find(&source, kind).await?;
        if found.installed.name != installed.name {
            let text = format!(
                "{:?} is another server than {:?}",
                found.installed.name, installed.name
            );
            let hint = "Install it beside this one with `switchboard servers install`.";
            return Err(Failure::new(Exit::Other, text).with_hint(hint));
        }
        Ok(Ok(found))
    }

    async fn one(
        &self,
        store: &dyn Store,
        database: &str,
        rows: &[Server],
        row: &Server,
        out: &Out,
    ) -> Result<Outcome, Failure> {
        let found = match self.newer(row).await? {
            Ok(found) => found,
            Err(outcome) => return Ok(outcome),
        };
        let mut answers = stored_answers(row);
        answers.retain(|id, _| found.inputs.iter().any(|input| input.id == *id));
        answers.extend(given(&found.inputs, &self.inputs)?);
        if !self.yes {
            // Only what is needed and new.
            let needed = |input: &&Input| input.required;
            let needed: Vec<Input> = found.inputs.iter().filter(needed).cloned().collect();
            ask(out, &needed, &mut answers).await?;
        }
        let plan = Plan::new(found, None, &answers, rows, Some(row), &row.user_id)?;
        let tools = store.server_tools(&row.id).await?;
        let tools: Vec<String> = tools.into_iter().map(|tool| tool.name).collect();
        let changes = plan.differences(row, &tools);
        let value = json!({
            "server": row.name,
            "changes": changes.iter().map(|it| {
                json!({"what": it.what, "before": it.before, "after": it.after})
            }).collect::<Vec<_>>(),
            "plan": to_json(&plan),
        });
        let with = |state: &str, text: String| {
            let mut value = value.clone();
            if let Some(members) = value.as_object_mut() {
                members.insert("state".to_owned(), state.into());
            }
            Ok(Outcome {
                value,
                text,
                failed: false,
            })
        };
        if changes.is_empty() {
            return with("current", t!("{name} is up to date.", name = row.name));
        }
        out.say(different(&row.name, &changes));
        out.say(shown(&plan));
        let prompt = t!("Update {name}? [y/N] ", name = row.name);
        if !self.yes && !agreed(out, &prompt).await? {
            let text = t!("{name} stays as it is; --yes updates it.", name = row.name);
            return with("outdated", text);
        }
        let plain = PlainSecrets::allowed_if(self.plain);
        let commit = async |planned: Server| {
            let changed = update(store, row.clone(), async |now| {
                Ok::<_, Failure>((merged(&now, planned.clone()), Vec::new()))
            });
            changed.await.map(drop)
        };
        apply(plan, database, rows, plain, commit).await?;
        with("updated", t!("Updated {name}.", name = row.name))
    }
}

/// Whether it names a file rather than a version.
fn is_file(text: &str) -> bool {
    let ends = |end: &&str| text.to_ascii_lowercase().ends_with(end);
    [".mcpb", ".dxt", ".json"].iter().any(ends)
}

/// What changes, in lines.
fn different(name: &str, changes: &[Difference]) -> String {
    let mut text = t!("What changes of {name}:", name = name);
    for Difference {
        what,
        before,
        after,
    } in changes
    {
        text.push_str(&format!(
            "\n  {what}\n    - {}\n    + {}",
            untrusted::line(before),
            untrusted::line(after)
        ));
    }
    text.push('\n');
    text
}
