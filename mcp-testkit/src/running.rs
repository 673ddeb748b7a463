//! A running server.

use std::sync::Arc;

use serde_json::Value;
use tokio::task::JoinHandle;

use crate::protocol::{Change, World};
use crate::wire::Site;
use crate::{Log, Script};

/// A running server. Dropping it ends the server at once; [`Running::shutdown`] ends it normally.
#[derive(Debug)]
pub struct Running {
    pub(crate) world: Arc<World>,
    pub(crate) sites: Vec<Arc<Site>>,
    pub(crate) tasks: Vec<JoinHandle<()>>,
}

impl Running {
    /// The URL for clients; empty for a server on a pipe.
    #[must_use]
    pub fn url(&self) -> String {
        self.sites
            .first()
            .map(|site| site.url())
            .unwrap_or_default()
    }

    /// The other origin, to which redirects and forged endpoints point; empty for a server on a pipe.
    #[must_use]
    pub fn second_url(&self) -> String {
        self.sites.get(1).map(|site| site.url()).unwrap_or_default()
    }

    /// The log of what the server has seen so far.
    #[must_use]
    pub fn log(&self) -> &Log {
        &self.world.log
    }

    /// Changes the server's script without notifying clients.
    pub fn edit(&self, edit: impl FnOnce(Script) -> Script) {
        self.world.edit(edit);
    }

    /// Notifies clients that a list changed: `tools`, `prompts` or `resources`.
    pub fn list_changed(&self, list: &str) {
        self.world.announce(Change::List(list));
    }

    /// Notifies subscribed clients that a resource changed.
    pub fn resource_updated(&self, uri: &str) {
        self.world.announce(Change::Resource(uri));
    }

    /// Sends any notification to every client with any subscription.
    pub fn notify(&self, method: &str, params: Value) {
        self.world.announce(Change::Other(method, &params));
    }

    /// Cuts every open connection.
    pub fn drop_connections(&self) {
        for site in &self.sites {
            site.drop_connections();
        }
    }

    /// Drops every session: clients get 404 from now on (Streamable HTTP).
    pub fn forget_sessions(&self) {
        for site in &self.sites {
            site.sessions.lock().clear();
        }
    }

    /// Returns the exit status once a tool has ended the server ([`Step::Exit`](crate::Step::Exit)).
    pub async fn exited(&self) -> i32 {
        self.world.exited().await
    }

    /// Ends all streams normally, then the server.
    pub async fn shutdown(mut self) {
        self.world.stop();
        for task in std::mem::take(&mut self.tasks) {
            // Whether it was aborted or ended, it is over.
            let _ = task.await;
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.world.stop();
        for task in &self.tasks {
            task.abort();
        }
    }
}
