//! The reason why a call waits in its server's queue.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The reason why a call has not been sent yet: it waits in its server's queue. Displays as a sentence
/// for people.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Queued {
    /// The server's name.
    pub server: String,
    /// The reason.
    pub reason: QueueReason,
    /// The conversation it waits for, if it is another one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub conversation: Option<String>,
}

/// The cause of a queued call's wait.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum QueueReason {
    /// The server waits for an answer in another conversation.
    Answer,
    /// The server serves one conversation at a time because it asks questions, and it currently serves another one.
    Conversation,
    /// An earlier call of the same conversation.
    Turn,
    /// The server has reached its maximum number of calls.
    Full,
}

impl Queued {
    /// Creates the reason of a call to `server`.
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

    /// The reason as a sentence, with a name for the other conversation.
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
