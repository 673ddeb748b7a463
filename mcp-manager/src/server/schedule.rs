//! The schedule of attempts to reconnect: how many, after which delays, and within which budget.
//!
//! Pure: time is passed in, as the time since some fixed moment, and randomness comes from a seed.

use std::collections::VecDeque;
use std::time::Duration;

use crate::limits::settings;

/// The policy for reconnecting a server that was lost, or could not be reached.
///
/// ```
/// use std::time::Duration;
///
/// let policy = mcp_manager::RetryPolicy::default()
///     .with_tries(3)
///     .with_longest_wait(Duration::from_secs(10));
/// assert_eq!(policy.tries(), 3);
/// ```
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct RetryPolicy {
    tries: u32,
    first_wait: Duration,
    longest_wait: Duration,
    healthy_after: Duration,
    window: Duration,
    window_tries: usize,
    longest_retry_after: Duration,
}

settings! {
    of RetryPolicy;
    /// The number of consecutive attempts before a server counts as failed. Default: 5.
    tries / with_tries: u32;
    /// The maximum delay before the first attempt; it doubles from there. The actual delay is random between zero and
    /// that, so that servers lost together do not return together. Default: 1 s.
    first_wait / with_first_wait: Duration;
    /// The maximum delay. Default: 30 s.
    longest_wait / with_longest_wait: Duration;
    /// How long a connection must last to reset the count of attempts. Default: 60 s.
    healthy_after / with_healthy_after: Duration;
    /// The window of the budget. Default: 10 min.
    window / with_window: Duration;
    /// The maximum number of attempts within any window; further ones wait. Default: 20.
    window_tries / with_window_tries: usize;
    /// The maximum delay that a server may request (`Retry-After`). Default: 1 h.
    longest_retry_after / with_longest_retry_after: Duration;
}

impl Default for RetryPolicy {
    fn default() -> Self {
        Self {
            tries: 5,
            first_wait: Duration::from_secs(1),
            longest_wait: Duration::from_secs(30),
            healthy_after: Duration::from_secs(60),
            window: Duration::from_secs(10 * 60),
            window_tries: 20,
            longest_retry_after: Duration::from_secs(60 * 60),
        }
    }
}

/// A scheduled attempt.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Try {
    /// The number of the attempt, from 1.
    pub(crate) number: u32,
    pub(crate) at: Duration,
}

/// The attempts of one server.
#[derive(Debug)]
pub(crate) struct Schedule {
    policy: RetryPolicy,
    random: Random,
    /// The number of consecutive attempts.
    tries: u32,
    /// The start of the last attempts, as many as the budget allows.
    recent: VecDeque<Duration>,
    connected: Option<Duration>,
}

impl Schedule {
    pub(crate) fn new(policy: RetryPolicy, seed: u64) -> Self {
        Self {
            policy,
            random: Random(seed),
            tries: 0,
            recent: VecDeque::new(),
            connected: None,
        }
    }

    pub(crate) fn policy(&self) -> &RetryPolicy {
        &self.policy
    }

    /// The next attempt; `None` if the server has used up all of them.
    pub(crate) fn next(&mut self, now: Duration, retry_after: Option<Duration>) -> Option<Try> {
        if self.tries >= self.policy.tries {
            return None;
        }
        let doubled = self
            .policy
            .first_wait
            .saturating_mul(1 << self.tries.min(20));
        let ceiling = doubled.min(self.policy.longest_wait);
        self.tries += 1;
        let mut at = now.saturating_add(self.random.up_to(ceiling));
        if let Some(wait) = retry_after {
            at = at.max(now.saturating_add(wait.min(self.policy.longest_retry_after)));
        }
        let budget = self.policy.window_tries.max(1);
        if self.recent.len() >= budget
            && let Some(oldest) = self.recent.pop_front()
        {
            at = at.max(oldest.saturating_add(self.policy.window));
        }
        self.recent.push_back(at);
        Some(Try {
            number: self.tries,
            at,
        })
    }

    /// The server is connected.
    pub(crate) fn connected(&mut self, now: Duration) {
        self.connected = Some(now);
    }

    /// The server is no longer connected.
    pub(crate) fn lost(&mut self, now: Duration) {
        let since = self.connected.take();
        if since.is_some_and(|since| now.saturating_sub(since) >= self.policy.healthy_after) {
            self.tries = 0;
        }
    }

    /// Resets the count of attempts, but not the budget.
    pub(crate) fn reset(&mut self) {
        self.tries = 0;
    }
}

/// Pseudo-random numbers that are the same for the same seed.
#[derive(Debug)]
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A random value from zero to `ceiling`.
    fn up_to(&mut self, ceiling: Duration) -> Duration {
        let bound = u64::try_from(ceiling.as_nanos()).unwrap_or(u64::MAX - 1);
        Duration::from_nanos(self.next() % (bound + 1))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn five_tries_doubling_from_one_second_to_thirty_then_none() {
        let mut longest = [Duration::ZERO; 5];
        for seed in 0..2000 {
            let mut schedule = Schedule::new(RetryPolicy::default(), seed);
            for (index, longest) in longest.iter_mut().enumerate() {
                let next = schedule.next(SECOND, None).unwrap();
                assert_eq!(next.number as usize, index + 1);
                *longest = (*longest).max(next.at - SECOND);
            }
            assert_eq!(schedule.next(SECOND, None), None);
        }
        for (longest, ceiling) in longest.into_iter().zip([1, 2, 4, 8, 16]) {
            let ceiling = SECOND * ceiling;
            assert!(
                longest <= ceiling && longest > ceiling * 9 / 10,
                "{longest:?} of {ceiling:?}"
            );
        }
        let policy = RetryPolicy::default().with_tries(9);
        let mut schedule = Schedule::new(policy, 1);
        while let Some(next) = schedule.next(SECOND, None) {
            assert!(next.at <= SECOND * 31);
        }
    }

    #[test]
    fn a_minute_of_health_gives_all_tries_back_and_less_does_not() {
        for (lasted, tries) in [(59, 4), (60, 5)] {
            let mut schedule = Schedule::new(RetryPolicy::default(), 7);
            schedule.next(SECOND, None);
            schedule.connected(SECOND * 10);
            schedule.lost(SECOND * (10 + lasted));
            let left = std::iter::from_fn(|| schedule.next(SECOND * 100, None));
            assert_eq!(left.count(), tries);
        }
    }

    #[test]
    fn retry_after_is_honoured_up_to_its_cap() {
        let mut schedule = Schedule::new(RetryPolicy::default(), 7);
        let next = schedule.next(SECOND, Some(SECOND * 90)).unwrap();
        assert_eq!(next.at, SECOND * 91);
        let next = schedule.next(SECOND, Some(Duration::MAX)).unwrap();
        assert_eq!(next.at, SECOND * 3601);
    }

    proptest! {
        /// However long the connections last in between.
        #[test]
        fn no_window_ever_holds_more_tries_than_the_budget(
            seed: u64,
            budget in 1_usize..8,
            lasting in prop::collection::vec(0_u64..200, 0..120),
        ) {
            let policy = RetryPolicy::default().with_window_tries(budget).with_tries(u32::MAX);
            let window = policy.window();
            let mut schedule = Schedule::new(policy, seed);
            let (mut now, mut begun) = (Duration::ZERO, Vec::new());
            for seconds in lasting {
                now = schedule.next(now, None).unwrap().at;
                begun.push(now);
                schedule.connected(now);
                now += SECOND * u32::try_from(seconds).unwrap();
                schedule.lost(now);
            }
            for pair in begun.windows(budget + 1) {
                prop_assert!(pair[budget] - pair[0] >= window);
            }
        }

        #[test]
        fn the_same_seed_gives_the_same_schedule(seed: u64) {
            let draw = || {
                let mut schedule = Schedule::new(RetryPolicy::default(), seed);
                std::iter::from_fn(move || schedule.next(SECOND, None)).collect::<Vec<_>>()
            };
            prop_assert_eq!(draw(), draw());
        }
    }
}
