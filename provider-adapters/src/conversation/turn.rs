//! Turns: system, user and assistant.

use std::collections::BTreeMap;
use std::fmt;

use mcp_jsonrpc::RawJson;
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};

use crate::conversation::call_id::CallId;
use crate::conversation::native::Native;
use crate::conversation::part::{AssistantPart, UserPart, tag};
use crate::conversation::tool_call::ToolCall;
use crate::conversation::tool_result::ToolResult;

/// One turn of a conversation.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case", tag = "role")]
#[non_exhaustive]
pub enum Turn {
    /// An instruction given in the middle of the conversation.
    System(SystemTurn),
    /// A user's message.
    User(UserTurn),
    /// The model's reply, with the results of its tool calls.
    Assistant(AssistantTurn),
}

/// An instruction given in the middle of a conversation.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[non_exhaustive]
pub struct SystemTurn {
    /// The instruction.
    pub text: String,
}

/// A user's message.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[non_exhaustive]
pub struct UserTurn {
    /// The parts, in order.
    pub parts: Vec<UserPart>,
}

/// A model's reply, together with the result of every tool call in it.
///
/// Calls and results always match: a turn with a call without a result, or a result without a call, cannot be built.
///
/// ```
/// use provider_adapters::{Arguments, AssistantPart, AssistantTurn, ToolCall, ToolResult};
///
/// let call = ToolCall::new("call_1", "getTime", Arguments::empty());
/// let parts = vec![AssistantPart::from(call)];
/// assert!(AssistantTurn::new(parts.clone(), vec![]).is_err());
/// assert!(AssistantTurn::new(parts, vec![ToolResult::text("call_1", "noon")]).is_ok());
/// ```
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct AssistantTurn {
    parts: Vec<AssistantPart>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    results: Vec<ToolResult>,
    #[serde(skip_serializing_if = "Option::is_none")]
    native: Option<Native>,
}

impl AssistantTurn {
    /// Creates a turn of these parts; the results may be in any order.
    pub fn new(parts: Vec<AssistantPart>, results: Vec<ToolResult>) -> Result<Self, Unpaired> {
        Self::build(parts, results, None)
    }

    /// Creates a turn of one text.
    pub fn from_text(text: impl Into<String>) -> Self {
        Self {
            parts: vec![AssistantPart::text(text)],
            results: Vec::new(),
            native: None,
        }
    }

    pub(crate) fn build(
        parts: Vec<AssistantPart>,
        results: Vec<ToolResult>,
        native: Option<Native>,
    ) -> Result<Self, Unpaired> {
        let results = pair(&parts, results)?;
        Ok(Self {
            parts,
            results,
            native,
        })
    }

    /// The same turn with other results for its calls. The provider's own form, which contains no results, stays.
    pub fn with_results(self, results: Vec<ToolResult>) -> Result<Self, Unpaired> {
        Self::build(self.parts, results, self.native)
    }

    /// The parts, in order.
    pub fn parts(&self) -> &[AssistantPart] {
        &self.parts
    }

    /// The text parts, joined.
    pub fn text(&self) -> String {
        text(&self.parts)
    }

    /// The tool calls, in order.
    pub fn calls(&self) -> impl Iterator<Item = &ToolCall> {
        calls(&self.parts)
    }

    /// The results, in the order of their calls.
    pub fn results(&self) -> &[ToolResult] {
        &self.results
    }

    /// Every call with its result, in order.
    pub fn exchanges(&self) -> impl Iterator<Item = (&ToolCall, &ToolResult)> {
        self.calls().zip(&self.results)
    }

    /// The provider's own form of the turn, if it has one.
    pub fn native(&self) -> Option<&Native> {
        self.native.as_ref()
    }
}

/// The text among `parts`, joined.
pub(crate) fn text(parts: &[AssistantPart]) -> String {
    let text = |part: &AssistantPart| match part {
        AssistantPart::Text { text } => Some(text.clone()),
        _ => None,
    };
    parts.iter().filter_map(text).collect()
}

/// The tool calls among `parts`.
pub(crate) fn calls(parts: &[AssistantPart]) -> impl Iterator<Item = &ToolCall> {
    parts.iter().filter_map(|part| match part {
        AssistantPart::ToolCall(call) => Some(call),
        _ => None,
    })
}

/// The results in the order of their calls, if each call has one and each result has a call.
fn pair(parts: &[AssistantPart], results: Vec<ToolResult>) -> Result<Vec<ToolResult>, Unpaired> {
    let mut by_id = BTreeMap::new();
    for result in results {
        if let Some(twice) = by_id.insert(result.id.clone(), result) {
            return Err(Unpaired::ResultTwice(twice.id));
        }
    }
    let mut seen = BTreeMap::new();
    let mut paired = Vec::with_capacity(by_id.len());
    for call in calls(parts) {
        if seen.insert(&call.id, ()).is_some() {
            return Err(Unpaired::CallTwice(call.id.clone()));
        }
        match by_id.remove(&call.id) {
            Some(result) => paired.push(result),
            None => return Err(Unpaired::NoResult(call.id.clone())),
        }
    }
    match by_id.into_keys().next() {
        Some(id) => Err(Unpaired::NoCall(id)),
        None => Ok(paired),
    }
}

/// The error for calls and results that do not match.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Unpaired {
    /// This call has no result.
    NoResult(CallId),
    /// This result has no call.
    NoCall(CallId),
    /// Two calls have this id.
    CallTwice(CallId),
    /// Two results have this id.
    ResultTwice(CallId),
}

impl fmt::Display for Unpaired {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoResult(id) => write!(f, "the tool call {id:?} has no result"),
            Self::NoCall(id) => write!(f, "the tool result {id:?} has no call before it"),
            Self::CallTwice(id) => write!(f, "two tool calls of one turn have the id {id:?}"),
            Self::ResultTwice(id) => write!(f, "the tool call {id:?} has two results"),
        }
    }
}

impl std::error::Error for Unpaired {}

impl<'de> Deserialize<'de> for AssistantTurn {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        struct Loose {
            parts: Vec<AssistantPart>,
            #[serde(default)]
            results: Vec<ToolResult>,
            #[serde(default)]
            native: Option<Native>,
        }
        let loose = Loose::deserialize(deserializer)?;
        Self::build(loose.parts, loose.results, loose.native).map_err(D::Error::custom)
    }
}

impl<'de> Deserialize<'de> for Turn {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = RawJson::deserialize(deserializer)?;
        let role = tag(&raw, "role").map_err(D::Error::custom)?;
        let turn = match role.as_str() {
            "system" => raw.parse().map(Self::System),
            "user" => raw.parse().map(Self::User),
            "assistant" => raw.parse().map(Self::Assistant),
            _ => {
                return Err(D::Error::unknown_variant(
                    &role,
                    &["system", "user", "assistant"],
                ));
            }
        };
        turn.map_err(D::Error::custom)
    }
}
