//! Per-client connections to legacy servers that ask questions: such a server receives its client's capabilities only
//! once, when it is connected, and on stdio its questions do not identify their call.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Weak};
use std::time::Duration;

use mcp_client::{Client, ClientEvent, HostCapabilities};
use mcp_manager::{Manager, ServerName};
use parking_lot::Mutex;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::Instant;

use crate::call::completions::Completions;
use crate::call::open_calls::{Asking, Channel, Holder, OpenCalls, Registration};
use crate::call::questions::{AskingServers, QuestionRelay};
use crate::error::Failure;

/// The limits of per-client connections.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct ConnectionLimits {
    /// The maximum number of connections, to all servers. Clients beyond it share a connection.
    pub open: usize,
    /// How long an unused connection is kept.
    pub idle: Duration,
}

impl Default for ConnectionLimits {
    fn default() -> Self {
        Self {
            open: 64,
            idle: Duration::from_secs(300),
        }
    }
}

/// The connections that are one client's own.
pub(crate) struct Connections {
    manager: Manager,
    calls: Arc<OpenCalls>,
    pub(crate) asking: Arc<AskingServers>,
    pub(crate) completions: Arc<Completions>,
    limits: ConnectionLimits,
    next: AtomicU64,
    connections: Mutex<BTreeMap<(ServerName, Holder), Arc<OwnConnection>>>,
}

struct OwnConnection {
    number: u64,
    client: Mutex<Option<Client>>,
    /// One call at a time opens it.
    opening: Semaphore,
    /// One call at a time, where questions do not name their call.
    turn: Arc<Semaphore>,
    users: AtomicUsize,
    used: Mutex<Instant>,
    roots: RootsNotice,
}

/// Notifications about roots: while one waits to be sent, another one would say nothing more.
struct RootsNotice {
    waiting: AtomicBool,
    /// One is sent at a time.
    sending: Semaphore,
}

/// The use of a connection by one call.
pub(crate) struct Lease {
    pub(crate) client: Client,
    pub(crate) channel: Channel,
    connection: Arc<OwnConnection>,
    _turn: Option<OwnedSemaphorePermit>,
}

/// Counts a user of a connection.
struct User(Arc<OwnConnection>);

impl User {
    fn of(connection: &Arc<OwnConnection>) -> Self {
        connection.users.fetch_add(1, Ordering::SeqCst);
        Self(Arc::clone(connection))
    }
}

impl Drop for User {
    fn drop(&mut self) {
        self.0.leave();
    }
}

impl OwnConnection {
    fn leave(&self) {
        *self.used.lock() = Instant::now();
        self.users.fetch_sub(1, Ordering::SeqCst);
    }

    /// The connection, if there is one that works.
    fn client(&self) -> Option<Client> {
        let client = self.client.lock().clone();
        client.filter(Client::is_alive)
    }

    fn is_idle(&self) -> bool {
        self.users.load(Ordering::SeqCst) == 0
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        self.connection.leave();
    }
}

impl Connections {
    pub(crate) fn new(
        manager: Manager,
        calls: Arc<OpenCalls>,
        asking: Arc<AskingServers>,
        completions: Arc<Completions>,
        limits: ConnectionLimits,
    ) -> Arc<Self> {
        Arc::new(Self {
            manager,
            calls,
            asking,
            completions,
            limits,
            next: AtomicU64::new(0),
            connections: Mutex::default(),
        })
    }

    /// Closes what is not used any more, for as long as the gateway lives.
    pub(crate) async fn keep(this: Weak<Self>, every: Duration) {
        let mut ticks = tokio::time::interval(every);
        loop {
            ticks.tick().await;
            let Some(this) = this.upgrade() else { return };
            let idle = this.limits.idle;
            this.connections.lock().retain(|_, connection| {
                !connection.is_idle() || connection.used.lock().elapsed() < idle
            });
        }
    }

    /// How often unused connections are looked for.
    pub(crate) fn period(&self) -> Duration {
        (self.limits.idle / 4).max(Duration::from_secs(1))
    }

    /// Closes the connections to servers that are not `kept`.
    pub(crate) fn retain(&self, kept: impl Fn(&ServerName) -> bool) {
        self.connections
            .lock()
            .retain(|(server, _), _| kept(server));
    }

    /// Notifies the servers that a legacy session has connections of its own to: its roots changed.
    /// Other servers ask for them in the course of a call.
    pub(crate) fn roots_changed(&self, session: u64) {
        let holder = Holder::Session(session);
        let connections = self.connections.lock();
        let own = connections.iter().filter(|((_, of), _)| *of == holder);
        for (_, connection) in own {
            if !connection.roots.waiting.swap(true, Ordering::SeqCst) {
                tokio::spawn(notify_of_roots(Arc::clone(connection)));
            }
        }
    }

    /// The client's own connection to a server whose managed one is `shared`; `None` where that
    /// will do, because the server is modern or has never asked anything, or has to do. `opening_for` says
    /// whose call a connection is opened for.
    pub(crate) async fn lease(
        &self,
        server: &ServerName,
        shared: &Client,
        holder: Holder,
        can: HostCapabilities,
        opening_for: impl Fn(Channel) -> Registration,
    ) -> Result<Option<Lease>, Failure> {
        if shared.revision().is_modern() || !self.asking.contains(server.as_str()) {
            return Ok(None);
        }
        let Some(user) = self.place(server, holder) else {
            return Ok(None);
        };
        let connection = &user.0;
        let opening = connection.opening.acquire().await;
        let client = match connection.client() {
            Some(client) => client,
            None => {
                let _registration = opening_for(Channel::Own(connection.number));
                let client = self.open(server, connection.number, can).await?;
                *connection.client.lock() = Some(client.clone());
                client
            }
        };
        drop(opening);
        let turn = match Asking::of(&client, false) {
            Asking::SharedChannel => Arc::clone(&connection.turn).acquire_owned().await.ok(),
            _ => None,
        };
        connection.users.fetch_add(1, Ordering::SeqCst);
        Ok(Some(Lease {
            client,
            channel: Channel::Own(connection.number),
            connection: Arc::clone(connection),
            _turn: turn,
        }))
    }

    /// A client's place; `None` if all are in use.
    fn place(&self, server: &ServerName, holder: Holder) -> Option<User> {
        let mut connections = self.connections.lock();
        let key = (server.clone(), holder);
        if let Some(connection) = connections.get(&key) {
            return Some(User::of(connection));
        }
        if connections.len() >= self.limits.open {
            let unused = connections
                .iter()
                .filter(|(_, connection)| connection.is_idle());
            let oldest = unused.min_by_key(|(_, connection)| *connection.used.lock());
            let oldest = oldest.map(|(key, _)| key.clone())?;
            connections.remove(&oldest);
        }
        let connection = Arc::new(OwnConnection {
            number: self.next.fetch_add(1, Ordering::Relaxed),
            client: Mutex::default(),
            opening: Semaphore::new(1),
            turn: Arc::new(Semaphore::new(1)),
            users: AtomicUsize::new(0),
            used: Mutex::new(Instant::now()),
            roots: RootsNotice {
                waiting: AtomicBool::new(false),
                sending: Semaphore::new(1),
            },
        });
        let user = User::of(&connection);
        connections.insert(key, connection);
        Some(user)
    }

    async fn open(
        &self,
        server: &ServerName,
        number: u64,
        can: HostCapabilities,
    ) -> Result<Client, Failure> {
        let channel = Channel::Own(number);
        let relay = QuestionRelay {
            calls: Arc::clone(&self.calls),
            own: Some(channel.clone()),
            asking: Arc::clone(&self.asking),
            completions: Arc::clone(&self.completions),
        };
        let (calls, completions) = (Arc::clone(&self.calls), Arc::clone(&self.completions));
        let name = server.clone();
        let builder = self.manager.connection(server.as_str())?;
        let connecting = builder
            .host(relay, can)
            .on_event(move |event| {
                match event {
                    ClientEvent::Log(message) => {
                        calls.log(&channel, *message);
                    }
                    ClientEvent::ElicitationComplete { elicitation_id } => {
                        completions.completed(name.as_str(), &elicitation_id);
                    }
                    _ => {}
                }
                std::future::ready(())
            })
            .connect();
        let client = connecting.await.map_err(|error| {
            let text = crate::error::chain(&error);
            Failure::NotMade(format!("not called: no connection for this client: {text}"))
        })?;
        // Which tools run only as tasks shows in the list.
        if client.server().capabilities.tasks.is_some()
            && let Err(error) = client.list_tools().await
        {
            tracing::debug!(%server, %error, "the tools of a client's own connection");
        }
        Ok(client)
    }
}

/// Sends a notification that the roots changed.
async fn notify_of_roots(connection: Arc<OwnConnection>) {
    let _sending = connection.roots.sending.acquire().await;
    connection.roots.waiting.store(false, Ordering::SeqCst);
    if let Some(client) = connection.client()
        && let Err(error) = client.roots_changed().await
    {
        tracing::debug!(%error, "a server was not notified of roots");
    }
}
