//! Subscriptions to upstream resources, one for each resource that a downstream client watches.

use std::collections::HashMap;
use std::sync::Arc;

use mcp_client::{ClientEvent, Interests};
use mcp_manager::{Manager, ServerName};
use mcp_server::Context;
use parking_lot::Mutex;
use tokio::task::AbortHandle;

/// Resources watched at once.
const MAX_WATCHES: usize = 1_000;

type Table = HashMap<(ServerName, String), AbortHandle>;

/// The resources that are watched. They are watched until their connection ends.
#[derive(Default)]
pub(crate) struct Watches(Arc<Mutex<Table>>);

impl Watches {
    /// Watches a resource, unless it is watched already; `false` if it cannot be watched.
    pub(crate) async fn add(
        &self,
        manager: &Manager,
        server: &ServerName,
        uri: &str,
        cx: &Context,
    ) -> bool {
        let key = (server.clone(), uri.to_owned());
        {
            let watches = self.0.lock();
            if watches.contains_key(&key) {
                return true;
            }
            if watches.len() >= MAX_WATCHES {
                return false;
            }
        }
        let interests = Interests::default().with_resource(uri);
        let Ok(mut changes) = manager.subscribe(server.as_str(), interests).await else {
            return false;
        };
        let (table, notifier, uri) = (Arc::downgrade(&self.0), cx.notifier(), uri.to_owned());
        let watched = key.clone();
        let watching = tokio::spawn(async move {
            while let Some(change) = changes.next().await {
                match change {
                    ClientEvent::ResourceUpdated { uri } => notifier.resource_updated(uri),
                    ClientEvent::Gap => notifier.resource_updated(uri.as_str()),
                    _ => {}
                }
            }
            if let Some(table) = table.upgrade() {
                table.lock().remove(&watched);
            }
        });
        let replaced = self.0.lock().insert(key, watching.abort_handle());
        // Two clients asked at once.
        if let Some(replaced) = replaced {
            replaced.abort();
        }
        true
    }
}

impl Drop for Watches {
    fn drop(&mut self) {
        for (_, watching) in self.0.lock().drain() {
            watching.abort();
        }
    }
}
