//! The builder of a manager, which takes all settings up front.

use std::collections::BTreeMap;
use std::fmt;
use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use mcp_client::{Host, HostCapabilities};
use mcp_config::ServerName;
use parking_lot::Mutex;
use tokio::sync::{Notify, Semaphore, broadcast};
use tokio::time::Instant;

use crate::catalog::{Catalog, Listing};
use crate::connector::{Connector, DefaultConnector};
use crate::elicitation::{Answers, ElicitationHandler, Queue};
use crate::limits::ManagerLimits;
use crate::manager::Manager;
use crate::manager::shared::Shared;
use crate::resource_cache::{ResourceCache, ResourceCacheLimits};

/// Builds a [`Manager`]. Handlers and the connector are set before any server is added, so that no event is missed.
#[must_use = "a builder does nothing until `build`"]
pub struct ManagerBuilder {
    connector: Option<Arc<dyn Connector>>,
    elicitation: Option<Arc<dyn ElicitationHandler>>,
    host: Option<(Arc<dyn Host>, HostCapabilities)>,
    limits: ManagerLimits,
    cache: ResourceCacheLimits,
    known: BTreeMap<ServerName, Arc<Listing>>,
    seed: Option<u64>,
}

impl ManagerBuilder {
    pub(crate) fn new() -> Self {
        Self {
            connector: None,
            elicitation: None,
            host: None,
            limits: ManagerLimits::default(),
            cache: ResourceCacheLimits::default(),
            known: BTreeMap::new(),
            seed: None,
        }
    }

    /// Sets the connector, which reaches servers. Default: [`DefaultConnector`].
    pub fn connector(mut self, connector: impl Connector + 'static) -> Self {
        self.connector = Some(Arc::new(connector));
        self
    }

    pub(crate) fn shared_connector(mut self, connector: Arc<dyn Connector>) -> Self {
        self.connector = Some(connector);
        self
    }

    /// Sets the handler of servers' questions to the user. By default there is none, and servers are informed of that.
    pub fn elicitation(mut self, handler: impl ElicitationHandler + 'static) -> Self {
        self.elicitation = Some(Arc::new(handler));
        self
    }

    /// Sets the host that answers the servers' other requests: sampling and roots; forms and URLs, too, if there is no
    /// [`elicitation`](Self::elicitation) handler. Only `capabilities` are advertised.
    pub fn host(mut self, host: impl Host + 'static, capabilities: HostCapabilities) -> Self {
        self.host = Some((Arc::new(host), capabilities));
        self
    }

    /// Sets the limits.
    pub fn limits(mut self, limits: ManagerLimits) -> Self {
        self.limits = limits;
        self
    }

    /// Changes some of the limits.
    pub fn adjust_limits(mut self, change: impl FnOnce(ManagerLimits) -> ManagerLimits) -> Self {
        self.limits = change(self.limits);
        self
    }

    /// Sets the limits of the resource cache.
    pub fn resource_cache(mut self, limits: ResourceCacheLimits) -> Self {
        self.cache = limits;
        self
    }

    /// Sets the last known listings of servers: they are in the catalogue before the servers are connected, so that
    /// servers which start on demand can be listed.
    pub fn known(mut self, listings: impl IntoIterator<Item = Listing>) -> Self {
        let known = listings
            .into_iter()
            .map(|listing| (listing.server().clone(), Arc::new(listing)));
        self.known.extend(known);
        self
    }

    /// Seeds the random delays before reconnecting, so that a run can be reproduced.
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = Some(seed);
        self
    }

    /// Creates the manager, without servers. Must be called within a tokio runtime that has time and IO enabled.
    pub fn build(self) -> Manager {
        let (events, _) = broadcast::channel(self.limits.queued_events().max(1));
        let answers = Answers {
            elicitation: self.elicitation,
            host: self.host,
            queue: Queue::new(&self.limits),
            events: events.clone(),
        };
        let connector = self
            .connector
            .unwrap_or_else(|| Arc::new(DefaultConnector::new()));
        let shared = Arc::new(Shared {
            connector,
            answers: Arc::new(answers),
            events,
            cache: Arc::new(ResourceCache::new(self.cache)),
            known: self.known,
            servers: Mutex::new(BTreeMap::new()),
            leaving: Mutex::default(),
            stdio_gate: Arc::new(Semaphore::new(self.limits.stdio_starts().max(1))),
            remote_gate: Arc::new(Semaphore::new(self.limits.remote_starts().max(1))),
            limits: self.limits,
            origin: Instant::now(),
            seed: self.seed.unwrap_or_else(|| RandomState::new().hash_one(0)),
            over: AtomicBool::new(false),
            catalog: Mutex::new(Arc::new(Catalog::empty())),
            stale: AtomicBool::new(false),
            bell: Notify::new(),
        });
        Manager::new(shared)
    }
}

impl fmt::Debug for ManagerBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ManagerBuilder")
            .field("connector", &self.connector)
            .field("limits", &self.limits)
            .finish_non_exhaustive()
    }
}
