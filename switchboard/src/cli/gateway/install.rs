//! `switchboard gateway install`: the gateway's entry in a client's file.

use std::path::Path;

use clap::{Args, ValueEnum as _};
use mcp_config::{ConfigEdit, ConfigProblem, ServerCommand, ServerConfig};
use serde_json::{Value, json};

use super::target::{Fate, Target, insert, unchangeable, unreadable};
use crate::cli::Global;
use crate::cli::failure::unwritable;
use crate::cli::run_args::Approve;
use crate::demo::this_program;
use crate::display::out::Out;
use crate::exit::{Exit, Failure};
use crate::gateway::client_file::{back_up, read, replace};
use crate::gateway::install::{
    Installed, MovedEntry, installed_text, is_ours, record_name, text_hash,
};
use crate::gateway::records::{self, Kind, Records};
use crate::home;
use crate::servers::PlainSecrets;
use crate::servers::import::{Item, Plan, State, take_over};
use crate::setup::find_assistant;
use crate::store::{Change, Server, Trust, UserId};

/// Makes a client start the gateway: writes one entry into its file, which is shown first and
/// copied. Everything else in the file stays as it is.
#[derive(Args, Debug)]
pub(crate) struct Install {
    #[command(flatten)]
    target: Target,
    /// Serve this assistant's servers to the client
    #[arg(long, value_name = "NAME", conflicts_with = "servers")]
    assistant: Option<String>,
    /// Which tool calls of the client run without asking
    #[arg(long, value_enum, value_name = "MODE")]
    approve: Option<Approve>,
    /// Leave the names of tools and prompts as they are
    #[arg(long)]
    no_prefix: bool,
    /// Import the servers of the file and take them out of it, so that the client reaches them
    /// through the gateway
    #[arg(long = "move")]
    moves: bool,
    /// With --move: replace stored servers of the same name
    #[arg(long, requires = "moves")]
    overwrite: bool,
    /// With --move: store secrets as plain text instead of in the keyring
    #[arg(long, requires = "moves")]
    plain: bool,
    /// Serve these servers only
    #[arg(value_name = "SERVER")]
    servers: Vec<String>,
}

impl Install {
    pub(crate) async fn run(self, global: &Global, out: &Out) -> Result<Exit, Failure> {
        let target = &self.target;
        let place = target.place()?;
        let found = read(&place).map_err(|error| unreadable(&place.path, error))?;
        let text = found.clone().unwrap_or_default();
        let store = global.store().await?;
        let user = UserId::local();
        let stored = store.servers(&user).await?;
        find_assistant(&*store, &user, self.assistant.as_deref()).await?;
        let entry = self.entry(global, &stored)?;
        let dialect = target.client.dialect();
        let unusable = |problem: ConfigProblem| unchangeable(&place.path, problem);
        let edit = ConfigEdit::new(&text, dialect).map_err(unusable)?;
        target.check_ours(&edit)?;
        let plan = match self.moves && found.is_some() {
            true => Plan::read(&user, std::slice::from_ref(&place), &stored),
            false => Plan::of(&user),
        };
        let fates = self.fates(&plan, &edit);
        let moving = |fates: &[Fate<'_>]| -> Vec<String> {
            let moving = fates.iter().filter(|fate| fate.stays.is_none());
            moving.map(|fate| fate.item.row.name.clone()).collect()
        };
        let wanted = installed_text(&text, dialect, &entry, &moving(&fates)).map_err(unusable)?;
        out.say(target.shown(&place, &edit, Some(&entry), &fates));
        let mut value = json!({
            "client": target.client.name(), "file": place.path, "name": target.name.as_str(),
            "entry": edit.entry_of(&entry), "changed": false, "moved": [], "left": [],
        });
        if wanted == text {
            store.close().await?;
            out.result(&value, "It is there already: nothing changed.");
            return Ok(Exit::Done);
        }
        if !target.agreed(out).await? {
            store.close().await?;
            insert(&mut value, "moved", json!(moving(&fates)));
            out.result(&value, "Nothing changed.");
            return Ok(Exit::Done);
        }
        // Secrets may not find a place; such an entry stays where it is.
        let wants = fates.iter().filter(|fate| fate.stays.is_none());
        let imports = wants
            .map(|fate| fate.item)
            .filter(|item| item.state != State::Same);
        let plain = PlainSecrets::allowed_if(self.plain);
        let taken = take_over(imports, &stored, plain).await;
        let mut moved = moving(&fates);
        moved.retain(|name| taken.refused.iter().all(|refused| refused.name != *name));
        let wanted = installed_text(&text, dialect, &entry, &moved).map_err(unusable)?;
        let backup = match found {
            Some(_) => Some(back_up(&place.path).map_err(|error| unwritable(&place.path, error))?),
            None => None,
        };
        let known: Option<Installed> = Records::read(&*store)
            .await?
            .get(Kind::Install, &record_name(&place.path));
        let record = self.record(
            &place.path,
            known,
            &text,
            &wanted,
            backup.as_deref(),
            &moved,
        );
        let put = |row: &Server| Change::PutServer(Box::new(row.clone()));
        let mut changes: Vec<Change> = taken.rows.iter().map(put).collect();
        changes.push(records::put(
            Kind::Install,
            &record_name(&place.path),
            &record,
        ));
        store.commit(changes).await?;
        store.close().await?;
        replace(&place.path, &wanted).map_err(|error| unwritable(&place.path, error))?;
        for refused in &taken.refused {
            let text = format!("{} stays in the file", refused.name);
            let reported = Failure::new(Exit::Other, text).caused_by(refused.why.chain());
            out.failure(&reported.with_hint(
                "Put a variable in the secret's place in the file, or allow plain text in the \
                 store with --plain.",
            ));
        }
        let left: Vec<Value> = fates.iter().filter_map(left).collect();
        insert(&mut value, "changed", json!(true));
        insert(&mut value, "backup", json!(backup));
        insert(&mut value, "moved", json!(moved));
        insert(&mut value, "left", json!(left));
        let mut text = format!("Wrote {}.", place.path.display());
        if let Some(backup) = &backup {
            text.push_str(&format!("\nA copy of what it was: {}", backup.display()));
        }
        let pending = taken.rows.iter().filter(|row| row.trust == Trust::Pending);
        let pending: Vec<&str> = pending.map(|row| row.name.as_str()).collect();
        if let [first, ..] = pending.as_slice() {
            text.push_str(&format!(
                "\nFrom a project, so not started until enabled: {}. Allow one with \
                 `switchboard servers enable {first}`.",
                pending.join(", ")
            ));
        }
        text.push_str(&format!("\nRestart {} to use it.", target.client.name()));
        out.result(&value, text);
        match taken.refused.is_empty() {
            true => Ok(Exit::Done),
            false => Ok(Exit::Other),
        }
    }

    /// The entry: this very program, with the options that were given.
    fn entry(&self, global: &Global, stored: &[Server]) -> Result<ServerConfig, Failure> {
        let program = this_program()?;
        let program = program.to_str().ok_or_else(|| {
            let text = format!("the path {} is no text", program.display());
            Failure::new(Exit::Other, text).with_hint("Move the program to another folder.")
        })?;
        let mut args = vec!["gateway".to_owned()];
        let mut option = |name: &str, value: &str| args.extend([name.to_owned(), value.to_owned()]);
        let absolute = |path: &Path| {
            let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
            path.to_string_lossy().into_owned()
        };
        match &global.config {
            Some(file) => option("--config", &absolute(file)),
            None => {
                let known = |name: &String| stored.iter().any(|row| row.name == *name);
                if let Some(name) = self.servers.iter().find(|name| !known(name)) {
                    let failure = Failure::new(Exit::Other, format!("there is no server {name:?}"));
                    return Err(failure.with_hint("`switchboard servers` lists them."));
                }
            }
        }
        if let Some(database) = &global.database {
            match database.to_str().filter(|text| text.contains("://")) {
                Some(url) if home::shown_database(Some(database)) != url => {
                    let text = "the database's password would be in the client's file";
                    return Err(Failure::new(Exit::Other, text).with_hint(
                        "Set SWITCHBOARD_DATABASE where the client runs, and leave --database out.",
                    ));
                }
                Some(url) => option("--database", url),
                None => option("--database", &absolute(database)),
            }
        }
        if let Some(assistant) = &self.assistant {
            option("--assistant", assistant);
        }
        if let Some(mode) = self.approve.and_then(|mode| mode.to_possible_value()) {
            option("--approve", mode.get_name());
        }
        if self.no_prefix {
            args.push("--no-prefix".to_owned());
        }
        args.extend(self.servers.iter().cloned());
        let mut command = ServerCommand::new(program).with_args(args);
        // Clients start programs with few variables.
        if let Some(home) = home::environment("SWITCHBOARD_HOME") {
            command = command.with_env("SWITCHBOARD_HOME", absolute(Path::new(&home)));
        }
        Ok(ServerConfig::stdio(self.target.name.clone(), command))
    }

    /// What becomes of the other entries of the file.
    fn fates<'a>(&self, plan: &'a Plan, edit: &ConfigEdit) -> Vec<Fate<'a>> {
        let names = edit.names();
        let items = plan.items.iter();
        let others = items.filter(|item| names.contains(&item.row.name));
        let others = others.filter(|item| {
            let entry = edit.entry(&item.row.name);
            !entry.as_ref().is_some_and(is_ours)
        });
        let fate = |item: &'a Item| {
            let stays = match item.state {
                State::New | State::Same => None,
                State::Conflict if self.overwrite => None,
                State::Conflict => Some(format!("{}; --overwrite moves it", item.note)),
                State::NeedsInput => {
                    Some(format!("{}; `switchboard import` asks for it", item.note))
                }
            };
            Fate { item, stays }
        };
        others.map(fate).collect()
    }

    /// What undoing will need.
    fn record(
        &self,
        file: &Path,
        known: Option<Installed>,
        text: &str,
        wanted: &str,
        backup: Option<&Path>,
        moved: &[String],
    ) -> Installed {
        // A file that only we have changed goes back to what it was before the first time.
        let first = known.as_ref().filter(|it| it.written == text_hash(text));
        let first = first.map(|it| it.backup.clone());
        let mut all = known.map(|it| it.moved).unwrap_or_default();
        if let Some(backup) = backup {
            all.retain(|it| !moved.contains(&it.name));
            all.extend(moved.iter().map(|name| MovedEntry {
                name: name.clone(),
                backup: backup.to_owned(),
            }));
        }
        Installed {
            client: self.target.client.name(),
            file: file.to_owned(),
            name: self.target.name.to_string(),
            backup: first.unwrap_or_else(|| backup.map(Path::to_owned)),
            written: text_hash(wanted),
            moved: all,
        }
    }
}

fn left(fate: &Fate<'_>) -> Option<Value> {
    let why = fate.stays.as_ref()?;
    Some(json!({"name": fate.item.row.name, "reason": why}))
}
