//! An estimate of the number of tokens of turns.

use mcp_jsonrpc::model::ContentBlock;
use provider_adapters::{AssistantPart, ToolResult, Turn, UserPart};
use serde::{Deserialize, Serialize};
use tool_schema::estimate_tokens;

/// An image, a sound or a file, whatever it holds.
const MEDIA: usize = 1_500;
/// What surrounds each turn, call and result on the wire.
const FRAME: usize = 6;

/// How many tokens a provider counts for each of our estimates, in thousandths: Base64, long files and reasoning that
/// cannot be read cost several times what they seem to, some languages less.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(transparent)]
pub(crate) struct Scale(u64);

impl Scale {
    const ONE: u64 = 1_000;
    /// A count that is further off says nothing of the turns: it is of the instructions and the tools.
    const MIN: u64 = Self::ONE / 2;
    const MAX: u64 = Self::ONE * 16;

    /// Of turns that were counted and estimated.
    pub(crate) fn new(counted: u64, estimated: u64) -> Self {
        let scale = u128::from(counted) * u128::from(Self::ONE) / u128::from(estimated.max(1));
        Self(u64::try_from(scale).map_or(Self::MAX, |scale| scale.clamp(Self::MIN, Self::MAX)))
    }

    /// About how many tokens the provider counts.
    pub(crate) fn counted(self, estimated: u64) -> u64 {
        estimated.saturating_mul(self.0) / Self::ONE
    }

    /// The estimate of this count of the provider.
    pub(crate) fn estimated(self, counted: u64) -> u64 {
        counted.saturating_mul(Self::ONE) / self.0.max(1)
    }

    /// About how many tokens of a request these turns cost.
    pub(crate) fn of_all(self, turns: &[Turn]) -> u64 {
        turns.iter().map(|turn| self.counted(of(turn))).sum()
    }
}

impl Default for Scale {
    fn default() -> Self {
        Self(Self::ONE)
    }
}

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
