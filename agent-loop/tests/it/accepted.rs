//! Whether every provider would accept a history.

use provider_adapters::{
    Adapter, Anthropic, Bedrock, Conversation, Gemini, OpenAiChat, OpenAiResponses, PromptMode,
    Request, ToolSet, messages_of,
};
use serde_json::Value;

use crate::pairing::check;

/// An adapter of each wire.
pub(crate) fn adapters() -> Vec<Box<dyn Adapter>> {
    vec![
        Box::new(OpenAiChat::default()),
        Box::new(OpenAiResponses::default()),
        Box::new(Anthropic::default()),
        Box::new(Gemini::developer()),
        Box::new(Bedrock::new("us-east-1")),
        Box::new(PromptMode::new(OpenAiChat::default())),
    ]
}

/// Whether every provider accepts the conversation's calls and results; else why not.
pub(crate) fn accepted(conversation: &Conversation) -> Result<(), String> {
    for adapter in adapters() {
        let request = Request::new("model", conversation.clone()).with_tools(ToolSet::default());
        let encoded = adapter
            .encode(&request)
            .map_err(|error| error.to_string())?;
        let messages: Vec<Value> = messages_of(&encoded.request)
            .iter()
            .map(|message| message.parse().unwrap())
            .collect();
        let wire = adapter.wire();
        check(wire, &messages).map_err(|problem| format!("{wire}: {problem}\n{messages:#?}"))?;
    }
    Ok(())
}
