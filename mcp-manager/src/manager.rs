//! The manager: the handle to a set of servers and their catalogue.

pub(crate) mod builder;
pub(crate) mod lifecycle;
mod secrets;
pub(crate) mod shared;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use mcp_client::{Client, ClientBuilder, ServerDetails};
use mcp_config::{ServerConfig, ServerName};
use tokio::task::{AbortHandle, JoinSet};
use tool_policy::Secrets;

use crate::catalog::{Catalog, Entry};
use crate::error::{ManagerError, error_chain};
use crate::event::Events;
use crate::limits::ManagerLimits;
use crate::manager::builder::ManagerBuilder;
use crate::manager::shared::Shared;
use crate::resource_cache::ResourceCache;
use crate::server::ServerState;
use crate::server::handle::{Command, ServerHandle};

/// Many servers behind one catalogue.
///
/// A clone is cheap; all clones are the same manager. Each server has its own task that connects it, watches it and
/// reconnects it, so that no server's failure, slowness or noise affects another. End the manager with
/// [`shutdown`](Self::shutdown); if the last clone is dropped without it, all connections end as soon as they can.
#[derive(Clone, Debug)]
pub struct Manager {
    pub(crate) inner: Arc<Inner>,
}

/// Ends all tasks when the last handle is dropped.
#[derive(Debug)]
pub(crate) struct Inner {
    pub(crate) shared: Arc<Shared>,
    publisher: AbortHandle,
}

impl Drop for Inner {
    fn drop(&mut self) {
        self.publisher.abort();
        let leaving = std::mem::take(&mut *self.shared.leaving.lock());
        for handle in self.shared.handles().into_iter().chain(leaving) {
            if let Some(supervisor) = handle.supervisor.lock().take() {
                supervisor.abort();
            }
        }
    }
}

/// A server's public state.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ServerInfo {
    /// Its name.
    pub name: ServerName,
    /// Its state.
    pub state: ServerState,
    /// The last error with all its causes, until the server works again.
    pub error: Option<String>,
    /// Its configuration.
    pub config: Arc<ServerConfig>,
    /// Its declarations about itself, while it is connected.
    pub facts: Option<ServerDetails>,
}

/// The result of shutting all servers down.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub struct Shutdown {
    /// The programs that did not exit by themselves, by server.
    pub killed: BTreeMap<ServerName, Vec<String>>,
}

impl Manager {
    /// Creates a builder.
    pub fn builder() -> ManagerBuilder {
        ManagerBuilder::new()
    }

    pub(crate) fn new(shared: Arc<Shared>) -> Self {
        let publisher = tokio::spawn(Arc::clone(&shared).publish()).abort_handle();
        Self {
            inner: Arc::new(Inner { shared, publisher }),
        }
    }

    pub(crate) fn shared(&self) -> &Arc<Shared> {
        &self.inner.shared
    }

    /// The limits.
    pub fn limits(&self) -> &ManagerLimits {
        &self.shared().limits
    }

    /// The current catalogue. Keep the snapshot for as long as its names are in use.
    pub fn catalog(&self) -> Arc<Catalog> {
        self.shared().catalog()
    }

    /// The catalogue to give to a model, after lists whose servers announced a change have been requested again. Waits
    /// for [`ManagerLimits::list_wait`] at most, and not at all if no change was announced; a server that does not
    /// answer in time keeps its last listing.
    pub async fn fresh_catalog(&self) -> Arc<Catalog> {
        let outdated = |handle: &Arc<ServerHandle>| handle.live.borrow().is_outdated();
        let handles: Vec<Arc<ServerHandle>> = self
            .shared()
            .handles()
            .into_iter()
            .filter(outdated)
            .collect();
        if !handles.is_empty() {
            let mut waiting = JoinSet::new();
            for handle in handles {
                waiting.spawn(async move { handle.fresh().await });
            }
            // Servers that take longer are not waited for.
            let _ = tokio::time::timeout(self.limits().list_wait(), waiting.join_all()).await;
        }
        self.catalog()
    }

    /// The events from now on.
    pub fn events(&self) -> Events {
        Events {
            receiver: self.shared().events.subscribe(),
        }
    }

    /// All servers, by name.
    pub fn servers(&self) -> Vec<ServerInfo> {
        self.shared()
            .handles()
            .iter()
            .map(|handle| info(handle))
            .collect()
    }

    /// The secrets that the servers are configured with: in their environment, their headers, their
    /// arguments and their address.
    pub fn secrets(&self) -> Secrets {
        let mut all = Secrets::default();
        for server in self.servers() {
            secrets::add(&mut all, &server.config);
        }
        all
    }

    /// One server.
    pub fn server(&self, name: &str) -> Option<ServerInfo> {
        self.shared().handle(name).ok().map(|handle| info(&handle))
    }

    /// The names of all connected servers.
    pub fn connected(&self) -> Vec<ServerName> {
        let handles = self.shared().handles().into_iter();
        let connected = handles.filter(|handle| handle.state().is_connected());
        connected.map(|handle| handle.name.clone()).collect()
    }

    /// Notifies all connected servers that the host's roots have changed. Servers that cannot be
    /// notified ask again when they connect.
    pub async fn roots_changed(&self) {
        for name in self.connected() {
            let Some(client) = self.client(name.as_str()) else {
                continue;
            };
            if let Err(error) = client.roots_changed().await {
                tracing::debug!(server = %name, %error, "a change of the roots was not announced");
            }
        }
    }

    /// The connection to a server, if there is one: for requests this crate has no method for. It is not renewed; call
    /// this again after a loss.
    pub fn client(&self, name: &str) -> Option<Client> {
        self.shared().handle(name).ok()?.client()
    }

    /// The builder of another connection to a server, to the same endpoint and with the same limits: for a caller whose
    /// capabilities and questions must not mix with those of others. It is neither supervised nor listed; make calls on
    /// it with [`CallOptions::with_connection`](crate::CallOptions::with_connection).
    ///
    /// # Errors
    ///
    /// [`ManagerError::UnknownServer`] if there is none of this name, [`ManagerError::Unavailable`] if its
    /// configuration does not allow a connection.
    pub fn connection(&self, name: &str) -> Result<ClientBuilder, ManagerError> {
        let handle = self.shared().handle(name)?;
        crate::server::connect::builder(self.shared(), &handle).map_err(|source| {
            ManagerError::Unavailable {
                server: handle.name.clone(),
                state: handle.state(),
                source: Some(Arc::from(source)),
            }
        })
    }

    /// The cache of resources.
    pub fn resource_cache(&self) -> &ResourceCache {
        &self.shared().cache
    }

    /// Removes a resource from the cache.
    pub fn invalidate_resource(&self, server: &ServerName, uri: &str) {
        self.shared().cache.invalidate(server, uri);
    }

    /// Removes all resources of a server from the cache.
    pub fn invalidate_resources(&self, server: &ServerName) {
        self.shared().forget(server);
    }

    /// The tool with this name in the current catalogue.
    pub(crate) fn tool(&self, exposed_name: &str) -> Result<Arc<Entry>, ManagerError> {
        let found = self.catalog().tool(exposed_name).cloned();
        found.ok_or_else(|| ManagerError::UnknownTool {
            name: exposed_name.to_owned(),
        })
    }

    /// Requests a server's lists again, in the background.
    ///
    /// # Errors
    ///
    /// [`ManagerError::UnknownServer`] if there is none of this name.
    pub fn refresh(&self, name: &str) -> Result<(), ManagerError> {
        let handle = self.shared().handle(name)?;
        handle
            .signals
            .changed(&crate::server::list_refresh::ListKind::ALL);
        Ok(())
    }

    /// Requests a connected server's lists again, and waits until the catalogue has them. A server that does not answer
    /// keeps its last listing.
    ///
    /// # Errors
    ///
    /// [`ManagerError::UnknownServer`] if there is none of this name, [`ManagerError::ShutDown`] if it is removed
    /// meanwhile.
    pub async fn refreshed(&self, name: &str) -> Result<(), ManagerError> {
        let handle = self.shared().handle(name)?;
        handle.order(|done| Command::Refresh { done }).await
    }

    /// Ends all servers, and returns when no connection and no process is left, with the programs that had to be
    /// killed. The manager does nothing afterwards.
    pub async fn shutdown(&self) -> Shutdown {
        self.shared().over.store(true, Ordering::SeqCst);
        let handles = std::mem::take(&mut *self.shared().servers.lock());
        let leaving = std::mem::take(&mut *self.shared().leaving.lock());
        self.shared().outdate();
        let killed = quit(handles.into_values().chain(leaving).collect()).await;
        // The catalogue is empty from here on.
        self.catalog();
        Shutdown { killed }
    }
}

/// Ends these servers, all at the same time, and waits for them.
pub(crate) async fn quit(handles: Vec<Arc<ServerHandle>>) -> BTreeMap<ServerName, Vec<String>> {
    let mut ending = JoinSet::new();
    for handle in handles {
        ending.spawn(async move {
            // A server whose supervisor has ended needs no command.
            let _ = handle.commands.send(Command::Quit).await;
            let supervisor = handle.supervisor.lock().take();
            let killed = match supervisor {
                Some(supervisor) => supervisor.await.unwrap_or_default(),
                None => Vec::new(),
            };
            (handle.name.clone(), killed)
        });
    }
    let ended = ending.join_all().await.into_iter();
    ended.filter(|(_, killed)| !killed.is_empty()).collect()
}

fn info(handle: &ServerHandle) -> ServerInfo {
    let live = handle.live.borrow().clone();
    ServerInfo {
        name: handle.name.clone(),
        state: live.state,
        error: live.error.map(|error| error_chain(error.as_ref())),
        config: handle.config(),
        facts: live.client.map(|client| client.server()),
    }
}
