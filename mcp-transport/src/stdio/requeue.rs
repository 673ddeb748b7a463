//! Yielding to runnable tasks.

use std::future::poll_fn;
use std::task::Poll;

/// Moves the current task behind the tasks that are runnable now.
///
/// Tokio's `yield_now` defers the wake-up until the runtime has polled its IO driver; this does not, which matters to a
/// writer that only collects what its senders have ready.
pub(super) async fn requeue() {
    let mut is_requeued = false;
    poll_fn(|cx| {
        if std::mem::replace(&mut is_requeued, true) {
            return Poll::Ready(());
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;

    #[tokio::test]
    async fn runnable_tasks_go_first() {
        let task = tokio::spawn(async {
            let has_run = Arc::new(AtomicBool::new(false));
            let other = Arc::clone(&has_run);
            tokio::spawn(async move { other.store(true, Ordering::Relaxed) });
            let before = has_run.load(Ordering::Relaxed);
            requeue().await;
            (before, has_run.load(Ordering::Relaxed))
        });
        assert_eq!(task.await.unwrap(), (false, true));
    }
}
