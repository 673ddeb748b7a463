//! Tools as a provider's models will see them.

use std::sync::Arc;

use clap::ValueEnum;
use mcp_manager::Entry;
use provider_adapters::{
    Adapter, Anthropic, Gemini, OpenAiChat, OpenAiResponses, ToolSet, ToolSpec,
};
use serde::Deserialize;
use serde_json::{Value, json};

/// Whose models.
#[derive(Clone, Copy, Debug, Deserialize, ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Audience {
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

/// What a provider is sent for some tools.
#[derive(Debug)]
pub(crate) struct ToolView {
    /// The wire.
    pub(crate) wire: &'static str,
    /// The tools' definitions, to the letter.
    pub(crate) definitions: Value,
    /// What gets lost on the way.
    pub(crate) losses: Vec<Value>,
    /// Tools that cannot be described to it, by exposed name, with the reason.
    pub(crate) left_out: Vec<(String, String)>,
}

impl Audience {
    /// Everyone.
    pub(crate) const ALL: [Self; 5] = [
        Self::Openai,
        Self::OpenaiResponses,
        Self::Anthropic,
        Self::Gemini,
        Self::Vertex,
    ];

    /// The name, as it is written.
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Openai => "openai",
            Self::OpenaiResponses => "openai-responses",
            Self::Anthropic => "anthropic",
            Self::Gemini => "gemini",
            Self::Vertex => "vertex",
        }
    }

    fn adapter(self) -> Box<dyn Adapter> {
        match self {
            Self::Openai => Box::new(OpenAiChat::default()),
            Self::OpenaiResponses => Box::new(OpenAiResponses::default()),
            Self::Anthropic => Box::new(Anthropic::default()),
            Self::Gemini => Box::new(Gemini::developer()),
            Self::Vertex => Box::new(Gemini::vertex("project", "location")),
        }
    }

    /// What it is sent for these tools.
    pub(crate) fn view(self, entries: &[Arc<Entry>]) -> ToolView {
        let adapter = self.adapter();
        let tools = adapter.tools(&specs(entries));
        let definitions = adapter.definitions(&tools);
        let mut losses = Vec::new();
        for entry in entries {
            let schema: Value =
                serde_json::from_str(entry.input_schema().get()).unwrap_or_default();
            if let Ok(compiled) = tool_schema::compile(&schema, adapter.target()) {
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
        ToolView {
            wire: adapter.wire().as_str(),
            definitions: serde_json::from_str(definitions.get()).unwrap_or_default(),
            losses,
            left_out: left_out(&tools),
        }
    }

    /// Tools that cannot be described to it, by exposed name, with the reason.
    pub(crate) fn left_out(self, entries: &[Arc<Entry>]) -> Vec<(String, String)> {
        left_out(&self.adapter().tools(&specs(entries)))
    }
}

fn left_out(tools: &ToolSet) -> Vec<(String, String)> {
    let left_out = tools.left_out().iter();
    left_out
        .map(|it| (it.name.clone(), it.reason.clone()))
        .collect()
}

fn specs(entries: &[Arc<Entry>]) -> Vec<ToolSpec> {
    let spec = |entry: &Arc<Entry>| {
        let name = entry.exposed_name().as_str();
        let mut spec = ToolSpec::new(name, entry.input_schema().clone());
        spec.description = entry.description().map(str::to_owned);
        spec
    };
    entries.iter().map(spec).collect()
}
