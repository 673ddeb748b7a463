//! Legacy sessions over HTTP: unguessable ids, one owner each, bounded in number, size and age.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use parking_lot::Mutex;
use tokio::time::Instant;

use super::event_stream::EventStream;
use crate::dispatch::in_flight::InFlight;
use crate::notifier::{Listening, Subscribers};
use crate::pipe::outlet::Outlet;
use crate::server::random;
use crate::server::shared::Shared;
use crate::server::shares::Share;
use crate::session::Session;

/// The number of the stream for messages that belong to no request.
const GENERAL: u64 = 0;

/// All sessions at one endpoint.
pub(crate) struct Sessions {
    started: Instant,
    table: Mutex<Table>,
}

#[derive(Default)]
struct Table {
    sessions: HashMap<String, Arc<HttpSession>>,
    swept: u64,
}

/// One session.
pub(crate) struct HttpSession {
    owner: Option<String>,
    _share: Share,
    pub(crate) session: Arc<Session>,
    /// For messages that belong to no request: the GET stream.
    pub(crate) general: Arc<EventStream>,
    pub(crate) in_flight: Arc<InFlight>,
    streams: Mutex<VecDeque<Arc<EventStream>>>,
    next_stream: AtomicU64,
    /// Seconds since the table was made.
    used: AtomicU64,
    limits: StreamLimits,
    _listening: Option<Listening>,
}

struct StreamLimits {
    streams: usize,
    events: usize,
    bytes: usize,
}

impl Default for Sessions {
    fn default() -> Self {
        Self {
            started: Instant::now(),
            table: Mutex::default(),
        }
    }
}

impl Sessions {
    fn now(&self) -> u64 {
        self.started.elapsed().as_secs()
    }

    /// Adds a session and returns its id; `None` if there are too many.
    pub(crate) fn add(
        &self,
        shared: &Arc<Shared>,
        session: Arc<Session>,
        owner: Option<&str>,
    ) -> Option<String> {
        let limits = &shared.limits;
        let now = self.now();
        let mut table = self.table.lock();
        table.sweep(now, limits.session_idle());
        if table.sessions.len() >= limits.sessions() {
            return None;
        }
        let share = shared.shares.sessions.take(owner)?;
        let polls = session.client.revision.has_stream_polling();
        let (events, bytes) = (limits.replay_events(), limits.queue_bytes());
        let general = Arc::new(EventStream::resumable(GENERAL, polls, events, bytes));
        let outlet: Arc<dyn Outlet> = general.clone();
        let listening = Subscribers::listen(shared, session.interests(), outlet);
        let id = random::token();
        let session = HttpSession {
            owner: owner.map(str::to_owned),
            _share: share,
            session,
            general,
            in_flight: Arc::default(),
            streams: Mutex::default(),
            next_stream: AtomicU64::new(GENERAL + 1),
            used: AtomicU64::new(now),
            limits: StreamLimits {
                streams: limits.streams(),
                events,
                bytes,
            },
            _listening: listening,
        };
        table.sessions.insert(id.clone(), Arc::new(session));
        Some(id)
    }

    /// The caller's session of this id.
    pub(crate) fn find(
        &self,
        id: &str,
        owner: Option<&str>,
        idle: Duration,
    ) -> Option<Arc<HttpSession>> {
        let now = self.now();
        let mut table = self.table.lock();
        table.sweep(now, idle);
        let session = table.sessions.get(id)?;
        if session.owner.as_deref() != owner {
            return None;
        }
        session.used.store(now, Ordering::Relaxed);
        Some(Arc::clone(session))
    }

    /// Ends a session; `false` if the caller has none of this id.
    pub(crate) fn end(&self, id: &str, owner: Option<&str>) -> bool {
        let mut table = self.table.lock();
        let owned = |session: &Arc<HttpSession>| session.owner.as_deref() == owner;
        if !table.sessions.get(id).is_some_and(owned) {
            return false;
        }
        let ended = table.sessions.remove(id);
        drop(table);
        if let Some(session) = ended {
            session.close();
        }
        true
    }

    pub(crate) fn len(&self) -> usize {
        self.table.lock().sessions.len()
    }
}

impl Table {
    /// Ends sessions that were not used for long, at most once a second.
    fn sweep(&mut self, now: u64, idle: Duration) {
        if now == self.swept {
            return;
        }
        self.swept = now;
        self.sessions.retain(|_, session| {
            let unused = now.saturating_sub(session.used.load(Ordering::Relaxed));
            let keep = unused <= idle.as_secs()
                || session.general.is_read()
                || !session.in_flight.is_empty();
            if !keep {
                session.close();
            }
            keep
        });
    }
}

impl HttpSession {
    /// A stream for the reply to one request. The requests in flight bound the open ones.
    pub(crate) fn open_stream(&self) -> Arc<EventStream> {
        let mut streams = self.streams.lock();
        while streams.len() >= self.limits.streams
            && let Some(ended) = streams.iter().position(|stream| stream.is_finished())
        {
            streams.remove(ended);
        }
        let polls = self.session.client.revision.has_stream_polling();
        let number = self.next_stream.fetch_add(1, Ordering::Relaxed);
        let (events, bytes) = (self.limits.events, self.limits.bytes);
        let stream = Arc::new(EventStream::resumable(number, polls, events, bytes));
        streams.push_back(Arc::clone(&stream));
        stream
    }

    /// Forgets a stream that cannot be resumed.
    pub(crate) fn forget(&self, stream: &Arc<EventStream>) {
        self.streams
            .lock()
            .retain(|kept| !Arc::ptr_eq(kept, stream));
    }

    /// The stream and the event number that an event id names.
    pub(crate) fn find_event(&self, id: &str) -> Option<(Arc<EventStream>, u64)> {
        let (stream, event) = id.split_once('-')?;
        let (stream, event) = (stream.parse::<u64>().ok()?, event.parse().ok()?);
        if stream == GENERAL {
            return Some((Arc::clone(&self.general), event));
        }
        let streams = self.streams.lock();
        let found = streams.iter().find(|kept| kept.number() == Some(stream))?;
        Some((Arc::clone(found), event))
    }

    fn close(&self) {
        self.session.peer.close();
        self.in_flight.abort_all();
        self.general.finish(None);
        for stream in self.streams.lock().drain(..) {
            stream.finish(None);
        }
    }
}

/// Nothing of a session outlives the endpoint.
impl Drop for HttpSession {
    fn drop(&mut self) {
        self.close();
    }
}
