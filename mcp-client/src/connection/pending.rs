//! The table of open requests, each of which ends exactly once.
//!
//! Pure: no clock, no IO. Times are readings of the connection's [`Clock`](crate::connection::clock::Clock).

use std::collections::{HashMap, VecDeque};
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::Arc;
use std::task::{Poll, Waker};
use std::time::Duration;

use mcp_jsonrpc::model::{LogMessageParams, ProgressParams};

use crate::call::caller::Caller;

/// The requests in flight.
///
/// Every request that [`begin`](Self::begin)s leaves the table exactly once: by [`poll`](Self::poll) with its one
/// outcome, or by [`abandon`](Self::abandon). Messages for a request that is not open are rejected, and ids are never
/// reused, so no late response finds a wrong owner.
#[derive(Debug)]
pub(crate) struct Pending<O> {
    last: i64,
    open: HashMap<i64, Entry<O>, BuildHasherDefault<IdHasher>>,
    /// Abandoned, but not yet cancelled at the server.
    abandoned: VecDeque<Abandoned>,
    /// The maximum number of open requests, including those to be cancelled.
    limit: usize,
    closed: bool,
}

/// The outcome of opening a request.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Begun {
    /// Opened with this id.
    Open(i64),
    /// Too many are open.
    Full,
    /// The table is closed.
    Closed,
}

#[derive(Debug)]
struct Entry<O> {
    outcome: Option<O>,
    waker: Option<Waker>,
    moved: Duration,
    /// When to check whether its time has expired.
    due: Duration,
    /// Whether that time has passed and the caller has not checked yet.
    is_due: bool,
    wants: Reporting,
    /// Whether the caller reads its log messages.
    wants_logs: bool,
    /// Whether the server has acknowledged it and the caller has not seen that yet.
    acknowledged: bool,
    /// Boxed, because few requests have any.
    asides: Option<Box<Interim>>,
    caller: Option<Arc<Caller>>,
}

/// Messages for a request other than its response.
#[derive(Debug, Default)]
struct Interim {
    reports: VecDeque<Report>,
    /// A problem to report if there is no response.
    trouble: Option<String>,
}

/// A report to a request's caller before the response.
#[derive(Debug)]
pub(crate) enum Report {
    Progress(ProgressParams),
    Log(Box<LogMessageParams>),
}

/// Hashes ids, which we assign in ascending order: no peer can make them collide.
#[derive(Debug, Default)]
struct IdHasher(u64);

impl Hasher for IdHasher {
    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.write_i64((*byte).into()));
    }

    fn write_i64(&mut self, id: i64) {
        // The golden ratio makes neighbours differ in the high bits as well.
        self.0 = (self.0 ^ id.cast_unsigned()).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

/// The messages a caller waits for.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Reporting {
    /// The response only.
    Answer,
    /// Progress reports as well.
    Progress,
    /// The changes of a subscription: only such a request is acknowledged, and only such a request can be cancelled by
    /// the server.
    Changes,
}

/// A request without a caller.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Abandoned {
    /// Its id.
    pub(crate) id: i64,
    /// The reason, for the server's log.
    pub(crate) reason: &'static str,
}

/// The number of reports kept for one caller; beyond it, the newest progress replaces the last.
const MAX_REPORTS: usize = 32;
/// The number of reports kept if log messages are among them; further ones are dropped.
const MAX_LOGS: usize = 256;

impl<O> Pending<O> {
    pub(crate) fn new(limit: usize) -> Self {
        Self {
            last: 0,
            open: HashMap::default(),
            abandoned: VecDeque::new(),
            limit,
            closed: false,
        }
    }

    /// Opens a request under a new id. The waker is called at its outcome, and when it is `due`.
    pub(crate) fn begin(
        &mut self,
        wants: Reporting,
        reading: Duration,
        due: Duration,
        waker: &Waker,
    ) -> Begun {
        if self.closed {
            return Begun::Closed;
        }
        if self.open.len() + self.abandoned.len() >= self.limit {
            return Begun::Full;
        }
        self.last += 1;
        let entry = Entry {
            outcome: None,
            waker: Some(waker.clone()),
            moved: reading,
            due,
            is_due: false,
            wants,
            wants_logs: false,
            acknowledged: false,
            asides: None,
            caller: None,
        };
        self.open.insert(self.last, entry);
        Begun::Open(self.last)
    }

    /// Takes the outcome, which removes the request; otherwise stores the waker.
    pub(crate) fn poll(&mut self, id: i64, waker: &Waker) -> Poll<Option<O>> {
        let Some(entry) = self.open.get_mut(&id) else {
            return Poll::Ready(None);
        };
        if entry.outcome.is_some() {
            return Poll::Ready(self.open.remove(&id).and_then(|entry| entry.outcome));
        }
        if !entry.waker.as_ref().is_some_and(|old| old.will_wake(waker)) {
            entry.waker = Some(waker.clone());
        }
        Poll::Pending
    }

    /// Settles an open request. Only the first outcome counts.
    ///
    /// Returns the waker, to be called outside the lock; `Err` returns an outcome without a caller.
    pub(crate) fn settle(&mut self, id: i64, outcome: O) -> Result<Option<Waker>, O> {
        match self.open.get_mut(&id) {
            Some(entry) if entry.outcome.is_none() => {
                entry.outcome = Some(outcome);
                Ok(entry.waker.take())
            }
            _ => Err(outcome),
        }
    }

    /// Settles all open requests and opens no more.
    pub(crate) fn close(
        &mut self,
        mut outcome: impl FnMut(i64, Option<String>) -> O,
    ) -> Vec<Waker> {
        self.closed = true;
        self.abandoned.clear();
        let unsettled = self
            .open
            .iter_mut()
            .filter(|(_, entry)| entry.outcome.is_none());
        unsettled
            .filter_map(|(id, entry)| {
                let trouble = entry.asides.take().and_then(|asides| asides.trouble);
                entry.outcome = Some(outcome(*id, trouble));
                entry.waker.take()
            })
            .collect()
    }

    /// Removes the request of a dropped caller. `true` if the server must be notified: if there was no response and the
    /// table is open.
    pub(crate) fn abandon(&mut self, id: i64, reason: Option<&'static str>) -> bool {
        let unanswered = self
            .open
            .remove(&id)
            .is_some_and(|entry| entry.outcome.is_none());
        match reason {
            Some(reason) if unanswered && !self.closed => {
                self.abandoned.push_back(Abandoned { id, reason });
                true
            }
            _ => false,
        }
    }

    /// The next abandoned request to cancel at the server.
    pub(crate) fn next_abandoned(&mut self) -> Option<Abandoned> {
        self.abandoned.pop_front()
    }

    /// Records a progress report, which restarts the idle timeout.
    pub(crate) fn progress(
        &mut self,
        id: i64,
        reading: Duration,
        report: ProgressParams,
    ) -> Option<Waker> {
        let entry = self
            .open
            .get_mut(&id)
            .filter(|entry| entry.outcome.is_none())?;
        entry.moved = reading;
        if entry.wants != Reporting::Progress {
            return None;
        }
        let reports = &mut entry.asides.get_or_insert_default().reports;
        if reports.len() >= MAX_REPORTS && matches!(reports.back(), Some(Report::Progress(_))) {
            reports.pop_back();
        }
        if reports.len() < MAX_LOGS {
            reports.push_back(Report::Progress(report));
        }
        entry.waker.take()
    }

    /// Requests the delivery of the request's log messages.
    pub(crate) fn set_wants_logs(&mut self, id: i64) {
        if let Some(entry) = self.open.get_mut(&id) {
            entry.wants_logs = true;
        }
    }

    /// Takes a log message for the request on whose stream it arrived, or for the only open one, not counting
    /// subscriptions. `Err` returns a message that no caller reads.
    pub(crate) fn log(
        &mut self,
        stream: Option<i64>,
        message: Box<LogMessageParams>,
    ) -> Result<Option<Waker>, Box<LogMessageParams>> {
        let mut of_it = self.open.iter_mut().filter(|(id, entry)| {
            let is_call = entry.outcome.is_none() && entry.wants != Reporting::Changes;
            is_call && stream.is_none_or(|stream| stream == **id)
        });
        match (of_it.next(), of_it.next()) {
            (Some((_, entry)), None) if entry.wants_logs => {
                let reports = &mut entry.asides.get_or_insert_default().reports;
                if reports.len() < MAX_LOGS {
                    reports.push_back(Report::Log(message));
                }
                Ok(entry.waker.take())
            }
            _ => Err(message),
        }
    }

    /// Records the server's acknowledgement of a subscription. Ignored for any other request.
    pub(crate) fn acknowledge(&mut self, id: i64) -> Option<Waker> {
        let entry = self.subscription(id)?;
        entry.acknowledged = true;
        entry.waker.take()
    }

    /// Records the server's cancellation of a subscription. `Err` returns the outcome: the server must not cancel any
    /// other request, which continues.
    pub(crate) fn cancelled(&mut self, id: i64, outcome: O) -> Result<Option<Waker>, O> {
        match self.subscription(id) {
            Some(_) => self.settle(id, outcome),
            None => Err(outcome),
        }
    }

    /// Whether this is an open subscription.
    pub(crate) fn is_subscription(&mut self, id: i64) -> bool {
        self.subscription(id).is_some()
    }

    fn subscription(&mut self, id: i64) -> Option<&mut Entry<O>> {
        let entry = self.open.get_mut(&id);
        entry.filter(|entry| entry.wants == Reporting::Changes && entry.outcome.is_none())
    }

    /// Whether the server has acknowledged it since the last call.
    pub(crate) fn take_acknowledged(&mut self, id: i64) -> bool {
        let entry = self.open.get_mut(&id);
        entry.is_some_and(|entry| std::mem::take(&mut entry.acknowledged))
    }

    /// Returns the wakers of all due requests, and the time of the next one.
    pub(crate) fn sweep(&mut self, reading: Duration) -> (Vec<Waker>, Option<Duration>) {
        let (mut wakers, mut next) = (Vec::new(), None);
        let unanswered = self.open.values_mut().filter(|e| e.outcome.is_none());
        for entry in unanswered.filter(|entry| !entry.is_due) {
            if entry.due <= reading {
                entry.is_due = true;
                wakers.extend(entry.waker.take());
            } else {
                next = Some(next.map_or(entry.due, |next: Duration| next.min(entry.due)));
            }
        }
        (wakers, next)
    }

    /// Marks all requests as due, so that their callers check their remaining time.
    pub(crate) fn sweep_all(&mut self) -> Vec<Waker> {
        let unanswered = self.open.values_mut().filter(|e| e.outcome.is_none());
        unanswered
            .filter_map(|entry| {
                entry.is_due = true;
                entry.waker.take()
            })
            .collect()
    }

    /// Whether it has become due since the last call.
    pub(crate) fn take_due(&mut self, id: i64) -> bool {
        let entry = self.open.get_mut(&id);
        entry.is_some_and(|entry| std::mem::take(&mut entry.is_due))
    }

    /// Sets the time a request is due.
    pub(crate) fn extend(&mut self, id: i64, due: Duration) {
        if let Some(entry) = self.open.get_mut(&id) {
            entry.due = due;
        }
    }

    /// The oldest report that the caller has not seen.
    pub(crate) fn next_report(&mut self, id: i64) -> Option<Report> {
        let asides = self.open.get_mut(&id)?.asides.as_mut()?;
        asides.reports.pop_front()
    }

    /// The time of the request's last progress.
    pub(crate) fn moved(&self, id: i64) -> Option<Duration> {
        self.open.get(&id).map(|entry| entry.moved)
    }

    /// Stores a problem, to be reported if there is no response.
    pub(crate) fn note_trouble(&mut self, id: i64, trouble: impl FnOnce() -> String) {
        if let Some(entry) = self.open.get_mut(&id) {
            let asides = entry.asides.get_or_insert_default();
            asides.trouble.get_or_insert_with(trouble);
        }
    }

    /// The stored problem.
    pub(crate) fn trouble(&mut self, id: i64) -> Option<String> {
        self.open.get_mut(&id)?.asides.as_mut()?.trouble.take()
    }

    /// Sets the caller of a request.
    pub(crate) fn set_caller(&mut self, id: i64, caller: &Arc<Caller>) {
        if let Some(entry) = self.open.get_mut(&id) {
            entry.caller = Some(Arc::clone(caller));
        }
    }

    /// The caller of a request, if it is open and known.
    pub(crate) fn caller(&self, id: i64) -> Option<Arc<Caller>> {
        self.open.get(&id)?.caller.clone()
    }

    /// Whether at most one request is open.
    pub(crate) fn is_quiet(&self) -> bool {
        self.open.len() <= 1
    }

    /// Whether no request is open.
    pub(crate) fn is_empty(&self) -> bool {
        self.open.is_empty()
    }

    /// The unanswered request, if there is exactly one.
    pub(crate) fn only(&self) -> Option<i64> {
        let mut unanswered = self
            .open
            .iter()
            .filter(|(_, entry)| entry.outcome.is_none());
        match (unanswered.next(), unanswered.next()) {
            (Some((id, _)), None) => Some(*id),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests;
