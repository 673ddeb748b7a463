//! The state that all servers of a manager share.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use mcp_config::{Endpoint, ServerName};
use parking_lot::Mutex;
use tokio::sync::{Notify, Semaphore, broadcast};
use tokio::time::Instant;

use crate::catalog::{Catalog, Listing};
use crate::connector::Connector;
use crate::elicitation::Answers;
use crate::error::ManagerError;
use crate::event::ManagerEvent;
use crate::limits::ManagerLimits;
use crate::resource_cache::ResourceCache;
use crate::server::handle::ServerHandle;

/// The shared state of a manager.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) limits: ManagerLimits,
    pub(crate) connector: Arc<dyn Connector>,
    pub(crate) answers: Arc<Answers>,
    pub(crate) events: broadcast::Sender<ManagerEvent>,
    pub(crate) cache: Arc<ResourceCache>,
    /// The last known listings of servers.
    pub(crate) known: BTreeMap<ServerName, Arc<Listing>>,
    pub(crate) servers: Mutex<BTreeMap<ServerName, Arc<ServerHandle>>>,
    /// Servers that were taken out, and end once their calls are done.
    pub(crate) leaving: Mutex<Vec<Arc<ServerHandle>>>,
    pub(crate) stdio_gate: Arc<Semaphore>,
    pub(crate) remote_gate: Arc<Semaphore>,
    pub(crate) origin: Instant,
    pub(crate) seed: u64,
    pub(crate) over: AtomicBool,
    pub(crate) catalog: Mutex<Arc<Catalog>>,
    /// Whether the catalogue is older than the listings.
    pub(crate) stale: AtomicBool,
    pub(crate) bell: Notify,
}

impl Shared {
    /// The time on the clock used by all pure parts.
    pub(crate) fn now(&self) -> Duration {
        self.origin.elapsed()
    }

    pub(crate) fn emit(&self, event: ManagerEvent) {
        tracing::debug!(
            event = event.name(),
            server = event.server().map(tracing::field::display)
        );
        // There may be no listener.
        let _ = self.events.send(event);
    }

    /// The semaphore for starts of such servers.
    pub(crate) fn gate(&self, endpoint: &Endpoint) -> Arc<Semaphore> {
        Arc::clone(match endpoint {
            Endpoint::Stdio(_) => &self.stdio_gate,
            _ => &self.remote_gate,
        })
    }

    pub(crate) fn handles(&self) -> Vec<Arc<ServerHandle>> {
        self.servers.lock().values().cloned().collect()
    }

    pub(crate) fn handle(&self, server: &str) -> Result<Arc<ServerHandle>, ManagerError> {
        if self.over.load(Ordering::SeqCst) {
            return Err(ManagerError::ShutDown);
        }
        let servers = self.servers.lock();
        servers
            .get(server)
            .cloned()
            .ok_or_else(|| ManagerError::UnknownServer {
                server: server.to_owned(),
                known: servers.keys().cloned().collect(),
            })
    }

    /// Takes a server that is leaving, in order to end it; `false` if someone else ends it.
    pub(crate) fn take_leaving(&self, handle: &Arc<ServerHandle>) -> bool {
        let mut leaving = self.leaving.lock();
        let at = leaving.iter().position(|it| Arc::ptr_eq(it, handle));
        at.map(|at| leaving.swap_remove(at)).is_some()
    }

    /// Drops everything cached from a server, which may be outdated.
    pub(crate) fn forget(&self, server: &ServerName) {
        self.cache.invalidate_server(server);
    }

    /// Sets a server's new listing.
    pub(crate) fn offer(&self, handle: &ServerHandle, listing: Option<Arc<Listing>>) {
        *handle.listing.lock() = listing;
        self.outdate();
    }

    /// Marks the catalogue as outdated.
    pub(crate) fn outdate(&self) {
        self.stale.store(true, Ordering::SeqCst);
        self.bell.notify_one();
    }

    /// The newest catalogue, rebuilt as a whole if a server's listing has changed since.
    pub(crate) fn catalog(&self) -> Arc<Catalog> {
        let mut current = self.catalog.lock();
        if !self.stale.swap(false, Ordering::SeqCst) {
            return Arc::clone(&current);
        }
        let handles = self.handles();
        let listings = handles
            .iter()
            .filter_map(|handle| handle.listing.lock().clone());
        let next = Arc::new(Catalog::new(current.epoch() + 1, listings));
        let diff = current.diff(&next);
        if diff.is_empty() && current.problems().eq(next.problems()) {
            // The order of a list is not announced.
            if !current.is_kept_like(&next) {
                *current = next;
            }
            return Arc::clone(&current);
        }
        *current = Arc::clone(&next);
        let epoch = next.epoch();
        self.emit(ManagerEvent::CatalogChanged {
            epoch,
            diff: Arc::new(diff),
        });
        next
    }

    /// Updates the catalogue in the background, once for servers that change together.
    pub(crate) async fn publish(self: Arc<Self>) {
        loop {
            self.bell.notified().await;
            tokio::time::sleep(self.limits.catalog_pause()).await;
            self.catalog();
        }
    }
}
