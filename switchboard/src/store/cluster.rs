//! What processes that share a store do together: each takes over what dead ones leave behind, and
//! hands a request to the process that drives the conversation it is about.

use async_trait::async_trait;
use tokio::sync::watch;

use crate::store::error::StoreError;
use crate::store::id::{CommandId, ConversationId, HolderId, UserId};

/// What a back end offers to processes on several machines; see [`Store::cluster`].
///
/// A process that uses the store sends heartbeats. One that is silent for the time-out
/// it chose itself is taken to be dead, by whoever has sent them without a gap for that long: after the
/// database itself was away, none is taken to be dead at once.
///
/// [`Store::cluster`]: crate::store::Store::cluster
#[async_trait]
pub trait Cluster: Send + Sync {
    /// Acquires, for this process, the leases of at most `limit` conversations of these users whose
    /// answer no process drives: it is dead, or has handed them over. Those that only wait
    /// for their user are left out, and so are those that this process drives (`driven`). No two
    /// processes get the same one.
    async fn claim(
        &self,
        users: &[UserId],
        driven: &[ConversationId],
        limit: u32,
    ) -> Result<Vec<Orphan>, StoreError>;

    /// The process that drives a conversation.
    async fn driver(&self, conversation: &ConversationId) -> Result<Option<HolderId>, StoreError>;

    /// Stores a command for another process, and wakes it.
    async fn send(&self, command: &RemoteCommand) -> Result<(), StoreError>;

    /// Takes the commands for this process, oldest first. Each is taken once.
    async fn take(&self) -> Result<Vec<RemoteCommand>, StoreError>;

    /// Answers a command that was taken, and wakes its sender.
    async fn answer(&self, command: &RemoteCommand, answer: &str) -> Result<(), StoreError>;

    /// The answer to a command.
    async fn answer_to(&self, id: &CommandId) -> Result<Option<String>, StoreError>;

    /// Forgets a command. One that was not taken yet never will be.
    async fn forget(&self, id: &CommandId) -> Result<(), StoreError>;

    /// Forgets a command unless it was taken; whether it was forgotten.
    async fn withdraw(&self, id: &CommandId) -> Result<bool, StoreError>;

    /// Whether a process has ended, or was silent for its time-out.
    async fn is_over(&self, holder: &HolderId) -> Result<bool, StoreError>;

    /// Whether the database takes changes: one that is a standby does not.
    async fn takes_changes(&self) -> Result<bool, StoreError>;

    /// Changes whenever there may be something to claim or to take, or an answer. A wake-up may get
    /// lost, so look now and then as well.
    fn mail(&self) -> watch::Receiver<u64>;

    /// Why wake-ups do not arrive, once that is known.
    async fn silence(&self) -> Option<&'static str>;
}

/// A conversation whose answer this process goes on with.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct Orphan {
    /// Whose it is.
    pub user: UserId,
    /// The conversation.
    pub conversation: ConversationId,
    /// How many processes in a row have died while they drove it.
    pub deaths: u32,
}

/// What one process asks of another that drives a conversation.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct RemoteCommand {
    /// Its id.
    pub id: CommandId,
    /// Whose conversation it is about.
    pub user: UserId,
    /// The conversation.
    pub conversation: ConversationId,
    /// Who asks.
    pub sender: HolderId,
    /// Who is asked.
    pub receiver: HolderId,
    /// What is asked, as JSON.
    pub body: String,
}

impl RemoteCommand {
    /// A new command.
    pub fn new(
        (user, conversation): (UserId, ConversationId),
        (sender, receiver): (HolderId, HolderId),
        body: String,
    ) -> Self {
        Self {
            id: CommandId::fresh(),
            user,
            conversation,
            sender,
            receiver,
            body,
        }
    }
}
