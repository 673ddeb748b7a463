//! The types of a Gemini reply, as far as they are used.

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::adapter::text_piece::TextPiece;
use crate::json::text::count;
use crate::reply::usage::{Usage, sum};

/// One event of a stream, or a whole reply.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Chunk<'a> {
    #[serde(borrow, default)]
    pub(crate) candidates: Option<Vec<Candidate<'a>>>,
    #[serde(borrow, default)]
    pub(crate) prompt_feedback: Option<Feedback<'a>>,
    #[serde(default)]
    pub(crate) usage_metadata: Option<GeminiUsage>,
    #[serde(borrow, default)]
    pub(crate) error: Option<&'a RawValue>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Feedback<'a> {
    #[serde(borrow, default)]
    pub(crate) block_reason: Option<TextPiece<'a>>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Candidate<'a> {
    #[serde(borrow, default)]
    pub(crate) content: Option<Content<'a>>,
    #[serde(borrow, default)]
    pub(crate) finish_reason: Option<TextPiece<'a>>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Content<'a> {
    #[serde(borrow, default)]
    pub(crate) parts: Option<Vec<&'a RawValue>>,
}

/// A part: any of its fields may be there together.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Part<'a> {
    #[serde(borrow, default)]
    pub(crate) text: Option<TextPiece<'a>>,
    #[serde(default)]
    pub(crate) thought: Option<bool>,
    #[serde(borrow, default)]
    pub(crate) thought_signature: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(crate) function_call: Option<Call<'a>>,
    #[serde(borrow, default)]
    pub(crate) inline_data: Option<Blob<'a>>,
    #[serde(borrow, default)]
    pub(crate) file_data: Option<FileData<'a>>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Call<'a> {
    #[serde(borrow, default)]
    pub(crate) id: Option<TextPiece<'a>>,
    #[serde(borrow, default)]
    pub(crate) name: Option<TextPiece<'a>>,
    #[serde(borrow, default)]
    pub(crate) args: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(crate) partial_args: Option<Vec<PartialArg<'a>>>,
    #[serde(default)]
    pub(crate) will_continue: Option<bool>,
}

/// A piece of streamed arguments: a value, and where it goes.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PartialArg<'a> {
    #[serde(borrow, default)]
    pub(crate) json_path: TextPiece<'a>,
    #[serde(borrow, default)]
    pub(crate) string_value: Option<TextPiece<'a>>,
    #[serde(borrow, default)]
    pub(crate) number_value: Option<&'a RawValue>,
    #[serde(default)]
    pub(crate) bool_value: Option<bool>,
    #[serde(borrow, default)]
    pub(crate) null_value: Option<&'a RawValue>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Blob<'a> {
    #[serde(borrow, default)]
    pub(crate) mime_type: TextPiece<'a>,
    #[serde(borrow, default)]
    pub(crate) data: TextPiece<'a>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct FileData<'a> {
    #[serde(borrow, default)]
    pub(crate) mime_type: TextPiece<'a>,
    #[serde(borrow, default)]
    pub(crate) file_uri: TextPiece<'a>,
}

#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(crate) struct GeminiUsage {
    #[serde(deserialize_with = "count")]
    prompt_token_count: Option<u64>,
    #[serde(deserialize_with = "count")]
    candidates_token_count: Option<u64>,
    #[serde(deserialize_with = "count")]
    thoughts_token_count: Option<u64>,
    #[serde(deserialize_with = "count")]
    cached_content_token_count: Option<u64>,
}

impl From<GeminiUsage> for Usage {
    /// Gemini counts thoughts apart from the output.
    fn from(usage: GeminiUsage) -> Self {
        Self {
            input: usage.prompt_token_count,
            output: sum(usage.candidates_token_count, usage.thoughts_token_count),
            reasoning: usage.thoughts_token_count,
            cache_read: usage.cached_content_token_count,
            cache_write: None,
        }
    }
}
