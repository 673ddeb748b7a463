//! Why a call waits for its turn.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Why a call waits for its turn at its server: it was not sent yet. Prints as a sentence for
/// people.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Queued {
    /// The server's name with us.
    pub server: String,
    /// What it waits for.
    pub reason: QueueReason,
    /// The conversation it waits for, if it is another one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub conversation: Option<String>,
}

/// What a queued call waits for.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum QueueReason {
    /// The server waits for an answer in another conversation.
    Answer,
    /// The server serves one conversation at a time because it asks questions, and it serves
    /// another one now.
    Conversation,
    /// An earlier call of the same conversation.
    Turn,
    /// As many calls as may run at the server do.
    Full,
}

impl Queued {
    /// A call to `server` that waits for this.
    pub fn new(
        server: impl Into<String>,
        reason: QueueReason,
        conversation: Option<String>,
    ) -> Self {
        Self {
            server: server.into(),
            reason,
            conversation,
        }
    }

    /// The same sentence, with what people call the other conversation.
    pub fn in_words(&self, conversation: &str) -> String {
        let server = &self.server;
        match self.reason {
            QueueReason::Answer => format!("{server} is waiting for an answer in {conversation}"),
            QueueReason::Conversation => format!(
                "{server} asks questions, so it serves one conversation at a time; \
                 it is now serving {conversation}"
            ),
            QueueReason::Turn => {
                format!("{server} is running an earlier call of this conversation")
            }
            QueueReason::Full => format!("{server} is running as many calls as it may"),
        }
    }
}

impl fmt::Display for Queued {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.in_words("another conversation"))
    }
}
