//! What a connection tells its supervisor, from the connection's own tasks: bits and a bell.

use std::sync::Arc;

use mcp_client::ClientEvent as Told;
use mcp_transport::TransportError;
use parking_lot::Mutex;
use tokio::sync::{Notify, broadcast};
use tokio::time::Instant;

use crate::event::{Chatter, Event, Verdict};
use crate::freshness::Kind;
use crate::resource_cache::ResourceCache;
use mcp_config::ServerName;

/// One server's signals. Holds no client: a connection's handlers hold it.
#[derive(Debug)]
pub(crate) struct Signals {
    server: ServerName,
    events: broadcast::Sender<Event>,
    cache: Arc<ResourceCache>,
    origin: Instant,
    chatter: Mutex<Chatter>,
    pending: Mutex<Pending>,
    pub(crate) bell: Notify,
}

/// What the supervisor has not seen yet.
#[derive(Debug, Default)]
pub(crate) struct Pending {
    /// Lists that changed.
    pub(crate) changed: [bool; 3],
    /// The newest connection that ended, and why.
    pub(crate) lost: Option<(u64, Option<Arc<TransportError>>)>,
    /// Changes are no longer announced on this connection.
    pub(crate) silent: Option<u64>,
}

impl Signals {
    pub(crate) fn new(
        server: ServerName,
        events: broadcast::Sender<Event>,
        cache: Arc<ResourceCache>,
        origin: Instant,
        per_second: u32,
    ) -> Self {
        Self {
            server,
            events,
            cache,
            origin,
            chatter: Mutex::new(Chatter::new(per_second)),
            pending: Mutex::default(),
            bell: Notify::new(),
        }
    }

    pub(crate) fn take(&self) -> Pending {
        std::mem::take(&mut self.pending.lock())
    }

    /// Lists changed, or may have.
    pub(crate) fn changed(&self, kinds: &[Kind]) {
        {
            let mut pending = self.pending.lock();
            for (kind, changed) in Kind::ALL.into_iter().zip(&mut pending.changed) {
                *changed |= kinds.contains(&kind);
            }
        }
        self.bell.notify_one();
    }

    pub(crate) fn lost(&self, connection: u64, reason: Option<Arc<TransportError>>) {
        self.pending.lock().lost = Some((connection, reason));
        self.bell.notify_one();
    }

    /// Changes are no longer announced on this connection, for this reason if something failed:
    /// the lists may be stale already.
    pub(crate) fn silent(&self, connection: u64, error: Option<String>) {
        self.pending.lock().silent = Some(connection);
        self.changed(&Kind::ALL);
        if let Some(error) = error {
            tracing::warn!(server = %self.server, %error, "changes are not announced");
            let server = self.server.clone();
            // Whether anyone listens or not.
            let _ = self.events.send(Event::SubscriptionEnded { server, error });
        }
    }

    /// The server told something. What is kept of its resources is forgotten at once.
    pub(crate) fn told(&self, told: Told) {
        match told {
            Told::ToolsChanged => {
                self.cache.invalidate_server(&self.server);
                self.changed(&[Kind::Tools]);
            }
            Told::PromptsChanged => self.changed(&[Kind::Prompts]),
            Told::ResourcesChanged => {
                self.cache.invalidate_server(&self.server);
                self.changed(&[Kind::Resources]);
            }
            Told::Gap => {
                self.cache.invalidate_server(&self.server);
                self.changed(&Kind::ALL);
            }
            Told::ResourceUpdated { uri } => {
                // It may be a part of something that is kept.
                self.cache.invalidate_server(&self.server);
                let server = self.server.clone();
                self.pass_on(Event::ResourceUpdated { server, uri });
            }
            Told::Log(message) => self.pass_on(Event::Log {
                server: self.server.clone(),
                message: Arc::new(*message),
            }),
            Told::ElicitationComplete { elicitation_id } => {
                self.pass_on(Event::ElicitationComplete {
                    server: self.server.clone(),
                    elicitation_id,
                });
            }
            Told::Other { method, params } => self.pass_on(Event::Notification {
                server: self.server.clone(),
                method,
                params,
            }),
            Told::Dropped { count } => self.pass_on(Event::Dropped {
                server: self.server.clone(),
                count,
            }),
            _ => {}
        }
    }

    fn pass_on(&self, event: Event) {
        match self.chatter.lock().judge(self.origin.elapsed()) {
            Verdict::Drop => return,
            Verdict::Pass { dropped: 0 } => {}
            Verdict::Pass { dropped: count } => {
                let server = self.server.clone();
                let _ = self.events.send(Event::Dropped { server, count });
            }
        }
        let _ = self.events.send(event);
    }
}
