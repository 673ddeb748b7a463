//! For how long a call's clock has stood still: while people are asked, and while it is queued.

use std::fmt;
use std::sync::OnceLock;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::time::Instant;

/// Tells for how long a clock has stood still so far.
type Stood = Box<dyn Fn() -> Duration + Send + Sync>;

/// For how long a call's clock has stood still.
#[derive(Default)]
pub(crate) struct Pause {
    asked: OnceLock<Stood>,
    queue: Mutex<Queue>,
}

#[derive(Default)]
struct Queue {
    /// Since when the call is queued, and what [`Pause::asked`] was then.
    since: Option<(Instant, Duration)>,
    /// How long it was queued before, without the time in which people were asked as well.
    before: Duration,
}

impl Pause {
    /// The clock stands still while people are asked: for so long, all in all.
    pub(crate) fn set(&self, stood: impl Fn() -> Duration + Send + Sync + 'static) {
        let before = stood();
        let since = move || stood().saturating_sub(before);
        let _ = self.asked.set(Box::new(since));
    }

    /// The call is queued, or is not any more.
    pub(crate) fn queued(&self, is_queued: bool) {
        let asked = self.asked();
        let mut queue = self.queue.lock();
        match (is_queued, queue.since) {
            (true, None) => queue.since = Some((Instant::now(), asked)),
            (false, Some(since)) => {
                queue.before += alone(since, asked);
                queue.since = None;
            }
            _ => {}
        }
    }

    /// For how long the clock has stood still so far.
    pub(crate) fn total(&self) -> Duration {
        let asked = self.asked();
        let queue = self.queue.lock();
        let now = queue.since.map(|since| alone(since, asked));
        asked + queue.before + now.unwrap_or_default()
    }

    fn asked(&self) -> Duration {
        self.asked.get().map_or(Duration::ZERO, |stood| stood())
    }
}

/// How long it has been since then, without the time in which people were asked.
fn alone((since, asked_then): (Instant, Duration), asked: Duration) -> Duration {
    since
        .elapsed()
        .saturating_sub(asked.saturating_sub(asked_then))
}

impl fmt::Debug for Pause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Pause").field(&self.total()).finish()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    const fn s(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    #[tokio::test(start_paused = true)]
    async fn time_in_which_a_call_is_queued_and_people_are_asked_counts_once() {
        let pause = Pause::default();
        let asked = Arc::new(Mutex::new(s(5)));
        let stood = Arc::clone(&asked);
        pause.set(move || *stood.lock());
        assert_eq!(pause.total(), s(0), "what was before does not count");
        pause.queued(true);
        tokio::time::advance(s(10)).await;
        *asked.lock() += s(4);
        assert_eq!(pause.total(), s(10));
        pause.queued(true);
        pause.queued(false);
        tokio::time::advance(s(10)).await;
        assert_eq!(pause.total(), s(10));
        *asked.lock() += s(1);
        assert_eq!(pause.total(), s(11));
    }
}
