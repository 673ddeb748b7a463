//! Operations are tried again while the database cannot be reached or others are in the way.

use std::time::Duration;

use tokio::time::Instant;

use crate::store::error::StoreError;
use crate::store::postgres::session::Failure;

/// The first pause before another try; each is twice as long as the one before.
pub(super) const FIRST_PAUSE: Duration = Duration::from_millis(5);
const LONGEST_PAUSE: Duration = Duration::from_millis(500);

/// Tries of one operation, until it succeeds, fails for good, or takes too long.
pub(super) struct Tries {
    pub(super) until: Instant,
    pause: Duration,
}

impl Tries {
    /// Tries for at most this long.
    pub(super) fn new(patience: Duration) -> Self {
        Self {
            until: Instant::now() + patience,
            pause: FIRST_PAUSE,
        }
    }

    /// Waits before the next try, or returns the error that ends them.
    pub(super) async fn after(&mut self, failure: Failure) -> Result<(), StoreError> {
        let error = match failure {
            Failure::Final(error) => return Err(error),
            Failure::Transient(error) if error.code().is_some() => StoreError::Busy,
            Failure::Transient(error) => StoreError::Failed(error.into()),
            Failure::Silent => StoreError::Failed("the database does not answer".into()),
        };
        if Instant::now() + self.pause > self.until {
            return Err(error);
        }
        tokio::time::sleep(self.pause).await;
        self.pause = (self.pause * 2).min(LONGEST_PAUSE);
        Ok(())
    }
}
