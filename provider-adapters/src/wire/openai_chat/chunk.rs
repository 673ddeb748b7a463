//! The type of a Chat Completions reply, streamed or whole, as far as it is used.

use std::borrow::Cow;
use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, Error, SeqAccess, Visitor};
use serde_json::value::RawValue;

use crate::adapter::text_piece::TextPiece;
use crate::json::text::count;
use crate::reply::usage::{Details, Usage};

/// One event of a stream, or a whole reply.
#[derive(Debug, Deserialize)]
pub(crate) struct Chunk<'a> {
    #[serde(borrow, default)]
    pub(crate) choices: Option<Vec<Choice<'a>>>,
    #[serde(default)]
    pub(crate) usage: Option<ChatUsage>,
    #[serde(default)]
    pub(crate) x_groq: Option<Groq>,
    #[serde(borrow, default)]
    pub(crate) error: Option<&'a RawValue>,
}

/// Groq puts the usage of a stream here.
#[derive(Debug, Deserialize)]
pub(crate) struct Groq {
    #[serde(default)]
    pub(crate) usage: Option<ChatUsage>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Choice<'a> {
    #[serde(default)]
    pub(crate) index: Option<i64>,
    #[serde(borrow, default)]
    pub(crate) delta: Option<Delta<'a>>,
    #[serde(borrow, default)]
    pub(crate) message: Option<Delta<'a>>,
    #[serde(borrow, default)]
    pub(crate) finish_reason: Option<TextPiece<'a>>,
}

/// What is new in an event; in a whole reply, the message.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct Delta<'a> {
    #[serde(borrow, default)]
    pub(crate) content: Option<Content<'a>>,
    #[serde(borrow, default)]
    pub(crate) refusal: Option<TextPiece<'a>>,
    #[serde(borrow, default)]
    pub(crate) reasoning_content: Option<TextPiece<'a>>,
    #[serde(borrow, default)]
    pub(crate) reasoning: Option<TextPiece<'a>>,
    #[serde(borrow, default)]
    pub(crate) reasoning_details: Option<Vec<&'a RawValue>>,
    #[serde(borrow, default)]
    pub(crate) tool_calls: Option<Vec<Call<'a>>>,
    /// The form before there were several calls.
    #[serde(borrow, default)]
    pub(crate) function_call: Option<Function<'a>>,
}

#[derive(Debug, Default, Deserialize)]
pub(crate) struct Call<'a> {
    #[serde(default)]
    pub(crate) index: Option<i64>,
    #[serde(borrow, default)]
    pub(crate) id: Option<TextPiece<'a>>,
    #[serde(borrow, default)]
    pub(crate) function: Option<Function<'a>>,
    /// Where Gemini's compatible server keeps its signatures.
    #[serde(borrow, default)]
    pub(crate) extra_content: Option<&'a RawValue>,
}

#[derive(Debug, Default, Deserialize)]
pub(crate) struct Function<'a> {
    #[serde(borrow, default)]
    pub(crate) name: Option<TextPiece<'a>>,
    #[serde(borrow, default)]
    pub(crate) arguments: Option<&'a RawValue>,
}

/// Text, or a list of parts with text and thoughts in them.
#[derive(Debug, Default)]
pub(crate) struct Content<'a> {
    pub(crate) text: TextPiece<'a>,
    pub(crate) thought: TextPiece<'a>,
}

impl<'de: 'a, 'a> Deserialize<'de> for Content<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        // serde_json hands lists to visitors of bytes, too.
        deserializer.deserialize_bytes(ContentVisitor)
    }
}

struct ContentVisitor;

impl<'de> Visitor<'de> for ContentVisitor {
    type Value = Content<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string or a list of parts")
    }

    fn visit_borrowed_bytes<E: Error>(self, bytes: &'de [u8]) -> Result<Content<'de>, E> {
        Ok(Content {
            text: TextPiece::from_bytes(Cow::Borrowed(bytes)),
            ..Content::default()
        })
    }

    fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<Content<'de>, E> {
        Ok(Content {
            text: TextPiece::from_bytes(Cow::Owned(bytes.to_owned())),
            ..Content::default()
        })
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut parts: A) -> Result<Content<'de>, A::Error> {
        #[derive(Deserialize)]
        struct Part<'a> {
            #[serde(borrow, default)]
            text: Option<TextPiece<'a>>,
            #[serde(borrow, default)]
            thinking: Option<Content<'a>>,
        }
        let mut content = Content::default();
        while let Some(part) = parts.next_element::<Part<'de>>()? {
            if let Some(text) = part.text {
                content.text.extend(&text);
            }
            if let Some(thinking) = part.thinking {
                content.thought.extend(&thinking.text);
            }
        }
        Ok(content)
    }
}

#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct ChatUsage {
    #[serde(deserialize_with = "count")]
    prompt_tokens: Option<u64>,
    #[serde(deserialize_with = "count")]
    completion_tokens: Option<u64>,
    /// DeepSeek's word for cached tokens.
    #[serde(deserialize_with = "count")]
    prompt_cache_hit_tokens: Option<u64>,
    prompt_tokens_details: Option<Details>,
    completion_tokens_details: Option<Details>,
}

impl From<ChatUsage> for Usage {
    fn from(usage: ChatUsage) -> Self {
        let prompt = usage.prompt_tokens_details.unwrap_or_default();
        let completion = usage.completion_tokens_details.unwrap_or_default();
        Self {
            input: usage.prompt_tokens,
            output: usage.completion_tokens,
            reasoning: completion.reasoning_tokens,
            cache_read: prompt.cached_tokens.or(usage.prompt_cache_hit_tokens),
            cache_write: prompt.cache_write_tokens,
        }
    }
}
