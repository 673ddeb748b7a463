//! The handle: which servers there are, and what they offer.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use mcp_client::{Client, ServerDetails};
use tokio::task::{AbortHandle, JoinSet};

use crate::builder::ManagerBuilder;
use crate::catalog::{Catalog, Entry};
use crate::error::{ManagerError, told};
use crate::event::Events;
use crate::hub::Hub;
use crate::limits::Limits;
use crate::resource_cache::ResourceCache;
use crate::server::ServerState;
use crate::slot::{Command, Slot};
use mcp_config::ServerConfig;
use mcp_config::ServerName;

/// Many servers behind one catalogue.
///
/// A cheap clone; all clones are the same. Each server has a task of its own that connects it,
/// looks after it and brings it back, so that no server's failure, slowness or noise touches
/// another. End it with [`shutdown`](Self::shutdown); when the last clone is dropped without, all
/// connections end as soon as they can.
#[derive(Clone, Debug)]
pub struct Manager {
    pub(crate) inner: Arc<Inner>,
}

/// Ends all tasks when the last handle goes.
#[derive(Debug)]
pub(crate) struct Inner {
    pub(crate) hub: Arc<Hub>,
    publisher: AbortHandle,
}

impl Drop for Inner {
    fn drop(&mut self) {
        self.publisher.abort();
        for slot in self.hub.slots() {
            if let Some(supervisor) = slot.supervisor.lock().take() {
                supervisor.abort();
            }
        }
    }
}

/// A server, seen from outside.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ServerInfo {
    /// Its name.
    pub name: ServerName,
    /// Where it stands.
    pub state: ServerState,
    /// What went wrong last, with all causes, until it works again.
    pub error: Option<String>,
    /// How it is configured.
    pub config: Arc<ServerConfig>,
    /// What it says about itself, while it is connected.
    pub facts: Option<ServerDetails>,
}

/// What had to be done to end all servers.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub struct Shutdown {
    /// The programs that did not end by themselves, by server.
    pub killed: BTreeMap<ServerName, Vec<String>>,
}

impl Manager {
    /// Begins to build a manager.
    pub fn builder() -> ManagerBuilder {
        ManagerBuilder::new()
    }

    pub(crate) fn new(hub: Arc<Hub>) -> Self {
        let publisher = tokio::spawn(Arc::clone(&hub).publish()).abort_handle();
        Self {
            inner: Arc::new(Inner { hub, publisher }),
        }
    }

    pub(crate) fn hub(&self) -> &Arc<Hub> {
        &self.inner.hub
    }

    /// The bounds.
    pub fn limits(&self) -> &Limits {
        &self.hub().limits
    }

    /// What all servers offer now. Keep the snapshot for as long as names of it are in use.
    pub fn catalog(&self) -> Arc<Catalog> {
        self.hub().catalog()
    }

    /// The catalogue, once lists whose servers announced a change have been requested anew: what a
    /// model is to be given. Waits for [`Limits::list_wait`] at most, and for nothing if no change
    /// was announced; a server that does not answer in time keeps what it offered last.
    pub async fn fresh_catalog(&self) -> Arc<Catalog> {
        let outdated = |slot: &Arc<Slot>| slot.live.borrow().is_outdated();
        let slots: Vec<Arc<Slot>> = self.hub().slots().into_iter().filter(outdated).collect();
        if !slots.is_empty() {
            let mut waiting = JoinSet::new();
            for slot in slots {
                waiting.spawn(async move { slot.fresh().await });
            }
            // Those that take longer are not waited for.
            let _ = tokio::time::timeout(self.limits().list_wait(), waiting.join_all()).await;
        }
        self.catalog()
    }

    /// What happens from now on.
    pub fn events(&self) -> Events {
        Events {
            receiver: self.hub().events.subscribe(),
        }
    }

    /// All servers, by name.
    pub fn servers(&self) -> Vec<ServerInfo> {
        self.hub().slots().iter().map(|slot| info(slot)).collect()
    }

    /// One server.
    pub fn server(&self, name: &str) -> Option<ServerInfo> {
        self.hub().slot(name).ok().map(|slot| info(&slot))
    }

    /// The names of all servers that are connected.
    pub fn connected(&self) -> Vec<ServerName> {
        let slots = self.hub().slots().into_iter();
        let connected = slots.filter(|slot| slot.state().is_connected());
        connected.map(|slot| slot.name.clone()).collect()
    }

    /// The connection to a server, if there is one now: for whatever this
    /// crate has no words for. It is not renewed; ask again after a loss.
    pub fn client(&self, name: &str) -> Option<Client> {
        self.hub().slot(name).ok()?.client()
    }

    /// The resources that were read.
    pub fn resource_cache(&self) -> &ResourceCache {
        &self.hub().cache
    }

    /// Forgets what is kept of a resource.
    pub fn invalidate_resource(&self, server: &ServerName, uri: &str) {
        self.hub().cache.invalidate(server, uri);
    }

    /// Forgets what is kept of all resources of a server.
    pub fn invalidate_resources(&self, server: &ServerName) {
        self.hub().forget(server);
    }

    /// The tool of this name, as the catalogue has it now.
    pub(crate) fn tool(&self, exposed_name: &str) -> Result<Arc<Entry>, ManagerError> {
        let found = self.catalog().tool(exposed_name).cloned();
        found.ok_or_else(|| ManagerError::UnknownTool {
            name: exposed_name.to_owned(),
        })
    }

    /// Asks a server anew for what it offers, soon and in the background.
    ///
    /// # Errors
    ///
    /// [`ManagerError::UnknownServer`] if there is none of this name.
    pub fn refresh(&self, name: &str) -> Result<(), ManagerError> {
        let slot = self.hub().slot(name)?;
        slot.signals.changed(&crate::freshness::Kind::ALL);
        Ok(())
    }

    /// Asks a connected server anew for what it offers, and waits until the catalogue has it. One
    /// that does not tell keeps what it offered last.
    ///
    /// # Errors
    ///
    /// [`ManagerError::UnknownServer`] if there is none of this name, [`ManagerError::ShutDown`]
    /// if it goes meanwhile.
    pub async fn refreshed(&self, name: &str) -> Result<(), ManagerError> {
        let slot = self.hub().slot(name)?;
        slot.order(|done| Command::Refresh { done }).await
    }

    /// Ends all servers, and returns when nothing of them is left: no connection, no process. Says
    /// which programs had to be killed. From now on the manager does nothing any more.
    pub async fn shutdown(&self) -> Shutdown {
        self.hub().over.store(true, Ordering::SeqCst);
        let slots = std::mem::take(&mut *self.hub().servers.lock());
        self.hub().outdate();
        let killed = quit(slots.into_values().collect()).await;
        // Nothing is offered any more, and nobody has to wait to hear of it.
        self.catalog();
        Shutdown { killed }
    }
}

/// Ends these servers, all at the same time, and waits for them.
pub(crate) async fn quit(slots: Vec<Arc<Slot>>) -> BTreeMap<ServerName, Vec<String>> {
    let mut ending = JoinSet::new();
    for slot in slots {
        ending.spawn(async move {
            // One whose supervisor is gone needs no telling.
            let _ = slot.commands.send(Command::Quit).await;
            let supervisor = slot.supervisor.lock().take();
            let killed = match supervisor {
                Some(supervisor) => supervisor.await.unwrap_or_default(),
                None => Vec::new(),
            };
            (slot.name.clone(), killed)
        });
    }
    let ended = ending.join_all().await.into_iter();
    ended.filter(|(_, killed)| !killed.is_empty()).collect()
}

fn info(slot: &Slot) -> ServerInfo {
    let live = slot.live.borrow().clone();
    ServerInfo {
        name: slot.name.clone(),
        state: live.state,
        error: live.error.map(|error| told(error.as_ref())),
        config: slot.config(),
        facts: live.client.map(|client| client.server()),
    }
}
