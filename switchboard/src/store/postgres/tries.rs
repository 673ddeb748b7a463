//! Operations are tried again while the database cannot be reached or others are in the way.

use std::time::Duration;

use tokio::time::Instant;
use tokio_postgres::error::SqlState;

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
        if matches!(failure, Failure::Final(_)) || Instant::now() + self.pause > self.until {
            return Err(failure.into());
        }
        tokio::time::sleep(self.pause).await;
        self.pause = (self.pause * 2).min(LONGEST_PAUSE);
        Ok(())
    }
}

impl From<Failure> for StoreError {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Final(error) => error,
            Failure::Transient(error) if is_in_the_way(&error) => Self::Busy,
            Failure::Transient(error) => Self::Unavailable(error.into()),
            Failure::ReadOnly => Self::ReadOnly,
            Failure::Silent => Self::Unavailable("it does not answer".into()),
        }
    }
}

/// Whether another transaction was in the way.
pub(super) fn is_in_the_way(error: &tokio_postgres::Error) -> bool {
    let codes = [
        SqlState::T_R_SERIALIZATION_FAILURE,
        SqlState::T_R_DEADLOCK_DETECTED,
        SqlState::LOCK_NOT_AVAILABLE,
    ];
    error.code().is_some_and(|code| codes.contains(code))
}
