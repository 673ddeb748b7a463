//! One connection: what the callers, the reader, the courier and the dispatcher share.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Weak};
use std::task::Waker;
use std::time::Duration;

use mcp_jsonrpc::RequestId;
use mcp_transport::{Connect, Delivery, Outgoing, SendError, Shape, Transport, TransportError};
use parking_lot::Mutex;
use tokio::sync::{Notify, Semaphore, watch};
use tokio::task::AbortHandle;
use tokio::time::Instant;

use crate::call::Miss;
use crate::caller::Caller;
use crate::known::Known;
use crate::mailbox::Mailbox;
use crate::session::Session;
use crate::settings::{CloseHandler, Settings};
use crate::state::{Outcome, State};
use crate::subscription::Subscriber;
use crate::{courier, dispatch, reader};

/// One connection to one server.
///
/// Lives until its transport is closed: the reader, the courier and the dispatcher hold it, and
/// end with the transport. Locks are held for moments, never over an await.
pub(crate) struct Link {
    pub(crate) settings: Arc<Settings>,
    pub(crate) transport: Arc<dyn Transport>,
    pub(crate) shape: Shape,
    pub(crate) state: Box<Mutex<State>>,
    /// Rings when a call that waits for its turn may have it.
    pub(crate) room: Notify,
    /// How many wait for their turn.
    waiting: AtomicUsize,
    /// Lets one handshake at a time through.
    pub(crate) gate: Semaphore,
    /// Rings when the courier has something to do.
    pub(crate) control: Notify,
    pub(crate) mailbox: Mutex<Mailbox>,
    /// Rings when there is mail.
    pub(crate) bell: Notify,
    /// Counts the announced changes of the tool list.
    pub(crate) tool_changes: AtomicU64,
    /// Questions of the server's that somebody is answering.
    pub(crate) questions: Mutex<BTreeMap<RequestId, AbortHandle>>,
    /// Who waits for which task.
    pub(crate) tasks: Mutex<BTreeMap<String, Arc<Caller>>>,
    /// Who is told of changes.
    pub(crate) subscribers: Mutex<Vec<Weak<Subscriber>>>,
    /// Rings when there was another handshake.
    pub(crate) renewed: Notify,
    known: Mutex<Arc<Known>>,
    ending: Mutex<Ending>,
    phase: watch::Sender<Phase>,
    began: Instant,
}

/// How far a connection has come.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
enum Phase {
    Open,
    /// Last words may be said.
    Closing,
    /// They have been.
    Silent,
    /// Nothing more will come.
    Over,
}

impl Phase {
    /// Goes on to `next`, never back.
    fn advance(&mut self, next: Self) -> bool {
        let forward = *self < next;
        *self = (*self).max(next);
        forward
    }
}

/// How long a connection that is being closed may take to say its last words.
const LAST_WORDS: Duration = Duration::from_millis(500);

/// One that waits for its turn.
pub(crate) struct Waiting<'a>(&'a AtomicUsize);

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// How the connection ended, and who wants to know.
#[derive(Default)]
struct Ending {
    over: bool,
    error: Option<Arc<TransportError>>,
    listeners: Vec<CloseHandler>,
}

impl Link {
    /// Connects and begins to read.
    pub(crate) async fn open(
        settings: &Arc<Settings>,
        connect: &dyn Connect,
    ) -> Result<Arc<Self>, TransportError> {
        let transport = connect.connect().await?;
        let limits = &settings.limits;
        let link = Arc::new(Self {
            settings: Arc::clone(settings),
            shape: transport.shape(),
            transport,
            state: Box::new(Mutex::new(State::new(limits))),
            room: Notify::new(),
            waiting: AtomicUsize::new(0),
            gate: Semaphore::new(1),
            control: Notify::new(),
            mailbox: Mutex::new(Mailbox::new(limits.queued_events())),
            bell: Notify::new(),
            tool_changes: AtomicU64::new(0),
            questions: Mutex::default(),
            tasks: Mutex::default(),
            subscribers: Mutex::default(),
            renewed: Notify::new(),
            known: Mutex::new(Arc::new(Known::new(limits))),
            ending: Mutex::default(),
            phase: watch::Sender::new(Phase::Open),
            began: Instant::now(),
        });
        tokio::spawn(reader::read(Arc::clone(&link)));
        tokio::spawn(courier::deliver(Arc::clone(&link)));
        if settings.on_event.is_some() {
            tokio::spawn(dispatch::dispatch(Arc::clone(&link)));
        }
        Ok(link)
    }

    /// The time since the connection began.
    pub(crate) fn now(&self) -> Duration {
        self.began.elapsed()
    }

    /// A call is over: another may begin.
    pub(crate) fn made_room(&self) {
        // Whoever waits has said so before it last looked for room, under the table's lock.
        if self.waiting.load(Ordering::Relaxed) > 0 {
            self.room.notify_one();
        }
    }

    /// Counts as waiting for room as long as the result lives.
    pub(crate) fn waiting(&self) -> Waiting<'_> {
        self.waiting.fetch_add(1, Ordering::Relaxed);
        Waiting(&self.waiting)
    }

    /// How long it has been since the last call began; zero while one is under way.
    pub(crate) fn idle(&self) -> Duration {
        let now = self.now();
        let state = self.state.lock();
        match state.pending.is_empty() {
            true => now.saturating_sub(state.last_call),
            false => Duration::ZERO,
        }
    }

    /// What is known at present.
    pub(crate) fn known(&self) -> Arc<Known> {
        Arc::clone(&self.known.lock())
    }

    /// Changes what is known.
    pub(crate) fn learn(&self, change: impl FnOnce(&mut Known)) {
        change(Arc::make_mut(&mut self.known.lock()));
    }

    /// What is known of the server.
    pub(crate) fn session(&self) -> Arc<Session> {
        Arc::clone(&self.known.lock().session)
    }

    pub(crate) fn set_session(&self, session: Session) {
        self.learn(|known| known.session = Arc::new(session));
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

    /// Ends a subscription that the server cancelled; `Err` if the request is none.
    pub(crate) fn cancelled(&self, id: i64) -> Result<(), Outcome> {
        let cancelled = Outcome::Cancelled;
        let waker = self.state.lock().pending.cancelled(id, cancelled)?;
        waker.into_iter().for_each(Waker::wake);
        Ok(())
    }

    /// A question is answered: time may go on.
    pub(crate) fn go_on(&self, now: Duration) {
        self.state.lock().go_on(now);
        self.control.notify_one();
    }

    /// Wakes the callers whose time may be up.
    pub(crate) fn ring(&self) {
        let wakers = self.state.lock().ring(self.now());
        wakers.into_iter().for_each(Waker::wake);
    }

    /// Waits until somebody's time may be up.
    pub(crate) async fn alarm(&self) {
        let alarm = self.state.lock().alarm();
        match alarm.and_then(|alarm| self.began.checked_add(alarm)) {
            Some(alarm) => tokio::time::sleep_until(alarm).await,
            None => std::future::pending().await,
        }
    }

    /// Hands an answer to the courier; drops it when too many wait already.
    pub(crate) fn answer(&self, answer: Outgoing) {
        let mut state = self.state.lock();
        if state.answers.len() >= self.settings.limits.queued_answers() {
            tracing::warn!(server = %self.settings.name, "dropped an answer: too many wait");
            return;
        }
        state.answers.push_back(answer);
        drop(state);
        self.control.notify_one();
    }

    /// Sends a message that has no answer, within `limit`: a server that does not read must not
    /// hold up its sender for longer.
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

    /// Ends the connection, and returns when all it held is gone.
    pub(crate) async fn close(&self) {
        // What is left to be said comes first: calls that were just given up, for instance.
        self.phase
            .send_if_modified(|phase| phase.advance(Phase::Closing));
        self.control.notify_one();
        let mut phase = self.phase.subscribe();
        let silent = phase.wait_for(|phase| *phase >= Phase::Silent);
        let _ = tokio::time::timeout(LAST_WORDS, silent).await;
        self.transport.close().await;
        // The reader sees the end and settles everything; it cannot fail to.
        let _ = self
            .phase
            .subscribe()
            .wait_for(|phase| *phase == Phase::Over)
            .await;
    }

    /// Whether the connection is over.
    pub(crate) fn is_over(&self) -> bool {
        *self.phase.borrow() == Phase::Over
    }

    /// Waits until the connection is over.
    pub(crate) async fn over(&self) {
        let mut phase = self.phase.subscribe();
        let _ = phase.wait_for(|phase| *phase == Phase::Over).await;
    }

    /// Whether the connection is being closed.
    pub(crate) fn is_closing(&self) -> bool {
        *self.phase.borrow() >= Phase::Closing
    }

    /// The courier has said all there was to say.
    pub(crate) fn set_silent(&self) {
        self.phase
            .send_if_modified(|phase| phase.advance(Phase::Silent));
    }

    /// Tells `listener` of the end; at once, should it have come already.
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

    /// What ended the connection, once it is over.
    pub(crate) fn end_error(&self) -> Option<Arc<TransportError>> {
        self.ending.lock().error.clone()
    }

    /// Says what ended the connection to one who came too late to be told.
    pub(crate) fn explain(&self, miss: Miss) -> Miss {
        match (miss, &self.ending.lock().error) {
            (Miss::Closed, Some(error)) => Miss::Lost {
                error: Arc::clone(error),
                delivery: Delivery::NotSent,
            },
            (miss, _) => miss,
        }
    }

    /// The connection is over: settles what is open, stops what runs, tells who wants to know.
    pub(crate) fn end(&self, error: Option<Arc<TransportError>>, unsent: &[RequestId]) {
        // First, so that whoever finds the table closed can be told why.
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
        self.bell.notify_one();
        let on_close = self.settings.on_close.clone();
        for listener in on_close.into_iter().chain(listeners) {
            let error = error.clone();
            tokio::spawn(async move { listener(error) });
        }
    }
}

impl fmt::Debug for Link {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Link")
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
    use crate::builder::Builder;
    use crate::handshake::{Offer, Refusal};

    /// A server that is gone as soon as it is there.
    #[derive(Debug)]
    struct Gone;

    #[async_trait]
    impl Transport for Gone {
        async fn send(&self, _: Outgoing) -> Result<(), SendError> {
            Ok(())
        }

        async fn recv(&self) -> Incoming {
            Incoming::Closed(Closed::because(TransportError::NoAnswer {
                detail: "it is gone".to_owned(),
            }))
        }

        fn release(&self, _: &RequestId) {}

        async fn close(&self) {}

        fn shape(&self) -> Shape {
            Shape::Pipe
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

        fn shape(&self) -> Shape {
            Shape::Pipe
        }
    }

    #[tokio::test]
    async fn a_handshake_that_comes_too_late_is_told_why() {
        let settings = Arc::new(Builder::new(Arc::new(Gone)).settings);
        let link = Link::open(&settings, &Gone).await.unwrap();
        link.over().await;
        let refusal = link
            .initialize(Offer::AtBest(Revision::LATEST_LEGACY))
            .await;
        let Err(Refusal::Miss(Miss::Lost { error, delivery })) = refusal else {
            panic!("no reason");
        };
        assert_eq!(delivery, Delivery::NotSent);
        assert!(error.to_string().contains("it is gone"), "{error}");
    }
}
