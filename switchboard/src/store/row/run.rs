//! Runs of the loop, their usage, and events.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::store::id::{ConversationId, MessageId, RunId, UserId};
use crate::store::row::conversation::{Conversation, Message};
use crate::store::row::policy::Pending;
use crate::store::timestamp::Timestamp;

/// A run of the loop: one answer in the making.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Run {
    /// Its id.
    pub id: RunId,
    /// Where it answers.
    pub conversation_id: ConversationId,
    /// The message it writes.
    pub message_id: Option<MessageId>,
    /// All it needs to go on, as the loop wrote it: JSON, kept to the letter. Empty once another
    /// run has taken over.
    pub state: String,
    /// Revision, from 1: a writer that is not one ahead of the stored revision was overtaken.
    pub revision: u64,
    /// The round it is in.
    pub round: u32,
    /// What the loop guard has seen.
    pub loop_fingerprint: Option<String>,
    /// How it ended; nothing while it goes on.
    pub finish: Option<String>,
    /// When it was begun.
    pub created_at: Timestamp,
    /// When it was last committed.
    pub updated_at: Timestamp,
}

impl Run {
    /// A run that begins.
    pub fn new(conversation: ConversationId, state: impl Into<String>) -> Self {
        let now = Timestamp::now();
        Self {
            id: RunId::fresh(),
            conversation_id: conversation,
            message_id: None,
            state: state.into(),
            revision: 1,
            round: 0,
            loop_fingerprint: None,
            finish: None,
            created_at: now,
            updated_at: now,
        }
    }
}

/// A conversation as it is at one moment, as far as is needed to go on with it.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Snapshot {
    /// The conversation.
    pub conversation: Conversation,
    /// The last message that is shown.
    pub last: Option<Message>,
    /// The number of the next message.
    pub next_seq: u64,
    /// Its latest run.
    pub run: Option<Run>,
    /// The message that the run writes.
    pub answer: Option<Message>,
    /// The questions that wait for the user, oldest first.
    pub questions: Vec<Pending>,
}

/// What one round of a run used. It stays when the conversation goes.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Usage {
    /// Who pays.
    pub user_id: UserId,
    /// Where.
    pub conversation_id: ConversationId,
    /// The run.
    pub run_id: RunId,
    /// The round.
    pub round: u32,
    /// The model.
    pub model: String,
    /// Tokens of the request, cached ones included.
    pub input: u64,
    /// Tokens of the reply, thoughts included.
    pub output: u64,
    /// Tokens that came from the provider's cache.
    pub cache_read: u64,
    /// Tokens that went into the provider's cache.
    pub cache_write: u64,
    /// Millionths of a dollar; nothing if the price is not known.
    pub cost_micros: Option<u64>,
    /// When.
    pub created_at: Timestamp,
}

impl Usage {
    /// A round that used nothing yet.
    pub fn new(
        user: UserId,
        conversation: ConversationId,
        run: RunId,
        round: u32,
        model: impl Into<String>,
    ) -> Self {
        Self {
            user_id: user,
            conversation_id: conversation,
            run_id: run,
            round,
            model: model.into(),
            input: 0,
            output: 0,
            cache_read: 0,
            cache_write: 0,
            cost_micros: None,
            created_at: Timestamp::now(),
        }
    }
}

/// What a model was used for, in sum.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[non_exhaustive]
pub struct UsageTotal {
    /// The model.
    pub model: String,
    /// Rounds.
    pub rounds: u64,
    /// Tokens of the requests, cached ones included.
    pub input: u64,
    /// Tokens of the replies, thoughts included.
    pub output: u64,
    /// Tokens that came from the provider's cache.
    pub cache_read: u64,
    /// Tokens that went into the provider's cache.
    pub cache_write: u64,
    /// Millionths of a dollar, of the rounds whose price is known.
    pub cost_micros: u64,
    /// Rounds whose price is not known.
    pub unpriced_rounds: u64,
}

/// Something that happened.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Event {
    /// Its number: later events have greater ones, and none is used twice.
    pub seq: u64,
    /// Whose.
    pub user_id: UserId,
    /// In which conversation, if in one.
    pub conversation_id: Option<ConversationId>,
    /// What kind, as in `message.delta`.
    pub kind: String,
    /// The rest.
    pub data: Value,
    /// When.
    pub created_at: Timestamp,
}

/// Something that happens now and has no number yet.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct NewEvent {
    /// Whose.
    pub user_id: UserId,
    /// In which conversation, if in one.
    pub conversation_id: Option<ConversationId>,
    /// What kind, as in `message.delta`.
    pub kind: String,
    /// The rest.
    pub data: Value,
    /// When.
    pub created_at: Timestamp,
}

impl NewEvent {
    /// Something that happens now.
    pub fn new(
        user: UserId,
        conversation: Option<ConversationId>,
        kind: impl Into<String>,
        data: Value,
    ) -> Self {
        Self {
            user_id: user,
            conversation_id: conversation,
            kind: kind.into(),
            data,
            created_at: Timestamp::now(),
        }
    }
}

/// The range of a user's stored events.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub struct EventBounds {
    /// Events up to this number may have been forgotten.
    pub forgotten: u64,
    /// The number of the latest event; that of the last forgotten one if there is none.
    pub latest: u64,
}

impl EventBounds {
    /// Bounds.
    pub fn new(forgotten: u64, latest: u64) -> Self {
        Self { forgotten, latest }
    }
}

/// How a conversation stands.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Standing {
    /// The conversation.
    pub conversation_id: ConversationId,
    /// How many questions wait for the user.
    pub waiting: u64,
    /// How many calls of its latest answer are at their servers or queued there, or were when the
    /// program ended.
    pub invoking: u64,
    /// Whether its latest run goes on, or was cut off.
    pub open: bool,
    /// How its latest run ended, if it has.
    pub finish: Option<String>,
}

impl Standing {
    /// Nothing has happened in it.
    pub fn new(conversation: ConversationId) -> Self {
        Self {
            conversation_id: conversation,
            waiting: 0,
            invoking: 0,
            open: false,
            finish: None,
        }
    }
}
