//! `switchboard tool`: details and policy of one tool.

use std::sync::Arc;

use clap::{Args, Subcommand};
use mcp_manager::{Entry, NoopElicitation};
use serde_json::json;

use crate::cli::Global;
use crate::cli::tools::{describe, schema};
use crate::display::out::Out;
use crate::display::signature::signature;
use crate::display::untrusted;
use crate::exit::{Exit, Failure};
use crate::servers::{self, AdHoc, Connection, Switch, find, update};
use crate::store::{Decision, Server, Store};

/// Shows a tool, enables or disables it, and sets whether a model may call it without asking.
#[derive(Args, Debug)]
pub(crate) struct Tool {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// Show all of a tool's definition
    Show {
        /// SERVER TOOL; just TOOL if a command follows
        #[arg(required = true, value_name = "SERVER TOOL")]
        words: Vec<String>,
        #[command(flatten)]
        ad_hoc: AdHoc,
    },
    /// Enable a tool
    Enable(Which),
    /// Disable a tool
    Disable(Which),
    /// Let models call a tool without asking, for as long as its definition is unchanged
    Allow(Which),
    /// Ask before each call of a tool, whatever the mode
    Ask(Which),
    /// Refuse each call of a tool
    Deny(Which),
}

/// A tool of a stored server.
#[derive(Args, Debug)]
struct Which {
    /// The server's name
    server: String,
    /// The tool's name, as its server spells it
    tool: String,
}

impl Tool {
    pub(crate) async fn run(self, global: &Global, out: &Out) -> Result<Exit, Failure> {
        match self.verb {
            Verb::Show { words, ad_hoc } => show(global, out, &words, &ad_hoc).await,
            Verb::Enable(which) => switch(global, out, &which, Switch::On).await,
            Verb::Disable(which) => switch(global, out, &which, Switch::Off).await,
            Verb::Allow(which) => decide(global, out, &which, Decision::Allow).await,
            Verb::Ask(which) => decide(global, out, &which, Decision::Ask).await,
            Verb::Deny(which) => decide(global, out, &which, Decision::Deny).await,
        }
    }
}

/// The server, if it is not a command, and the rest of the words.
pub(crate) fn split<'a>(
    words: &'a [String],
    ad_hoc: &AdHoc,
) -> Result<(Option<&'a str>, &'a [String]), Failure> {
    if ad_hoc.has_command() {
        return Ok((None, words));
    }
    match words.split_first() {
        Some((server, rest)) if !rest.is_empty() => Ok((Some(server), rest)),
        _ => Err(Failure::new(Exit::Other, "a server and a name are needed")
            .with_hint("As in SERVER NAME, URL NAME, or NAME -- COMMAND.")),
    }
}

/// The one name after the server; more words than that are refused.
pub(crate) fn only_name<'a>(rest: &'a [String], what: &str) -> Result<&'a str, Failure> {
    match rest {
        [name] => Ok(name),
        [] => Err(Failure::new(Exit::Other, format!("a {what} is needed"))),
        [name, more, ..] => Err(Failure::new(
            Exit::Other,
            format!("{more:?} is one word too many after the {what} {name:?}"),
        )),
    }
}

/// A tool of the only server of a connection.
pub(crate) fn entry(connection: &Connection, tool: &str) -> Result<Arc<Entry>, Failure> {
    let server = connection.only()?;
    let catalog = connection.catalog();
    if let Some(entry) = catalog.find(&server.name, tool) {
        return Ok(Arc::clone(entry));
    }
    let listing = connection.listing(&server.name);
    let names = listing.tools().iter();
    let names: Vec<_> = names.map(|tool| untrusted::line(tool.name())).collect();
    let text = format!("server {:?} has no tool {tool:?}", server.name.as_str());
    Err(Failure::new(Exit::Other, text).with_hint(format!("It has: {}.", names.join(", "))))
}

async fn show(
    global: &Global,
    out: &Out,
    words: &[String],
    ad_hoc: &AdHoc,
) -> Result<Exit, Failure> {
    let (server, rest) = split(words, ad_hoc)?;
    let tool = only_name(rest, "tool")?;
    Connection::with(
        global,
        server,
        ad_hoc,
        NoopElicitation,
        async |connection| {
            let entry = entry(connection, tool)?;
            let mut value = describe(&entry);
            let definition = serde_json::to_value(&**entry.tool()).unwrap_or_default();
            if let Some(members) = value.as_object_mut() {
                members.insert("server".to_owned(), json!(entry.server()));
                members.insert("definition".to_owned(), definition);
                members.insert(
                    "fingerprint".to_owned(),
                    json!(entry.fingerprint().to_string()),
                );
            }
            let signature = signature(entry.name(), &schema(&entry));
            let mut text = untrusted::line(&signature).into_owned();
            for part in [entry.description().unwrap_or_default(), &hints(&entry)] {
                if !part.is_empty() {
                    text.push_str("\n\n");
                    text.push_str(part);
                }
            }
            text.push_str(&format!("\n\n{:#}", schema(&entry)));
            text.push_str(&format!(
                "\n\nModels call it {}; it costs about {} tokens.",
                entry.exposed_name(),
                entry.tokens()
            ));
            out.result(&value, untrusted::text(&text));
            Ok(Exit::Done)
        },
    )
    .await
}

/// The tool's annotations.
fn hints(entry: &Entry) -> String {
    let Some(says) = entry.annotations() else {
        return String::new();
    };
    let writes = says.read_only_hint != Some(true);
    let hints = [
        (says.read_only_hint, "changes nothing", "changes things"),
        (
            says.destructive_hint.filter(|_| writes),
            "may destroy things",
            "only adds",
        ),
        (
            says.idempotent_hint.filter(|_| writes),
            "does no more when repeated",
            "does it again when repeated",
        ),
        (says.open_world_hint, "uses the network", "stays within"),
    ];
    let said = hints
        .into_iter()
        .filter_map(|(hint, yes, no)| Some(if hint? { yes } else { no }));
    let said: Vec<&str> = said.collect();
    match said.is_empty() {
        true => String::new(),
        false => format!("Its server says that it {}.", said.join(", ")),
    }
}

async fn switch(
    global: &Global,
    out: &Out,
    which: &Which,
    switch: Switch,
) -> Result<Exit, Failure> {
    let (store, row) = find(global, &which.server).await?;
    check(&*store, &row, &which.tool).await?;
    let changed = update(&*store, row, async |mut row| {
        servers::switch(&mut row, &which.tool, switch);
        Ok::<_, Failure>((row, Vec::new()))
    });
    changed.await?;
    store.close().await?;
    let word = match switch {
        Switch::On => "on",
        Switch::Off => "off",
    };
    out.result(
        &json!({"server": which.server, "tool": which.tool, "enabled": switch == Switch::On}),
        format!(
            "{} of {} is switched {word}.",
            untrusted::line(&which.tool),
            which.server
        ),
    );
    Ok(Exit::Done)
}

/// A name that the server was not seen with is more likely wrong than new.
async fn check(store: &dyn Store, row: &Server, tool: &str) -> Result<(), Failure> {
    let seen = store.server_tools(&row.id).await?;
    if seen.is_empty() || seen.iter().any(|known| known.name == tool) {
        return Ok(());
    }
    let names: Vec<_> = seen
        .iter()
        .map(|tool| untrusted::line(&tool.name))
        .collect();
    let text = format!("server {:?} was not seen with a tool {tool:?}", row.name);
    Err(Failure::new(Exit::Other, text).with_hint(format!("It has: {}.", names.join(", "))))
}

async fn decide(
    global: &Global,
    out: &Out,
    which: &Which,
    decision: Decision,
) -> Result<Exit, Failure> {
    let seen = match decision {
        // An approval is for the current definition, so the tool must have been seen.
        Decision::Allow => Some(seen(global, which).await?),
        _ => None,
    };
    let (store, row) = find(global, &which.server).await?;
    check(&*store, &row, &which.tool).await?;
    let changed = update(&*store, row, async |mut row| {
        let allowed = match &seen {
            Some((_, identity)) if servers::identity(&row) != *identity => {
                let text = format!("server {:?} has just been changed", which.server);
                let hint = "Look at the tool again, then allow it.";
                return Err(Failure::new(Exit::Other, text).with_hint(hint));
            }
            Some((tool, _)) => Some(&**tool),
            None => None,
        };
        let rules = store.rules(&row.user_id).await?;
        let changes = servers::decide(&mut row, &rules, &which.tool, decision, allowed);
        Ok((row, changes))
    });
    changed.await?;
    store.close().await?;
    let text = match decision {
        Decision::Allow => "runs without a question, as long as it stays as it is now",
        Decision::Ask => "is asked about before each call",
        Decision::Deny => "is refused",
    };
    out.result(
        &json!({"server": which.server, "tool": which.tool, "decision": decision}),
        format!(
            "{} of {} {text}.",
            untrusted::line(&which.tool),
            which.server
        ),
    );
    Ok(Exit::Done)
}

/// A tool as it is now, and the identity of its server.
async fn seen(global: &Global, which: &Which) -> Result<(Arc<Entry>, String), Failure> {
    let (server, none) = (Some(which.server.as_str()), AdHoc::default());
    Connection::with(global, server, &none, NoopElicitation, async |connection| {
        let row = connection.only()?.row.as_ref();
        let identity = row.map(servers::identity).unwrap_or_default();
        Ok((entry(connection, &which.tool)?, identity))
    })
    .await
}
