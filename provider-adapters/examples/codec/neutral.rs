//! The neutral JSON of a request; `NEUTRAL.md` has an example of every part.

use mcp_jsonrpc::RawJson;
use provider_adapters::{Adapter, Cache, Conversation, Options, Request, ToolChoice, ToolSpec};
use serde::Deserialize;
use serde_json::Value;

#[derive(Deserialize)]
struct Neutral {
    model: String,
    #[serde(default)]
    system: Option<String>,
    turns: RawJson,
    #[serde(default)]
    tools: Vec<ToolSpec>,
    #[serde(default)]
    tool_choice: ToolChoice,
    #[serde(default)]
    options: Options,
    #[serde(default)]
    output_schema: Option<Value>,
    #[serde(default)]
    cache: Cache,
    #[serde(default)]
    stream: bool,
}

/// Reads a request and compiles its tools for the adapter.
pub(crate) fn read(json: &[u8], adapter: &dyn Adapter) -> Result<Request, serde_json::Error> {
    let neutral: Neutral = serde_json::from_slice(json)?;
    let turns = format!("{{\"turns\":{}}}", neutral.turns);
    let mut conversation: Conversation = serde_json::from_str(&turns)?;
    if let Some(system) = neutral.system {
        conversation = conversation.with_system(system);
    }
    let tools = adapter.tools_for(&neutral.model, &neutral.tools);
    let request = Request::new(neutral.model, conversation)
        .with_tools(tools)
        .with_choice(neutral.tool_choice)
        .with_options(neutral.options)
        .with_cache(neutral.cache)
        .with_stream(neutral.stream);
    Ok(match neutral.output_schema {
        Some(schema) => request.with_output_schema(schema),
        None => request,
    })
}
