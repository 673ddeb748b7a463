//! The schedule of re-establishing a lost subscription. Pure.

use std::time::Duration;

/// The first delay; it doubles from there.
const FIRST_WAIT: Duration = Duration::from_secs(1);
/// The maximum delay.
const MAX_WAIT: Duration = Duration::from_secs(30);

/// The attempts to re-establish one subscription.
#[derive(Debug)]
pub(crate) struct Renewal {
    attempts: u32,
    failed: u32,
    wait: Duration,
}

impl Renewal {
    /// Allows `attempts` consecutive failures.
    pub(crate) fn new(attempts: u32) -> Self {
        Self {
            attempts,
            failed: 0,
            wait: FIRST_WAIT,
        }
    }

    /// The delay before the next attempt, after one that was acknowledged and lasted for `held`, or that was not
    /// acknowledged; `None` if there is no further attempt.
    ///
    /// Only an attempt that lasted longer than its delay resets the delays: a server that acknowledges and drops is
    /// contacted less and less often.
    pub(crate) fn next(&mut self, held: Option<Duration>) -> Option<Duration> {
        match held {
            Some(held) => {
                self.failed = 0;
                if held > self.wait {
                    self.wait = FIRST_WAIT;
                }
            }
            None => self.failed += 1,
        }
        let wait = self.wait;
        self.wait = wait.saturating_mul(2).min(MAX_WAIT);
        (self.failed < self.attempts).then_some(wait)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn seconds(renewal: &mut Renewal, held: Option<Duration>) -> Vec<u64> {
        let waits = std::iter::from_fn(|| renewal.next(held));
        waits.take(10).map(|wait| wait.as_secs()).collect()
    }

    #[test]
    fn attempts_in_a_row_are_bounded() {
        let mut renewal = Renewal::new(8);
        assert_eq!(renewal.next(Some(SECOND * 3600)), Some(SECOND));
        assert_eq!(seconds(&mut renewal, None), [2, 4, 8, 16, 30, 30, 30]);
    }

    #[test]
    fn a_server_that_acknowledges_and_drops_is_asked_ever_less_often() {
        let mut renewal = Renewal::new(8);
        let waits = seconds(&mut renewal, Some(Duration::ZERO));
        assert_eq!(waits, [1, 2, 4, 8, 16, 30, 30, 30, 30, 30]);
    }

    #[test]
    fn one_that_holds_for_a_while_is_re_established_at_once() {
        let mut renewal = Renewal::new(8);
        assert_eq!(seconds(&mut renewal, Some(SECOND * 10)), [1; 10]);
    }

    proptest! {
        /// Whatever a server does, it ends after that many consecutive failures and never before, and there is always a
        /// delay.
        #[test]
        fn every_row_of_failures_ends(
            attempts in 1u32..12,
            held in prop::collection::vec(prop::option::of(0u64..100), 0..100),
        ) {
            let mut renewal = Renewal::new(attempts);
            let mut row = 0;
            for held in held {
                row = if held.is_some() { 0 } else { row + 1 };
                match renewal.next(held.map(Duration::from_secs)) {
                    Some(wait) => prop_assert!(row < attempts && wait >= FIRST_WAIT && wait <= MAX_WAIT),
                    None => {
                        prop_assert_eq!(row, attempts);
                        break;
                    }
                }
            }
        }
    }
}
