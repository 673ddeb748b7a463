//! One connection: the state shared by callers, the reader, the send task and the event task.

pub(crate) mod clock;
pub(crate) mod event_queue;
mod event_task;
pub(crate) mod pending;
pub(crate) mod reader;
mod send_task;
pub(crate) mod session;
pub(crate) mod snapshot;
pub(crate) mod state;
mod truncated;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Weak};
use std::task::Waker;
use std::time::Duration;

use mcp_jsonrpc::RequestId;
use mcp_transport::{
    Connect, Delivery, Outgoing, SendError, Transport, TransportError, TransportKind,
};
use parking_lot::Mutex;
use tokio::sync::{Notify, Semaphore, watch};
use tokio::task::AbortHandle;
use tokio::time::Instant;

use crate::call::caller::Caller;
use crate::call::exchange::RequestFailure;
use crate::client::settings::{CloseHandler, Settings};
use crate::connection::event_queue::EventQueue;
use crate::connection::session::Session;
use crate::connection::snapshot::Snapshot;
use crate::connection::state::{Outcome, State};
use crate::features::subscription::Subscriber;

/// One connection to one server.
///
/// It lives until its transport is closed: the reader, the send task and the event task hold it, and end with the
/// transport. Locks are held briefly, never across an await.
pub(crate) struct Connection {
    pub(crate) settings: Arc<Settings>,
    pub(crate) transport: Arc<dyn Transport>,
    pub(crate) shape: TransportKind,
    pub(crate) state: Box<Mutex<State>>,
    /// Notified when there is room for a waiting call.
    pub(crate) room: Notify,
    /// The number of calls waiting for room.
    waiting: AtomicUsize,
    /// Allows one handshake at a time.
    pub(crate) gate: Semaphore,
    /// Notified when the send task has work.
    pub(crate) control: Notify,
    pub(crate) events: Mutex<EventQueue>,
    /// Notified when there is an event.
    pub(crate) event_ready: Notify,
    /// The number of announced changes of the tool list.
    pub(crate) tool_changes: AtomicU64,
    /// Server-to-client requests that are being answered.
    pub(crate) questions: Mutex<BTreeMap<RequestId, AbortHandle>>,
    /// The callers waiting for tasks.
    pub(crate) tasks: Mutex<BTreeMap<String, Arc<Caller>>>,
    /// The subscriptions.
    pub(crate) subscribers: Mutex<Vec<Weak<Subscriber>>>,
    /// Notified after a repeated handshake.
    pub(crate) renewed: Notify,
    snapshot: Mutex<Arc<Snapshot>>,
    ending: Mutex<Ending>,
    phase: watch::Sender<Phase>,
    began: Instant,
}

/// The life cycle of a connection.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
enum Phase {
    Open,
    /// Queued messages are still sent.
    Closing,
    /// They have been sent.
    Silent,
    /// The transport is closed.
    Over,
}

impl Phase {
    /// Advances to `next`, never back.
    fn advance(&mut self, next: Self) -> bool {
        let forward = *self < next;
        *self = (*self).max(next);
        forward
    }
}

/// The time closing waits for queued messages to be sent.
const FLUSH_TIMEOUT: Duration = Duration::from_millis(500);

/// A call waiting for room.
pub(crate) struct Waiting<'a>(&'a AtomicUsize);

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// The end of the connection, and its listeners.
#[derive(Default)]
struct Ending {
    over: bool,
    error: Option<Arc<TransportError>>,
    listeners: Vec<CloseHandler>,
}

impl Connection {
    /// Connects and spawns the tasks.
    pub(crate) async fn open(
        settings: &Arc<Settings>,
        connect: &dyn Connect,
    ) -> Result<Arc<Self>, TransportError> {
        let transport = connect.connect().await?;
        let limits = &settings.limits;
        let connection = Arc::new(Self {
            settings: Arc::clone(settings),
            shape: transport.kind(),
            transport,
            state: Box::new(Mutex::new(State::new(limits))),
            room: Notify::new(),
            waiting: AtomicUsize::new(0),
            gate: Semaphore::new(1),
            control: Notify::new(),
            events: Mutex::new(EventQueue::new(limits.queued_events())),
            event_ready: Notify::new(),
            tool_changes: AtomicU64::new(0),
            questions: Mutex::default(),
            tasks: Mutex::default(),
            subscribers: Mutex::default(),
            renewed: Notify::new(),
            snapshot: Mutex::new(Arc::new(Snapshot::new(limits))),
            ending: Mutex::default(),
            phase: watch::Sender::new(Phase::Open),
            began: Instant::now(),
        });
        tokio::spawn(reader::run(Arc::clone(&connection)));
        tokio::spawn(send_task::run(Arc::clone(&connection)));
        if settings.on_event.is_some() {
            tokio::spawn(event_task::run(Arc::clone(&connection)));
        }
        Ok(connection)
    }

    /// The time since the connection began.
    pub(crate) fn now(&self) -> Duration {
        self.began.elapsed()
    }

    /// Records that a call has ended, so that another one may start.
    pub(crate) fn slot_freed(&self) {
        // A waiter has counted itself before its last check for room, under the table's lock.
        if self.waiting.load(Ordering::Relaxed) > 0 {
            self.room.notify_one();
        }
    }

    /// Counts a waiter for as long as the result lives.
    pub(crate) fn waiting(&self) -> Waiting<'_> {
        self.waiting.fetch_add(1, Ordering::Relaxed);
        Waiting(&self.waiting)
    }

    /// The time since the last call started; zero while one is in flight.
    pub(crate) fn idle(&self) -> Duration {
        let now = self.now();
        let state = self.state.lock();
        match state.pending.is_empty() {
            true => now.saturating_sub(state.last_call),
            false => Duration::ZERO,
        }
    }

    /// The current snapshot.
    pub(crate) fn snapshot(&self) -> Arc<Snapshot> {
        Arc::clone(&self.snapshot.lock())
    }

    /// Replaces the snapshot with a modified one.
    pub(crate) fn update(&self, change: impl FnOnce(&mut Snapshot)) {
        change(Arc::make_mut(&mut self.snapshot.lock()));
    }

    /// The current session.
    pub(crate) fn session(&self) -> Arc<Session> {
        Arc::clone(&self.snapshot.lock().session)
    }

    pub(crate) fn set_session(&self, session: Session) {
        self.update(|snapshot| snapshot.session = Arc::new(session));
        self.renewed.notify_waiters();
    }

    /// Settles a request, if it is still open.
    pub(crate) fn settle(&self, id: i64, outcome: Outcome) -> Result<(), Outcome> {
        let waker = self.state.lock().pending.settle(id, outcome)?;
        if let Some(waker) = waker {
            waker.wake();
        }
        Ok(())
    }

    /// Ends a subscription that the server cancelled; `Err` if the request is not a subscription.
    pub(crate) fn cancelled(&self, id: i64) -> Result<(), Outcome> {
        let cancelled = Outcome::Cancelled;
        let waker = self.state.lock().pending.cancelled(id, cancelled)?;
        waker.into_iter().for_each(Waker::wake);
        Ok(())
    }

    /// Resumes the clock after a server-to-client request.
    pub(crate) fn resume_clock(&self, now: Duration) {
        self.state.lock().resume_clock(now);
        self.control.notify_one();
    }

    /// Wakes the callers whose time may have expired.
    pub(crate) fn sweep(&self) {
        let wakers = self.state.lock().sweep(self.now());
        wakers.into_iter().for_each(Waker::wake);
    }

    /// Waits until the next sweep is due.
    pub(crate) async fn sweep_due(&self) {
        let next_sweep = self.state.lock().next_sweep();
        match next_sweep.and_then(|next_sweep| self.began.checked_add(next_sweep)) {
            Some(next_sweep) => tokio::time::sleep_until(next_sweep).await,
            None => std::future::pending().await,
        }
    }

    /// Queues a response for the send task; drops it if too many are queued.
    pub(crate) fn answer(&self, answer: Outgoing) {
        let mut state = self.state.lock();
        if state.answers.len() >= self.settings.limits.queued_responses() {
            tracing::warn!(server = %self.settings.name, "dropped an answer: too many wait");
            return;
        }
        state.answers.push_back(answer);
        drop(state);
        self.control.notify_one();
    }

    /// Sends a message that has no response, within `limit`: a server that does not read must not block the sender for
    /// longer.
    pub(crate) async fn send_within(
        &self,
        limit: Duration,
        message: Outgoing,
    ) -> Result<(), SendError> {
        let sending = self.transport.send(message);
        tokio::time::timeout(limit, sending)
            .await
            .unwrap_or_else(|_| {
                let phase = "sending a notification";
                let error = TransportError::Timeout { phase, limit };
                Err(SendError::new(error, Delivery::Unknown))
            })
    }

    /// Closes the connection and returns when everything it held has ended.
    pub(crate) async fn close(&self) {
        // Queued messages, such as cancellations, are sent first.
        self.phase
            .send_if_modified(|phase| phase.advance(Phase::Closing));
        self.control.notify_one();
        let mut phase = self.phase.subscribe();
        let silent = phase.wait_for(|phase| *phase >= Phase::Silent);
        let _ = tokio::time::timeout(FLUSH_TIMEOUT, silent).await;
        self.transport.close().await;
        // The reader sees the end and settles everything.
        let _ = self
            .phase
            .subscribe()
            .wait_for(|phase| *phase == Phase::Over)
            .await;
    }

    /// Whether the connection has ended.
    pub(crate) fn is_over(&self) -> bool {
        *self.phase.borrow() == Phase::Over
    }

    /// Waits until the connection has ended.
    pub(crate) async fn over(&self) {
        let mut phase = self.phase.subscribe();
        let _ = phase.wait_for(|phase| *phase == Phase::Over).await;
    }

    /// Whether the connection is being closed.
    pub(crate) fn is_closing(&self) -> bool {
        *self.phase.borrow() >= Phase::Closing
    }

    /// Records that the send task has sent everything.
    pub(crate) fn set_silent(&self) {
        self.phase
            .send_if_modified(|phase| phase.advance(Phase::Silent));
    }

    /// Calls `listener` at the end; immediately if the connection has already ended.
    pub(crate) fn on_close(&self, listener: CloseHandler) {
        let mut ending = self.ending.lock();
        if ending.over {
            let error = ending.error.clone();
            drop(ending);
            tokio::spawn(async move { listener(error) });
        } else {
            ending.listeners.push(listener);
        }
    }

    /// The error that ended the connection, if it has ended.
    pub(crate) fn end_error(&self) -> Option<Arc<TransportError>> {
        self.ending.lock().error.clone()
    }

    /// Adds the reason to the failure of a request made after the end.
    pub(crate) fn explain(&self, failure: RequestFailure) -> RequestFailure {
        match (failure, &self.ending.lock().error) {
            (RequestFailure::Closed, Some(error)) => RequestFailure::Lost {
                error: Arc::clone(error),
                delivery: Delivery::NotSent,
            },
            (failure, _) => failure,
        }
    }

    /// Ends the connection: settles open requests, aborts tasks, calls listeners.
    pub(crate) fn end(&self, error: Option<Arc<TransportError>>, unsent: &[RequestId]) {
        // Stored first, so that a call that finds the table closed also finds the reason.
        let listeners = {
            let mut ending = self.ending.lock();
            ending.over = true;
            ending.error.clone_from(&error);
            std::mem::take(&mut ending.listeners)
        };
        let why = error
            .clone()
            .unwrap_or_else(|| Arc::new(TransportError::Closed));
        let wakers = self
            .state
            .lock()
            .pending
            .close(|id, trouble| match trouble {
                Some(trouble) if error.is_none() => Outcome::Invalid(trouble),
                _ if unsent.contains(&RequestId::from(id)) => Outcome::Lost {
                    error: Arc::clone(&why),
                    delivery: Delivery::NotSent,
                },
                _ => Outcome::Lost {
                    error: Arc::clone(&why),
                    delivery: Delivery::Unknown,
                },
            });
        wakers.into_iter().for_each(Waker::wake);
        let questions = std::mem::take(&mut *self.questions.lock());
        questions.values().for_each(AbortHandle::abort);
        self.phase.send_replace(Phase::Over);
        self.room.notify_waiters();
        self.control.notify_one();
        self.event_ready.notify_one();
        let on_close = self.settings.on_close.clone();
        for listener in on_close.into_iter().chain(listeners) {
            let error = error.clone();
            tokio::spawn(async move { listener(error) });
        }
    }
}

impl fmt::Debug for Connection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connection")
            .field("settings", &self.settings)
            .field("transport", &self.transport)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use async_trait::async_trait;
    use mcp_jsonrpc::Revision;
    use mcp_transport::{Closed, Incoming};

    use super::*;
    use crate::client::builder::ClientBuilder;
    use crate::connect::handshake::{Offer, Refusal};

    /// A server that exits as soon as it is connected.
    #[derive(Debug)]
    struct Gone;

    #[async_trait]
    impl Transport for Gone {
        async fn send(&self, _: Outgoing) -> Result<(), SendError> {
            Ok(())
        }

        async fn recv(&self) -> Incoming {
            Incoming::Closed(Closed::with_error(TransportError::NoResponse {
                detail: "it is gone".to_owned(),
            }))
        }

        fn release(&self, _: &RequestId) {}

        async fn close(&self) {}

        fn kind(&self) -> TransportKind {
            TransportKind::Pipe
        }
    }

    #[async_trait]
    impl Connect for Gone {
        async fn connect(&self) -> Result<Arc<dyn Transport>, TransportError> {
            Ok(Arc::new(Self))
        }

        fn target(&self) -> String {
            "gone".to_owned()
        }

        fn kind(&self) -> TransportKind {
            TransportKind::Pipe
        }
    }

    #[tokio::test]
    async fn a_handshake_after_the_end_reports_the_reason() {
        let settings = Arc::new(ClientBuilder::new(Arc::new(Gone)).settings);
        let connection = Connection::open(&settings, &Gone).await.unwrap();
        connection.over().await;
        let refusal = connection
            .initialize(Offer::AtBest(Revision::LATEST_LEGACY))
            .await;
        let Err(Refusal::RequestFailure(RequestFailure::Lost { error, delivery })) = refusal else {
            panic!("no reason");
        };
        assert_eq!(delivery, Delivery::NotSent);
        assert!(error.to_string().contains("it is gone"), "{error}");
    }
}
