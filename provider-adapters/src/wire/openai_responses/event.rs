//! The types of a Responses reply, streamed or whole, as far as they are used.

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::adapter::text_piece::TextPiece;
use crate::json::text::{count, parse};
use crate::reply::usage::{Details, Usage};

/// One event of a stream. The big ones stay raw until they are known to matter.
#[derive(Debug, Deserialize)]
#[serde(bound(deserialize = "D: Deserialize<'de>"))]
pub(crate) struct StreamEvent<'a, D = TextPiece<'a>> {
    #[serde(borrow, rename = "type", default)]
    pub(crate) kind: TextPiece<'a>,
    #[serde(default)]
    pub(crate) output_index: u64,
    #[serde(default)]
    pub(crate) content_index: u64,
    #[serde(default)]
    pub(crate) summary_index: u64,
    #[serde(default = "Option::default")]
    pub(crate) delta: Option<D>,
    #[serde(borrow, default)]
    pub(crate) arguments: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(crate) item: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(crate) response: Option<&'a RawValue>,
}

impl<'a> StreamEvent<'a> {
    /// Reads an event. In one that does not matter, a delta may be anything.
    pub(crate) fn read(data: &'a [u8]) -> Result<Self, serde_json::Error> {
        parse(data).or_else(|_| {
            let odd: StreamEvent<'a, &'a RawValue> = parse(data)?;
            Ok(Self {
                kind: odd.kind,
                output_index: odd.output_index,
                content_index: odd.content_index,
                summary_index: odd.summary_index,
                delta: odd
                    .delta
                    .and_then(|raw| serde_json::from_str(raw.get()).ok()),
                arguments: odd.arguments,
                item: odd.item,
                response: odd.response,
            })
        })
    }
}

/// An output item.
#[derive(Debug, Deserialize)]
pub(crate) struct Item<'a> {
    #[serde(borrow, rename = "type", default)]
    pub(crate) kind: TextPiece<'a>,
    #[serde(borrow, default)]
    pub(crate) call_id: Option<TextPiece<'a>>,
    #[serde(borrow, default)]
    pub(crate) name: Option<TextPiece<'a>>,
    #[serde(borrow, default)]
    pub(crate) arguments: Option<TextPiece<'a>>,
    #[serde(borrow, default)]
    pub(crate) status: Option<TextPiece<'a>>,
    #[serde(borrow, default)]
    pub(crate) content: Option<Vec<ItemPart<'a>>>,
    #[serde(borrow, default)]
    pub(crate) summary: Option<Vec<ItemPart<'a>>>,
    /// A generated image, in base64.
    #[serde(borrow, default)]
    pub(crate) result: Option<TextPiece<'a>>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct ItemPart<'a> {
    #[serde(borrow, default)]
    pub(crate) text: Option<TextPiece<'a>>,
    #[serde(borrow, default)]
    pub(crate) refusal: Option<TextPiece<'a>>,
}

/// A whole response.
#[derive(Debug, Deserialize)]
pub(crate) struct Response<'a> {
    #[serde(borrow, default)]
    pub(crate) status: Option<TextPiece<'a>>,
    #[serde(borrow, default)]
    pub(crate) error: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(crate) incomplete_details: Option<Incomplete<'a>>,
    #[serde(borrow, default)]
    pub(crate) output: Option<Vec<&'a RawValue>>,
    #[serde(default)]
    pub(crate) usage: Option<ResponseUsage>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Incomplete<'a> {
    #[serde(borrow, default)]
    pub(crate) reason: Option<TextPiece<'a>>,
}

#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct ResponseUsage {
    #[serde(deserialize_with = "count")]
    input_tokens: Option<u64>,
    #[serde(deserialize_with = "count")]
    output_tokens: Option<u64>,
    input_tokens_details: Option<Details>,
    output_tokens_details: Option<Details>,
}

impl From<ResponseUsage> for Usage {
    fn from(usage: ResponseUsage) -> Self {
        let input = usage.input_tokens_details.unwrap_or_default();
        let output = usage.output_tokens_details.unwrap_or_default();
        Self {
            input: usage.input_tokens,
            output: usage.output_tokens,
            reasoning: output.reasoning_tokens,
            cache_read: input.cached_tokens,
            cache_write: input.cache_write_tokens,
        }
    }
}
