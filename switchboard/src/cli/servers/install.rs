//! `switchboard servers install`.

use clap::Args;
use serde_json::{Value, json};

use super::ask::{agreed, ask, given};
use super::sandbox::sandboxed;
use super::settings::Containment;
use crate::chat::clean;
use crate::cli::Global;
use crate::cli::text::{count, table};
use crate::display::out::Out;
use crate::exit::{Exit, Failure};
use crate::home::database_file;
use crate::lang::t;
use crate::servers::install::{Finder, Plan, Registry, Source, apply};
use crate::servers::{PlainSecrets, next_place};
use crate::store::{Change, UserId};

#[derive(Args, Debug)]
pub(super) struct Install {
    /// com.example/weather or com.example/weather@1.0.2 of the registry; npm:NAME@VERSION,
    /// pypi:NAME==VERSION, oci:IMAGE:TAG or nuget:NAME@VERSION; a bundle (FILE.mcpb); or a server.json
    what: String,
    /// Name of the server; its own by default
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    /// Take this offer of several: npm, pypi, oci, nuget, mcpb or remote
    #[arg(long, value_name = "KIND")]
    package: Option<String>,
    /// Ask this registry; SWITCHBOARD_REGISTRY or the official one by default
    #[arg(long, value_name = "URL")]
    registry: Option<String>,
    /// Give a value that it asks for; may be repeated
    #[arg(long = "input", value_name = "ID=VALUE")]
    inputs: Vec<String>,
    #[command(flatten)]
    containment: Containment,
    /// Install without asking
    #[arg(long, short)]
    yes: bool,
    /// Store secrets as plain text instead of in the keyring
    #[arg(long)]
    plain: bool,
}

impl Install {
    pub(super) async fn run(self, global: &Global, out: &Out) -> Result<Exit, Failure> {
        let source = Source::of(&self.what)?;
        let finder = Finder::new(Registry::at(self.registry.as_deref()), None)?;
        out.progress(&t!("Looking for {what}…", what = self.what));
        let found = finder.find(&source, self.package.as_deref()).await;
        out.progress("");
        let found = found?;
        let mut answers = given(&found.inputs, &self.inputs)?;
        if !self.yes {
            ask(out, &found.inputs, &mut answers).await?;
        }
        let user = UserId::local();
        let store = global.store().await?;
        let rows = store.servers(&user).await?;
        let mut plan = Plan::new(found, self.name.as_deref(), &answers, &rows, None, &user)?;
        self.containment.apply(&mut plan.row)?;
        plan.row.sort = next_place(&rows);
        out.say(shown(&plan));
        let value = to_json(&plan);
        let name = plan.row.name.clone();
        let prompt = t!("Install {name}? [y/N] ", name = name);
        if !self.yes && !agreed(out, &prompt).await? {
            store.close().await?;
            let text = t!("Nothing changed; --yes installs it.");
            out.result(&json!({"plan": value, "installed": null}), &*text);
            return Ok(Exit::Done);
        }
        let database = database_file(global.database.as_deref());
        let plain = PlainSecrets::allowed_if(self.plain);
        let commit = async |row| {
            store.commit(vec![Change::PutServer(Box::new(row))]).await?;
            Ok::<_, Failure>(())
        };
        apply(plan, &database.display().to_string(), &rows, plain, commit).await?;
        store.close().await?;
        let text = t!(
            "Installed {name}. Try it with `switchboard servers test {name}`.",
            name = name
        );
        out.result(&json!({"plan": value, "installed": name}), &*text);
        Ok(Exit::Done)
    }
}

/// All that an installation would do, in lines.
pub(super) fn shown(plan: &Plan) -> String {
    let mut lines: Vec<Vec<String>> = Vec::new();
    let mut line = |name: &str, text: String| lines.push(vec![name.to_owned(), text]);
    let installed = plan.row.installed.clone().unwrap_or_default();
    line("server", plan.row.name.clone());
    line(
        "from",
        installed
            .registry
            .unwrap_or_else(|| installed.package.clone()),
    );
    line("its name", installed.name);
    if let Some(version) = installed.version {
        line("version", version);
    }
    if let Some(about) = plan.description() {
        line("it says", about.to_owned());
    }
    line("runs", plan.command.clone());
    for (name, value) in &plan.values {
        line("with", format!("{name}={value}"));
    }
    if let Some((files, bytes, folder)) = &plan.files {
        let size = format!("{} KiB", bytes.div_ceil(1024));
        let files = count(*files, "file");
        line(
            "unpacks",
            format!("{files}, {size}, into {}", folder.display()),
        );
    }
    if let Some(sha256) = installed.sha256 {
        line("SHA-256", sha256);
    }
    if let Some(tools) = plan.tools.as_ref().filter(|tools| !tools.is_empty()) {
        line("tools", tools.join(", "));
    }
    for note in &plan.notes {
        line("note", note.clone());
    }
    let contained = match (sandboxed(&plan.row), &plan.row.command) {
        (text, _) if !text.is_empty() => text,
        (_, Some(_)) => format!("\n{}", t!("In no sandbox: it runs with all your rights.")),
        _ => String::new(),
    };
    format!("{}{contained}\n", clean(&table(&lines)))
}

/// The same for programs.
pub(super) fn to_json(plan: &Plan) -> Value {
    let values = plan
        .values
        .iter()
        .map(|(name, value)| (name.clone(), value.clone().into()));
    let values: serde_json::Map<String, Value> = values.collect();
    json!({
        "name": plan.row.name,
        "from": plan.row.installed,
        "description": plan.description(),
        "command": plan.command,
        "values": values,
        "files": plan.files.as_ref().map(|(files, bytes, folder)| {
            json!({"count": files, "bytes": bytes, "folder": folder})
        }),
        "tools": plan.tools,
        "sandbox": super::sandbox::to_json(&plan.row),
        "notes": plan.notes,
    })
}
