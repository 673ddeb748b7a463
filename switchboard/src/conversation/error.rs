//! Why a conversation cannot continue.

use std::fmt;

use agent_loop::AnswerError;

use crate::conversation::version::MAX_VERSIONS;
use crate::store::StoreError;

/// What to do about [`ConversationError::Leased`].
pub(crate) const LEASED_HINT: &str =
    "If that process does not answer any more, its lease ends soon: try again a little later.";

/// Why a conversation cannot be loaded or go on.
#[derive(Debug)]
#[non_exhaustive]
pub enum ConversationError {
    /// There is no such conversation.
    NotFound(String),
    /// Another process or window has changed it. Load it again.
    Overtaken,
    /// An answer is under way in another process.
    Leased,
    /// There is no message of this id in it that could be meant.
    NoMessage(String),
    /// The message has as many versions as there may be.
    TooManyVersions,
    /// What is stored of it cannot be read.
    Unreadable(serde_json::Error),
    /// The answer does not count; what was asked may still wait.
    Answer(AnswerError),
    /// The store failed.
    Store(StoreError),
}

impl From<StoreError> for ConversationError {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Conflict { .. } => Self::Overtaken,
            StoreError::Leased => Self::Leased,
            error => Self::Store(error),
        }
    }
}

impl fmt::Display for ConversationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotFound(id) => write!(f, "there is no conversation {id:?}"),
            Self::NoMessage(id) => write!(f, "there is no such message here: {id:?}"),
            Self::TooManyVersions => write!(
                f,
                "this message has {MAX_VERSIONS} versions already: go on with one of them"
            ),
            Self::Overtaken => f.write_str(
                "the conversation has been moved on elsewhere, perhaps in another window: load it \
                 again",
            ),
            Self::Leased => f.write_str(
                "an answer is under way in another process: wait for it, or cancel it there",
            ),
            Self::Unreadable(_) => f.write_str("what is stored of the conversation is unreadable"),
            Self::Answer(error) => error.fmt(f),
            Self::Store(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for ConversationError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Unreadable(error) => Some(error),
            Self::Store(error) => error.source(),
            _ => None,
        }
    }
}
