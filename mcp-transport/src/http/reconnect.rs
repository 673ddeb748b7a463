//! The schedule of reopening a broken stream. Pure: no clock, no connection.

use std::time::Duration;

use crate::http::HttpLimits;
use mcp_jsonrpc::sse::SseParser;

/// The first delay if the server named none; it doubles from there.
const FIRST: Duration = Duration::from_secs(1);
/// The maximum delay.
const LONGEST: Duration = Duration::from_secs(30);

/// The state of one stream across all its connections.
#[derive(Clone, Debug)]
pub(crate) struct Reconnect {
    floor: Duration,
    ceiling: Duration,
    budget: u32,
    retry: Option<Duration>,
    last_event_id: Option<String>,
    /// Consecutive failed attempts.
    failures: u32,
    /// Delays since the last message.
    waits: u32,
}

/// The next action for a broken stream.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Next {
    /// Reopen it after this delay.
    After(Duration),
    /// The attempts are exhausted.
    Exhausted,
    /// The server requests a delay beyond the limit.
    TooLong(Duration),
}

impl Reconnect {
    /// Allows `budget` consecutive failed attempts.
    pub(crate) fn new(limits: &HttpLimits, budget: u32) -> Self {
        Self {
            floor: limits.min_retry_delay,
            ceiling: limits.max_retry_delay,
            budget,
            retry: None,
            last_event_id: None,
            failures: 0,
            waits: 0,
        }
    }

    /// The event after which to resume.
    pub(crate) fn last_event_id(&self) -> Option<&str> {
        self.last_event_id.as_deref()
    }

    /// The stream is open.
    pub(crate) fn opened(&mut self) {
        self.failures = 0;
    }

    /// A message arrived.
    pub(crate) fn progressed(&mut self) {
        self.waits = 0;
    }

    /// The stream has ended: keeps its event id and retry delay.
    pub(crate) fn ended(&mut self, stream: &SseParser) -> Next {
        if let Some(id) = stream.last_event_id() {
            self.last_event_id = Some(id.to_owned());
        }
        self.retry = stream.retry().or(self.retry);
        self.next(Duration::ZERO)
    }

    /// The stream could not be opened.
    pub(crate) fn failed(&mut self) -> Next {
        self.failures = self.failures.saturating_add(1);
        if self.failures >= self.budget {
            return Next::Exhausted;
        }
        self.next(doubled(FIRST, self.failures.saturating_sub(1)))
    }

    /// Resets the failures, to start over.
    pub(crate) fn forgive(&mut self) {
        (self.failures, self.waits) = (0, 0);
    }

    /// The delay that the server requested, or one that doubles; at least `at_least`.
    fn next(&mut self, at_least: Duration) -> Next {
        let wait = match self.retry {
            Some(retry) if retry > self.ceiling => return Next::TooLong(retry),
            // A server that requests a reconnection storm gets growing delays instead.
            Some(retry) if retry < self.floor => doubled(self.floor, self.waits).min(FIRST),
            Some(retry) => retry,
            None => doubled(FIRST, self.waits),
        };
        self.waits = self.waits.saturating_add(1);
        Next::After(wait.max(self.floor).max(at_least))
    }
}

/// `first`, doubled for every round.
fn doubled(first: Duration, rounds: u32) -> Duration {
    first.saturating_mul(1 << rounds.min(10)).min(LONGEST)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn stream(text: &str) -> SseParser {
        let mut parser = SseParser::new(1024);
        parser.push(text.as_bytes());
        while parser.next_frame().is_some() {}
        parser
    }

    fn plan() -> Reconnect {
        Reconnect::new(&HttpLimits::default(), 8)
    }

    #[test]
    fn retry_is_honoured_to_the_millisecond() {
        let next = plan().ended(&stream("id: 1\nretry: 500\ndata:\n\n"));
        assert_eq!(next, Next::After(Duration::from_millis(500)));
    }

    #[test]
    fn retry_and_id_outlive_a_stream_that_names_neither() {
        let mut plan = plan();
        plan.ended(&stream("id: 1\nretry: 500\ndata:\n\n"));
        plan.opened();
        assert_eq!(
            plan.ended(&stream("")),
            Next::After(Duration::from_millis(500))
        );
        assert_eq!(plan.last_event_id(), Some("1"));
    }

    #[test]
    fn without_retry_the_wait_doubles_until_a_message_comes() {
        let mut plan = plan();
        let mut waits = Vec::new();
        for _ in 0..7 {
            plan.opened();
            waits.push(plan.ended(&stream("data:\n\n")));
        }
        let want = [1, 2, 4, 8, 16, 30, 30].map(|s| Next::After(Duration::from_secs(s)));
        assert_eq!(waits, want);
        plan.progressed();
        assert_eq!(plan.ended(&stream("")), Next::After(Duration::from_secs(1)));
    }

    #[test]
    fn a_wait_of_ten_to_the_fifteen_milliseconds_is_refused_not_overflown() {
        let next = plan().ended(&stream("id: 1\nretry: 1000000000000000\ndata:\n\n"));
        assert_eq!(
            next,
            Next::TooLong(Duration::from_millis(1_000_000_000_000_000))
        );
    }

    #[test]
    fn attempts_that_fail_are_counted_and_those_that_open_are_not() {
        let mut plan = Reconnect::new(&HttpLimits::default(), 3);
        for _ in 0..100 {
            assert!(matches!(plan.failed(), Next::After(_)));
            assert!(matches!(plan.failed(), Next::After(_)));
            plan.opened();
        }
        plan.failed();
        plan.failed();
        assert_eq!(plan.failed(), Next::Exhausted);
    }

    proptest! {
        #[test]
        fn no_wait_is_early_below_the_floor_or_beyond_the_ceiling(
            retry in proptest::option::of(any::<u64>()),
            steps in proptest::collection::vec(0..4_u8, 1..60),
        ) {
            let limits = HttpLimits::default();
            let text = retry.map_or(String::new(), |ms| format!("retry: {ms}\n\n"));
            let (mut plan, stream) = (plan(), stream(&text));
            let asked = retry.map(Duration::from_millis);
            plan.ended(&stream);
            for step in steps {
                let next = match step {
                    0 => plan.ended(&stream),
                    1 => plan.failed(),
                    2 => { plan.opened(); continue }
                    _ => { plan.progressed(); continue }
                };
                match next {
                    Next::After(wait) => {
                        prop_assert!(wait >= limits.min_retry_delay);
                        prop_assert!(wait <= limits.max_retry_delay);
                        prop_assert!(asked.is_none_or(|asked| wait >= asked));
                    }
                    Next::TooLong(wait) => prop_assert!(wait > limits.max_retry_delay),
                    Next::Exhausted => prop_assert!(plan.failures >= 8),
                }
            }
        }
    }
}
