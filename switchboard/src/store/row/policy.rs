//! Remembered decisions and open questions.

use std::collections::BTreeMap;

use mcp_jsonrpc::model::Tool;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::store::id::{ConversationId, MessageId, PendingId, RuleId, ServerId, UserId};
use crate::store::timestamp::Timestamp;

/// A remembered approval or denial.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Rule {
    /// Its id.
    pub id: RuleId,
    /// Whose it is.
    pub user_id: UserId,
    /// How far it reaches.
    pub scope: RuleScope,
    /// The stored server it is about: the rule is renamed with it, and goes when it goes.
    pub server_id: Option<ServerId>,
    /// The server it is about, by name; `*` stands for anything.
    pub server: String,
    /// The tool it is about; `*` stands for anything.
    pub tool: String,
    /// The identity of the server's endpoint when it was decided: under another one, it is asked
    /// about anew.
    pub server_identity: Option<String>,
    /// The hash of the tool's definition when it was decided: a changed tool is asked about anew.
    pub def_hash: Option<String>,
    /// The same for all read-only tools of the server, by name.
    pub read_only_hashes: BTreeMap<String, String>,
    /// What was decided.
    pub decision: Decision,
    /// The conversation it is for, if for one only.
    pub conversation_id: Option<ConversationId>,
    /// When it was decided.
    pub created_at: Timestamp,
}

impl Rule {
    /// A rule about a whole kind of calls; narrow it by its fields.
    pub fn new(user: UserId, scope: RuleScope, decision: Decision) -> Self {
        Self {
            id: RuleId::fresh(),
            user_id: user,
            scope,
            server_id: None,
            server: "*".to_owned(),
            tool: "*".to_owned(),
            server_identity: None,
            def_hash: None,
            read_only_hashes: BTreeMap::new(),
            decision,
            conversation_id: None,
            created_at: Timestamp::now(),
        }
    }
}

/// How far a rule reaches.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum RuleScope {
    /// One tool in one conversation.
    Conversation,
    /// One tool everywhere.
    Tool,
    /// The read-only tools of one server.
    ServerReadOnly,
    /// All tools whose names fit.
    Pattern,
}

/// What was decided.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Decision {
    /// Runs without a question.
    Allow,
    /// Is asked about, whatever the mode.
    Ask,
    /// Never runs.
    Deny,
}

/// The definition of a server's tool that counts as approved.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ApprovedDefinition {
    /// The server.
    pub server_id: ServerId,
    /// The tool, as its server spells it.
    pub tool: String,
    /// How it came to be approved.
    pub kind: DefinitionKind,
    /// The identity of the server's endpoint then.
    pub server_identity: String,
    /// The fingerprint of the definition then.
    pub fingerprint: String,
    /// The whole definition then, as JSON, if it was at hand: what a change is shown against.
    #[serde(default)]
    pub definition: Option<String>,
}

/// A longer definition is not kept: a change of it is asked about, but not shown.
const MAX_DEFINITION: usize = 256 * 1024;

impl ApprovedDefinition {
    /// A definition.
    pub fn new(
        server: ServerId,
        tool: impl Into<String>,
        kind: DefinitionKind,
        server_identity: impl Into<String>,
        fingerprint: impl Into<String>,
    ) -> Self {
        Self {
            server_id: server,
            tool: tool.into(),
            kind,
            server_identity: server_identity.into(),
            fingerprint: fingerprint.into(),
            definition: None,
        }
    }

    /// Keeps the whole definition.
    #[must_use]
    pub fn with_tool(mut self, tool: &Tool) -> Self {
        let text = serde_json::to_string(tool).ok();
        self.definition = text.filter(|text| text.len() <= MAX_DEFINITION);
        self
    }

    /// The whole definition, if it was kept.
    pub fn whole(&self) -> Option<Tool> {
        serde_json::from_str(self.definition.as_ref()?).ok()
    }
}

/// How a definition came to be approved.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum DefinitionKind {
    /// A person approved a call of it; the latest counts.
    Pinned,
    /// The server's settings approve the tool, and this is how it was first seen then.
    AutoApproved,
}

/// A question to the user.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Pending {
    /// Its id.
    pub id: PendingId,
    /// Where it is asked.
    pub conversation_id: ConversationId,
    /// What kind of question.
    pub kind: PendingKind,
    /// The message that waits for it.
    pub message_id: Option<MessageId>,
    /// The call that waits for it.
    pub call_id: Option<String>,
    /// What is asked.
    pub payload: Value,
    /// What became of it.
    pub state: PendingState,
    /// What was answered.
    pub answer: Option<Value>,
    /// When it was asked.
    pub created_at: Timestamp,
    /// When it was settled.
    pub settled_at: Option<Timestamp>,
}

impl Pending {
    /// An open question.
    pub fn new(conversation: ConversationId, kind: PendingKind, payload: Value) -> Self {
        Self {
            id: PendingId::fresh(),
            conversation_id: conversation,
            kind,
            message_id: None,
            call_id: None,
            payload,
            state: PendingState::Open,
            answer: None,
            created_at: Timestamp::now(),
            settled_at: None,
        }
    }
}

/// What kind of question.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum PendingKind {
    /// May this call run?
    Approval,
    /// A server wants to know something.
    Elicitation,
}

/// What became of a question.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum PendingState {
    /// It waits.
    Open,
    /// It was answered.
    Answered,
    /// It was withdrawn.
    Withdrawn,
}

impl PendingState {
    /// How a settled question's state is stored.
    pub(in crate::store) fn settled_name(self) -> &'static str {
        match self {
            Self::Withdrawn => "withdrawn",
            Self::Open | Self::Answered => "answered",
        }
    }
}
