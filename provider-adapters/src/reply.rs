//! A whole reply.

use serde::{Deserialize, Serialize};

use crate::native::Native;
use crate::part::AssistantPart;
use crate::provider_error::ProviderError;
use crate::stop::{Stop, StopReason};
use crate::tool_call::ToolCall;
use crate::tool_result::ToolResult;
use crate::turn::{AssistantTurn, Unpaired, calls};
use crate::usage::Usage;

/// Everything a model answered to one request.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[serde(default)]
#[non_exhaustive]
pub struct Reply {
    /// What it said, in order.
    pub parts: Vec<AssistantPart>,
    /// The same in the provider's own words, for the provider alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub native: Option<Native>,
    /// Why it stopped; nothing if it never got so far.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stop: Option<Stop>,
    /// What it cost.
    #[serde(skip_serializing_if = "Usage::is_empty")]
    pub usage: Usage,
    /// What went wrong. The parts then are what came before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<ProviderError>,
    /// What was odd and was put right.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<Note>,
}

/// Something odd in a reply that was put right.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case", tag = "note")]
#[non_exhaustive]
pub enum Note {
    /// A call's arguments were a JSON string with the object in it.
    ArgumentsEncodedTwice {
        /// The tool.
        name: String,
    },
    /// Two calls had the same id; the later one got another.
    IdTwice {
        /// The id they shared.
        id: String,
    },
    /// A call in the text had no end: it was left as text.
    UnclosedCall,
}

impl Reply {
    /// The text, joined.
    pub fn text(&self) -> String {
        let text = |part: &AssistantPart| match part {
            AssistantPart::Text { text } => Some(text.clone()),
            _ => None,
        };
        self.parts.iter().filter_map(text).collect()
    }

    /// The tool calls, in order, with those that must not be executed.
    pub fn calls(&self) -> impl Iterator<Item = &ToolCall> {
        calls(&self.parts)
    }

    /// Why it stopped.
    pub fn stop_reason(&self) -> Option<StopReason> {
        self.stop.as_ref().map(|stop| stop.reason)
    }

    /// The turn this reply becomes once its calls have results. Of a reply that failed, the
    /// provider's own words are dropped: half of them is worse than nothing.
    pub fn into_turn(self, results: Vec<ToolResult>) -> Result<AssistantTurn, Unpaired> {
        let native = self.native.filter(|_| self.error.is_none());
        AssistantTurn::build(self.parts, results, native)
    }
}
