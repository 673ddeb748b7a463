//! Subscriptions to upstream resources, one for each resource that downstream clients watch.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::time::Duration;

use mcp_client::{ClientEvent, Interests, Subscription};
use mcp_manager::{Lease, Manager, ManagerError, ManagerEvent, ServerName};
use mcp_server::{Context, Notifier};
use parking_lot::Mutex;
use tokio::task::AbortHandle;
use tokio::time::{Instant, sleep};

/// Resources watched at once.
const MAX_WATCHES: usize = 1_000;
/// A subscription that ended sooner is not renewed before.
const PAUSE: Duration = Duration::from_secs(5);

/// The resources that are watched, by URI.
#[derive(Default)]
pub(crate) struct Watches(Mutex<HashMap<String, Watched>>);

/// A resource that is watched, for as long as anyone does.
struct Watched {
    watchers: usize,
    watching: AbortHandle,
}

impl Drop for Watched {
    fn drop(&mut self) {
        self.watching.abort();
    }
}

impl Watches {
    /// Counts one more who watches a resource; `false` if it cannot be watched.
    pub(crate) async fn add(
        &self,
        manager: &Manager,
        server: &ServerName,
        uri: &str,
        cx: &Context,
    ) -> bool {
        {
            let mut watches = self.0.lock();
            if let Some(watched) = watches.get_mut(uri) {
                watched.watchers += 1;
                return true;
            }
            if watches.len() >= MAX_WATCHES {
                return false;
            }
        }
        let source = Source {
            manager: manager.clone(),
            server: server.clone(),
            uri: uri.to_owned(),
        };
        let Ok(first) = source.subscribe().await else {
            return false;
        };
        match self.0.lock().entry(uri.to_owned()) {
            // Two clients asked at once.
            Entry::Occupied(mut there) => there.get_mut().watchers += 1,
            Entry::Vacant(free) => {
                let watching = tokio::spawn(source.watch(first, cx.notifier()));
                free.insert(Watched {
                    watchers: 1,
                    watching: watching.abort_handle(),
                });
            }
        }
        true
    }

    /// One who was counted watches no longer.
    pub(crate) fn remove(&self, uri: &str) {
        let mut watches = self.0.lock();
        if let Some(watched) = watches.get_mut(uri) {
            watched.watchers -= 1;
            if watched.watchers == 0 {
                watches.remove(uri);
            }
        }
    }
}

/// Where changes come from.
struct Source {
    manager: Manager,
    server: ServerName,
    uri: String,
}

impl Source {
    /// The server does not become idle while it is watched.
    async fn subscribe(&self) -> Result<(Subscription, Lease), ManagerError> {
        let server = self.server.as_str();
        let lease = self.manager.lease(server)?;
        let interests = Interests::default().with_resource(&*self.uri);
        let changes = self.manager.subscribe(server, interests).await?;
        Ok((changes, lease))
    }

    /// Announces the changes. A connection that is lost ends the subscription: it is renewed, and what happened
    /// meanwhile is announced as one change.
    async fn watch(self, mut subscribed: (Subscription, Lease), notifier: Notifier) {
        loop {
            let began = Instant::now();
            while let Some(change) = subscribed.0.next().await {
                match change {
                    ClientEvent::ResourceUpdated { uri } => notifier.resource_updated(uri),
                    ClientEvent::Gap => notifier.resource_updated(&*self.uri),
                    _ => {}
                }
            }
            drop(subscribed);
            if began.elapsed() < PAUSE {
                sleep(PAUSE).await;
            }
            subscribed = self.renewed().await;
            notifier.resource_updated(&*self.uri);
        }
    }

    async fn renewed(&self) -> (Subscription, Lease) {
        let mut events = self.manager.events();
        loop {
            if let Ok(subscribed) = self.subscribe().await {
                return subscribed;
            }
            // Until it is there again, however long that takes.
            loop {
                match events.next().await {
                    Some(ManagerEvent::StateChanged { server, to, .. })
                        if server == self.server && to.is_connected() =>
                    {
                        break;
                    }
                    Some(ManagerEvent::Lagged { .. }) => break,
                    Some(_) => {}
                    None => std::future::pending().await,
                }
            }
        }
    }
}
