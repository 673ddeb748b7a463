//! An estimate of the number of tokens of turns.

use mcp_jsonrpc::model::ContentBlock;
use provider_adapters::{AssistantPart, ToolResult, Turn, UserPart};
use tool_schema::estimate_tokens;

/// An image, a sound or a file, whatever it holds.
const MEDIA: usize = 1_500;
/// What surrounds each turn, call and result on the wire.
const FRAME: usize = 6;

/// About how many tokens of a request a turn costs.
pub(crate) fn of(turn: &Turn) -> u64 {
    let tokens = match turn {
        Turn::System(turn) => estimate_tokens(&turn.text),
        Turn::User(turn) => turn.parts.iter().map(user_part).sum(),
        Turn::Assistant(turn) => {
            let parts: usize = turn.parts().iter().map(assistant_part).sum();
            let results: usize = turn.results().iter().map(result).sum();
            parts + results
        }
        _ => 0,
    };
    (tokens + FRAME) as u64
}

/// About how many tokens of a request these turns cost.
pub(crate) fn of_all(turns: &[Turn]) -> u64 {
    turns.iter().map(of).sum()
}

fn user_part(part: &UserPart) -> usize {
    match part {
        UserPart::Text { text } => estimate_tokens(text),
        _ => MEDIA,
    }
}

fn assistant_part(part: &AssistantPart) -> usize {
    match part {
        AssistantPart::Text { text }
        | AssistantPart::Reasoning { text }
        | AssistantPart::Refusal { text } => estimate_tokens(text),
        AssistantPart::ToolCall(call) => {
            FRAME + estimate_tokens(&call.name) + estimate_tokens(call.arguments.text())
        }
        _ => MEDIA,
    }
}

/// About how many tokens a result costs.
pub(crate) fn result(result: &ToolResult) -> usize {
    let structured = result.structured.as_ref();
    let structured = structured.filter(|_| result.content.is_empty());
    let content: usize = result.content.iter().map(block).sum();
    FRAME + content + structured.map_or(0, |json| estimate_tokens(json.get()))
}

fn block(block: &ContentBlock) -> usize {
    match block {
        ContentBlock::Text(content) => estimate_tokens(&content.text),
        ContentBlock::Resource(content) => match &content.resource.text {
            Some(text) => estimate_tokens(text),
            None => MEDIA,
        },
        ContentBlock::ResourceLink(_) => 50,
        _ => MEDIA,
    }
}
