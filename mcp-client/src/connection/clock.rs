//! The clock of calls, which is paused while a person answers a server-to-client request.
//!
//! Pure: callers pass the current time, as the time since the connection began.

use std::time::Duration;

/// A clock that is paused while any server-to-client request is open.
#[derive(Debug, Default)]
pub(crate) struct Clock {
    open: usize,
    since: Duration,
    paused: Duration,
}

impl Clock {
    /// Pauses the clock.
    pub(crate) fn pause(&mut self, now: Duration) {
        if self.open == 0 {
            self.since = now;
        }
        self.open += 1;
    }

    /// Ends one pause; the last one resumes the clock.
    pub(crate) fn resume(&mut self, now: Duration) {
        self.open = self.open.saturating_sub(1);
        if self.open == 0 {
            self.paused += now.saturating_sub(self.since);
        }
    }

    /// Whether the clock is paused.
    pub(crate) fn is_paused(&self) -> bool {
        self.open > 0
    }

    /// The reading of the clock.
    pub(crate) fn reading(&self, now: Duration) -> Duration {
        let now = if self.open == 0 {
            now
        } else {
            self.since.min(now)
        };
        now.saturating_sub(self.paused)
    }
}

/// The start of a call.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Began {
    /// On the pausable clock.
    pub(crate) reading: Duration,
    /// On the clock that is never paused.
    pub(crate) at: Duration,
}

/// The time limits of a call.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Deadlines {
    /// The time until the response, or the next progress report.
    pub(crate) idle: Duration,
    /// The total time, regardless of progress.
    pub(crate) total: Duration,
}

/// The limit that ended a call.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum TimeoutKind {
    /// The idle timeout: there was neither a response nor progress.
    Idle,
    /// The deadline: the call was not complete in time, regardless of progress.
    Deadline,
}

impl Deadlines {
    /// For a request that stays open indefinitely.
    pub(crate) const UNLIMITED: Self = Self {
        idle: Duration::MAX,
        total: Duration::MAX,
    };

    /// The time left for a call that started at `started` and had its last progress at `moved`, both on the pausable
    /// clock.
    pub(crate) fn left(
        self,
        started: Duration,
        moved: Duration,
        reading: Duration,
    ) -> Result<Duration, TimeoutKind> {
        let idle = moved.saturating_add(self.idle).saturating_sub(reading);
        let total = started.saturating_add(self.total).saturating_sub(reading);
        match (idle.is_zero(), total.is_zero()) {
            (false, false) => Ok(idle.min(total)),
            (_, true) => Err(TimeoutKind::Deadline),
            (true, false) => Err(TimeoutKind::Idle),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const fn s(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    #[test]
    fn the_clock_is_paused_while_any_request_is_open() {
        let mut clock = Clock::default();
        clock.pause(s(10));
        clock.pause(s(20));
        clock.resume(s(30));
        assert_eq!(clock.reading(s(40)), s(10));
        clock.resume(s(50));
        assert_eq!(clock.reading(s(60)), s(20));
    }

    #[test]
    fn progress_extends_a_call_up_to_the_cap() {
        let deadlines = Deadlines {
            idle: s(10),
            total: s(25),
        };
        assert_eq!(deadlines.left(s(0), s(0), s(4)), Ok(s(6)));
        assert_eq!(deadlines.left(s(0), s(0), s(10)), Err(TimeoutKind::Idle));
        assert_eq!(deadlines.left(s(0), s(9), s(10)), Ok(s(9)));
        assert_eq!(deadlines.left(s(0), s(24), s(24)), Ok(s(1)));
        assert_eq!(
            deadlines.left(s(0), s(24), s(25)),
            Err(TimeoutKind::Deadline)
        );
    }

    proptest! {
        /// Whatever questions open and close, the clock never runs backwards nor faster than real time, and it loses
        /// exactly the time with an open question.
        #[test]
        fn the_clock_loses_exactly_the_open_time(steps in prop::collection::vec((0u64..50, 0u8..3), 0..40)) {
            let mut clock = Clock::default();
            let (mut now, mut open, mut paused, mut last) = (0, 0u32, 0, 0);
            for (wait, what) in steps {
                now += wait;
                if open > 0 {
                    paused += wait;
                }
                match what {
                    0 => { clock.pause(s(now)); open += 1; }
                    1 if open > 0 => { clock.resume(s(now)); open -= 1; }
                    _ => {}
                }
                let reading = clock.reading(s(now)).as_secs();
                prop_assert_eq!(reading, now - paused);
                prop_assert!(reading >= last);
                last = reading;
            }
        }
    }
}
