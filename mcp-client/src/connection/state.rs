//! The state of all open requests. Pure.

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

/// The open requests, their clock, and what is queued for the send task.
pub(crate) struct State {
    pub(crate) pending: Pending<Outcome>,
    pub(crate) clock: Clock,
    /// Responses that are queued for the send task.
    pub(crate) answers: VecDeque<Outgoing>,
    /// When the last call began.
    pub(crate) last_call: Duration,
    /// When the next sweep is due.
    next_sweep: Option<Duration>,
}

/// The interval of sweeps while the clock is paused.
const PAUSED_INTERVAL: Duration = Duration::from_secs(60);

/// How one request ended.
#[derive(Debug)]
pub(crate) enum Outcome {
    /// With a result.
    Result(ResponseBody),
    /// With the server's error.
    Error(ErrorObject),
    /// With an invalid response.
    Invalid(String),
    /// The server cancelled it, as it may a subscription.
    Cancelled,
    /// Without a response.
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

    /// Schedules a sweep for a request with this much time left. `true` if the send task must be notified.
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

    /// Resumes the clock.
    pub(crate) fn resume_clock(&mut self, now: Duration) {
        self.clock.resume(now);
        // What was postponed while the clock was paused is checked again.
        self.next_sweep = Some(now);
    }

    /// The wakers of callers whose time may have run out.
    pub(crate) fn sweep(&mut self, now: Duration) -> Vec<Waker> {
        if self.next_sweep.is_none_or(|next_sweep| now < next_sweep) {
            return Vec::new();
        }
        self.next_sweep = None;
        // While the clock is paused, only the cap on the pause itself can end a call.
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
