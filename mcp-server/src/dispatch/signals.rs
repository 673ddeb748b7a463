//! Signals from a running handler to its driver.

use std::task::{Context, Waker};

use mcp_jsonrpc::model::{InputRequest, InputRequests};
use parking_lot::Mutex;

/// Set by the handler's [`Context`](crate::Context), read by the driver after each poll.
#[derive(Default)]
pub(crate) struct Signals(Mutex<State>);

#[derive(Default)]
struct State {
    asked: InputRequests,
    detach: bool,
    driver: Option<Waker>,
}

/// Why the driver stops polling for now.
pub(crate) enum Signal {
    /// The handler waits for these answers.
    Asked(InputRequests),
    /// The handler continues as a task.
    Detach,
}

impl Signals {
    /// The handler cannot go on without an answer; `false` beyond `limit` questions.
    pub(crate) fn ask(&self, key: &str, question: InputRequest, limit: usize) -> bool {
        let mut state = self.0.lock();
        if state.asked.len() >= limit && !state.asked.contains_key(key) {
            return false;
        }
        state.asked.insert(key, question);
        state.wake();
        true
    }

    /// The handler wants to go on as a task.
    pub(crate) fn detach(&self) {
        let mut state = self.0.lock();
        state.detach = true;
        state.wake();
    }

    /// After a poll that did not finish: what the handler wants, if anything.
    pub(crate) fn take(&self, cx: &Context<'_>) -> Option<Signal> {
        let mut state = self.0.lock();
        state.driver = Some(cx.waker().clone());
        if std::mem::take(&mut state.detach) {
            state.asked = InputRequests::new();
            return Some(Signal::Detach);
        }
        let asked = std::mem::take(&mut state.asked);
        (!asked.is_empty()).then_some(Signal::Asked(asked))
    }
}

impl State {
    fn wake(&self) {
        if let Some(driver) = &self.driver {
            driver.wake_by_ref();
        }
    }
}
