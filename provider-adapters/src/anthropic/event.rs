//! The shapes of an Anthropic reply, streamed or whole, as far as they matter.

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::json_text::count;
use crate::text_piece::TextPiece;
use crate::usage::Usage;

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

impl From<MessageUsage> for Usage {
    fn from(usage: MessageUsage) -> Self {
        Self {
            input: usage.input_tokens,
            output: usage.output_tokens,
            total: None,
            reasoning: usage
                .output_tokens_details
                .and_then(|details| details.thinking_tokens),
            cache_read: usage.cache_read_input_tokens,
            cache_write: usage.cache_creation_input_tokens,
        }
    }
}
