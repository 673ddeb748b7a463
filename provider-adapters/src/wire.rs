//! The wires: the APIs of requests and replies.

pub(crate) mod anthropic;
#[cfg(feature = "bedrock")]
pub(crate) mod bedrock;
pub(crate) mod gemini;
pub(crate) mod openai_chat;
pub(crate) mod openai_responses;
pub(crate) mod prompt;
pub(crate) mod vertex;

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// An API of a model provider.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Wire {
    /// OpenAI Chat Completions, and the many servers compatible with it.
    #[serde(rename = "openai-chat")]
    OpenAiChat,
    /// OpenAI Responses.
    #[serde(rename = "openai-responses")]
    OpenAiResponses,
    /// Anthropic Messages.
    Anthropic,
    /// Gemini `generateContent`, Developer API.
    Gemini,
    /// Gemini `generateContent`, Vertex AI.
    Vertex,
    /// Tool calls as text, for models without native tools.
    Prompt,
    /// Amazon Bedrock's Converse.
    Bedrock,
    /// A wire of an [`Adapter`](crate::Adapter) outside this crate. Several such wires are distinguished by
    /// [`Native::dialect`](crate::Native::dialect).
    Custom,
}

impl Wire {
    /// Every wire of this crate that needs no feature: all but [`Bedrock`](Self::Bedrock).
    pub const ALL: [Self; 6] = [
        Self::OpenAiChat,
        Self::OpenAiResponses,
        Self::Anthropic,
        Self::Gemini,
        Self::Vertex,
        Self::Prompt,
    ];

    /// The wires of this build.
    fn built() -> impl Iterator<Item = Self> {
        let bedrock = cfg!(feature = "bedrock").then_some(Self::Bedrock);
        Self::ALL.into_iter().chain(bedrock)
    }

    /// The wire's name, such as `openai-chat`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::OpenAiChat => "openai-chat",
            Self::OpenAiResponses => "openai-responses",
            Self::Anthropic => "anthropic",
            Self::Gemini => "gemini",
            Self::Vertex => "vertex",
            Self::Prompt => "prompt",
            Self::Bedrock => "bedrock",
            Self::Custom => "custom",
        }
    }
}

impl fmt::Display for Wire {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Wire {
    type Err = UnknownWire;

    fn from_str(name: &str) -> Result<Self, UnknownWire> {
        Self::built()
            .find(|wire| wire.as_str() == name)
            .ok_or_else(|| UnknownWire {
                name: name.to_owned(),
            })
    }
}

/// `text` as one segment of a path, or one value of a query.
pub(crate) fn segment(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-_.~@".contains(&byte) {
            out.push(char::from(byte));
        } else {
            out.push_str(&format!("%{byte:02X}"));
        }
    }
    out
}

/// The error for a name that is no wire's.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct UnknownWire {
    name: String,
}

impl fmt::Display for UnknownWire {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "no wire is called {:?}; there are", self.name)?;
        Wire::built().try_for_each(|wire| write!(f, " {wire}"))
    }
}

impl std::error::Error for UnknownWire {}
