//! A call that runs upstream, independent of the handler that waits for it: a downstream client of the modern era has
//! no request in flight while it answers a question.

use std::sync::Arc;

use futures_util::future::join_all;
use mcp_jsonrpc::model::{ClientCapabilities, LogMessageParams, ProgressParams};
use mcp_server::Context;
use parking_lot::Mutex;
use tokio::sync::{mpsc, oneshot};
use tokio::task::AbortHandle;

use crate::call::questions::Question;
use crate::error::Failure;

/// Events that wait for the handler; progress and log messages beyond it are dropped, questions wait.
pub(crate) const QUEUE: usize = 256;

/// What happens during a call.
pub(crate) enum Event {
    Progress(ProgressParams),
    Log(LogMessageParams),
    Question(Question),
}

/// The outcome of a call.
pub(crate) type Outcome<T> = Result<T, Failure>;

/// A running call. Dropping it cancels the call.
pub(crate) struct LiveCall<T> {
    inbox: Mutex<Option<Inbox<T>>>,
    running: AbortHandle,
}

struct Inbox<T> {
    events: mpsc::Receiver<Event>,
    outcome: oneshot::Receiver<Outcome<T>>,
    /// The questions that are not answered yet, by the keys they are asked under.
    open: Vec<(String, Question)>,
    asked: usize,
    /// What the client would have to declare to be asked what it was not.
    missing: Option<Box<ClientCapabilities>>,
}

/// What became of a call.
pub(crate) struct Ended<T> {
    pub(crate) outcome: Outcome<T>,
    /// What the client would have to declare to be asked what it was not.
    pub(crate) missing: Option<Box<ClientCapabilities>>,
}

impl<T: Send + 'static> LiveCall<T> {
    /// Starts a call whose events arrive at `events`.
    pub(crate) fn start(
        call: impl Future<Output = Outcome<T>> + Send + 'static,
        events: mpsc::Receiver<Event>,
    ) -> Arc<Self> {
        let (done, outcome) = oneshot::channel();
        let running = tokio::spawn(async move {
            // Without a receiver the call is no longer wanted.
            let _ = done.send(call.await);
        });
        let inbox = Inbox {
            events,
            outcome,
            open: Vec::new(),
            asked: 0,
            missing: None,
        };
        Arc::new(Self {
            inbox: Mutex::new(Some(inbox)),
            running: running.abort_handle(),
        })
    }

    /// Waits for the outcome. Meanwhile progress and questions go to the downstream client. If this
    /// future is dropped, a later one continues. `None` if another one waits, or the outcome was
    /// taken.
    pub(crate) async fn wait(&self, cx: &Context) -> Option<Ended<T>> {
        let mut taken = Taken {
            call: self,
            inbox: self.inbox.lock().take(),
        };
        let inbox = taken.inbox.as_mut()?;
        loop {
            inbox.answer(cx).await;
            tokio::select! {
                biased;
                Some(event) = inbox.events.recv() => inbox.take(event, cx),
                outcome = &mut inbox.outcome => {
                    let missing = inbox.missing.take();
                    taken.inbox = None;
                    let outcome = outcome.ok()?;
                    return Some(Ended { outcome, missing });
                }
            }
            // Questions that come together are asked together.
            tokio::task::yield_now().await;
            while let Ok(event) = inbox.events.try_recv() {
                inbox.take(event, cx);
            }
        }
    }
}

impl<T> Inbox<T> {
    fn take(&mut self, event: Event, cx: &Context) {
        match event {
            Event::Progress(report) => {
                cx.progress(report.progress, report.total, report.message.as_deref());
            }
            Event::Log(message) => cx.log_message(&message),
            Event::Question(question) => {
                self.asked += 1;
                let key = format!("question-{}", self.asked);
                self.open.push((key, question));
            }
        }
    }

    /// Asks what is open. The future is dropped at the first question to a client that answers by
    /// calling again; what was open then stays so.
    async fn answer(&mut self, cx: &Context) {
        if self.open.is_empty() {
            return;
        }
        let asking = self.open.iter_mut();
        let missing = join_all(asking.map(|(key, question)| question.put(key, cx))).await;
        self.missing = missing.into_iter().flatten().next().or(self.missing.take());
        self.open.clear();
    }
}

impl<T> Drop for LiveCall<T> {
    fn drop(&mut self) {
        self.running.abort();
    }
}

/// The inbox, for as long as one future reads it.
struct Taken<'a, T> {
    call: &'a LiveCall<T>,
    inbox: Option<Inbox<T>>,
}

impl<T> Drop for Taken<'_, T> {
    fn drop(&mut self) {
        *self.call.inbox.lock() = self.inbox.take();
    }
}
