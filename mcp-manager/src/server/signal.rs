//! Signals from a connection's tasks to its supervisor.

use std::sync::Arc;

use mcp_client::ClientEvent;
use mcp_config::ServerName;
use mcp_transport::TransportError;
use parking_lot::Mutex;
use tokio::sync::{Notify, broadcast};
use tokio::time::Instant;

use crate::catalog::ItemKind;
use crate::event::{EventRateLimit, ManagerEvent, Verdict};
use crate::resource_cache::ResourceCache;
use crate::server::list_refresh::ListKind;

/// The signals of one server. Holds no client, because a connection's handlers hold it.
#[derive(Debug)]
pub(crate) struct Signals {
    server: ServerName,
    events: broadcast::Sender<ManagerEvent>,
    cache: Arc<ResourceCache>,
    origin: Instant,
    chatter: Mutex<EventRateLimit>,
    pending: Mutex<Pending>,
    pub(crate) bell: Notify,
}

/// The signals that the supervisor has not seen yet.
#[derive(Debug, Default)]
pub(crate) struct Pending {
    /// Lists that changed.
    pub(crate) changed: [bool; 3],
    /// The newest connection that ended, and the reason.
    pub(crate) lost: Option<(u64, Option<Arc<TransportError>>)>,
    /// The connection on which changes are no longer announced.
    pub(crate) silent: Option<u64>,
}

impl Signals {
    pub(crate) fn new(
        server: ServerName,
        events: broadcast::Sender<ManagerEvent>,
        cache: Arc<ResourceCache>,
        origin: Instant,
        per_second: u32,
    ) -> Self {
        Self {
            server,
            events,
            cache,
            origin,
            chatter: Mutex::new(EventRateLimit::new(per_second)),
            pending: Mutex::default(),
            bell: Notify::new(),
        }
    }

    pub(crate) fn take(&self) -> Pending {
        std::mem::take(&mut self.pending.lock())
    }

    /// Lists changed, or may have.
    pub(crate) fn changed(&self, kinds: &[ListKind]) {
        {
            let mut pending = self.pending.lock();
            for (kind, changed) in ListKind::ALL.into_iter().zip(&mut pending.changed) {
                *changed |= kinds.contains(&kind);
            }
        }
        self.bell.notify_one();
    }

    pub(crate) fn lost(&self, connection: u64, reason: Option<Arc<TransportError>>) {
        self.pending.lock().lost = Some((connection, reason));
        self.bell.notify_one();
    }

    /// Changes are no longer announced on this connection, for this reason if there was an error: the lists may already
    /// be stale.
    pub(crate) fn silent(&self, connection: u64, error: Option<String>) {
        self.pending.lock().silent = Some(connection);
        self.changed(&ListKind::ALL);
        if let Some(error) = error {
            tracing::warn!(server = %self.server, %error, "changes are not announced");
            let server = self.server.clone();
            // There may be no listener.
            let _ = self
                .events
                .send(ManagerEvent::SubscriptionEnded { server, error });
        }
    }

    /// Handles an event of the client. Cached resources are dropped at once.
    pub(crate) fn client_event(&self, event: ClientEvent) {
        match event {
            ClientEvent::ToolsChanged => {
                self.cache.invalidate_server(&self.server);
                self.announced(ListKind::Tools, ItemKind::Tool);
            }
            ClientEvent::PromptsChanged => self.announced(ListKind::Prompts, ItemKind::Prompt),
            ClientEvent::ResourcesChanged => {
                self.cache.invalidate_server(&self.server);
                self.announced(ListKind::Resources, ItemKind::Resource);
            }
            ClientEvent::Gap => {
                self.cache.invalidate_server(&self.server);
                self.changed(&ListKind::ALL);
            }
            ClientEvent::ResourceUpdated { uri } => {
                // It may be a part of a cached resource.
                self.cache.invalidate_server(&self.server);
                let server = self.server.clone();
                self.pass_on(ManagerEvent::ResourceUpdated { server, uri });
            }
            ClientEvent::Log(message) => self.pass_on(ManagerEvent::Log {
                server: self.server.clone(),
                message: Arc::new(*message),
            }),
            ClientEvent::ElicitationComplete { elicitation_id } => {
                self.pass_on(ManagerEvent::ElicitationComplete {
                    server: self.server.clone(),
                    elicitation_id,
                });
            }
            ClientEvent::Other { method, params } => self.pass_on(ManagerEvent::Notification {
                server: self.server.clone(),
                method,
                params,
            }),
            ClientEvent::Dropped { count } => self.pass_on(ManagerEvent::Dropped {
                server: self.server.clone(),
                count,
            }),
            _ => {}
        }
    }

    /// The server announces that a list changed.
    fn announced(&self, kind: ListKind, list: ItemKind) {
        self.changed(&[kind]);
        let server = self.server.clone();
        self.pass_on(ManagerEvent::ListAnnounced { server, list });
    }

    fn pass_on(&self, event: ManagerEvent) {
        match self.chatter.lock().judge(self.origin.elapsed()) {
            Verdict::Drop => return,
            Verdict::Pass { dropped: 0 } => {}
            Verdict::Pass { dropped: count } => {
                let server = self.server.clone();
                let _ = self.events.send(ManagerEvent::Dropped { server, count });
            }
        }
        let _ = self.events.send(event);
    }
}
