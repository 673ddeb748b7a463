//! A server that runs.

use std::sync::Arc;

use serde_json::Value;
use tokio::task::JoinHandle;

use crate::protocol::{Change, World};
use crate::wire::Site;
use crate::{Log, Script};

/// A running server. Dropping it ends the server at once; [`Running::shutdown`] ends it in order.
#[derive(Debug)]
pub struct Running {
    pub(crate) world: Arc<World>,
    pub(crate) sites: Vec<Arc<Site>>,
    pub(crate) tasks: Vec<JoinHandle<()>>,
}

impl Running {
    /// Where clients connect to; empty for a server on a pipe.
    #[must_use]
    pub fn url(&self) -> String {
        self.sites
            .first()
            .map(|site| site.url())
            .unwrap_or_default()
    }

    /// The other origin, that redirects and forged endpoints point to; empty for a server on a pipe.
    #[must_use]
    pub fn second_url(&self) -> String {
        self.sites.get(1).map(|site| site.url()).unwrap_or_default()
    }

    /// What the server saw so far.
    #[must_use]
    pub fn log(&self) -> &Log {
        &self.world.log
    }

    /// Changes what the server offers, without telling anyone.
    pub fn edit(&self, edit: impl FnOnce(Script) -> Script) {
        self.world.edit(edit);
    }

    /// Tells clients that a list changed: `tools`, `prompts` or `resources`.
    pub fn list_changed(&self, list: &str) {
        self.world.announce(Change::List(list));
    }

    /// Tells clients that subscribed to it that a resource changed.
    pub fn resource_updated(&self, uri: &str) {
        self.world.announce(Change::Resource(uri));
    }

    /// Sends any notification to every client that listens for anything.
    pub fn notify(&self, method: &str, params: Value) {
        self.world.announce(Change::Other(method, &params));
    }

    /// Cuts every open connection.
    pub fn drop_connections(&self) {
        for site in &self.sites {
            site.drop_connections();
        }
    }

    /// Forgets every session: clients get 404 from now on (Streamable HTTP).
    pub fn forget_sessions(&self) {
        for site in &self.sites {
            site.sessions.lock().clear();
        }
    }

    /// Returns once a tool has ended the server ([`Step::Exit`](crate::Step::Exit)); gives the exit
    /// status.
    pub async fn exited(&self) -> i32 {
        self.world.exited().await
    }

    /// Ends all streams in order, then the server.
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
