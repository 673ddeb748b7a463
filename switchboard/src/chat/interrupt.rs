//! Ctrl-C, as something to wait for.

use std::sync::atomic::{AtomicUsize, Ordering};

/// Number of listeners for Ctrl-C.
static WAITING: AtomicUsize = AtomicUsize::new(0);

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

    /// Whether Ctrl-C is being handled, so that it does not end the program.
    pub(crate) fn are_waited_for() -> bool {
        WAITING.load(Ordering::Acquire) > 0
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
    }
}

impl Drop for Interrupts {
    fn drop(&mut self) {
        WAITING.fetch_sub(1, Ordering::AcqRel);
    }
}
