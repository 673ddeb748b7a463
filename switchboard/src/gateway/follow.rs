//! A running gateway follows the store and its file: servers, rules, callers.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use agent_loop::Policy;
use mcp_gateway::{Gateway, Profile};
use parking_lot::RwLock;

use super::source::{Seen, Served, Source};
use super::token::{Callers, OWNER, is_of_issuer};
use crate::exit::Failure;
use crate::store::Store;

/// How often the store is looked at.
pub(crate) const INTERVAL: Duration = Duration::from_secs(1);

/// The profile of every caller, replaced as a whole.
#[derive(Clone, Debug, Default)]
pub(crate) struct Profiles(Arc<RwLock<BTreeMap<String, Arc<Profile>>>>);

impl Profiles {
    pub(crate) fn set(&self, profiles: BTreeMap<String, Arc<Profile>>) {
        *self.0.write() = profiles;
    }

    /// The profile of a caller: callers of the OAuth issuer have the gateway's own. One that has none, as its token was
    /// just removed, sees nothing.
    pub(crate) fn of(&self, caller: Option<&str>) -> Arc<Profile> {
        let profiles = self.0.read();
        let named = caller.filter(|caller| !is_of_issuer(caller));
        let profile = profiles.get(named.unwrap_or(OWNER)).cloned();
        profile.unwrap_or_else(|| Arc::new(Profile::default().with_servers([""; 0])))
    }
}

/// What a running gateway knows, and what it tells of changes.
pub(crate) struct Follower<'a> {
    pub(crate) source: &'a Source,
    pub(crate) store: &'a dyn Store,
    pub(crate) gateway: &'a Gateway,
    pub(crate) callers: Option<&'a Callers>,
    pub(crate) profiles: &'a Profiles,
    pub(crate) seen: Seen,
    pub(crate) served: Served,
    pub(crate) policy: Policy,
}

impl Follower<'_> {
    /// Takes over what has changed. What cannot be read, as a file that is being written, is read
    /// the next time; until then all stays as it is.
    pub(crate) async fn step(&mut self) -> Result<(), Failure> {
        let seen = self.source.look(self.store).await?;
        if seen != self.seen {
            let served = self.source.read(self.store, &seen).await?;
            // A caller loses what it may not use before anything else changes.
            self.profiles.set(served.profiles.clone());
            if let Some(callers) = self.callers {
                callers.set(served.tokens.iter());
            }
            if served.configs != self.served.configs {
                let upstreams = self.source.upstreams(&served);
                // It fails only once the gateway has ended.
                let _ = self.gateway.set_upstreams(upstreams).await;
            }
            self.gateway.set_missing(Source::missing(&served));
            self.served = served;
            self.seen = seen;
        }
        let policy = self.served.policy(self.store).await?;
        if policy != self.policy {
            self.policy = policy.clone();
            self.gateway.set_policy(policy);
        }
        Ok(())
    }
}
