//! Connections of one client's own, to legacy servers that ask questions: such a server learns once,
//! when it is connected, what its client can answer, and on stdio its questions do not name their call.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Weak};
use std::time::Duration;

use mcp_client::{Client, ClientEvent, HostCapabilities};
use mcp_manager::{Manager, ServerName};
use parking_lot::Mutex;
use tokio::sync::{Mutex as AsyncMutex, OwnedSemaphorePermit, Semaphore};
use tokio::time::Instant;

use crate::error::Failure;
use crate::open_calls::{Asking, Channel, Holder, OpenCalls};
use crate::questions::{AskingServers, QuestionRelay};

/// Bounds of the connections that are one client's own.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct ConnectionLimits {
    /// How many there may be, to all servers.
    pub open: usize,
    /// How long one is kept that is not used.
    pub idle: Duration,
}

impl Default for ConnectionLimits {
    fn default() -> Self {
        Self {
            open: 256,
            idle: Duration::from_secs(300),
        }
    }
}

/// The connections that are one client's own.
pub(crate) struct Connections {
    manager: Manager,
    calls: Arc<OpenCalls>,
    pub(crate) asking: Arc<AskingServers>,
    limits: ConnectionLimits,
    next: AtomicU64,
    slots: Mutex<BTreeMap<(ServerName, Holder), Arc<Slot>>>,
}

struct Slot {
    number: u64,
    client: AsyncMutex<Option<Client>>,
    /// One call at a time, where questions do not name their call.
    turn: Arc<Semaphore>,
    users: AtomicUsize,
    used: Mutex<Instant>,
}

/// The use of a connection by one call.
pub(crate) struct Lease {
    pub(crate) client: Client,
    pub(crate) channel: Channel,
    slot: Arc<Slot>,
    _turn: Option<OwnedSemaphorePermit>,
}

/// Counts a user of a slot.
struct User(Arc<Slot>);

impl User {
    fn of(slot: &Arc<Slot>) -> Self {
        slot.users.fetch_add(1, Ordering::SeqCst);
        Self(Arc::clone(slot))
    }
}

impl Drop for User {
    fn drop(&mut self) {
        self.0.leave();
    }
}

impl Slot {
    fn leave(&self) {
        *self.used.lock() = Instant::now();
        self.users.fetch_sub(1, Ordering::SeqCst);
    }

    fn is_idle(&self) -> bool {
        self.users.load(Ordering::SeqCst) == 0
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        self.slot.leave();
    }
}

impl Connections {
    pub(crate) fn new(
        manager: Manager,
        calls: Arc<OpenCalls>,
        asking: Arc<AskingServers>,
        limits: ConnectionLimits,
    ) -> Arc<Self> {
        Arc::new(Self {
            manager,
            calls,
            asking,
            limits,
            next: AtomicU64::new(0),
            slots: Mutex::default(),
        })
    }

    /// Closes what is not used any more, for as long as the gateway lives.
    pub(crate) async fn keep(this: Weak<Self>, every: Duration) {
        let mut ticks = tokio::time::interval(every);
        loop {
            ticks.tick().await;
            let Some(this) = this.upgrade() else { return };
            let idle = this.limits.idle;
            this.slots
                .lock()
                .retain(|_, slot| !slot.is_idle() || slot.used.lock().elapsed() < idle);
        }
    }

    /// How often unused connections are looked for.
    pub(crate) fn period(&self) -> Duration {
        (self.limits.idle / 4).max(Duration::from_secs(1))
    }

    /// Closes the connections to servers that are not `kept`.
    pub(crate) fn retain(&self, kept: impl Fn(&ServerName) -> bool) {
        self.slots.lock().retain(|(server, _), _| kept(server));
    }

    /// The client's own connection to a server whose managed one is `shared`; `None` where that
    /// will do: the server is modern, or has never asked anything.
    pub(crate) async fn lease(
        &self,
        server: &ServerName,
        shared: &Client,
        holder: Holder,
        can: HostCapabilities,
    ) -> Result<Option<Lease>, Failure> {
        if shared.revision().is_modern() || !self.asking.contains(server.as_str()) {
            return Ok(None);
        }
        let user = self.slot(server, holder)?;
        let slot = &user.0;
        let mut open = slot.client.lock().await;
        let client = match open.as_ref().filter(|client| client.is_alive()) {
            Some(client) => client.clone(),
            None => {
                let client = self.open(server, slot.number, can).await?;
                *open = Some(client.clone());
                client
            }
        };
        drop(open);
        let turn = match Asking::of(&client, false) {
            Asking::SharedChannel => Arc::clone(&slot.turn).acquire_owned().await.ok(),
            _ => None,
        };
        slot.users.fetch_add(1, Ordering::SeqCst);
        Ok(Some(Lease {
            client,
            channel: Channel::Own(slot.number),
            slot: Arc::clone(slot),
            _turn: turn,
        }))
    }

    fn slot(&self, server: &ServerName, holder: Holder) -> Result<User, Failure> {
        let mut slots = self.slots.lock();
        let key = (server.clone(), holder);
        if let Some(slot) = slots.get(&key) {
            return Ok(User::of(slot));
        }
        if slots.len() >= self.limits.open {
            let unused = slots.iter().filter(|(_, slot)| slot.is_idle());
            let oldest = unused.min_by_key(|(_, slot)| *slot.used.lock());
            let oldest = oldest.map(|(key, _)| key.clone());
            let Some(oldest) = oldest else {
                let limit = self.limits.open;
                let text =
                    format!("not called: {limit} connections are in use, which is the limit");
                return Err(Failure::NotMade(text));
            };
            slots.remove(&oldest);
        }
        let slot = Arc::new(Slot {
            number: self.next.fetch_add(1, Ordering::Relaxed),
            client: AsyncMutex::new(None),
            turn: Arc::new(Semaphore::new(1)),
            users: AtomicUsize::new(0),
            used: Mutex::new(Instant::now()),
        });
        let user = User::of(&slot);
        slots.insert(key, slot);
        Ok(user)
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
        };
        let calls = Arc::clone(&self.calls);
        let builder = self.manager.connection(server.as_str())?;
        let connecting = builder
            .host(relay, can)
            .on_event(move |event| {
                if let ClientEvent::Log(message) = event {
                    calls.log(&channel, *message);
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
