//! What all servers of a manager share.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use parking_lot::Mutex;
use tokio::sync::{Notify, Semaphore, broadcast};
use tokio::time::Instant;

use crate::catalog::{Catalog, Listing};
use crate::connector::Connector;
use crate::elicitation::Answers;
use crate::error::ManagerError;
use crate::event::Event;
use crate::limits::Limits;
use crate::resource_cache::ResourceCache;
use crate::slot::Slot;
use mcp_config::Endpoint;
use mcp_config::ServerName;

/// The middle of it all.
#[derive(Debug)]
pub(crate) struct Hub {
    pub(crate) limits: Limits,
    pub(crate) connector: Arc<dyn Connector>,
    pub(crate) answers: Arc<Answers>,
    pub(crate) events: broadcast::Sender<Event>,
    pub(crate) cache: Arc<ResourceCache>,
    /// What servers offered when they were last seen.
    pub(crate) known: BTreeMap<ServerName, Arc<Listing>>,
    pub(crate) servers: Mutex<BTreeMap<ServerName, Arc<Slot>>>,
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

impl Hub {
    /// The time on the clock that all pure parts go by.
    pub(crate) fn now(&self) -> Duration {
        self.origin.elapsed()
    }

    pub(crate) fn emit(&self, event: Event) {
        tracing::debug!(
            event = event.name(),
            server = event.server().map(tracing::field::display)
        );
        // Nobody has to listen.
        let _ = self.events.send(event);
    }

    /// Whose turn it is to start.
    pub(crate) fn gate(&self, endpoint: &Endpoint) -> Arc<Semaphore> {
        Arc::clone(match endpoint {
            Endpoint::Stdio(_) => &self.stdio_gate,
            _ => &self.remote_gate,
        })
    }

    pub(crate) fn slots(&self) -> Vec<Arc<Slot>> {
        self.servers.lock().values().cloned().collect()
    }

    pub(crate) fn slot(&self, server: &str) -> Result<Arc<Slot>, ManagerError> {
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

    /// Everything kept of a server's answers may be wrong.
    pub(crate) fn forget(&self, server: &ServerName) {
        self.cache.invalidate_server(server);
    }

    /// A server offers something else now.
    pub(crate) fn offer(&self, slot: &Slot, listing: Option<Arc<Listing>>) {
        *slot.listing.lock() = listing;
        self.outdate();
    }

    /// The catalogue no longer tells the truth.
    pub(crate) fn outdate(&self) {
        self.stale.store(true, Ordering::SeqCst);
        self.bell.notify_one();
    }

    /// The newest catalogue: made anew, whole, if a server offers something else since.
    pub(crate) fn catalog(&self) -> Arc<Catalog> {
        let mut current = self.catalog.lock();
        if !self.stale.swap(false, Ordering::SeqCst) {
            return Arc::clone(&current);
        }
        let slots = self.slots();
        let listings = slots.iter().filter_map(|slot| slot.listing.lock().clone());
        let next = Arc::new(Catalog::new(current.epoch() + 1, listings));
        let diff = current.diff(&next);
        if diff.is_empty() && current.problems().eq(next.problems()) {
            return Arc::clone(&current);
        }
        *current = Arc::clone(&next);
        let epoch = next.epoch();
        self.emit(Event::CatalogChanged {
            epoch,
            diff: Arc::new(diff),
        });
        next
    }

    /// Brings the catalogue up to date in the background, once for servers that change together.
    pub(crate) async fn publish(self: Arc<Self>) {
        loop {
            self.bell.notified().await;
            tokio::time::sleep(self.limits.catalog_pause()).await;
            self.catalog();
        }
    }
}
