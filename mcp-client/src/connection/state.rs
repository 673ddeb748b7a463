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

/// The open requests, their clock, and the queue of the send task.
pub(crate) struct State {
    pub(crate) pending: Pending<Outcome>,
    pub(crate) clock: Clock,
    /// Responses queued for the send task.
    pub(crate) answers: VecDeque<Outgoing>,
    /// The start of the last call.
    pub(crate) last_call: Duration,
    /// The time of the next sweep.
    next_sweep: Option<Duration>,
}

/// The interval of sweeps while the clock is paused.
const PAUSED_INTERVAL: Duration = Duration::from_secs(60);

/// The outcome of one request.
#[derive(Debug)]
pub(crate) enum Outcome {
    /// A result.
    Result(ResponseBody),
    /// The server's error.
    Error(ErrorObject),
    /// An invalid response.
    Invalid(String),
    /// A cancellation by the server, which is allowed for a subscription.
    Cancelled,
    /// No response.
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

    /// The time of the next [`sweep`](Self::sweep).
    pub(crate) fn next_sweep(&self) -> Option<Duration> {
        self.next_sweep
    }

    /// Resumes the clock.
    pub(crate) fn resume_clock(&mut self, now: Duration) {
        self.clock.resume(now);
        // Checks postponed during the pause are made now.
        self.next_sweep = Some(now);
    }

    /// The wakers of callers whose time may have expired.
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
