//! What the callers, the reader and the send task share of every call. Pure.

use std::collections::VecDeque;
use std::sync::Arc;
use std::task::Waker;
use std::time::Duration;

use mcp_jsonrpc::ErrorObject;
use mcp_transport::{Delivery, Outgoing, TransportError};

use crate::call::response::ResponseBody;
use crate::client::limits::ClientLimits;
use crate::connection::clock::Clock;
use crate::connection::pending::Pending;

/// The open requests, and what goes with them.
pub(crate) struct State {
    pub(crate) pending: Pending<Outcome>,
    pub(crate) clock: Clock,
    /// Answers to the server that wait for the send task.
    pub(crate) answers: VecDeque<Outgoing>,
    /// When the last call began.
    pub(crate) last_call: Duration,
    /// When the send task next looks for requests whose time is up.
    next_sweep: Option<Duration>,
}

/// How often calls are looked at while the clock stands.
const PAUSED_INTERVAL: Duration = Duration::from_secs(60);

/// How one request ended.
#[derive(Debug)]
pub(crate) enum Outcome {
    /// With a result.
    Result(ResponseBody),
    /// With the server's error.
    Error(ErrorObject),
    /// With something that is no answer.
    Invalid(String),
    /// The server cancelled it, as it may a subscription.
    Cancelled,
    /// Not at all.
    Lost {
        error: Arc<TransportError>,
        delivery: Delivery,
    },
}

impl State {
    pub(crate) fn new(limits: &ClientLimits) -> Self {
        Self {
            pending: Pending::new(limits.calls_in_flight()),
            clock: Clock::default(),
            answers: VecDeque::new(),
            last_call: Duration::ZERO,
            next_sweep: None,
        }
    }

    /// A request has so much time left. `true` if the send task is to be told.
    pub(crate) fn schedule_sweep(&mut self, now: Duration, left: Duration) -> bool {
        let left = match self.clock.is_paused() {
            true => left.max(PAUSED_INTERVAL),
            false => left,
        };
        let at = now.saturating_add(left);
        let is_sooner = self.next_sweep.is_none_or(|next_sweep| at < next_sweep);
        if is_sooner {
            self.next_sweep = Some(at);
        }
        is_sooner
    }

    /// When to [`sweep`](Self::sweep) next.
    pub(crate) fn next_sweep(&self) -> Option<Duration> {
        self.next_sweep
    }

    /// A question is answered: time may go on.
    pub(crate) fn resume_clock(&mut self, now: Duration) {
        self.clock.resume(now);
        // Whatever was put off while the clock stood is looked at again.
        self.next_sweep = Some(now);
    }

    /// Whom to wake because their time may be up.
    pub(crate) fn sweep(&mut self, now: Duration) -> Vec<Waker> {
        if self.next_sweep.is_none_or(|next_sweep| now < next_sweep) {
            return Vec::new();
        }
        self.next_sweep = None;
        // While the clock stands, no time runs out but that of calls it has stood too long for.
        if self.clock.is_paused() {
            self.next_sweep = Some(now.saturating_add(PAUSED_INTERVAL));
            return self.pending.sweep_all();
        }
        let reading = self.clock.reading(now);
        let (wakers, next) = self.pending.sweep(reading);
        self.next_sweep = next.map(|due| now.saturating_add(due.saturating_sub(reading)));
        wakers
    }
}
