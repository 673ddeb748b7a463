//! Whether to stay awake for an answer. Some servers answer sooner than the kernel wakes up who
//! sleeps: waiting for them by looking again and again takes half the time, and hardly more CPU.

use std::sync::OnceLock;
use std::thread::available_parallelism;
use std::time::{Duration, Instant};

/// An answer that takes longer is slept for.
const QUICK: Duration = Duration::from_micros(150);

/// Watches the requests that are alone on their way. Pure.
#[derive(Debug)]
pub(super) struct Vigil {
    /// Whether the server can work meanwhile.
    is_possible: bool,
    /// When the one now under way began.
    asked: Option<Instant>,
    /// Whether the last one was answered quickly: only then is the next one stayed awake for.
    is_quick: bool,
}

impl Vigil {
    pub(super) fn new() -> Self {
        static CORES: OnceLock<usize> = OnceLock::new();
        let cores = CORES.get_or_init(|| available_parallelism().map_or(1, usize::from));
        Self::with_cores(*cores)
    }

    fn with_cores(cores: usize) -> Self {
        Self {
            is_possible: cores > 1,
            asked: None,
            is_quick: false,
        }
    }

    /// A request begins.
    pub(super) fn asked(&mut self, now: Instant) {
        self.asked = Some(now);
    }

    /// Something has come: a whole message, or a part. Who is awake while a server writes much
    /// only stands in its way.
    pub(super) fn heard(&mut self, is_whole: bool, now: Instant) {
        if let Some(asked) = self.asked.take() {
            self.is_quick = is_whole && now.duration_since(asked) < QUICK;
        }
    }

    /// Whether to stay awake.
    pub(super) fn is_on(&self, now: Instant) -> bool {
        let is_recent = |asked| now.duration_since(asked) < QUICK;
        self.is_possible && self.is_quick && self.asked.is_some_and(is_recent)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHORT: Duration = Duration::from_micros(149);

    /// Whether it pays to stay awake for a request after one that was answered in so long.
    fn is_on_after(cores: usize, took: Duration) -> bool {
        let (mut vigil, start) = (Vigil::with_cores(cores), Instant::now());
        vigil.asked(start);
        assert!(!vigil.is_on(start), "nothing is known of the server yet");
        vigil.heard(true, start + took);
        assert!(!vigil.is_on(start + took), "nobody waits");
        vigil.asked(start + took);
        vigil.is_on(start + took)
    }

    #[test]
    fn only_servers_that_answered_quickly_are_stayed_awake_for() {
        assert!(is_on_after(2, SHORT));
        assert!(!is_on_after(2, QUICK));
        assert!(!is_on_after(1, SHORT), "the server needs the core");
    }

    #[test]
    fn after_a_while_one_goes_to_sleep_and_stays_wary() {
        let (mut vigil, start) = (Vigil::with_cores(2), Instant::now());
        vigil.asked(start);
        vigil.heard(true, start + SHORT);
        vigil.asked(start);
        assert!(vigil.is_on(start + SHORT));
        assert!(!vigil.is_on(start + QUICK));
        vigil.heard(true, start + QUICK);
        vigil.asked(start);
        assert!(!vigil.is_on(start));
    }

    #[test]
    fn long_answers_are_not_stayed_awake_for() {
        let (mut vigil, start) = (Vigil::with_cores(2), Instant::now());
        vigil.asked(start);
        vigil.heard(false, start + SHORT);
        vigil.heard(true, start + SHORT);
        vigil.asked(start);
        assert!(!vigil.is_on(start));
    }

    #[test]
    fn what_comes_unasked_tells_nothing() {
        let (mut vigil, start) = (Vigil::with_cores(2), Instant::now());
        vigil.asked(start);
        vigil.heard(true, start + SHORT);
        vigil.heard(true, start + 10 * QUICK);
        vigil.asked(start);
        assert!(vigil.is_on(start));
    }
}
