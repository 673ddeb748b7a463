//! URLs that downstream clients were asked to visit, and the session to notify of each completion.

use std::collections::VecDeque;

use mcp_server::Notifier;
use parking_lot::Mutex;

/// Elicitations that are remembered; the oldest are forgotten first.
const MAX_OPEN: usize = 1_000;

/// The URL elicitations of legacy servers that legacy sessions were sent, by server and id.
#[derive(Default)]
pub(crate) struct Completions(Mutex<State>);

#[derive(Default)]
struct State {
    notifier: Option<Notifier>,
    open: VecDeque<(String, String, u64)>,
}

impl Completions {
    /// Sets what notifies the sessions.
    pub(crate) fn notify_by(&self, notifier: Notifier) {
        self.0.lock().notifier = Some(notifier);
    }

    /// A session was asked to visit a URL.
    pub(crate) fn asked(&self, server: &str, id: &str, session: u64) {
        let mut state = self.0.lock();
        state
            .open
            .retain(|(of, known, _)| of != server || known != id);
        if state.open.len() >= MAX_OPEN {
            state.open.pop_front();
        }
        let asked = (server.to_owned(), id.to_owned(), session);
        state.open.push_back(asked);
    }

    /// The server says that the user is done there: the session that was asked is notified, once.
    pub(crate) fn completed(&self, server: &str, id: &str) {
        let mut state = self.0.lock();
        let asked = |(of, known, _): &(String, String, u64)| of == server && known == id;
        let found = state.open.iter().position(asked);
        if let Some((_, id, session)) = found.and_then(|index| state.open.remove(index))
            && let Some(notifier) = &state.notifier
        {
            notifier.elicitation_complete(session, id);
        }
    }
}
