//! Changes of the store.

use std::time::Duration;

use serde_json::Value;

use crate::store::id::{
    AccessTokenId, AssistantId, ConversationId, HolderId, LeaseId, MessageId, PendingId, RuleId,
    RunId, ServerId, UserId,
};
use crate::store::row::{
    AccessToken, ApprovedDefinition, Arrival, Assistant, Blob, Conversation, LoginAttempt,
    LoginSession, Message, NewEvent, Pending, PendingState, Rule, Run, Server, ServerTool, Setting,
    TokenRef, ToolCall, Usage, User, UserEdit,
};
use crate::store::timestamp::Timestamp;

/// One change of the store. `Put` adds a row or replaces the one with its id; a row never changes
/// its owner.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Change {
    /// Adds or replaces a user.
    PutUser(User),
    /// Changes what owners decide about a user. The rest of it stays; one who is blocked has no
    /// sessions left.
    EditUser(UserId, UserEdit),
    /// Changes who is logged in, and with what.
    Login(LoginChange),
    /// Adds or replaces a server. A user has one server of a name. Its revision is the one that is
    /// stored, or 0 if it is new, and goes up by one: a row that was read before the last change is a
    /// conflict. Rules that allow its tools end if its endpoint is another one now.
    PutServer(Box<Server>),
    /// Removes a server, its tools, its tokens, its rules and its place in assistants. Calls it
    /// answered stay.
    DeleteServer(UserId, ServerId),
    /// How a server was seen: by which transport, if it was reached, and what went wrong, if
    /// anything did. The rest of it stays; one that is gone is left alone.
    SawServer {
        /// The server.
        id: ServerId,
        /// The transport that worked.
        transport: Option<String>,
        /// What went wrong.
        error: Option<String>,
    },
    /// The tools a server is seen with now, in place of those it was seen with before.
    PutServerTools(ServerId, Vec<ServerTool>),
    /// Adds or replaces a reference to a token.
    PutToken(TokenRef),
    /// Forgets all tokens of a server.
    DeleteTokens(ServerId),
    /// Adds or replaces an assistant.
    PutAssistant(Assistant),
    /// Removes an assistant. Its conversations stay.
    DeleteAssistant(UserId, AssistantId),
    /// Chooses an assistant's servers.
    SetAssistantServers(AssistantId, Vec<ServerId>),
    /// Adds or replaces a conversation. An assistant or a parent that is not there is left out.
    PutConversation(Conversation),
    /// Removes a conversation and all that belongs to it. What it used stays in the sums.
    DeleteConversation(UserId, ConversationId),
    /// Adds or replaces a message with all its tool calls. Its number must be free.
    PutMessage(Box<Message>),
    /// Shows the message with this number and those that it follows, each from the first on, and sets
    /// all others of the conversation aside; 0 shows none.
    ShowUpTo(ConversationId, u64),
    /// Adds to what a message says; the rest of it stays.
    AppendContent(MessageId, String),
    /// Adds or replaces one tool call of a message.
    PutToolCall(Box<ToolCall>),
    /// Adds bytes.
    PutBlob(Blob),
    /// Adds or replaces a rule.
    PutRule(Rule),
    /// Forgets a rule.
    DeleteRule(UserId, RuleId),
    /// Adds the definition of a tool that counts as approved. One that is
    /// [pinned](crate::store::DefinitionKind::Pinned) replaces the one before; one that is
    /// [auto-approved](crate::store::DefinitionKind::AutoApproved) stays as it was first seen for as
    /// long as the server's settings name the tool.
    PutDefinition(ApprovedDefinition),
    /// Adds a question.
    PutPending(Pending),
    /// Settles a question. A question is settled once: the second time is a conflict.
    Settle {
        /// The question.
        id: PendingId,
        /// What became of it; not [`PendingState::Open`].
        state: PendingState,
        /// What was answered.
        answer: Option<Value>,
        /// When.
        at: Timestamp,
    },
    /// Adds a run, at revision 1, or takes a stored one to its next revision. Any other revision is
    /// a conflict: another process has driven the run.
    PutRun(Box<Run>),
    /// Acquires the lease of a conversation, in place of the one its holder or a dead process has.
    /// [`StoreError::Leased`] if another process has it, which is challenged then.
    ///
    /// [`StoreError::Leased`]: crate::store::StoreError::Leased
    AcquireLease {
        /// The conversation.
        conversation: ConversationId,
        /// The lease's new id.
        id: LeaseId,
        /// The process that wants it: [`Store::holder`](crate::store::Store::holder).
        holder: HolderId,
        /// How long another holder has to renew a challenged lease.
        timeout: Duration,
        /// The run and its revision that this process knows. Another revision is a conflict.
        known: Option<(RunId, u64)>,
    },
    /// Renews a lease. One that was lost is a conflict: a commit that begins with this is refused
    /// once another process has taken over.
    RenewLease(ConversationId, LeaseId),
    /// Gives a lease back. One that was lost is a conflict.
    ReleaseLease(ConversationId, LeaseId),
    /// Adds or replaces what one round of a run used.
    PutUsage(Usage),
    /// Appends an event, which gets the next number.
    AppendEvent(NewEvent),
    /// Removes all of a user's events but the latest N.
    PruneEvents(UserId, u32),
    /// Adds or replaces a setting.
    PutSetting(Setting),
    /// Adds a setting; if there is one of this name, that is a conflict.
    AddSetting(Setting),
    /// Forgets a setting.
    DeleteSetting(UserId, String),
}

/// A change of who is logged in, and with what.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum LoginChange {
    /// A user has come in, and is added if they are new. What owners have decided stays. One who is
    /// blocked is a conflict.
    CameIn(Arrival),
    /// Adds or replaces a session.
    PutSession(LoginSession),
    /// A session was used at this moment. One that has ended stays so.
    UsedSession(String, Timestamp),
    /// Ends the session with this hash.
    EndSession(String),
    /// Ends all sessions of a user.
    EndSessions(UserId),
    /// Adds a login that was begun.
    PutAttempt(LoginAttempt),
    /// Takes the login with this hash: once. The second time is a conflict.
    TakeAttempt(String),
    /// Forgets sessions and logins that ended before this moment.
    Prune(Timestamp),
    /// Adds a personal access token. A user has one token of a name.
    PutToken(AccessToken),
    /// A token was used at this moment.
    UsedToken(AccessTokenId, Timestamp),
    /// Revokes a token.
    DeleteToken(UserId, AccessTokenId),
}

/// Number of events kept per user.
const EVENTS_KEPT: u32 = 20_000;

impl Change {
    /// Prunes a user's old events.
    pub(crate) fn prune_events(user: &UserId) -> Self {
        Self::PruneEvents(user.clone(), EVENTS_KEPT)
    }
}
