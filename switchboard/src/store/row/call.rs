//! Tool calls and the bytes they bring.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::store::id::{BlobId, ConversationId, MessageId, ServerId};
use crate::store::timestamp::Timestamp;

/// One tool call of an assistant's message.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ToolCall {
    /// The message that makes it.
    pub message_id: MessageId,
    /// The model's name for it.
    pub call_id: String,
    /// Its number in the message's run, which identifies it.
    pub position: u32,
    /// The round it was made in.
    pub round: u32,
    /// How many characters of the answer's text stand before it.
    #[serde(default)]
    pub text_offset: u64,
    /// The server it goes to. The call outlives the server's row.
    pub server_id: Option<ServerId>,
    /// The server's name at that time.
    pub server_name: String,
    /// The tool as its server names it.
    pub tool: String,
    /// The tool as the model names it.
    pub display_name: String,
    /// The arguments.
    pub arguments: Value,
    /// How far it has come.
    pub status: CallStatus,
    /// Why it waits for its turn at its server, for people.
    #[serde(default)]
    pub queued: Option<String>,
    /// Who approved it: the user, a rule, the mode.
    pub approved_by: Option<String>,
    /// What it answered.
    pub response: Option<Value>,
    /// The whole answer, if it was too big.
    pub result_blob: Option<BlobId>,
    /// Whether the answer is an error.
    pub is_error: Option<bool>,
    /// When it was sent to its server.
    pub started_at: Option<Timestamp>,
    /// When it was settled.
    pub ended_at: Option<Timestamp>,
}

impl ToolCall {
    /// A call that waits.
    pub fn new(message: MessageId, call_id: impl Into<String>, tool: impl Into<String>) -> Self {
        let tool = tool.into();
        Self {
            message_id: message,
            call_id: call_id.into(),
            position: 0,
            round: 0,
            text_offset: 0,
            server_id: None,
            server_name: String::new(),
            display_name: tool.clone(),
            tool,
            arguments: Value::Object(serde_json::Map::new()),
            status: CallStatus::Pending,
            queued: None,
            approved_by: None,
            response: None,
            result_blob: None,
            is_error: None,
            started_at: None,
            ended_at: None,
        }
    }
}

/// How far a tool call has come.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum CallStatus {
    /// It waits to be approved or started.
    Pending,
    /// It waits for its turn at its server: it was not sent yet.
    Queued,
    /// It was sent to its server.
    Invoking,
    /// It was answered.
    Done,
    /// It failed, or was interrupted.
    Error,
    /// It was not allowed to run.
    Denied,
    /// The user stopped it.
    Cancelled,
}

impl CallStatus {
    /// The status as it is stored and shown.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Queued => "queued",
            Self::Invoking => "invoking",
            Self::Done => "done",
            Self::Error => "error",
            Self::Denied => "denied",
            Self::Cancelled => "cancelled",
        }
    }
}

/// Bytes kept beside a conversation: images, sounds, big results.
#[derive(Clone, Eq, PartialEq)]
#[non_exhaustive]
pub struct Blob {
    /// Its id.
    pub id: BlobId,
    /// The conversation it belongs to.
    pub conversation_id: ConversationId,
    /// Its media type.
    pub mime: String,
    /// The bytes.
    pub bytes: Vec<u8>,
}

impl Blob {
    /// Bytes of a conversation.
    pub fn new(conversation: ConversationId, mime: impl Into<String>, bytes: Vec<u8>) -> Self {
        Self {
            id: BlobId::fresh(),
            conversation_id: conversation,
            mime: mime.into(),
            bytes,
        }
    }
}

impl fmt::Debug for Blob {
    /// With the number of bytes only.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Blob")
            .field("id", &self.id)
            .field("mime", &self.mime)
            .field("len", &self.bytes.len())
            .finish_non_exhaustive()
    }
}
