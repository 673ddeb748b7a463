//! Named bearer tokens: each is a caller of its own, with a profile of its own. Only their hashes
//! are stored.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use async_trait::async_trait;
use axum::http::{HeaderMap, header};
use mcp_server::oauth::JwtAuthenticator;
use mcp_server::{Authenticator, Caller, Denied};
use parking_lot::RwLock;
use serde::{Deserialize, Serialize};

use super::source::Tools;
use crate::store::Timestamp;
pub(crate) use crate::token::hash;

/// The caller who has the gateway's own token: the user.
pub(crate) const OWNER: &str = "owner";

/// What is stored of a token.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub(crate) struct Token {
    /// The hash of the token, in hexadecimal digits.
    pub(crate) hash: String,
    /// The assistant whose servers its caller has, by its id; all of the gateway's if none.
    pub(crate) assistant: Option<String>,
    /// Which calls run without asking, if not as for the others.
    pub(crate) approve: Option<String>,
    /// The tools of servers of which its caller has not all.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) tools: Tools,
    pub(crate) created: Timestamp,
}

/// Whether a token may have this name, which is its caller's in the audit log.
pub(crate) fn check_name(name: &str) -> Result<(), String> {
    crate::token::check_name(name)?;
    match name == OWNER {
        true => Err(format!(
            "{OWNER:?} is the caller with the gateway's own token"
        )),
        false => Ok(()),
    }
}

/// Who calls, by the token of the request. Tokens are replaced while requests come.
#[derive(Debug)]
pub(crate) struct Callers {
    owner: String,
    named: RwLock<HashMap<String, String>>,
}

impl Callers {
    /// The owner's token, and no other yet.
    pub(crate) fn new(owner: &str) -> Self {
        Self {
            owner: hash(owner),
            named: RwLock::default(),
        }
    }

    /// Makes these the tokens besides the owner's.
    pub(crate) fn set<'a>(&self, tokens: impl Iterator<Item = (&'a String, &'a Token)>) {
        let named = tokens.map(|(name, token)| (token.hash.clone(), name.clone()));
        *self.named.write() = named.collect();
    }

    fn find(&self, token: &str) -> Option<String> {
        let hash = hash(token);
        match hash == self.owner {
            true => Some(OWNER.to_owned()),
            false => self.named.read().get(&hash).cloned(),
        }
    }
}

/// What the ids of callers with a token of the OAuth issuer begin with: no named token has such a name.
const OAUTH: &str = "oauth:";

/// Whether a caller has a token of the OAuth issuer.
pub(crate) fn is_of_issuer(caller: &str) -> bool {
    caller.starts_with(OAUTH)
}

/// The authenticator of the HTTP endpoint: by the tokens of the gateway's own, or else by those of an OAuth issuer.
pub(crate) struct Inbound {
    callers: Arc<Callers>,
    oauth: Option<JwtAuthenticator>,
}

impl Inbound {
    pub(crate) fn new(callers: Arc<Callers>, oauth: Option<JwtAuthenticator>) -> Self {
        Self { callers, oauth }
    }
}

#[async_trait]
impl Authenticator for Inbound {
    fn document(&self, path: &str) -> Option<String> {
        self.oauth.as_ref()?.document(path)
    }

    async fn authenticate(&self, headers: &HeaderMap) -> Result<Caller, Denied> {
        let given = headers.get(header::AUTHORIZATION);
        let given = given.and_then(|value| value.to_str().ok());
        let given = given.and_then(|value| value.strip_prefix("Bearer "));
        let caller = given.and_then(|token| self.callers.find(token));
        match (caller, &self.oauth) {
            (Some(caller), _) => Ok(Caller::new(caller)),
            (None, Some(oauth)) => {
                let mut caller = oauth.authenticate(headers).await?;
                caller.id.insert_str(0, OAUTH);
                Ok(caller)
            }
            (None, None) => Err(Denied::unauthorized("Bearer")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_its_own_caller_until_it_is_removed() {
        let token = Token {
            hash: hash("t"),
            assistant: None,
            approve: None,
            tools: Tools::new(),
            created: Timestamp::now(),
        };
        let callers = Callers::new("o");
        let name = "laptop".to_owned();
        callers.set([(&name, &token)].into_iter());
        assert_eq!(callers.find("t").as_deref(), Some("laptop"));
        assert_eq!(callers.find("o").as_deref(), Some(OWNER));
        assert_eq!(callers.find(&token.hash), None, "the hash is no token");
        callers.set(std::iter::empty());
        assert_eq!(callers.find("t"), None);
    }

    #[test]
    fn names_are_short_and_plain_and_not_the_owners() {
        for name in ["", "a b", "é", OWNER, "oauth:x", &"x".repeat(65)] {
            assert!(check_name(name).is_err(), "{name}");
        }
        assert!(check_name("ci-runner_2.b").is_ok());
    }
}
