//! What the callers, the reader and the courier share of every call. Pure.

use std::collections::VecDeque;
use std::sync::Arc;
use std::task::Waker;
use std::time::Duration;

use mcp_jsonrpc::ErrorObject;
use mcp_transport::{Delivery, Outgoing, TransportError};

use crate::answer::Body;
use crate::clock::Clock;
use crate::limits::Limits;
use crate::pending::Pending;

/// The open requests, and what goes with them.
pub(crate) struct State {
    pub(crate) pending: Pending<Outcome>,
    pub(crate) clock: Clock,
    /// Answers to the server that wait for the courier.
    pub(crate) answers: VecDeque<Outgoing>,
    /// When the last call began.
    pub(crate) last_call: Duration,
    /// When the courier next looks for requests whose time is up.
    alarm: Option<Duration>,
}

/// How often calls are looked at while the clock stands.
const STANDING: Duration = Duration::from_secs(60);

/// How one request ended.
#[derive(Debug)]
pub(crate) enum Outcome {
    /// With a result.
    Result(Body),
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
    pub(crate) fn new(limits: &Limits) -> Self {
        Self {
            pending: Pending::new(limits.calls_in_flight()),
            clock: Clock::default(),
            answers: VecDeque::new(),
            last_call: Duration::ZERO,
            alarm: None,
        }
    }

    /// A request has so much time left. `true` if the courier is to be told.
    pub(crate) fn set_alarm(&mut self, now: Duration, left: Duration) -> bool {
        let left = match self.clock.stands() {
            true => left.max(STANDING),
            false => left,
        };
        let at = now.saturating_add(left);
        let is_sooner = self.alarm.is_none_or(|alarm| at < alarm);
        if is_sooner {
            self.alarm = Some(at);
        }
        is_sooner
    }

    /// When to [`ring`](Self::ring) next.
    pub(crate) fn alarm(&self) -> Option<Duration> {
        self.alarm
    }

    /// A question is answered: time may go on.
    pub(crate) fn go_on(&mut self, now: Duration) {
        self.clock.start(now);
        // Whatever was put off while the clock stood is looked at again.
        self.alarm = Some(now);
    }

    /// Whom to wake because their time may be up.
    pub(crate) fn ring(&mut self, now: Duration) -> Vec<Waker> {
        if self.alarm.is_none_or(|alarm| now < alarm) {
            return Vec::new();
        }
        self.alarm = None;
        // While the clock stands, no time runs out but that of calls it has stood too long for.
        if self.clock.stands() {
            self.alarm = Some(now.saturating_add(STANDING));
            return self.pending.ring_all();
        }
        let reading = self.clock.reading(now);
        let (wakers, next) = self.pending.ring(reading);
        self.alarm = next.map(|due| now.saturating_add(due.saturating_sub(reading)));
        wakers
    }
}
