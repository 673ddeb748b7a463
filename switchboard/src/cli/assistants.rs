//! `switchboard assistants`: models with instructions and servers of their own.

use clap::{Args, Subcommand, ValueEnum};
use serde_json::{Value, json};

use crate::cli::Global;
use crate::cli::model_flags::ModelFlags;
use crate::cli::text::{table, table_or};
use crate::display::out::Out;
use crate::display::summary::summary;
use crate::exit::{Exit, Failure};
use crate::setup::assistant_draft::Draft;
use crate::store::{
    Assistant, Change, McpMode, OnLimit, Server, ServerId, Store, ToolSelection, UserId,
};

/// Models with instructions and servers of their own; `chat --assistant NAME` talks with one.
#[derive(Args, Debug)]
pub(crate) struct Assistants {
    #[command(subcommand)]
    verb: Option<Verb>,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// List assistants (default)
    #[command(visible_alias = "ls")]
    List,
    /// Add an assistant
    Add(Said),
    /// Change an assistant
    Edit {
        #[command(flatten)]
        said: Said,
        /// Rename it
        #[arg(long, value_name = "NAME")]
        rename: Option<String>,
    },
    /// Delete an assistant; its conversations are kept
    #[command(visible_alias = "rm")]
    Remove {
        /// Its name
        name: String,
    },
}

/// Settings of an assistant.
#[derive(Args, Debug)]
struct Said {
    /// Its name
    name: String,
    /// Model; empty for the default
    #[arg(long, value_name = "MODEL")]
    model: Option<String>,
    /// Instructions; empty for none
    #[arg(long, value_name = "TEXT")]
    system: Option<String>,
    /// Let it use this server; may be repeated
    #[arg(long = "server", value_name = "NAME")]
    servers: Vec<String>,
    /// Let it use all enabled servers
    #[arg(long, conflicts_with_all = ["servers", "no_servers"])]
    all_servers: bool,
    /// Let it use no server
    #[arg(long, conflicts_with = "servers")]
    no_servers: bool,
    /// Maximum number of model requests per message; 0 is no limit
    #[arg(long, value_name = "N")]
    max_rounds: Option<u32>,
    /// What its model does at a limit
    #[arg(long, value_enum, value_name = "WHAT")]
    on_limit: Option<OnLimit>,
    /// Approval mode: ask, auto-read, auto or plan
    #[arg(long, value_name = "MODE")]
    approve: Option<String>,
    /// How its model calls tools: by function calling, or in its text for a model that has none
    #[arg(long, value_name = "HOW")]
    tool_calls: Option<ToolCalls>,
    #[command(flatten)]
    options: ModelFlags,
    /// Forget the temperature, effort and maximum number of tokens that were set
    #[arg(long)]
    default_options: bool,
}

/// How a model calls tools.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum ToolCalls {
    /// As the model can
    Auto,
    /// By its provider's function calling
    Function,
    /// In its text
    Prompt,
}

impl Assistants {
    pub(crate) async fn run(self, global: &Global, out: &Out) -> Result<Exit, Failure> {
        let store = global.store().await?;
        let user = UserId::local();
        let rows = store.assistants(&user).await?;
        match self.verb.unwrap_or(Verb::List) {
            Verb::List => list(&*store, &rows, out).await?,
            Verb::Add(said) => {
                free(&rows, &said.name)?;
                let mut row = Assistant::new(user.clone(), said.name.clone());
                let changes = said.draft(&store.servers(&user).await?)?.apply(&mut row)?;
                store.commit(changes).await?;
                describe(&*store, &row, out).await?;
            }
            Verb::Edit { said, rename } => {
                let mut row = find(&rows, &said.name)?.clone();
                let mut draft = said.draft(&store.servers(&user).await?)?;
                let before = row.model_options.filter(|_| !said.default_options);
                draft.model_options = Some(said.options.options().or(before).given());
                if let Some(name) = rename.filter(|name| *name != row.name) {
                    free(&rows, &name)?;
                    draft.name = Some(name);
                }
                store.commit(draft.apply(&mut row)?).await?;
                describe(&*store, &row, out).await?;
            }
            Verb::Remove { name } => {
                let row = find(&rows, &name)?;
                let gone = Change::DeleteAssistant(user, row.id.clone());
                store.commit(vec![gone]).await?;
                out.result(&json!({ "removed": name }), format!("Removed {name}."));
            }
        }
        store.close().await?;
        Ok(Exit::Done)
    }
}

impl Said {
    fn draft(&self, servers: &[Server]) -> Result<Draft, Failure> {
        let id = |name: &String| -> Result<ServerId, Failure> {
            let row = servers.iter().find(|row| row.name == *name);
            let row = row.ok_or_else(|| {
                let failure = Failure::new(Exit::Other, format!("there is no server {name:?}"));
                failure.with_hint("`switchboard servers list` names them.")
            })?;
            Ok(row.id.clone())
        };
        let chosen: Vec<ServerId> = self.servers.iter().map(id).collect::<Result<_, _>>()?;
        let mode = match (self.no_servers, self.all_servers, chosen.is_empty()) {
            (true, ..) => Some(ToolSelection::Off),
            (_, true, _) => Some(ToolSelection::Auto),
            (.., false) => Some(ToolSelection::Manual),
            _ => None,
        };
        Ok(Draft {
            name: None,
            model: self.model.clone().map(Some),
            system: self.system.clone().map(Some),
            tool_selection: mode,
            mcp_mode: self.tool_calls.map(|calls| match calls {
                ToolCalls::Auto => None,
                ToolCalls::Function => Some(McpMode::Function),
                ToolCalls::Prompt => Some(McpMode::Prompt),
            }),
            server_ids: mode.map(|_| chosen),
            max_rounds: self.max_rounds.map(Some),
            on_limit: self.on_limit.map(Some),
            approval_mode: self.approve.clone().map(Some),
            model_options: Some(self.options.options().given()),
            ..Draft::default()
        })
    }
}

fn find<'a>(rows: &'a [Assistant], name: &str) -> Result<&'a Assistant, Failure> {
    rows.iter().find(|row| row.name == name).ok_or_else(|| {
        let names: Vec<&str> = rows.iter().map(|row| row.name.as_str()).collect();
        let failure = Failure::new(Exit::Other, format!("there is no assistant {name:?}"));
        match names.is_empty() {
            true => failure.with_hint("`switchboard assistants add NAME` makes one."),
            false => failure.with_hint(format!("There are: {}.", names.join(", "))),
        }
    })
}

fn free(rows: &[Assistant], name: &str) -> Result<(), Failure> {
    match rows.iter().any(|row| row.name == name) {
        true => Err(Failure::new(
            Exit::Other,
            format!("there is an assistant {name:?} already"),
        )),
        false => Ok(()),
    }
}

async fn described(store: &dyn Store, row: &Assistant) -> Result<Value, Failure> {
    let ids = store.assistant_servers(&row.id).await?;
    let servers = store.servers(&row.user_id).await?;
    let names = servers.iter().filter(|server| ids.contains(&server.id));
    Ok(json!({
        "name": row.name,
        "model": row.model,
        "system": row.system,
        "servers": row.tool_selection,
        "tool_calls": row.mcp_mode,
        "chosen": names.map(|server| server.name.as_str()).collect::<Vec<_>>(),
        "max_rounds": row.max_rounds,
        "on_limit": row.on_limit,
        "approve": row.approval_mode,
        "options": row.model_options,
    }))
}

/// An assistant in the columns of a list.
fn line(value: &Value) -> Vec<String> {
    let text = |name: &str| value.get(name).and_then(Value::as_str).unwrap_or_default();
    let chosen = value.get("chosen").and_then(Value::as_array);
    let chosen = chosen.into_iter().flatten().filter_map(Value::as_str);
    let servers = match text("servers") {
        "off" => "no servers".to_owned(),
        "manual" => chosen.collect::<Vec<_>>().join(", "),
        _ => "all servers".to_owned(),
    };
    let columns = ["name", "model", "approve", "system"].map(text);
    let [name, model, approve, system] = columns.map(str::to_owned);
    vec![name, model, servers, approve, summary(&system, 60)]
}

async fn list(store: &dyn Store, rows: &[Assistant], out: &Out) -> Result<(), Failure> {
    let mut values = Vec::new();
    for row in rows {
        values.push(described(store, row).await?);
    }
    let none = "No assistants yet: `switchboard assistants add NAME` makes one.";
    let text = table_or(none, values.iter().map(line).collect());
    out.result(&json!({ "assistants": values }), text);
    Ok(())
}

async fn describe(store: &dyn Store, row: &Assistant, out: &Out) -> Result<(), Failure> {
    let value = described(store, row).await?;
    let text = table(&[line(&value)]);
    out.result(&value, text);
    Ok(())
}
