//! Conversations and their messages.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::store::id::{AssistantId, ConversationId, MessageId, UserId};
use crate::store::row::call::ToolCall;
use crate::store::timestamp::Timestamp;

/// A conversation.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Conversation {
    /// Its id.
    pub id: ConversationId,
    /// Whose it is.
    pub user_id: UserId,
    /// The assistant it is with, if any.
    pub assistant_id: Option<AssistantId>,
    /// What it is about.
    pub title: String,
    /// The conversation it was forked from.
    pub parent: Option<ConversationId>,
    /// What it was begun with: model, servers, approval mode.
    pub options: Value,
    /// When it was begun.
    pub created_at: Timestamp,
    /// When something was last said in it.
    pub updated_at: Timestamp,
}

impl Conversation {
    /// A conversation in which nothing was said.
    pub fn new(user: UserId, title: impl Into<String>) -> Self {
        let now = Timestamp::now();
        Self {
            id: ConversationId::fresh(),
            user_id: user,
            assistant_id: None,
            title: title.into(),
            parent: None,
            options: Value::Null,
            created_at: now,
            updated_at: now,
        }
    }
}

/// A message of a conversation. An answer is one message, whatever number of rounds and tool
/// calls it took.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Message {
    /// Its id.
    pub id: MessageId,
    /// Where it was said.
    pub conversation_id: ConversationId,
    /// Its number in the conversation, from 1.
    pub seq: u64,
    /// Who said it.
    pub role: Role,
    /// What is shown: the text.
    pub content: String,
    /// The tool calls made in it, in order.
    #[serde(default)]
    pub tool_calls: Vec<ToolCall>,
    /// The turns as the model needs them to go on, with thoughts, signatures and results: JSON,
    /// kept to the letter.
    pub provider_raw: Option<String>,
    /// How it ended, once it has.
    pub finish: Option<String>,
    /// When it was begun.
    pub created_at: Timestamp,
    /// The number of the message that it follows; 0 if it is the first one. Messages that follow the
    /// same one are versions of each other.
    #[serde(default)]
    pub follows: u64,
    /// Whether it is not shown, because another version of it is, or of one before it.
    #[serde(default)]
    pub is_aside: bool,
}

impl Message {
    /// A message that follows the one with the number before its own.
    pub fn new(conversation: ConversationId, seq: u64, role: Role) -> Self {
        Self {
            id: MessageId::fresh(),
            conversation_id: conversation,
            seq,
            role,
            content: String::new(),
            tool_calls: Vec::new(),
            provider_raw: None,
            finish: None,
            created_at: Timestamp::now(),
            follows: seq.saturating_sub(1),
            is_aside: false,
        }
    }
}

/// Where a message stands among the versions of a conversation.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[non_exhaustive]
pub struct MessagePlace {
    /// The message.
    pub id: MessageId,
    /// Its number.
    pub seq: u64,
    /// The number of the message that it follows; 0 if it is the first one.
    pub follows: u64,
}

/// Who said a message.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Role {
    /// The user.
    User,
    /// The model, with its tools.
    Assistant,
    /// The system.
    System,
}

impl Role {
    /// The role as it is stored and shown.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Assistant => "assistant",
            Self::System => "system",
        }
    }
}
