//! The queue of one server's calls, which acts on [`Admission`].

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use mcp_client::{Caller, Origin, Queued};
use mcp_config::ServerName;
use parking_lot::Mutex;
use tokio::sync::Notify;

use crate::call::admission::{Admission, Concurrency, Left, Owner, QuestionId, Ticket};
use crate::call::options::QueueHandler;

/// The queue of a server's calls: all of them pass through it.
#[derive(Debug)]
pub(crate) struct CallQueue {
    server: ServerName,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    admission: Admission,
    /// The calls that wait for their turn.
    waiting: BTreeMap<Ticket, Arc<Notify>>,
    /// The questions that wait for an answer.
    asking: BTreeMap<QuestionId, Arc<Notify>>,
}

impl State {
    fn act(&mut self, left: Left) {
        for question in left.orphaned {
            if let Some(asking) = self.asking.remove(&question) {
                asking.notify_one();
            }
        }
        for ticket in left.started {
            if let Some(waiting) = self.waiting.get(&ticket) {
                waiting.notify_one();
            }
        }
        // Queued calls report which conversation they wait for.
        if self.admission.is_exclusive() {
            self.waiting.values().for_each(|it| it.notify_one());
        }
    }
}

/// The membership of a call in the queue, for the lifetime of this value.
pub(crate) struct CallPermit<'a> {
    queue: &'a CallQueue,
    ticket: Ticket,
}

impl Drop for CallPermit<'_> {
    fn drop(&mut self) {
        let mut state = self.queue.state.lock();
        state.waiting.remove(&self.ticket);
        let left = state.admission.leave(self.ticket);
        state.act(left);
    }
}

impl CallQueue {
    pub(crate) fn new(server: ServerName, max_running: usize) -> Self {
        let state = State {
            admission: Admission::new(max_running),
            waiting: BTreeMap::new(),
            asking: BTreeMap::new(),
        };
        Self {
            server,
            state: Mutex::new(state),
        }
    }

    /// Waits for a call's turn; `on_queued` receives the reasons, and `None` when the wait has ended.
    pub(crate) async fn enter(
        &self,
        caller: Option<&Arc<Caller>>,
        concurrency: Concurrency,
        on_queued: Option<&QueueHandler>,
    ) -> CallPermit<'_> {
        let (entered, woken) = self.arrive(caller, concurrency);
        let Some(woken) = woken else {
            return entered;
        };
        let ticket = entered.ticket;
        let mut reported = None;
        loop {
            let queued = self.state.lock().admission.queued(ticket);
            let Some((reason, conversation)) = queued else {
                break;
            };
            let queued = Queued::new(self.server.as_str(), reason, conversation);
            if let Some(on_queued) = on_queued
                && reported.as_ref() != Some(&queued)
            {
                on_queued(Some(&queued));
                reported = Some(queued);
            }
            woken.notified().await;
        }
        self.state.lock().waiting.remove(&ticket);
        if let Some(on_queued) = on_queued {
            on_queued(None);
        }
        entered
    }

    /// Adds a call; if it has to wait, it is woken when its turn may have come.
    fn arrive(
        &self,
        caller: Option<&Arc<Caller>>,
        concurrency: Concurrency,
    ) -> (CallPermit<'_>, Option<Arc<Notify>>) {
        let mut state = self.state.lock();
        let (ticket, runs) = state.admission.enter(caller.cloned(), concurrency);
        let woken = (!runs).then(|| Arc::new(Notify::new()));
        let waiting = woken.iter().map(|woken| (ticket, Arc::clone(woken)));
        state.waiting.extend(waiting);
        (
            CallPermit {
                queue: self,
                ticket,
            },
            woken,
        )
    }

    /// Adds a question from the server: its owner, and a way to wait for its end.
    pub(crate) fn ask(&self, origin: &Origin) -> Asked<'_> {
        let mut state = self.state.lock();
        match state.admission.ask(origin) {
            Owner::Several(conversations) => Asked::Declined(conversations),
            Owner::NoCall => {
                let callers = match origin {
                    Origin::Calls(callers) => callers.clone(),
                    _ => Vec::new(),
                };
                Asked::Owned(callers, None)
            }
            Owner::Calls(id, callers) => {
                let over = Arc::new(Notify::new());
                state.asking.insert(id, Arc::clone(&over));
                // Queued calls wait for an answer from now on.
                state.act(Left::default());
                let queue = self;
                Asked::Owned(callers, Some(Open { queue, id, over }))
            }
        }
    }
}

/// The owner of a question.
pub(crate) enum Asked<'a> {
    /// No conversation, or one conversation, while one of its calls waits.
    Owned(Vec<Arc<Caller>>, Option<Open<'a>>),
    /// Possibly any of these conversations: the question must not be asked.
    Declined(Vec<String>),
}

/// A question that calls wait for.
pub(crate) struct Open<'a> {
    queue: &'a CallQueue,
    id: QuestionId,
    over: Arc<Notify>,
}

impl Open<'_> {
    /// Waits until no call waits for the answer any more.
    pub(crate) async fn orphaned(&self) {
        while self.queue.state.lock().admission.is_open(self.id) {
            self.over.notified().await;
        }
    }
}

impl Drop for Open<'_> {
    fn drop(&mut self) {
        let mut state = self.queue.state.lock();
        state.asking.remove(&self.id);
        state.admission.answered(self.id);
        // Queued calls no longer wait for an answer.
        state.act(Left::default());
    }
}

impl fmt::Debug for CallPermit<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("CallPermit").field(&self.ticket).finish()
    }
}
