//! A pause between tasks.

use std::future::poll_fn;
use std::task::Poll;

/// Lets those tasks have a go that are awake already. Tokio's `yield_now` would wait for the
/// runtime's next look at its sockets as well.
///
/// For writers that join what many send, and for readers whose messages others are to take first.
pub async fn stand_back() {
    let mut stood = false;
    poll_fn(|cx| {
        if std::mem::replace(&mut stood, true) {
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
    async fn who_is_awake_goes_first() {
        let task = tokio::spawn(async {
            let has_run = Arc::new(AtomicBool::new(false));
            let other = Arc::clone(&has_run);
            tokio::spawn(async move { other.store(true, Ordering::Relaxed) });
            let before = has_run.load(Ordering::Relaxed);
            stand_back().await;
            (before, has_run.load(Ordering::Relaxed))
        });
        assert_eq!(task.await.unwrap(), (false, true));
    }
}
