//! `switchboard doctor`: what is wrong, and what to do.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use clap::Args;
use mcp_manager::{Manager, NoopElicitation};
use serde_json::{Value, json};

use crate::cli::Global;
use crate::cli::text::count;
use crate::display::out::{Out, Style};
use crate::display::untrusted;
use crate::exit::{Exit, Failure};
use crate::gateway::install::is_gateway;
use crate::home;
use crate::servers::doctor::{Examination, Problem, examine, other_transport};
use crate::servers::{AdHoc, Connection};
use crate::store::UserId;

/// Names that are given as examples.
const SHOWN: usize = 5;

/// Connects to servers and explains what is wrong with them. The exit code is that of the first
/// thing that keeps a server from working.
#[derive(Args, Debug)]
pub(crate) struct Doctor {
    /// A server: its name, its URL, or `demo`; all enabled servers by default
    #[arg(value_name = "SERVER")]
    server: Option<String>,
    /// Report startups slower than this many seconds
    #[arg(long, default_value_t = 5, value_name = "SECONDS")]
    slow: u64,
    #[command(flatten)]
    ad_hoc: AdHoc,
}

impl Doctor {
    pub(crate) async fn run(self, global: &Global, out: &Out) -> Result<Exit, Failure> {
        let server = self.server.as_deref();
        let slow = Duration::from_secs(self.slow);
        let work = async |connection: &Connection| {
            let mut reports: Vec<Examination> = connection
                .servers
                .iter()
                .map(|server| {
                    let user = UserId::local();
                    examine(&user, &connection.manager, &server.name, server.took, slow)
                })
                .collect();
            for (name, finding) in &connection.findings {
                let mut finding = finding.clone();
                let mut failed = connection.failed.iter();
                if finding.problem == Problem::WrongTransport
                    && let Some(config) = failed.find(|config| config.name().as_str() == name)
                    && let Some(better) = other_transport(&connection.manager, config).await
                {
                    finding = better;
                }
                reports.push(Examination::failed(name, finding));
            }
            reports.sort_by(|a, b| a.name.cmp(&b.name));
            let values: Vec<Value> = reports.iter().map(Examination::to_json).collect();
            let missing = match server.is_none() && !self.ad_hoc.has_command() {
                true => not_served(&reports, &connection.manager),
                false => Vec::new(),
            };
            let value = json!({
                "database": home::shown_database(global.database.as_deref()),
                "servers": values,
                "gateway": { "notServed": missing },
            });
            let texts: Vec<String> = reports.iter().map(|report| text(report, out)).collect();
            let text = match texts.is_empty() {
                true => "No servers to look at. `switchboard import` brings in those of other \
                     programs."
                    .to_owned(),
                false => texts.join("\n\n"),
            };
            out.result(&value, text + &shown(&missing));
            let findings = reports.iter().flat_map(|report| &report.findings);
            let mut exits = findings.map(|finding| finding.problem.exit());
            let bad = exits.find(|exit| *exit != Exit::Done);
            Ok(bad.unwrap_or(Exit::Done))
        };
        Connection::with(global, server, &self.ad_hoc, NoopElicitation, work).await
    }
}

/// What `switchboard gateway` would not serve, and why.
fn not_served(reports: &[Examination], manager: &Manager) -> Vec<Value> {
    let mut missing = Vec::new();
    for report in reports {
        let known = manager.server(&report.name);
        let why = match (known, report.findings.first()) {
            (Some(known), _) if is_gateway(&known.config) => {
                Some("it is a gateway of this program, which would start itself".to_owned())
            }
            (_, Some(finding)) if report.seen.is_none() => Some(finding.message.clone()),
            (_, None) if report.seen.is_none() => Some("it does not work".to_owned()),
            _ => None,
        };
        missing.extend(why.map(|why| json!({"server": report.name, "reason": why})));
    }
    // With `--no-prefix`, of two tools with one name the first is served.
    let catalog = manager.catalog();
    let (mut names, mut hidden) = (BTreeSet::new(), BTreeMap::<&str, Vec<&str>>::new());
    for entry in catalog.enabled_tools() {
        if !names.insert(entry.name()) {
            let server = entry.server().as_str();
            hidden.entry(server).or_default().push(entry.name());
        }
    }
    missing.extend(hidden.iter().map(|(server, tools)| {
        let shown: Vec<&str> = tools.iter().copied().take(SHOWN).collect();
        let more = if tools.len() > SHOWN { ", …" } else { "" };
        let reason = format!(
            "with --no-prefix, {} of its tools: an earlier server has tools of their names ({}{more})",
            tools.len(),
            shown.join(", "),
        );
        json!({"server": server, "reason": reason})
    }));
    missing
}

fn shown(missing: &[Value]) -> String {
    let lines = missing.iter().map(|it| {
        let text = |name: &str| it[name].as_str().unwrap_or_default();
        let line = format!("{}: {}", text("server"), text("reason"));
        format!("\n  - {}", untrusted::line(&line))
    });
    let lines: String = lines.collect();
    match lines.is_empty() {
        true => lines,
        false => format!("\n\nNot served by `switchboard gateway`:{lines}"),
    }
}

fn text(report: &Examination, out: &Out) -> String {
    let state = match (&report.seen, report.is_well()) {
        (Some(_), true) => out.paint(Style::Good, "well"),
        (Some(_), false) => out.paint(Style::Bold, "works, with remarks"),
        (None, _) => out.paint(Style::Bad, "does not work"),
    };
    let mut text = format!("{}: {state}", untrusted::line(&report.name));
    if let Some(seen) = &report.seen {
        let itself = seen.calls_itself.as_deref().unwrap_or("no name of its own");
        text.push_str(&format!(
            "\n  {}\n  {}, protocol {}, ready in {} ms\n  {} (about {}), {}, {}",
            untrusted::line(&seen.endpoint),
            untrusted::line(itself),
            seen.revision.unwrap_or("unknown"),
            seen.took.as_millis(),
            count(seen.tools, "tool"),
            count(seen.tokens, "token"),
            count(seen.prompts, "prompt"),
            count(seen.resources, "resource"),
        ));
    }
    for finding in &report.findings {
        let message = untrusted::text(&finding.message).replace('\n', "\n    ");
        text.push_str(&format!("\n  - {}", out.paint(Style::Bad, &message)));
        text.push_str(&format!("\n    {}", untrusted::text(&finding.advice)));
    }
    text
}
