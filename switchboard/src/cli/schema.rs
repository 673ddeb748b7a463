//! `switchboard schema`: a server's tools as a provider's models will see them.

use clap::{Args, ValueEnum};
use mcp_manager::NoopElicitation;
use provider_adapters::{Adapter, Anthropic, Gemini, OpenAiChat, OpenAiResponses, ToolSpec};
use serde_json::{Value, json};

use crate::chat::clean;
use crate::cli::Global;
use crate::cli::tools::schema;
use crate::exit::{Exit, Failure};
use crate::out::{Out, Style};
use crate::servers::{AdHoc, Link};

/// Shows exactly what a provider is sent for a server's tools, and what gets lost on the way.
#[derive(Args, Debug)]
pub(crate) struct Schema {
    /// A server: its name, its URL, or `demo`
    #[arg(value_name = "SERVER")]
    server: Option<String>,
    /// Whose models will see them
    #[arg(long = "for", value_enum, value_name = "PROVIDER")]
    provider: Provider,
    /// This tool only
    #[arg(long, value_name = "NAME")]
    tool: Option<String>,
    #[command(flatten)]
    ad_hoc: AdHoc,
}

/// Whose models.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum Provider {
    /// OpenAI, by Chat Completions
    #[value(alias = "openai-chat")]
    Openai,
    /// OpenAI, by Responses
    OpenaiResponses,
    /// Anthropic
    Anthropic,
    /// Gemini
    Gemini,
    /// Gemini, by Vertex AI
    Vertex,
}

impl Provider {
    fn adapter(self) -> Box<dyn Adapter> {
        match self {
            Self::Openai => Box::new(OpenAiChat::default()),
            Self::OpenaiResponses => Box::new(OpenAiResponses::default()),
            Self::Anthropic => Box::new(Anthropic::default()),
            Self::Gemini => Box::new(Gemini::developer()),
            Self::Vertex => Box::new(Gemini::vertex("project", "location")),
        }
    }
}

impl Schema {
    pub(crate) async fn run(self, global: &Global, out: &Out) -> Result<Exit, Failure> {
        let server = self.server.as_deref();
        if server.is_none() && !self.ad_hoc.has_command() {
            return Err(Failure::new(Exit::Other, "a server is needed"));
        }
        let adapter = self.provider.adapter();
        Link::with(
            global,
            server,
            &self.ad_hoc,
            NoopElicitation,
            async |link| {
                let server = link.only()?;
                let catalog = link.catalog();
                let wanted = |name: &str| self.tool.as_deref().is_none_or(|tool| tool == name);
                let entries: Vec<_> = catalog
                    .enabled_tools()
                    .filter(|entry| entry.server() == &server.name && wanted(entry.name()))
                    .collect();
                if let (Some(tool), true) = (&self.tool, entries.is_empty()) {
                    let text = format!("server {:?} offers no tool {tool:?}", server.name.as_str());
                    return Err(Failure::new(Exit::Other, text));
                }
                let specs: Vec<ToolSpec> = entries
                    .iter()
                    .map(|entry| {
                        let mut spec = ToolSpec::new(
                            entry.exposed_name().as_str(),
                            entry.input_schema().clone(),
                        );
                        spec.description = entry.description().map(str::to_owned);
                        spec
                    })
                    .collect();
                let tools = adapter.tools(&specs);
                let definitions = adapter.definitions(&tools);
                let definitions: Value =
                    serde_json::from_str(definitions.get()).unwrap_or_default();
                let mut losses = Vec::new();
                for entry in &entries {
                    if let Ok(compiled) = tool_schema::compile(&schema(entry), adapter.target()) {
                        losses.extend(compiled.losses.iter().map(|loss| {
                            json!({
                                "tool": entry.name(),
                                "pointer": loss.pointer,
                                "keyword": loss.keyword,
                                "action": loss.action.as_str(),
                                "lossy": loss.lossy,
                            })
                        }));
                    }
                }
                let left_out = tools.left_out().iter();
                let left_out = left_out.map(|it| json!({"tool": it.name, "reason": it.reason}));
                let left_out: Vec<Value> = left_out.collect();
                let mut text = format!("{definitions:#}");
                for out_of in tools.left_out() {
                    let line = format!("\n{} is left out: {}", out_of.name, out_of.reason);
                    text.push_str(&out.paint(Style::Bad, &line));
                }
                for loss in &losses {
                    let part =
                        |name: &str| loss.get(name).and_then(Value::as_str).unwrap_or_default();
                    let lossy = match loss.get("lossy") {
                        Some(Value::Bool(true)) => "",
                        _ => ", nothing lost",
                    };
                    text.push_str(&format!(
                        "\n{} #{}: {} {}{lossy}",
                        part("tool"),
                        part("pointer"),
                        part("keyword"),
                        part("action")
                    ));
                }
                let value = json!({
                    "server": server.name,
                    "for": adapter.wire().as_str(),
                    "tools": definitions,
                    "losses": losses,
                    "left_out": left_out,
                });
                out.result(&value, clean(&text));
                Ok(Exit::Done)
            },
        )
        .await
    }
}
