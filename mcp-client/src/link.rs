//! One connection: what the callers, the reader, the courier and the dispatcher share.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Weak};
use std::time::Duration;

use mcp_jsonrpc::model::LoggingLevel;
use mcp_jsonrpc::{ErrorObject, RequestId};
use mcp_transport::{Connect, Delivery, Outgoing, Shape, Transport, TransportError};
use parking_lot::Mutex;
use tokio::sync::{Notify, Semaphore, watch};
use tokio::task::AbortHandle;
use tokio::time::Instant;

use crate::answer::Body;
use crate::call::Miss;
use crate::clock::Clock;
use crate::dialect::param_header::ParamHeader;
use crate::mailbox::Mailbox;
use crate::pending::Pending;
use crate::session::Session;
use crate::settings::{CloseHandler, Settings};
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
    pub(crate) state: Mutex<State>,
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
    /// Questions of the server's that somebody is answering.
    pub(crate) questions: Mutex<BTreeMap<RequestId, AbortHandle>>,
    /// The `Mcp-Param-*` headers of each tool, from the last list of tools.
    pub(crate) param_headers: Mutex<BTreeMap<String, Arc<[ParamHeader]>>>,
    pub(crate) tuning: Mutex<Tuning>,
    /// Who is told of changes.
    pub(crate) subscribers: Mutex<Vec<Weak<Subscriber>>>,
    /// Rings when there was another handshake.
    pub(crate) renewed: Notify,
    /// Tools that run as tasks only (2025-11-25), from the last list of tools.
    pub(crate) task_tools: Mutex<BTreeSet<String>>,
    session: Mutex<Arc<Session>>,
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

/// What the callers and the reader share of every call.
pub(crate) struct State {
    pub(crate) pending: Pending<Outcome>,
    pub(crate) clock: Clock,
    /// Answers to the server that wait for the courier.
    pub(crate) answers: VecDeque<Outgoing>,
    /// When the last call began.
    pub(crate) last_call: Duration,
}

/// What can be changed while the connection is up.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tuning {
    pub(crate) call_time: Duration,
    pub(crate) call_time_cap: Duration,
    pub(crate) log_level: Option<LoggingLevel>,
}

/// How one request ended.
#[derive(Debug)]
pub(crate) enum Outcome {
    /// With a result.
    Result(Body),
    /// With the server's error.
    Error(ErrorObject),
    /// With something that is no answer.
    Invalid(String),
    /// Not at all.
    Lost {
        error: Arc<TransportError>,
        delivery: Delivery,
    },
}

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
            state: Mutex::new(State {
                pending: Pending::new(limits.calls_in_flight()),
                clock: Clock::default(),
                answers: VecDeque::new(),
                last_call: Duration::ZERO,
            }),
            room: Notify::new(),
            waiting: AtomicUsize::new(0),
            gate: Semaphore::new(1),
            control: Notify::new(),
            mailbox: Mutex::new(Mailbox::new(limits.queued_events())),
            bell: Notify::new(),
            questions: Mutex::default(),
            param_headers: Mutex::default(),
            tuning: Mutex::new(Tuning {
                call_time: limits.call_time(),
                call_time_cap: limits.call_time_cap(),
                log_level: None,
            }),
            subscribers: Mutex::default(),
            renewed: Notify::new(),
            task_tools: Mutex::default(),
            session: Mutex::new(Arc::new(Session::unknown())),
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
        self.since(Instant::now())
    }

    /// How long after the connection began `now` is.
    pub(crate) fn since(&self, now: Instant) -> Duration {
        now.saturating_duration_since(self.began)
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

    /// What is known of the server.
    pub(crate) fn session(&self) -> Arc<Session> {
        Arc::clone(&self.session.lock())
    }

    pub(crate) fn set_session(&self, session: Session) {
        *self.session.lock() = Arc::new(session);
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
        wakers.into_iter().for_each(std::task::Waker::wake);
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
    use mcp_transport::{Closed, Incoming, SendError};

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
