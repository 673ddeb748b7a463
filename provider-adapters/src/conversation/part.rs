//! The parts of turns.

use mcp_jsonrpc::RawJson;
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};

use crate::conversation::media::Media;
use crate::conversation::tool_call::ToolCall;

/// A part of a user's message.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case", tag = "type")]
#[non_exhaustive]
pub enum UserPart {
    /// Text.
    Text {
        /// The text itself.
        text: String,
    },
    /// An image.
    Image(Media),
    /// Audio.
    Audio(Media),
    /// A file, such as a PDF.
    File(Media),
}

impl UserPart {
    /// Creates a part of text.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text { text: text.into() }
    }
}

/// A part of a model's reply.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case", tag = "type")]
#[non_exhaustive]
pub enum AssistantPart {
    /// Text.
    Text {
        /// The text itself.
        text: String,
    },
    /// The model's reasoning, as far as it is shown.
    Reasoning {
        /// The text itself.
        text: String,
    },
    /// The model's reason for declining.
    Refusal {
        /// The text itself.
        text: String,
    },
    /// A tool call.
    ToolCall(ToolCall),
    /// An image the model generated.
    Image(Media),
    /// Audio the model generated.
    Audio(Media),
    /// A file the model generated.
    File(Media),
}

impl AssistantPart {
    /// Creates a part of text.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text { text: text.into() }
    }

    /// Creates a part of reasoning.
    pub fn reasoning(text: impl Into<String>) -> Self {
        Self::Reasoning { text: text.into() }
    }
}

impl From<ToolCall> for AssistantPart {
    fn from(call: ToolCall) -> Self {
        Self::ToolCall(call)
    }
}

/// Arguments are kept as raw text, which serde's own tagged enums cannot carry, so the tag is read
/// first and the rest by it.
impl<'de> Deserialize<'de> for AssistantPart {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(rename_all = "snake_case", tag = "type")]
        enum Plain {
            Text { text: String },
            Reasoning { text: String },
            Refusal { text: String },
            Image(Media),
            Audio(Media),
            File(Media),
        }
        let raw = RawJson::deserialize(deserializer)?;
        if tag(&raw, "type").map_err(D::Error::custom)? == "tool_call" {
            return raw.parse().map(Self::ToolCall).map_err(D::Error::custom);
        }
        Ok(match raw.parse().map_err(D::Error::custom)? {
            Plain::Text { text } => Self::Text { text },
            Plain::Reasoning { text } => Self::Reasoning { text },
            Plain::Refusal { text } => Self::Refusal { text },
            Plain::Image(media) => Self::Image(media),
            Plain::Audio(media) => Self::Audio(media),
            Plain::File(media) => Self::File(media),
        })
    }
}

/// The string member `key` of the object `raw`.
pub(crate) fn tag(raw: &RawJson, key: &'static str) -> Result<String, serde_json::Error> {
    let members: mcp_jsonrpc::RawMap = raw.parse()?;
    let value = members
        .get(key)
        .ok_or_else(|| serde_json::Error::missing_field(key))?;
    value.parse()
}
