//! The decision to busy-poll for a response instead of sleeping until the reactor reports it.
//!
//! A server that responds within microseconds does so before the kernel has woken a sleeping thread. Polling halves the
//! latency of one request at a time, at the cost of CPU time.

use std::sync::OnceLock;
use std::thread::available_parallelism;
use std::time::{Duration, Instant};

/// Decides, from the last lone request, whether the next one is worth polling for. Pure.
#[derive(Debug)]
pub(super) struct BusyPoll {
    /// The time to poll for one response; zero disables polling.
    limit: Duration,
    /// When the lone request in flight was sent.
    sent: Option<Instant>,
    /// Whether the last response came within the limit.
    is_quick: bool,
}

impl BusyPoll {
    /// Polls for up to `limit` per request. On a machine with one core the server needs that core, so there is no
    /// polling.
    pub(super) fn new(limit: Duration) -> Self {
        static CORES: OnceLock<usize> = OnceLock::new();
        let cores = CORES.get_or_init(|| available_parallelism().map_or(1, usize::from));
        Self::with_cores(limit, *cores)
    }

    fn with_cores(limit: Duration, cores: usize) -> Self {
        Self {
            limit: if cores > 1 { limit } else { Duration::ZERO },
            sent: None,
            is_quick: false,
        }
    }

    /// Whether polling is possible at all.
    pub(super) fn is_enabled(&self) -> bool {
        !self.limit.is_zero()
    }

    /// A lone request was sent.
    pub(super) fn sent(&mut self, now: Instant) {
        self.sent = Some(now);
    }

    /// Bytes arrived: a whole message, or a part of one. While a server writes a large message, polling only slows it
    /// down.
    pub(super) fn received(&mut self, is_whole: bool, now: Instant) {
        if let Some(sent) = self.sent.take() {
            self.is_quick = is_whole && now.duration_since(sent) < self.limit;
        }
    }

    /// Whether to poll again right away.
    pub(super) fn is_on(&self, now: Instant) -> bool {
        let is_recent = |sent| now.duration_since(sent) < self.limit;
        self.is_quick && self.sent.is_some_and(is_recent)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMIT: Duration = Duration::from_micros(150);
    const SHORT: Duration = Duration::from_micros(149);

    /// Whether a request is polled for after one whose response took this long.
    fn is_on_after(cores: usize, limit: Duration, took: Duration) -> bool {
        let (mut poll, start) = (BusyPoll::with_cores(limit, cores), Instant::now());
        poll.sent(start);
        assert!(!poll.is_on(start), "nothing is known of the server yet");
        poll.received(true, start + took);
        assert!(!poll.is_on(start + took), "no request is in flight");
        poll.sent(start + took);
        poll.is_on(start + took)
    }

    #[test]
    fn only_a_server_that_responded_quickly_is_polled_for() {
        assert!(is_on_after(2, LIMIT, SHORT));
        assert!(!is_on_after(2, LIMIT, LIMIT));
        assert!(!is_on_after(1, LIMIT, SHORT), "the server needs the core");
        assert!(!is_on_after(2, Duration::ZERO, Duration::ZERO), "disabled");
    }

    #[test]
    fn polling_ends_at_the_limit_and_a_slow_response_disables_it() {
        let (mut poll, start) = (BusyPoll::with_cores(LIMIT, 2), Instant::now());
        poll.sent(start);
        poll.received(true, start + SHORT);
        poll.sent(start);
        assert!(poll.is_on(start + SHORT));
        assert!(!poll.is_on(start + LIMIT));
        poll.received(true, start + LIMIT);
        poll.sent(start);
        assert!(!poll.is_on(start));
    }

    #[test]
    fn a_response_in_several_parts_disables_polling() {
        let (mut poll, start) = (BusyPoll::with_cores(LIMIT, 2), Instant::now());
        poll.sent(start);
        poll.received(false, start + SHORT);
        poll.received(true, start + SHORT);
        poll.sent(start);
        assert!(!poll.is_on(start));
    }

    #[test]
    fn unsolicited_messages_do_not_count() {
        let (mut poll, start) = (BusyPoll::with_cores(LIMIT, 2), Instant::now());
        poll.sent(start);
        poll.received(true, start + SHORT);
        poll.received(true, start + 10 * LIMIT);
        poll.sent(start);
        assert!(poll.is_on(start));
    }
}
