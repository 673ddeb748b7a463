//! The types of an Anthropic reply, streamed or whole, as far as they are used.

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::adapter::text_piece::TextPiece;
use crate::json::text::count;
use crate::reply::usage::{Usage, sum};

/// One event of a stream.
#[derive(Debug, Deserialize)]
pub(crate) struct StreamEvent<'a> {
    #[serde(borrow, rename = "type", default)]
    pub(crate) kind: TextPiece<'a>,
    #[serde(default)]
    pub(crate) index: u64,
    #[serde(borrow, default)]
    pub(crate) message: Option<Box<Message<'a>>>,
    #[serde(borrow, default)]
    pub(crate) content_block: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(crate) delta: Option<Delta<'a>>,
    #[serde(default)]
    pub(crate) usage: Option<Box<MessageUsage>>,
}

/// What is new in a block, or in the message. What comes once stands in a box, so that the many
/// small ones stay small.
#[derive(Debug, Deserialize)]
pub(crate) struct Delta<'a> {
    #[serde(borrow, rename = "type", default)]
    pub(crate) kind: TextPiece<'a>,
    #[serde(borrow, default)]
    pub(crate) text: Option<TextPiece<'a>>,
    #[serde(borrow, default)]
    pub(crate) partial_json: Option<TextPiece<'a>>,
    #[serde(borrow, default)]
    pub(crate) thinking: Option<TextPiece<'a>>,
    #[serde(borrow, default)]
    pub(crate) signature: Option<Box<TextPiece<'a>>>,
    #[serde(borrow, default)]
    pub(crate) citation: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(crate) stop_reason: Option<Box<TextPiece<'a>>>,
}

/// A whole message, or the empty one at the start of a stream.
#[derive(Debug, Deserialize)]
pub(crate) struct Message<'a> {
    #[serde(borrow, default)]
    pub(crate) content: Option<Vec<&'a RawValue>>,
    #[serde(borrow, default)]
    pub(crate) stop_reason: Option<TextPiece<'a>>,
    #[serde(default)]
    pub(crate) usage: Option<MessageUsage>,
}

/// A content block.
#[derive(Debug, Deserialize)]
pub(crate) struct Block<'a> {
    #[serde(borrow, rename = "type", default)]
    pub(crate) kind: TextPiece<'a>,
    #[serde(borrow, default)]
    pub(crate) text: Option<TextPiece<'a>>,
    #[serde(borrow, default)]
    pub(crate) thinking: Option<TextPiece<'a>>,
    #[serde(borrow, default)]
    pub(crate) id: Option<TextPiece<'a>>,
    #[serde(borrow, default)]
    pub(crate) name: Option<TextPiece<'a>>,
}

#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct MessageUsage {
    #[serde(deserialize_with = "count")]
    input_tokens: Option<u64>,
    #[serde(deserialize_with = "count")]
    output_tokens: Option<u64>,
    #[serde(deserialize_with = "count")]
    cache_read_input_tokens: Option<u64>,
    #[serde(deserialize_with = "count")]
    cache_creation_input_tokens: Option<u64>,
    output_tokens_details: Option<Details>,
}

#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(default)]
struct Details {
    #[serde(deserialize_with = "count")]
    thinking_tokens: Option<u64>,
}

impl MessageUsage {
    /// Takes over what `newer` reports and keeps the rest: a stream reports usage in parts.
    pub(crate) fn update(&mut self, newer: Self) {
        self.input_tokens = newer.input_tokens.or(self.input_tokens);
        self.output_tokens = newer.output_tokens.or(self.output_tokens);
        self.cache_read_input_tokens = newer
            .cache_read_input_tokens
            .or(self.cache_read_input_tokens);
        self.cache_creation_input_tokens = newer
            .cache_creation_input_tokens
            .or(self.cache_creation_input_tokens);
        self.output_tokens_details = newer.output_tokens_details.or(self.output_tokens_details);
    }
}

impl From<MessageUsage> for Usage {
    /// Anthropic counts cached tokens apart from the input.
    fn from(usage: MessageUsage) -> Self {
        let (read, write) = (
            usage.cache_read_input_tokens,
            usage.cache_creation_input_tokens,
        );
        Self {
            input: sum(usage.input_tokens, sum(read, write)),
            output: usage.output_tokens,
            reasoning: usage
                .output_tokens_details
                .and_then(|details| details.thinking_tokens),
            cache_read: read,
            cache_write: write,
        }
    }
}
