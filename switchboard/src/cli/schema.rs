//! `switchboard schema`: a server's tools as a provider's models will see them.

use clap::Args;
use mcp_manager::NoopElicitation;
use serde_json::{Value, json};

use crate::cli::Global;
use crate::display::out::{Out, Style};
use crate::display::untrusted;
use crate::exit::{Exit, Failure};
use crate::models::Audience;
use crate::servers::{AdHoc, Connection};

/// Shows exactly what a provider is sent for a server's tools, and what gets lost on the way.
#[derive(Args, Debug)]
pub(crate) struct Schema {
    /// A server: its name, its URL, or `demo`
    #[arg(value_name = "SERVER")]
    server: Option<String>,
    /// Whose models will see them
    #[arg(long = "for", value_enum, value_name = "PROVIDER")]
    provider: Audience,
    /// This tool only
    #[arg(long, value_name = "NAME")]
    tool: Option<String>,
    #[command(flatten)]
    ad_hoc: AdHoc,
}

impl Schema {
    pub(crate) async fn run(self, global: &Global, out: &Out) -> Result<Exit, Failure> {
        let server = self.server.as_deref();
        if server.is_none() && !self.ad_hoc.has_command() {
            return Err(Failure::new(Exit::Other, "a server is needed"));
        }
        let work = async |connection: &Connection| {
            let server = connection.only()?;
            let catalog = connection.catalog();
            let wanted = |name: &str| self.tool.as_deref().is_none_or(|tool| tool == name);
            let entries: Vec<_> = catalog
                .enabled_tools()
                .filter(|entry| entry.server() == &server.name && wanted(entry.name()))
                .cloned()
                .collect();
            if let (Some(tool), true) = (&self.tool, entries.is_empty()) {
                let text = format!("server {:?} offers no tool {tool:?}", server.name.as_str());
                return Err(Failure::new(Exit::Other, text));
            }
            let view = self.provider.view(&entries);
            let left_out = view.left_out.iter();
            let left_out: Vec<Value> = left_out
                .map(|(tool, reason)| json!({"tool": tool, "reason": reason}))
                .collect();
            let definitions = format!("{:#}", view.definitions);
            let mut text = untrusted::text(&definitions).into_owned();
            for (tool, reason) in &view.left_out {
                let line = format!("{tool} is left out: {reason}");
                let line = out.paint(Style::Bad, &untrusted::line(&line));
                text.push_str(&format!("\n{line}"));
            }
            for loss in &view.losses {
                let part = |name: &str| loss.get(name).and_then(Value::as_str).unwrap_or_default();
                let lossy = match loss.get("lossy") {
                    Some(Value::Bool(true)) => "",
                    _ => ", nothing lost",
                };
                let line = format!(
                    "{} #{}: {} {}{lossy}",
                    part("tool"),
                    part("pointer"),
                    part("keyword"),
                    part("action")
                );
                text.push_str(&format!("\n{}", untrusted::line(&line)));
            }
            let value = json!({
                "server": server.name,
                "for": view.wire,
                "tools": view.definitions,
                "losses": view.losses,
                "left_out": left_out,
            });
            out.result(&value, text);
            Ok(Exit::Done)
        };
        Connection::with(global, server, &self.ad_hoc, NoopElicitation, work).await
    }
}
