//! The state of one server that callers, the manager and the supervisor share.

use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use mcp_client::Client;
use mcp_config::{RemoteKind, ServerConfig, ServerName};
use parking_lot::Mutex;
use tokio::sync::{Notify, mpsc, oneshot, watch};
use tokio::task::JoinHandle;
use tokio::time::Instant;

use crate::call::queue::CallQueue;
use crate::catalog::{Entry, Listing};
use crate::error::{ManagerError, Trouble};
use crate::server::ServerState;
use crate::server::signal::Signals;

/// One server.
#[derive(Debug)]
pub(crate) struct ServerHandle {
    pub(crate) name: ServerName,
    pub(crate) live: watch::Sender<Live>,
    pub(crate) commands: mpsc::Sender<Command>,
    pub(crate) signals: Arc<Signals>,
    pub(crate) usage: Arc<Usage>,
    /// The queue of calls.
    pub(crate) queue: Arc<CallQueue>,
    pub(crate) config: Mutex<Arc<ServerConfig>>,
    /// The transport that worked last, where it was detected.
    pub(crate) last_kind: Mutex<RemoteKind>,
    /// Its listing; `None` while it is disabled or failed.
    pub(crate) listing: Mutex<Option<Arc<Listing>>>,
    /// Ends with the programs that had to be killed.
    pub(crate) supervisor: Mutex<Option<JoinHandle<Vec<String>>>>,
}

/// The state of a server, with its client.
#[derive(Clone, Debug)]
pub(crate) struct Live {
    pub(crate) state: ServerState,
    pub(crate) client: Option<Client>,
    /// The last error, until it works again.
    pub(crate) error: Option<Trouble>,
    /// The number of announced changes of the tool list when it was last requested.
    pub(crate) listed: u64,
}

impl Live {
    /// Whether the server has announced a change of its tool list since the last request.
    pub(crate) fn is_outdated(&self) -> bool {
        let client = self.client.as_ref();
        client.is_some_and(|client| client.is_alive() && client.tool_list_changes() > self.listed)
    }
}

/// A command to a supervisor. `done` is notified once it is executed.
#[derive(Debug)]
pub(crate) enum Command {
    /// A caller needs the server.
    Wanted,
    Retry {
        done: oneshot::Sender<()>,
    },
    Stop {
        done: oneshot::Sender<()>,
    },
    Configure {
        config: Arc<ServerConfig>,
        done: oneshot::Sender<()>,
    },
    /// Requests all lists; done once they are received or have failed.
    Refresh {
        done: oneshot::Sender<()>,
    },
    /// Requests the tool list now: a caller waits for it.
    ListTools,
    /// Stops permanently.
    Quit,
}

impl ServerHandle {
    pub(crate) fn config(&self) -> Arc<ServerConfig> {
        Arc::clone(&self.config.lock())
    }

    pub(crate) fn state(&self) -> ServerState {
        self.live.borrow().state
    }

    pub(crate) fn client(&self) -> Option<Client> {
        self.live.borrow().client.clone()
    }

    /// A tool, as last listed by the server.
    pub(crate) fn tool(&self, name: &str) -> Option<Arc<Entry>> {
        let listing = self.listing.lock();
        let tools = listing.as_ref()?.tools();
        let at = tools
            .binary_search_by(|entry| entry.name().cmp(name))
            .ok()?;
        tools.get(at).cloned()
    }

    /// Sends the supervisor a command, and waits until it is done.
    pub(crate) async fn order(
        &self,
        command: impl FnOnce(oneshot::Sender<()>) -> Command,
    ) -> Result<(), ManagerError> {
        let (done, is_done) = oneshot::channel();
        let sent = self.commands.send(command(done)).await;
        sent.map_err(|_| ManagerError::ShutDown)?;
        is_done.await.map_err(|_| ManagerError::ShutDown)
    }

    /// The connection to the server, as soon as it is connected, within `limit`. Starts an idle server.
    pub(crate) async fn ready(&self, limit: Duration) -> Result<Client, ManagerError> {
        let mut live = self.live.subscribe();
        let (began, mut asked) = (Instant::now(), false);
        loop {
            let now = live.borrow_and_update().clone();
            match now.state {
                ServerState::Connected | ServerState::Degraded => {
                    // The supervisor will also notice one that has just died.
                    if let Some(client) = now.client.filter(Client::is_alive) {
                        return Ok(client);
                    }
                }
                ServerState::Idle if !asked => {
                    asked = true;
                    let sent = self.commands.send(Command::Wanted).await;
                    sent.map_err(|_| ManagerError::ShutDown)?;
                }
                _ => self.usable(&now)?,
            }
            let left = limit.saturating_sub(began.elapsed());
            match tokio::time::timeout(left, live.changed()).await {
                Ok(Ok(())) => {}
                Ok(Err(_)) => return Err(ManagerError::ShutDown),
                Err(_) => return Err(self.not_yet(began.elapsed())),
            }
        }
    }

    /// Waits until no announced change of the tool list is left to be fetched.
    pub(crate) async fn fresh(&self) {
        let mut live = self.live.subscribe();
        while live.borrow_and_update().is_outdated() {
            if self.commands.send(Command::ListTools).await.is_err()
                || live.changed().await.is_err()
            {
                return;
            }
        }
    }

    /// Waits until connecting has worked or failed once; `Ok` if there is no error to report.
    pub(crate) async fn settled(&self) -> Result<(), ManagerError> {
        let mut live = self.live.subscribe();
        let waiting =
            |live: &Live| matches!(live.state, ServerState::Pending | ServerState::Connecting);
        let began = Instant::now();
        let settled = live.wait_for(|live| !waiting(live)).await;
        let settled = settled.map_err(|_| ManagerError::ShutDown)?.clone();
        match settled.state {
            ServerState::Reconnecting => Err(self.not_yet(began.elapsed())),
            ServerState::Disabled => Ok(()),
            _ => self.usable(&settled),
        }
    }

    fn not_yet(&self, waited: Duration) -> ManagerError {
        let live = self.live.borrow();
        ManagerError::NotYet {
            server: self.name.clone(),
            state: live.state,
            waited,
            source: live.error.clone(),
        }
    }

    fn usable(&self, live: &Live) -> Result<(), ManagerError> {
        match live.state {
            state @ (ServerState::Disabled | ServerState::NeedsAuth | ServerState::Failed) => {
                Err(ManagerError::Unavailable {
                    server: self.name.clone(),
                    state,
                    source: live.error.clone(),
                })
            }
            _ => Ok(()),
        }
    }
}

/// The uses of a server.
#[derive(Debug)]
pub(crate) struct Usage {
    calls: AtomicUsize,
    leases: AtomicUsize,
    last: Mutex<Instant>,
    /// Notified when a use ends.
    ended: Notify,
}

/// Marks a server as in use during its lifetime.
#[derive(Debug)]
pub(crate) struct InUse {
    usage: Arc<Usage>,
    count: fn(&Usage) -> &AtomicUsize,
}

impl Usage {
    pub(crate) fn new() -> Arc<Self> {
        Arc::new(Self {
            calls: AtomicUsize::new(0),
            leases: AtomicUsize::new(0),
            last: Mutex::new(Instant::now()),
            ended: Notify::new(),
        })
    }

    pub(crate) fn call(self: &Arc<Self>) -> InUse {
        self.count(|usage| &usage.calls)
    }

    pub(crate) fn lease(self: &Arc<Self>) -> InUse {
        self.count(|usage| &usage.leases)
    }

    fn count(self: &Arc<Self>, count: fn(&Self) -> &AtomicUsize) -> InUse {
        count(self).fetch_add(1, Ordering::SeqCst);
        InUse {
            usage: Arc::clone(self),
            count,
        }
    }

    pub(crate) fn is_calling(&self) -> bool {
        self.calls.load(Ordering::SeqCst) > 0
    }

    /// Waits until no call runs.
    pub(crate) async fn quiet(&self) {
        loop {
            let mut ended = pin!(self.ended.notified());
            ended.as_mut().enable();
            if !self.is_calling() {
                return;
            }
            ended.await;
        }
    }

    fn is_leased(&self) -> bool {
        self.leases.load(Ordering::SeqCst) > 0
    }

    /// Counts as a use at this moment.
    pub(crate) fn touch(&self) {
        *self.last.lock() = Instant::now();
    }

    /// The time since which it is unused; `None` while it is in use.
    pub(crate) fn unused_since(&self) -> Option<Instant> {
        (!self.is_calling() && !self.is_leased()).then(|| *self.last.lock())
    }
}

impl Drop for InUse {
    fn drop(&mut self) {
        self.usage.touch();
        (self.count)(&self.usage).fetch_sub(1, Ordering::SeqCst);
        self.usage.ended.notify_waiters();
    }
}
