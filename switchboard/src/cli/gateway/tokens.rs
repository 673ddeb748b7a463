//! `switchboard gateway tokens`: bearer tokens for HTTP clients of the gateway.

use clap::{Args, Subcommand};
use serde_json::{Value, json};

use super::options::{by_server, server_tool};
use crate::cli::Global;
use crate::cli::run_args::Approve;
use crate::cli::text::table_or;
use crate::display::out::Out;
use crate::exit::{Exit, Failure};
use crate::gateway::records::{self, Kind, Records};
use crate::gateway::token::{Token, check_name, hash};
use crate::setup::{find_assistant, mode_name};
use crate::store::{Store, Timestamp, UserId};
use crate::token;

/// Tokens for HTTP clients of the gateway. Each is a caller of its own: the audit log names it, and
/// it may have the servers and the approval mode of an assistant. Running gateways take changes over
/// at once.
#[derive(Args, Debug)]
pub(crate) struct Tokens {
    #[command(subcommand)]
    verb: Option<Verb>,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// Make a token and print it; it is not shown again
    Add {
        /// The name of its caller
        name: String,
        /// Serve this assistant's servers only, with its approval mode
        #[arg(long, value_name = "NAME")]
        assistant: Option<String>,
        /// Which tool calls run without asking
        #[arg(long, value_enum, value_name = "MODE")]
        approve: Option<Approve>,
        /// Of this server, let it use this tool and others named so, and no more; may be given several times
        #[arg(long = "tool", value_name = "SERVER/TOOL", value_parser = server_tool)]
        tools: Vec<(String, String)>,
    },
    /// List the tokens (default)
    #[command(visible_alias = "ls")]
    List,
    /// Remove a token: its client is refused from then on
    #[command(visible_alias = "rm")]
    Remove {
        /// The name of its caller
        name: String,
    },
}

impl Tokens {
    pub(crate) async fn run(self, global: &Global, out: &Out) -> Result<Exit, Failure> {
        let store = global.store().await?;
        let tokens = Records::read(&*store).await?.all::<Token>(Kind::Token);
        match self.verb.unwrap_or(Verb::List) {
            Verb::Add {
                name,
                assistant,
                approve,
                tools,
            } => {
                check_name(&name).map_err(|why| {
                    Failure::new(
                        Exit::Other,
                        format!("a token cannot be called {name:?}: {why}"),
                    )
                })?;
                if tokens.contains_key(&name) {
                    let failure =
                        Failure::new(Exit::Other, format!("there is a token {name:?} already"));
                    let hint = format!("`switchboard gateway tokens remove {name}` removes it.");
                    return Err(failure.with_hint(hint));
                }
                let user = UserId::local();
                let assistant = find_assistant(&*store, &user, assistant.as_deref()).await?;
                let secret = token::fresh().map_err(|error| {
                    Failure::new(Exit::Other, "no token could be made").caused_by(error)
                })?;
                let mode = approve.map(|mode| mode_name(mode.mode()));
                let token = Token {
                    hash: hash(&secret),
                    assistant: assistant.as_ref().map(|it| it.id.as_str().to_owned()),
                    approve: mode,
                    tools: by_server(&tools),
                    created: Timestamp::now(),
                };
                store
                    .commit(vec![records::put(Kind::Token, &name, &token)])
                    .await?;
                let value = json!({
                    "name": name, "token": secret,
                    "assistant": assistant.map(|it| it.name), "approve": token.approve,
                    "tools": token.tools,
                });
                out.result(&value, &secret);
                out.say("Keep it: it is not shown again. Clients send it as a bearer token.");
            }
            Verb::List => list(&*store, &tokens, out).await?,
            Verb::Remove { name } => {
                if !tokens.contains_key(&name) {
                    let failure = Failure::new(Exit::Other, format!("there is no token {name:?}"));
                    return Err(failure.with_hint("`switchboard gateway tokens` lists them."));
                }
                store
                    .commit(vec![records::delete(Kind::Token, &name)])
                    .await?;
                out.result(&json!({"removed": name}), format!("Removed {name}."));
            }
        }
        store.close().await?;
        Ok(Exit::Done)
    }
}

async fn list(
    store: &dyn Store,
    tokens: &std::collections::BTreeMap<String, Token>,
    out: &Out,
) -> Result<(), Failure> {
    let assistants = store.assistants(&UserId::local()).await?;
    let assistant = |token: &Token| {
        let id = token.assistant.as_deref()?;
        let found = assistants.iter().find(|it| it.id.as_str() == id);
        Some(found.map_or_else(|| "(removed)".to_owned(), |it| it.name.clone()))
    };
    let mut rows = Vec::new();
    let mut values: Vec<Value> = Vec::new();
    for (name, token) in tokens {
        let created = token.created.rfc3339();
        let assistant = assistant(token);
        values.push(json!({
            "name": name, "assistant": assistant, "approve": token.approve, "tools": token.tools,
            "created": created,
        }));
        if rows.is_empty() {
            rows.push(
                ["NAME", "ASSISTANT", "APPROVE", "CREATED"]
                    .map(str::to_owned)
                    .to_vec(),
            );
        }
        rows.push(vec![
            name.clone(),
            assistant.unwrap_or_default(),
            token.approve.clone().unwrap_or_default(),
            created,
        ]);
    }
    let none = "There are none: `switchboard gateway tokens add NAME` makes one.";
    out.result(&json!({ "tokens": values }), table_or(none, rows));
    Ok(())
}
