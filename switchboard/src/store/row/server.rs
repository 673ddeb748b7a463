//! Servers and what they were seen with.

use std::collections::BTreeMap;

use mcp_sandbox::Profile;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::servers::identity;
use crate::store::error::StoreError;
use crate::store::id::{ServerId, UserId};
use crate::store::row::Installed;
use crate::store::stored_value::StoredValue;
use crate::store::timestamp::Timestamp;

/// A server as the user set it up. Servers belong to a user; assistants choose among them.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Server {
    /// Its id, which stays when it is renamed.
    pub id: ServerId,
    /// Whose it is.
    pub user_id: UserId,
    /// Its name, one of its kind for a user.
    pub name: String,
    /// How it is reached.
    #[serde(rename = "type")]
    pub kind: ServerKind,
    /// Whether it is used.
    pub is_active: bool,
    /// Where it is, if it is remote.
    pub base_url: Option<String>,
    /// Headers for every request to it.
    pub headers: BTreeMap<String, StoredValue>,
    /// Idle timeout of a call, in seconds: progress starts it anew.
    pub timeout: Option<u64>,
    /// The program to start, if it is local.
    pub command: Option<String>,
    /// The program's arguments.
    pub args: Vec<String>,
    /// The program's environment, beside what [`env_policy`](Self::env_policy) passes on.
    pub env: BTreeMap<String, StoredValue>,
    /// Tools that are switched off.
    pub disabled_tools: Vec<String>,
    /// Tools that run without a question.
    pub auto_approve_tools: Vec<String>,
    /// Whether the user agrees to values in plain text in `headers` and `env`.
    pub plain_values: bool,
    /// Where it came from: a file it was imported from, or nothing.
    pub source: Option<String>,
    /// How far the user trusts it.
    pub trust: Trust,
    /// The folder the program is started in.
    pub cwd: Option<String>,
    /// Idle timeouts of single tools, in seconds.
    pub tool_timeouts: BTreeMap<String, u64>,
    /// Whether it accepts parallel calls.
    pub parallel: bool,
    /// Whether its tools are always offered, however many there are.
    pub always_load: bool,
    /// Which of our environment it gets.
    pub env_policy: EnvPolicy,
    /// What the program may do, if it is started in a sandbox.
    pub sandbox: Option<Profile>,
    /// What it was installed from.
    pub installed: Option<Installed>,
    /// The transport that worked last.
    pub transport_seen: Option<String>,
    /// What went wrong last.
    pub last_error: Option<String>,
    /// Whatever else its configuration says.
    pub extra: Value,
    /// The team's entry that it follows, if it is a shared one.
    pub shared_id: Option<ServerId>,
    /// Its place in the list.
    pub sort: i64,
    /// When it was added.
    pub created_at: Timestamp,
    /// When it was changed.
    pub updated_at: Timestamp,
    /// How often it had been stored when it was read; 0 if it is new.
    pub revision: u64,
}

impl Server {
    /// A server with everything at its default. Give it a command or a URL.
    pub fn new(user: UserId, name: impl Into<String>, kind: ServerKind) -> Self {
        let now = Timestamp::now();
        Self {
            id: ServerId::fresh(),
            user_id: user,
            name: name.into(),
            kind,
            is_active: true,
            base_url: None,
            headers: BTreeMap::new(),
            timeout: None,
            command: None,
            args: Vec::new(),
            env: BTreeMap::new(),
            disabled_tools: Vec::new(),
            auto_approve_tools: Vec::new(),
            plain_values: false,
            source: None,
            trust: Trust::Allowed,
            cwd: None,
            tool_timeouts: BTreeMap::new(),
            parallel: false,
            always_load: false,
            env_policy: EnvPolicy::Safe,
            sandbox: None,
            installed: None,
            transport_seen: None,
            last_error: None,
            extra: Value::Null,
            shared_id: None,
            sort: 0,
            created_at: now,
            updated_at: now,
            revision: 0,
        }
    }

    /// The row as it is stored next, in place of `stored`. One that was read before the last
    /// change is refused: it would undo that change.
    pub(crate) fn next(&self, stored: Option<&Self>) -> Result<Self, StoreError> {
        if self.has_unagreed_plain_value() {
            let of = format!("the server {:?}", self.name);
            return Err(StoreError::PlainSecret { of });
        }
        if self.revision != stored.map_or(0, |stored| stored.revision) {
            return Err(StoreError::Conflict { what: "server" });
        }
        let revision = self.revision + 1;
        Ok(Self {
            revision,
            ..self.clone()
        })
    }

    /// Whether both stand for the same endpoint, as running servers are distinguished by
    /// [`ServerConfig::identity`](mcp_config::ServerConfig::identity). What was approved for one
    /// endpoint says nothing about another.
    pub fn has_endpoint_of(&self, other: &Self) -> bool {
        identity(self) == identity(other)
    }

    /// What its settings were before they were changed: a server whose endpoint is another one
    /// now is trusted no further than to be started.
    pub(crate) fn changed_from(&mut self, before: &Self) {
        if !self.has_endpoint_of(before) && before.trust == Trust::Trusted {
            self.trust = Trust::Allowed;
        }
    }

    /// Whether a value is in plain text without the user's word.
    fn has_unagreed_plain_value(&self) -> bool {
        let mut values = self.headers.values().chain(self.env.values());
        !self.plain_values && values.any(StoredValue::is_plain)
    }
}

/// How a server is reached.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[non_exhaustive]
pub enum ServerKind {
    /// A program that is started.
    #[serde(rename = "stdio")]
    Stdio,
    /// HTTP with event streams, as up to 2024.
    #[serde(rename = "sse")]
    Sse,
    /// HTTP.
    #[serde(rename = "streamableHttp")]
    StreamableHttp,
    /// A URL; how it is spoken to is found out.
    #[serde(rename = "auto")]
    Auto,
}

/// How far a server is trusted.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Trust {
    /// It may not be started before the user has seen it.
    Pending,
    /// It may be started. What it says about its tools are claims.
    Allowed,
    /// What it says about its tools counts as well: in the mode `auto-read`, those that only read
    /// run without a question.
    Trusted,
}

/// Which of our environment a local server gets.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum EnvPolicy {
    /// All of it.
    Inherit,
    /// What programs need, without keys and tokens.
    Safe,
    /// Nothing.
    None,
}

/// A tool a server was seen with.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ServerTool {
    /// The server.
    pub server_id: ServerId,
    /// The tool as its server names it.
    pub name: String,
    /// All the server says of it.
    pub definition: Value,
    /// A hash of the definition.
    pub hash: String,
    /// Approximate size of its definition in tokens.
    pub tokens: u64,
    /// When it was last seen.
    pub seen_at: Timestamp,
}

impl ServerTool {
    /// A tool that is seen now.
    pub fn new(
        server: ServerId,
        name: impl Into<String>,
        definition: Value,
        hash: impl Into<String>,
        tokens: u64,
    ) -> Self {
        Self {
            server_id: server,
            name: name.into(),
            definition,
            hash: hash.into(),
            tokens,
            seen_at: Timestamp::now(),
        }
    }
}

/// Where the tokens for a server are kept.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[non_exhaustive]
pub struct TokenRef {
    /// Who issued them.
    pub issuer: String,
    /// The server they are for.
    pub server_id: ServerId,
    /// Their name where tokens are kept; never the tokens themselves.
    pub reference: String,
}

impl TokenRef {
    /// Tokens of an issuer for a server.
    pub fn new(issuer: impl Into<String>, server: ServerId, reference: impl Into<String>) -> Self {
        Self {
            issuer: issuer.into(),
            server_id: server,
            reference: reference.into(),
        }
    }
}
