//! Single flight: callers that arrive while an attempt runs wait for it and share its outcome.

use parking_lot::Mutex;
use tokio::sync::watch;

use crate::AuthError;

/// The purpose of an attempt.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Purpose {
    /// Use the refresh token.
    Renew,
    /// Run a complete authorization.
    Acquire,
}

/// How an attempt ended.
#[derive(Clone, Debug)]
pub(crate) struct AttemptResult {
    pub(crate) purpose: Purpose,
    pub(crate) outcome: Result<(), AuthError>,
}

/// The running attempt, if there is one.
#[derive(Debug, Default)]
pub(crate) struct Flight {
    running: Mutex<Option<watch::Receiver<Option<AttemptResult>>>>,
}

impl Flight {
    /// Joins the running attempt, or starts one. `true` if it was started here.
    ///
    /// An attempt runs on its own task and completes even if all callers are dropped: a used refresh token must be
    /// replaced, and a login must not be interrupted.
    pub(crate) async fn join<F>(
        &self,
        purpose: Purpose,
        start: impl FnOnce() -> F,
    ) -> (bool, AttemptResult)
    where
        F: Future<Output = Result<(), AuthError>> + Send + 'static,
    {
        let (mine, mut landing) = {
            let mut running = self.running.lock();
            let joined = running
                .as_ref()
                .filter(|landing| is_flying(landing))
                .cloned();
            match joined {
                Some(landing) => (false, landing),
                None => {
                    let (done, landing) = watch::channel(None);
                    let attempt = start();
                    tokio::spawn(async move {
                        let outcome = attempt.await;
                        done.send_replace(Some(AttemptResult { purpose, outcome }));
                    });
                    *running = Some(landing.clone());
                    (true, landing)
                }
            }
        };
        let landed = landing
            .wait_for(Option::is_some)
            .await
            .ok()
            .and_then(|landed| landed.clone());
        let landing = landed.unwrap_or_else(|| AttemptResult {
            purpose,
            outcome: Err(AuthError::config(
                "the authorization was cut short by the runtime",
            )),
        });
        (mine, landing)
    }

    /// Whether an attempt is running.
    pub(crate) fn is_running(&self) -> bool {
        self.running.lock().as_ref().is_some_and(is_flying)
    }
}

fn is_flying(landing: &watch::Receiver<Option<AttemptResult>>) -> bool {
    landing.borrow().is_none() && landing.has_changed().is_ok()
}
