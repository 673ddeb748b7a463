//! Durable state: users, servers, assistants, conversations, tool calls, approvals, runs, usage and
//! settings.
//!
//! [`Store`] is the interface; [`SqliteStore`] keeps everything in one file, and `PostgresStore` in
//! a database that several machines may share. All writes go through [`Store::commit`], which applies any number of [`Change`]s atomically. [`contract`] is the suite
//! that every back end must pass.
//!
//! # Order of writes
//!
//! What a user is shown has been committed before it is shown, and what is started has been
//! committed before it is started:
//!
//! 1. the user's message and the run that answers it, before the model is asked;
//! 2. a finished reply with its tool calls, and the approvals they wait for, before anybody is
//!    asked;
//! 3. an answered approval together with the rule it leaves behind, before the call starts;
//! 4. a call as `invoking`, together with the run's state, before it is sent to its server;
//! 5. a call's result before it is shown or sent to the model.
//!
//! Only the process that holds a conversation's [`Lease`] drives it; its commits name the lease and
//! are refused once another process has it. Rows are ordered by counters that the store gives out
//! as they are committed, never by clocks.
//!
//! A call that is still `invoking` when the store is loaded may or may not have run: it becomes an
//! error that states this, and is never sent again.

pub mod archive;
mod change;
mod cluster;
#[cfg(any(test, feature = "testing"))]
pub mod contract;
mod error;
mod event_signal;
mod id;
mod lease;
#[cfg(feature = "postgres")]
mod postgres;
mod row;
mod search;
mod sqlite;
pub(crate) mod statements;
mod stored_value;
mod table;
mod timestamp;
mod user_change;

use std::fmt;
use std::time::Duration;

use async_trait::async_trait;

pub use change::{Change, LoginChange};
pub use cluster::{Cluster, Orphan, RemoteCommand};
pub use error::StoreError;
pub use event_signal::{EventCursor, EventSignal};
pub use id::{
    AccessTokenId, AssistantId, BlobId, CommandId, ConversationId, HolderId, LeaseId, MessageId,
    PendingId, RuleId, RunId, ServerId, UserId,
};
pub(crate) use lease::heartbeat;
pub use lease::{LEASE_TIMEOUT, Lease};
#[cfg(feature = "postgres")]
pub use postgres::{PostgresLimits, PostgresStore};
pub use row::{
    AccessToken, ApprovedDefinition, Arrival, Assistant, Blob, CallStatus, Conversation, Decision,
    DefinitionKind, EnvPolicy, Event, EventBounds, Installed, LoginAttempt, LoginSession, McpMode,
    Message, MessagePlace, ModelOptions, NewEvent, OnLimit, Pending, PendingKind, PendingState,
    Role, Rule, RuleScope, Run, Server, ServerKind, ServerTool, Setting, Snapshot, Standing,
    TeamRole, TokenRef, TokenScope, ToolCall, ToolSelection, Trust, Usage, UsageTotal, User,
    UserEdit,
};
pub use search::SearchWords;
pub(crate) use sqlite::peek_setting;
pub use sqlite::{Limits, SqliteStore};
pub use stored_value::{StoredValue, UnknownScheme};
pub use timestamp::Timestamp;

/// Storage interface.
///
/// Reads see every commit that returned before they began, and each sees one moment. Lists are in a fixed order. A back
/// end may be shared by several processes; where two of them write the same thing, the second
/// commit fails with [`StoreError::Conflict`] and changes nothing.
#[async_trait]
pub trait Store: fmt::Debug + Send + Sync {
    /// Applies all changes or none, and returns once they are durable.
    ///
    /// Returns the sequence numbers of the appended events, in order. If the future is dropped,
    /// either all of the changes are applied or none.
    async fn commit(&self, changes: Vec<Change>) -> Result<Vec<u64>, StoreError>;

    /// Identifies this process as a lease holder. Every opened store is a holder of its own.
    fn holder(&self) -> &HolderId;

    /// How long a process that does not answer keeps the leases it holds. It renews them several
    /// times within that.
    fn lease_timeout(&self) -> Duration {
        LEASE_TIMEOUT
    }

    /// What processes that share the store do together, if they may run on several machines.
    fn cluster(&self) -> Option<&dyn Cluster> {
        None
    }

    /// The users.
    async fn users(&self) -> Result<Vec<User>, StoreError>;

    /// The session of an id with this hash, and its user.
    async fn login_session(&self, hash: &str) -> Result<Option<(LoginSession, User)>, StoreError>;

    /// The login of a state with this hash.
    async fn login_attempt(&self, hash: &str) -> Result<Option<LoginAttempt>, StoreError>;

    /// The personal access token with this hash, and its user.
    async fn access_token(&self, hash: &str) -> Result<Option<(AccessToken, User)>, StoreError>;

    /// A user's personal access tokens, by name.
    async fn access_tokens(&self, user: &UserId) -> Result<Vec<AccessToken>, StoreError>;

    /// A user's servers, in the user's order.
    async fn servers(&self, user: &UserId) -> Result<Vec<Server>, StoreError>;

    /// One of a user's servers.
    async fn server(&self, user: &UserId, id: &ServerId) -> Result<Option<Server>, StoreError>;

    /// The tools a server was last seen with, by name.
    async fn server_tools(&self, server: &ServerId) -> Result<Vec<ServerTool>, StoreError>;

    /// References to the tokens kept for a server.
    async fn tokens(&self, server: &ServerId) -> Result<Vec<TokenRef>, StoreError>;

    /// A user's assistants, by name.
    async fn assistants(&self, user: &UserId) -> Result<Vec<Assistant>, StoreError>;

    /// The servers chosen for an assistant, in the user's order.
    async fn assistant_servers(&self, assistant: &AssistantId)
    -> Result<Vec<ServerId>, StoreError>;

    /// A user's conversations, the latest used first: at most `limit` of those after `after` in
    /// that order. A conversation is used when it is added, gets a message, or gets another
    /// `updated_at`, whatever the clock says.
    async fn conversations(
        &self,
        user: &UserId,
        after: Option<&Conversation>,
        limit: u32,
    ) -> Result<Vec<Conversation>, StoreError>;

    /// One of a user's conversations.
    async fn conversation(
        &self,
        user: &UserId,
        id: &ConversationId,
    ) -> Result<Option<Conversation>, StoreError>;

    /// A part of what is shown of a conversation, oldest first, with the tool calls of each message
    /// in order.
    async fn messages(
        &self,
        conversation: &ConversationId,
        span: Span,
    ) -> Result<Vec<Message>, StoreError>;

    /// Where every message of a conversation stands, those that are not shown as well, by number.
    async fn places(&self, conversation: &ConversationId) -> Result<Vec<MessagePlace>, StoreError>;

    /// One message, with its tool calls.
    async fn message(&self, id: &MessageId) -> Result<Option<Message>, StoreError>;

    /// At most `limit` of a user's messages that are shown and hold all of these words, those of the latest used
    /// conversations first, without their tool calls and what models need to go on.
    async fn search(
        &self,
        user: &UserId,
        words: &SearchWords,
        limit: u32,
    ) -> Result<Vec<Message>, StoreError>;

    /// A blob: binary data or a result too large for a message.
    async fn blob(
        &self,
        conversation: &ConversationId,
        id: &BlobId,
    ) -> Result<Option<Blob>, StoreError>;

    /// A user's remembered approvals and denials, oldest first.
    async fn rules(&self, user: &UserId) -> Result<Vec<Rule>, StoreError>;

    /// The definitions of a user's tools that count as approved, by server, tool and kind.
    async fn approved_definitions(
        &self,
        user: &UserId,
    ) -> Result<Vec<ApprovedDefinition>, StoreError>;

    /// The open questions of a conversation, oldest first.
    async fn open_questions(
        &self,
        conversation: &ConversationId,
    ) -> Result<Vec<Pending>, StoreError>;

    /// One question, answered or not.
    async fn question(&self, id: &PendingId) -> Result<Option<Pending>, StoreError>;

    /// A consistent snapshot of what is needed to resume a conversation.
    async fn snapshot(
        &self,
        user: &UserId,
        id: &ConversationId,
    ) -> Result<Option<Snapshot>, StoreError>;

    /// The latest run of a conversation.
    async fn latest_run(&self, conversation: &ConversationId) -> Result<Option<Run>, StoreError>;

    /// A user's conversations with a run that has not finished, the oldest run first.
    async fn unfinished(&self, user: &UserId) -> Result<Vec<ConversationId>, StoreError>;

    /// The status of each conversation, in the given order; missing ones are left out.
    async fn standings(
        &self,
        conversations: &[ConversationId],
    ) -> Result<Vec<Standing>, StoreError>;

    /// Token usage per model, ordered by name: of one conversation or all, since a moment or ever.
    async fn usage(
        &self,
        user: &UserId,
        conversation: Option<&ConversationId>,
        since: Option<Timestamp>,
    ) -> Result<Vec<UsageTotal>, StoreError>;

    /// Token usage per model of what these messages answered, in the given order and ordered by name.
    async fn usage_of(
        &self,
        messages: &[MessageId],
    ) -> Result<Vec<(MessageId, UsageTotal)>, StoreError>;

    /// At most `limit` of a user's events after number `after`: those of one conversation and of
    /// none, or all.
    async fn events(
        &self,
        user: &UserId,
        conversation: Option<&ConversationId>,
        after: u64,
        limit: u32,
    ) -> Result<Vec<Event>, StoreError>;

    /// The range of a user's stored events.
    async fn event_bounds(&self, user: &UserId) -> Result<EventBounds, StoreError>;

    /// Subscribes to events appended from now on; signals arrive once the events can be read. A
    /// back end shared by several processes may miss what others append, so poll occasionally as
    /// well.
    fn event_cursor(&self) -> EventCursor;

    /// A user's settings, by key.
    async fn settings(&self, user: &UserId) -> Result<Vec<Setting>, StoreError>;

    /// Finishes pending work and closes the store; later use fails with [`StoreError::Closed`].
    async fn close(&self) -> Result<(), StoreError>;
}

/// Which part of a conversation.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Span {
    /// The last N messages.
    Last(u32),
    /// The last N messages before a sequence number.
    Before(u64, u32),
    /// The first N messages from a sequence number on.
    From(u64, u32),
}

impl Span {
    /// The same part, of at most this many messages.
    fn at_most(self, page: u32) -> Self {
        match self {
            Self::Last(limit) => Self::Last(limit.min(page)),
            Self::Before(seq, limit) => Self::Before(seq, limit.min(page)),
            Self::From(seq, limit) => Self::From(seq, limit.min(page)),
        }
    }
}

/// A PostgreSQL database's address as it may be shown.
pub(crate) fn without_password(url: &str) -> String {
    let Ok(mut shown) = url::Url::parse(url) else {
        return "the PostgreSQL database".to_owned();
    };
    let _ = shown.set_password(None);
    shown.set_query(None);
    shown.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_is_not_shown() {
        for url in [
            "postgres://me:secret@db.example:5432/team",
            "postgres://db.example/team?user=me&password=secret",
        ] {
            let shown = without_password(url);
            assert!(!shown.contains("secret"), "{shown}");
            assert!(shown.contains("db.example"), "{shown}");
        }
        assert!(!without_password("host=db password=secret").contains("secret"));
    }
}
