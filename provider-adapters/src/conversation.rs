//! A conversation that every provider accepts.

pub(crate) mod arguments;
pub(crate) mod call_id;
pub(crate) mod history;
pub(crate) mod media;
pub(crate) mod native;
pub(crate) mod part;
pub(crate) mod tool_call;
pub(crate) mod tool_result;
pub(crate) mod turn;

use serde::{Deserialize, Serialize};

use crate::conversation::part::UserPart;
use crate::conversation::turn::{AssistantTurn, SystemTurn, Turn, UserTurn};

/// A conversation: instructions and turns.
///
/// Every tool call in it has its result, because an [`AssistantTurn`] cannot be built otherwise. Pass a history from
/// elsewhere, which may be less consistent, through [`History`](crate::History) first.
///
/// ```
/// use provider_adapters::{AssistantTurn, Conversation};
///
/// let mut conversation = Conversation::new().with_system("Be brief.");
/// conversation.ask("What day was yesterday?");
/// conversation.push(AssistantTurn::from_text("Sunday."));
/// assert_eq!(conversation.turns().len(), 2);
/// ```
///
#[doc = include_str!("../NEUTRAL.md")]
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub struct Conversation {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    system: Option<String>,
    turns: Vec<Turn>,
}

impl Conversation {
    /// Creates an empty conversation.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the instructions for the model.
    #[must_use]
    pub fn with_system(mut self, text: impl Into<String>) -> Self {
        self.system = Some(text.into());
        self
    }

    /// Appends a turn.
    pub fn push(&mut self, turn: impl Into<Turn>) {
        self.turns.push(turn.into());
    }

    /// Appends a user turn of plain text.
    pub fn ask(&mut self, text: impl Into<String>) {
        self.push(UserTurn {
            parts: vec![UserPart::text(text)],
        });
    }

    /// The instructions.
    pub fn system(&self) -> Option<&str> {
        self.system.as_deref()
    }

    /// The turns, oldest first.
    pub fn turns(&self) -> &[Turn] {
        &self.turns
    }

    /// Removes all turns but the first `len`.
    pub fn truncate(&mut self, len: usize) {
        self.turns.truncate(len);
    }
}

impl From<SystemTurn> for Turn {
    fn from(turn: SystemTurn) -> Self {
        Self::System(turn)
    }
}

impl From<UserTurn> for Turn {
    fn from(turn: UserTurn) -> Self {
        Self::User(turn)
    }
}

impl From<AssistantTurn> for Turn {
    fn from(turn: AssistantTurn) -> Self {
        Self::Assistant(turn)
    }
}

impl SystemTurn {
    /// Creates an instruction.
    pub fn new(text: impl Into<String>) -> Self {
        Self { text: text.into() }
    }
}

impl UserTurn {
    /// Creates a turn of these parts.
    pub fn new(parts: Vec<UserPart>) -> Self {
        Self { parts }
    }
}
