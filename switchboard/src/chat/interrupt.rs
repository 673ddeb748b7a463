//! Ctrl-C, as something to wait for.

use std::sync::atomic::{AtomicUsize, Ordering};

/// Number of listeners for Ctrl-C.
static WAITING: AtomicUsize = AtomicUsize::new(0);
/// How often a listener has heard one.
static HEARD: AtomicUsize = AtomicUsize::new(0);

/// Ctrl-C. From the first one of these on, it no longer ends the program by itself.
#[derive(Debug)]
pub(crate) struct Interrupts {
    #[cfg(unix)]
    signal: Option<tokio::signal::unix::Signal>,
    #[cfg(windows)]
    signal: Option<tokio::signal::windows::CtrlC>,
}

impl Interrupts {
    pub(crate) fn new() -> Self {
        WAITING.fetch_add(1, Ordering::AcqRel);
        #[cfg(unix)]
        let signal = {
            use tokio::signal::unix::{SignalKind, signal};
            signal(SignalKind::interrupt()).ok()
        };
        #[cfg(windows)]
        let signal = tokio::signal::windows::ctrl_c().ok();
        Self { signal }
    }

    /// The next one. Cancel safe: none is lost.
    pub(crate) async fn next(&mut self) {
        let heard = match &mut self.signal {
            Some(signal) => signal.recv().await,
            None => None,
        };
        if heard.is_none() {
            std::future::pending().await
        }
        HEARD.fetch_add(1, Ordering::AcqRel);
    }
}

impl Drop for Interrupts {
    fn drop(&mut self) {
        WAITING.fetch_sub(1, Ordering::AcqRel);
    }
}

/// Distinguishes a Ctrl-C that listeners handle from one that ends the program.
#[cfg(unix)]
#[derive(Debug, Default)]
pub(crate) struct InterruptFilter {
    /// How often listeners have heard those that were left to them, when they all have.
    passed: usize,
}

#[cfg(unix)]
impl InterruptFilter {
    /// Whether a Ctrl-C that came now, or a moment ago, is handled by a listener.
    pub(crate) fn is_handled(&mut self) -> bool {
        let (waiting, heard) = (&WAITING, &HEARD);
        self.judge(
            waiting.load(Ordering::Acquire),
            heard.load(Ordering::Acquire),
        )
    }

    fn judge(&mut self, waiting: usize, heard: usize) -> bool {
        if waiting > 0 {
            self.passed = heard + waiting;
            return true;
        }
        // Its listener was faster, and is gone.
        let was_heard = heard > self.passed;
        self.passed = self.passed.max(heard);
        was_heard
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::InterruptFilter;

    #[test]
    fn an_interrupt_counts_once_whoever_hears_it_first() {
        let mut filter = InterruptFilter::default();
        assert!(!filter.judge(0, 0), "no one listens");
        let mut filter = InterruptFilter::default();
        assert!(filter.judge(1, 0), "it is left to the listener");
        assert!(
            !filter.judge(0, 1),
            "the listener is gone when the next one comes"
        );
        let mut filter = InterruptFilter::default();
        assert!(filter.judge(0, 1), "the listener was faster");
        assert!(!filter.judge(0, 1), "no one hears the next one");
        let mut filter = InterruptFilter::default();
        assert!(filter.judge(2, 0), "two listen");
        assert!(
            !filter.judge(0, 2),
            "both have heard that one, none the next"
        );
    }
}
