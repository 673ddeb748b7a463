//! Servers of several users: each user's own, shared by that user's agents.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use mcp_config::{ServerConfig, ServerName};
use mcp_jsonrpc::model::{CallToolResult, ReadResourceResult};
use parking_lot::Mutex;
use serde::Serialize;
use tokio::time::Instant;

use crate::call::options::CallOptions;
use crate::error::ManagerError;
use crate::manager::builder::ManagerBuilder;
use crate::manager::{Manager, Shutdown};
use crate::server::ServerState;
use crate::server::handle::InUse;

/// The interval between sweeps for idle servers.
const BETWEEN_SWEEPS: Duration = Duration::from_secs(60);

/// Servers by user and name: a [`Manager`] for each user, so that no data of one user reaches another. A clone is
/// cheap; all clones are the same pool.
///
/// To use a server, take a [`Lease`]; all leases of one user's server share one connection. It stays open while a lease
/// is held, and for [`ManagerLimits::idle_time`](crate::ManagerLimits::idle_time) after that.
///
/// ```
/// use mcp_manager::{Manager, NoopElicitation, Pool};
///
/// let pool = Pool::new(|user| {
///     tracing::info!(user, "first seen");
///     Manager::builder().elicitation(NoopElicitation)
/// });
/// # let _ = pool;
/// ```
#[derive(Clone)]
pub struct Pool {
    shared: Arc<Shared>,
}

struct Shared {
    make: Box<dyn Fn(&str) -> ManagerBuilder + Send + Sync>,
    users: Mutex<BTreeMap<String, Manager>>,
    swept: Mutex<Option<Instant>>,
}

/// The right to use a server, and access to it. The server stays until the last lease is dropped.
#[derive(Debug)]
pub struct Lease {
    manager: Manager,
    server: ServerName,
    _in_use: InUse,
}

impl Pool {
    /// Creates an empty pool; `make` returns the builder of a new user's manager.
    pub fn new(make: impl Fn(&str) -> ManagerBuilder + Send + Sync + 'static) -> Self {
        let shared = Shared {
            make: Box::new(make),
            users: Mutex::default(),
            swept: Mutex::default(),
        };
        Self {
            shared: Arc::new(shared),
        }
    }

    /// The manager of a user's servers, created on first use. Must be called within a tokio runtime.
    pub fn manager(&self, user: &str) -> Manager {
        let mut users = self.shared.users.lock();
        if let Some(manager) = users.get(user) {
            return manager.clone();
        }
        let manager = (self.shared.make)(user).build();
        users.insert(user.to_owned(), manager.clone());
        manager
    }

    /// Takes a lease on a user's server, and connects it if it is not connected yet.
    ///
    /// If the configuration differs from the current one, it replaces it for all holders of a lease on the server.
    ///
    /// # Errors
    ///
    /// The reason why it is not connected.
    pub async fn lease(&self, user: &str, config: ServerConfig) -> Result<Lease, ManagerError> {
        self.sweep().await;
        let manager = self.manager(user);
        let server = config.name().clone();
        let in_use = manager.take_in(config).await?;
        manager.ready(&server).await?;
        Ok(Lease {
            manager,
            server,
            _in_use: in_use,
        })
    }

    /// Removes servers that were stopped because they were unused, and users without servers. Runs periodically: a
    /// lease need not check every user.
    async fn sweep(&self) {
        {
            let mut swept = self.shared.swept.lock();
            if swept.is_some_and(|at| at.elapsed() < BETWEEN_SWEEPS) {
                return;
            }
            *swept = Some(Instant::now());
        }
        let users: Vec<_> = {
            let users = self.shared.users.lock();
            users
                .iter()
                .map(|(user, manager)| (user.clone(), manager.clone()))
                .collect()
        };
        for (user, manager) in users {
            let rests = |state| matches!(state, ServerState::Idle | ServerState::Disabled);
            let swept = manager.remove_unused(rests).await;
            let mut users = self.shared.users.lock();
            // One clone here, one in the pool: there is no other.
            if swept && manager.is_empty() && Arc::strong_count(&manager.inner) == 2 {
                users.remove(&user);
            }
        }
    }

    /// Shuts all users' managers down, all at the same time, and returns by user the programs that had to be killed.
    pub async fn shutdown(&self) -> BTreeMap<String, Shutdown> {
        let users = std::mem::take(&mut *self.shared.users.lock());
        let mut ending = tokio::task::JoinSet::new();
        for (user, manager) in users {
            ending.spawn(async move { (user, manager.shutdown().await) });
        }
        let mut ended = BTreeMap::new();
        while let Some(one) = ending.join_next().await {
            ended.extend(one.ok());
        }
        ended
    }
}

impl fmt::Debug for Pool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let users = self.shared.users.lock().len();
        f.debug_struct("Pool")
            .field("users", &users)
            .finish_non_exhaustive()
    }
}

impl Manager {
    /// Takes a lease on a server, which does not become idle until it is dropped. Does not wait for the server.
    ///
    /// # Errors
    ///
    /// [`ManagerError::UnknownServer`] if there is none of this name.
    pub fn lease(&self, server: &str) -> Result<Lease, ManagerError> {
        let handle = self.shared().handle(server)?;
        Ok(Lease {
            manager: self.clone(),
            server: handle.name.clone(),
            _in_use: handle.usage.lease(),
        })
    }
}

impl Lease {
    /// The server.
    pub fn server(&self) -> &ServerName {
        &self.server
    }

    /// The manager of the user's servers.
    pub fn manager(&self) -> &Manager {
        &self.manager
    }

    /// Like [`Manager::call_tool_with`].
    ///
    /// # Errors
    ///
    /// As [`Manager::call_tool`].
    pub async fn call_tool(
        &self,
        tool: &str,
        arguments: impl Serialize + Sync,
        options: CallOptions,
    ) -> Result<CallToolResult, ManagerError> {
        let server = self.server.as_str();
        self.manager
            .call_tool_with(server, tool, arguments, options)
            .await
    }

    /// Like [`Manager::read_resource`].
    ///
    /// # Errors
    ///
    /// As [`Manager::read_resource`].
    pub async fn read_resource(&self, uri: &str) -> Result<Arc<ReadResourceResult>, ManagerError> {
        self.manager.read_resource(self.server.as_str(), uri).await
    }
}
