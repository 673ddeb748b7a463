//! Adding, connecting, closing and removing servers.

use std::collections::BTreeSet;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use mcp_config::{ServerConfig, ServerName, Start};
use parking_lot::Mutex;
use tokio::sync::{mpsc, watch};
use tokio::task::JoinSet;
use tokio::time::Instant;

use crate::call::queue::CallQueue;
use crate::catalog::Listing;
use crate::error::ManagerError;
use crate::manager::{Manager, quit};
use crate::server::handle::{Command, InUse, Live, ServerHandle, Usage};
use crate::server::signal::Signals;
use crate::server::supervisor::Supervisor;
use crate::server::{Input, Machine, ServerState};

/// The number of commands queued for a supervisor that is busy closing a connection.
const QUEUED_COMMANDS: usize = 16;

/// How long to wait for servers that are starting.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub enum Wait {
    /// Not at all: tools join the catalogue as their servers connect.
    None,
    /// Until the required servers have connected or failed.
    Required,
    /// Until all have connected or failed, but at most this long.
    UpTo(Duration),
    /// Until all have connected or failed: each has its own time limit.
    #[default]
    All,
}

/// The outcome of starting servers.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Startup {
    /// The servers that are connected.
    pub connected: Vec<ServerName>,
    /// The servers that are not, and the errors. They may be tried again in the background: see their state.
    pub errors: Vec<(ServerName, ManagerError)>,
    /// The servers that were still starting when the wait ended.
    pub pending: Vec<ServerName>,
}

/// The changes of a new configuration.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Applied {
    /// Servers that continue under their new settings.
    pub kept: Vec<ServerName>,
    /// Servers whose endpoint changed, which are reconnected.
    pub restarted: Vec<ServerName>,
    /// New servers.
    pub started: Vec<ServerName>,
    /// Removed servers.
    pub stopped: Vec<ServerName>,
}

/// The effect of one configuration.
#[derive(Clone, Copy, PartialEq)]
enum Adopted {
    Kept,
    Restarted,
    Started,
}

impl Manager {
    /// Adds these servers and connects them, all at once within the limits on starts, and waits for them according to
    /// `wait`. One failure never affects the others.
    ///
    /// A known server keeps its connection if that serves its new configuration as well. Servers that are disabled, or
    /// start on demand, are added but not connected.
    pub async fn connect_all(
        &self,
        configs: impl IntoIterator<Item = ServerConfig>,
        wait: Wait,
    ) -> Startup {
        let began = Instant::now();
        let mut handles = Vec::new();
        let mut startup = Startup::default();
        for config in configs {
            let name = config.name().clone();
            match self.adopt(config).await {
                Ok((handle, _)) => handles.push(handle),
                Err(error) => startup.errors.push((name, error)),
            }
        }
        for handle in handles {
            let limit = match wait {
                Wait::None => Duration::ZERO,
                Wait::Required if !handle.config().is_required() => Duration::ZERO,
                Wait::UpTo(limit) => limit.saturating_sub(began.elapsed()),
                Wait::Required | Wait::All => Duration::MAX,
            };
            let name = handle.name.clone();
            match within(limit, handle.settled()).await {
                None => startup.pending.push(name),
                Some(Err(error)) => startup.errors.push((name, error)),
                Some(Ok(())) if handle.state().is_connected() => startup.connected.push(name),
                // It is idle or disabled.
                Some(Ok(())) => {}
            }
        }
        startup
    }

    /// Replaces the set of servers: new ones are started, missing ones stopped, those with another endpoint restarted.
    /// The others are unaffected.
    ///
    /// Returns when the stopped servers have ended; it does not wait for the started ones.
    ///
    /// # Errors
    ///
    /// [`ManagerError::ShutDown`] if the manager was shut down.
    pub async fn apply(
        &self,
        configs: impl IntoIterator<Item = ServerConfig>,
    ) -> Result<Applied, ManagerError> {
        let configs: Vec<ServerConfig> = configs.into_iter().collect();
        let names: BTreeSet<_> = configs.iter().map(|config| config.name().clone()).collect();
        let gone = self.take_out(|handle| !names.contains(&handle.name));
        let mut applied = Applied {
            stopped: gone.iter().map(|handle| handle.name.clone()).collect(),
            ..Applied::default()
        };
        self.shared().outdate();
        quit(gone).await;
        for config in configs {
            let name = config.name().clone();
            match self.adopt(config).await?.1 {
                Adopted::Kept => applied.kept.push(name),
                Adopted::Restarted => applied.restarted.push(name),
                Adopted::Started => applied.started.push(name),
            }
        }
        Ok(applied)
    }

    /// As [`apply`](Self::apply), but no call is cut, and nothing is waited for: a server that is gone,
    /// or is reached in another way, takes no more calls and is ended once those that run there are
    /// done, or after `drain`. What is new, or reached in another way, is started beside it at once;
    /// until it has listed its tools, those it had before are listed.
    ///
    /// # Errors
    ///
    /// [`ManagerError::ShutDown`] if the manager is.
    pub async fn replace(
        &self,
        configs: impl IntoIterator<Item = ServerConfig>,
        drain: Duration,
    ) -> Result<Applied, ManagerError> {
        let configs: Vec<Arc<ServerConfig>> = configs.into_iter().map(Arc::new).collect();
        let names: BTreeSet<_> = configs.iter().map(|config| config.name().clone()).collect();
        let mut leaving = self.take_out(|handle| !names.contains(&handle.name));
        let mut applied = Applied {
            stopped: leaving.iter().map(|handle| handle.name.clone()).collect(),
            ..Applied::default()
        };
        let mut kept = Vec::new();
        {
            let shared = self.shared();
            let mut servers = shared.servers.lock();
            for config in configs {
                let name = config.name().clone();
                let there = servers.get(&name).cloned();
                if let Some(there) = &there
                    && there.config().connects_like(&config)
                {
                    applied.kept.push(name);
                    kept.push((Arc::clone(there), config));
                    continue;
                }
                let known = there
                    .as_ref()
                    .and_then(|there| there.listing.lock().clone());
                let handle = self.open(config, known);
                servers.insert(name.clone(), handle);
                match there {
                    Some(there) => {
                        applied.restarted.push(name);
                        leaving.push(there);
                    }
                    None => applied.started.push(name),
                }
            }
        }
        self.shared().outdate();
        self.retire(leaving, drain);
        if self.shared().over.load(Ordering::SeqCst) {
            self.shutdown().await;
            return Err(ManagerError::ShutDown);
        }
        for (handle, config) in kept {
            handle
                .order(|done| Command::Configure { config, done })
                .await?;
        }
        Ok(applied)
    }

    /// Ends servers that were taken out, each once its calls are done, or after `drain`.
    fn retire(&self, handles: Vec<Arc<ServerHandle>>, drain: Duration) {
        self.shared().leaving.lock().extend(handles.iter().cloned());
        for handle in handles {
            let shared = Arc::downgrade(self.shared());
            tokio::spawn(async move {
                let _ = tokio::time::timeout(drain, handle.usage.quiet()).await;
                let shared = shared.upgrade();
                if shared.is_some_and(|shared| shared.take_leaving(&handle)) {
                    quit(vec![handle]).await;
                }
            });
        }
    }

    /// Adds a server, if it is not known yet, and connects it, whatever its state was.
    ///
    /// # Errors
    ///
    /// The reason why it is not connected. It may be tried again in the background: see its state.
    pub async fn connect_one(&self, config: ServerConfig) -> Result<(), ManagerError> {
        let (handle, _) = self.adopt(config).await?;
        match handle.state() {
            ServerState::Disabled
            | ServerState::Idle
            | ServerState::Failed
            | ServerState::NeedsAuth => retry(&handle).await,
            _ => handle.settled().await,
        }
    }

    /// Reconnects a server, immediately and with all its attempts: a server that failed or was closed, that waits for
    /// authorization or its next attempt, or that misbehaves.
    ///
    /// # Errors
    ///
    /// As [`connect_one`](Self::connect_one).
    pub async fn retry(&self, server: &str) -> Result<(), ManagerError> {
        retry(&*self.shared().handle(server)?).await
    }

    /// Closes a server's connection, and ends all attempts to make one. The server stays, disabled, until
    /// [`retry`](Self::retry) or [`connect_one`](Self::connect_one). Returns when its process has ended.
    ///
    /// # Errors
    ///
    /// [`ManagerError::UnknownServer`] if there is none of this name.
    pub async fn close_one(&self, server: &str) -> Result<(), ManagerError> {
        self.shared()
            .handle(server)?
            .order(|done| Command::Stop { done })
            .await
    }

    /// Closes all servers' connections, all at the same time, like [`close_one`](Self::close_one).
    pub async fn close_all(&self) {
        let mut closing = JoinSet::new();
        for handle in self.shared().handles() {
            closing.spawn(async move { handle.order(|done| Command::Stop { done }).await });
        }
        while closing.join_next().await.is_some() {}
    }

    /// Tests whether a server can be connected and returns its listing, without adding it.
    ///
    /// # Errors
    ///
    /// The reason why it cannot be connected.
    pub async fn test_connection(
        &self,
        config: ServerConfig,
    ) -> Result<Arc<Listing>, ManagerError> {
        let name = config.name().clone();
        let limits = self.limits().clone();
        let retry = limits.retry().clone().with_tries(0);
        let mut builder = Self::builder().limits(limits.with_retry(retry));
        builder = builder.shared_connector(Arc::clone(&self.shared().connector));
        let trial = builder.build();
        let outcome = trial.connect_one(config).await;
        let catalog = trial.catalog();
        trial.shutdown().await;
        outcome?;
        let listing = catalog.listing(&name).cloned();
        listing.ok_or(ManagerError::ShutDown)
    }

    /// Ends a server and removes it. `false` if there is none of this name. Returns when its process has ended.
    pub async fn remove(&self, server: &str) -> bool {
        let handle = self.shared().servers.lock().remove(server);
        self.shared().outdate();
        let found = handle.is_some();
        quit(handle.into_iter().collect()).await;
        found
    }

    /// Waits until a server is connected, starting it if it is idle.
    ///
    /// # Errors
    ///
    /// The reason why it is not connected, or not yet.
    pub async fn ready(&self, server: &ServerName) -> Result<(), ManagerError> {
        let handle = self.shared().handle(server.as_str())?;
        let _in_use = handle.usage.call();
        handle.ready(self.connect_timeout(&handle)).await.map(drop)
    }

    /// Adds a server for the lifetime of the returned value.
    pub(crate) async fn take_in(&self, config: ServerConfig) -> Result<InUse, ManagerError> {
        loop {
            let (handle, _) = self.adopt(config.clone()).await?;
            let in_use = handle.usage.lease();
            // It may have been removed just before it was leased.
            let there = self.shared().servers.lock().get(&handle.name).cloned();
            if there.is_some_and(|there| Arc::ptr_eq(&there, &handle)) {
                return Ok(in_use);
            }
        }
    }

    /// Removes the servers in such a state without a lease; returns whether there were any.
    pub(crate) async fn remove_unused(&self, rests: fn(ServerState) -> bool) -> bool {
        let unused =
            |handle: &ServerHandle| rests(handle.state()) && handle.usage.unused_since().is_some();
        let unused = self.take_out(unused);
        if unused.is_empty() {
            return false;
        }
        self.shared().outdate();
        quit(unused).await;
        true
    }

    /// Takes out servers that are still to be ended.
    fn take_out(&self, which: impl Fn(&ServerHandle) -> bool) -> Vec<Arc<ServerHandle>> {
        let mut servers = self.shared().servers.lock();
        let names = servers.values().filter(|handle| which(handle));
        let names: Vec<ServerName> = names.map(|handle| handle.name.clone()).collect();
        let taken = names.iter().filter_map(|name| servers.remove(name));
        taken.collect()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.shared().servers.lock().is_empty()
    }

    /// Adds a server, or changes a known one.
    async fn adopt(
        &self,
        config: ServerConfig,
    ) -> Result<(Arc<ServerHandle>, Adopted), ManagerError> {
        let config = Arc::new(config);
        let there = {
            let shared = self.shared();
            let mut servers = shared.servers.lock();
            if shared.over.load(Ordering::SeqCst) {
                return Err(ManagerError::ShutDown);
            }
            match servers.get(config.name()) {
                Some(handle) => Arc::clone(handle),
                None => {
                    let handle = self.open(Arc::clone(&config), None);
                    servers.insert(handle.name.clone(), Arc::clone(&handle));
                    return Ok((handle, Adopted::Started));
                }
            }
        };
        let adopted = if there.config().connects_like(&config) {
            Adopted::Kept
        } else {
            Adopted::Restarted
        };
        there
            .order(|done| Command::Configure { config, done })
            .await?;
        Ok((there, adopted))
    }

    /// Starts the supervisor of a new server, whose lists may already be `known`.
    fn open(&self, config: Arc<ServerConfig>, known: Option<Arc<Listing>>) -> Arc<ServerHandle> {
        let shared = self.shared();
        let mut hasher = DefaultHasher::new();
        config.name().hash(&mut hasher);
        let start = if config.is_enabled() {
            ServerState::Idle
        } else {
            ServerState::Disabled
        };
        let seed = shared.seed ^ hasher.finish();
        let mut machine = Machine::new(start, shared.limits.retry().clone(), seed);
        if config.start() == Start::Eager {
            machine.step(Input::Wanted, shared.now());
        }
        let known = known.as_ref().or(shared.known.get(config.name()));
        let known = known.filter(|_| config.is_enabled());
        let known = known.map(|known| Arc::new(Listing::clone(known).with_policy(config.tools())));
        if known.is_some() {
            shared.outdate();
        }
        let (commands, receiver) = mpsc::channel(QUEUED_COMMANDS);
        let (live, _) = watch::channel(Live {
            listed: 0,
            state: machine.state(),
            client: None,
            error: None,
        });
        let lanes = shared.limits.calls_per_server().max(1) as usize;
        let handle = Arc::new(ServerHandle {
            name: config.name().clone(),
            live,
            commands,
            signals: Arc::new(Signals::new(
                config.name().clone(),
                shared.events.clone(),
                Arc::clone(&shared.cache),
                shared.origin,
                shared.limits.messages_per_second(),
            )),
            usage: Usage::new(),
            queue: Arc::new(CallQueue::new(config.name().clone(), lanes)),
            config: Mutex::new(config),
            last_kind: Mutex::default(),
            listing: Mutex::new(known),
            supervisor: Mutex::new(None),
        });
        let supervisor =
            Supervisor::new(Arc::clone(shared), Arc::clone(&handle), receiver, machine);
        *handle.supervisor.lock() = Some(tokio::spawn(supervisor.run()));
        handle
    }
}

async fn retry(handle: &ServerHandle) -> Result<(), ManagerError> {
    handle.order(|done| Command::Retry { done }).await?;
    handle.settled().await
}

/// The result of `work` within `limit`; an immediate result even if the limit is zero.
async fn within<T>(limit: Duration, work: impl Future<Output = T>) -> Option<T> {
    match limit {
        Duration::MAX => Some(work.await),
        limit => tokio::time::timeout(limit, work).await.ok(),
    }
}
