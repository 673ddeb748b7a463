//! `switchboard tools`: what servers offer, one line a tool.

use clap::Args;
use mcp_manager::Entry;
use serde_json::{Value, json};

use crate::cli::Global;
use crate::cli::about::About;
use crate::cli::text::count;
use crate::display::out::{Out, Style};
use crate::display::signature::signature;
use crate::display::summary::summary;
use crate::display::untrusted;
use crate::exit::{Exit, Failure};
use crate::servers::{ConnectedServer, Connection};

/// Lists tools with their arguments, and about how many tokens they cost a model.
#[derive(Args, Debug)]
pub(crate) struct Tools {
    #[command(flatten)]
    about: About,
}

impl Tools {
    pub(crate) async fn run(self, global: &Global, out: &Out) -> Result<Exit, Failure> {
        let look =
            |connection: &Connection, server: &ConnectedServer| look(connection, server, out);
        let text = |texts: Vec<String>| texts.join("\n\n");
        self.about.print(global, out, look, text).await
    }
}

fn look(connection: &Connection, server: &ConnectedServer, out: &Out) -> (Value, String) {
    let listing = connection.listing(&server.name);
    let catalog = connection.catalog();
    let tools = catalog.tools().iter().map(AsRef::as_ref);
    let tools: Vec<&Entry> = tools
        .filter(|tool: &&Entry| tool.server() == &server.name)
        .collect();
    let tokens: usize = tools.iter().map(|tool| tool.tokens()).sum();
    let problems = listing.problems().iter().map(ToString::to_string);
    let value = json!({
        "server": server.name,
        "tokens": tokens,
        "tools": tools.iter().map(|tool| describe(tool)).collect::<Vec<_>>(),
        "problems": problems.clone().collect::<Vec<_>>(),
    });
    let mut text = out.paint(
        Style::Bold,
        &format!(
            "{} · {} · about {}",
            untrusted::line(server.name.as_str()),
            count(tools.len(), "tool"),
            count(tokens, "token")
        ),
    );
    for tool in tools {
        text.push_str(&line(tool, out));
    }
    for problem in problems {
        let problem = format!("left out: {}", untrusted::line(&problem));
        text.push_str(&format!("\n  {}", out.paint(Style::Bad, &problem)));
    }
    (value, text)
}

/// A tool as `--json` shows it.
pub(crate) fn describe(tool: &Entry) -> Value {
    json!({
        "name": tool.name(),
        "exposed_name": tool.exposed_name(),
        "signature": signature(tool.name(), &schema(tool)),
        "description": tool.description(),
        "tokens": tool.tokens(),
        "enabled": tool.is_enabled(),
        "annotations": tool.annotations(),
        "inputSchema": tool.input_schema(),
        "outputSchema": tool.tool().output_schema,
    })
}

/// The schema of a tool's arguments.
pub(crate) fn schema(tool: &Entry) -> Value {
    serde_json::from_str(tool.input_schema().get()).unwrap_or_default()
}

fn line(tool: &Entry, out: &Out) -> String {
    let signature = signature(tool.name(), &schema(tool));
    let off = match tool.is_enabled() {
        true => "",
        false => " (off)",
    };
    let about = summary(tool.description().unwrap_or_default(), 100);
    let about = match about.is_empty() {
        true => String::new(),
        false => format!(
            "\n      {}",
            out.paint(Style::Dim, &untrusted::line(&about))
        ),
    };
    format!("\n  {}{off}{about}", untrusted::line(&signature))
}
