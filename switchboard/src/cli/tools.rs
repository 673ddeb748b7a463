//! `switchboard tools`: what servers offer, one line a tool.

use clap::Args;
use mcp_manager::{Entry, NoopElicitation};
use serde_json::{Value, json};

use crate::chat::clean;
use crate::cli::Global;
use crate::cli::text::{brief, count};
use crate::exit::{Exit, Failure};
use crate::out::{Out, Style};
use crate::servers::{AdHoc, Link};
use crate::signature::signature;

/// Lists tools with their arguments, and about how many tokens they cost a model.
#[derive(Args, Debug)]
pub(crate) struct Tools {
    /// A server: its name, its URL, or `demo`; all that are switched on if none
    #[arg(value_name = "SERVER")]
    server: Option<String>,
    #[command(flatten)]
    ad_hoc: AdHoc,
}

impl Tools {
    pub(crate) async fn run(self, global: &Global, out: &Out) -> Result<Exit, Failure> {
        let server = self.server.as_deref();
        Link::with(
            global,
            server,
            &self.ad_hoc,
            NoopElicitation,
            async |link| {
                if link.findings.is_empty() || server.is_some() || self.ad_hoc.has_command() {
                    link.only()?;
                }
                let (values, texts): (Vec<Value>, Vec<String>) = link
                    .servers
                    .iter()
                    .map(|server| {
                        let listing = link.listing(&server.name);
                        let catalog = link.catalog();
                        let tools: Vec<&Entry> = catalog
                            .tools()
                            .iter()
                            .map(AsRef::as_ref)
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
                                server.name,
                                count(tools.len(), "tool"),
                                count(tokens, "token")
                            ),
                        );
                        for tool in tools {
                            text.push_str(&line(tool, out));
                        }
                        for problem in problems {
                            let problem = format!("left out: {}", clean(&problem));
                            text.push_str(&format!("\n  {}", out.paint(Style::Bad, &problem)));
                        }
                        (value, text)
                    })
                    .unzip();
                if !values.is_empty() || out.is_json() {
                    out.result(&json!({ "servers": values }), texts.join("\n\n"));
                }
                Ok(link.tell(out))
            },
        )
        .await
    }
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
    let about = brief(tool.description().unwrap_or_default(), 100);
    let about = match about.is_empty() {
        true => String::new(),
        false => format!("\n      {}", out.paint(Style::Dim, &clean(&about))),
    };
    format!("\n  {}{off}{about}", clean(&signature))
}
