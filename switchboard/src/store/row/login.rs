//! Who may come in: users, their sessions and their tokens. Secrets are kept as hashes only.

use std::time::Duration;

use clap::ValueEnum;
use serde::{Deserialize, Serialize};

use crate::store::id::{AccessTokenId, UserId};
use crate::store::timestamp::Timestamp;
use crate::token;

/// A user, who has servers, conversations and settings. A fresh store has one, [`UserId::local`].
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[non_exhaustive]
pub struct User {
    /// Who.
    pub id: UserId,
    /// What to call them.
    pub name: String,
    /// What they may do.
    pub role: TeamRole,
    /// Their address, by which a first login finds them.
    pub email: Option<String>,
    /// Who vouches for them at a login.
    pub issuer: Option<String>,
    /// What the issuer calls them.
    pub subject: Option<String>,
    /// Whether they may not come in, for now.
    pub is_blocked: bool,
    /// Whether their servers may use the machine: its programs, variables, keyring and files.
    pub uses_host: bool,
    /// When they last logged in.
    pub seen_at: Option<Timestamp>,
}

impl User {
    /// A member who never logged in.
    pub fn new(id: UserId, name: impl Into<String>) -> Self {
        Self {
            id,
            name: name.into(),
            role: TeamRole::Member,
            email: None,
            issuer: None,
            subject: None,
            is_blocked: false,
            uses_host: false,
            seen_at: None,
        }
    }
}

/// What owners decide about a user; what is `None` stays as it is.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct UserEdit {
    /// What they may do.
    pub role: Option<TeamRole>,
    /// Their address, by which a first login finds them.
    pub email: Option<String>,
    /// Whether they may not come in.
    pub is_blocked: Option<bool>,
    /// Whether their servers may use the machine.
    pub uses_host: Option<bool>,
}

impl UserEdit {
    /// What is decided, for people.
    pub(crate) fn text(&self) -> String {
        let role = self.role.map(|role| format!("role {}", role.as_str()));
        let email = self.email.as_ref().map(|email| format!("email {email}"));
        let blocked = self.is_blocked.map(|is| format!("blocked {is}"));
        let host = self.uses_host.map(|uses| format!("host {uses}"));
        let decided = [role, email, blocked, host].into_iter().flatten();
        decided.collect::<Vec<_>>().join(", ")
    }
}

/// What the issuer says of a user who comes in.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct Arrival {
    /// Who.
    pub id: UserId,
    /// What to call them.
    pub name: String,
    /// The role that the issuer's groups give; if there is none, the user's own stays.
    pub role: Option<TeamRole>,
    /// Their address; if there is none, the user's own stays.
    pub email: Option<String>,
    /// The issuer.
    pub issuer: String,
    /// What the issuer calls them.
    pub subject: String,
}

impl Arrival {
    /// An arrival of whom nothing else is known.
    pub fn new(
        id: UserId,
        name: impl Into<String>,
        (issuer, subject): (impl Into<String>, impl Into<String>),
    ) -> Self {
        Self {
            id,
            name: name.into(),
            role: None,
            email: None,
            issuer: issuer.into(),
            subject: subject.into(),
        }
    }
}

/// What a user may do. Each role may do what those before it may.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Ord, PartialEq, PartialOrd, Serialize, ValueEnum)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum TeamRole {
    /// Looks at what is theirs.
    Viewer,
    /// Chats, and has servers of their own.
    Member,
    /// Decides about users and what all share.
    Owner,
}

impl TeamRole {
    /// The role as text.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Viewer => "viewer",
            Self::Member => "member",
            Self::Owner => "owner",
        }
    }
}

impl std::str::FromStr for TeamRole {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let all = [Self::Viewer, Self::Member, Self::Owner];
        let found = all.into_iter().find(|role| role.as_str() == text);
        found.ok_or_else(|| format!("{text:?} is no role: owner, member or viewer"))
    }
}

/// A browser that is logged in.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[non_exhaustive]
pub struct LoginSession {
    /// The hash of its id.
    pub hash: String,
    /// Who is logged in.
    pub user_id: UserId,
    /// When they logged in.
    pub created_at: Timestamp,
    /// When it was last used, give or take a minute.
    pub seen_at: Timestamp,
    /// When it ends, however much it is used.
    pub expires_at: Timestamp,
}

impl LoginSession {
    /// A session that begins now.
    pub fn new(hash: impl Into<String>, user: UserId, expires_at: Timestamp) -> Self {
        let now = Timestamp::now();
        Self {
            hash: hash.into(),
            user_id: user,
            created_at: now,
            seen_at: now,
            expires_at,
        }
    }
}

/// A login that was begun at the issuer and is not finished. It is finished once, by the browser
/// that began it.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[non_exhaustive]
pub struct LoginAttempt {
    /// The hash of its state.
    pub hash: String,
    /// The hash of what its browser holds.
    pub browser: String,
    /// What the issuer must repeat.
    pub nonce: String,
    /// What proves at the issuer that we began it.
    pub verifier: String,
    /// The view to open afterwards.
    pub return_to: String,
    /// When it is too late.
    pub expires_at: Timestamp,
}

impl LoginAttempt {
    /// An attempt with the hashes of its state and of what its browser holds.
    pub fn new(
        (hash, browser): (String, String),
        (nonce, verifier): (String, String),
        return_to: impl Into<String>,
        expires_at: Timestamp,
    ) -> Self {
        Self {
            hash,
            browser,
            nonce,
            verifier,
            return_to: return_to.into(),
            expires_at,
        }
    }
}

/// A personal access token, for a user's programs.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[non_exhaustive]
pub struct AccessToken {
    /// Its id.
    pub id: AccessTokenId,
    /// Whose it is.
    pub user_id: UserId,
    /// Its name, one of its kind for a user.
    pub name: String,
    /// The hash of the token.
    pub hash: String,
    /// What it may do at most.
    pub scope: TokenScope,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it ends, if it does.
    pub expires_at: Option<Timestamp>,
    /// When it was last used, give or take a minute.
    pub used_at: Option<Timestamp>,
}

impl AccessToken {
    /// A new token and what is stored of it; the token itself is not shown again.
    ///
    /// # Errors
    /// If the system gives no random numbers.
    pub fn make(
        user: UserId,
        name: &str,
        scope: TokenScope,
        lasts: Option<Duration>,
    ) -> std::io::Result<(String, Self)> {
        let secret = format!("{}{}", token::PERSONAL, token::fresh()?);
        let now = Timestamp::now().as_millis();
        let ends = lasts.map(|lasts| {
            let lasts = u64::try_from(lasts.as_millis()).unwrap_or(u64::MAX);
            Timestamp::from_millis(now.saturating_add(lasts))
        });
        let row = Self::new(user, name, token::hash(&secret), scope, ends);
        Ok((secret, row))
    }

    /// A token that is made now.
    pub fn new(
        user: UserId,
        name: impl Into<String>,
        hash: impl Into<String>,
        scope: TokenScope,
        expires_at: Option<Timestamp>,
    ) -> Self {
        Self {
            id: AccessTokenId::fresh(),
            user_id: user,
            name: name.into(),
            hash: hash.into(),
            scope,
            created_at: Timestamp::now(),
            expires_at,
            used_at: None,
        }
    }
}

/// What a token may do at most: never more than its user.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Ord, PartialEq, PartialOrd, Serialize, ValueEnum)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum TokenScope {
    /// What a viewer may.
    Read,
    /// What a member may.
    Chat,
    /// What an owner may.
    Admin,
}

impl TokenScope {
    /// The scope as text.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Chat => "chat",
            Self::Admin => "admin",
        }
    }

    /// The most that its bearer may do.
    pub const fn role(self) -> TeamRole {
        match self {
            Self::Read => TeamRole::Viewer,
            Self::Chat => TeamRole::Member,
            Self::Admin => TeamRole::Owner,
        }
    }
}
