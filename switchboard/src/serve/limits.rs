//! What one user may use: conversations at a time, tokens a day, requests a second.

use std::time::Duration;

use axum::http::StatusCode;

use crate::serve::error::ApiError;
use crate::store::{Store, Timestamp, UserId};

/// A day.
const DAY: Duration = Duration::from_secs(86_400);

/// What each user may use; what is not named is not limited.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub struct UserLimits {
    /// Conversations that are being answered at a time.
    pub conversations: Option<u32>,
    /// Tokens, in and out, within the last 24 hours.
    pub tokens_per_day: Option<u64>,
    /// Requests a second, of which ten seconds' worth may come at once.
    pub requests_per_second: Option<u32>,
}

impl UserLimits {
    /// Whether a user may have another answer begun. Two that begin at once may both be let in.
    pub(crate) async fn check(&self, store: &dyn Store, user: &UserId) -> Result<(), ApiError> {
        let refused = |message: String, hint: &str| {
            let error = ApiError::new(StatusCode::TOO_MANY_REQUESTS, "user_limit", message);
            Err(error.with_hint(hint))
        };
        if let Some(most) = self.conversations {
            let unfinished = store.unfinished(user).await?;
            let standings = store.standings(&unfinished).await?;
            // One that waits for its user costs nothing.
            let running = standings
                .iter()
                .filter(|standing| standing.waiting == 0 || standing.invoking > 0)
                .count();
            if running >= most as usize {
                let message =
                    format!("{running} conversations are being answered, of {most} at most");
                return refused(message, "Wait for one to end, or cancel it.");
            }
        }
        if let Some(most) = self.tokens_per_day {
            let since = Timestamp::now().minus(DAY);
            let totals = store.usage(user, None, Some(since)).await?;
            let used: u64 = totals.iter().map(|it| it.input + it.output).sum();
            if used >= most {
                let message = format!("{used} tokens were used within a day, of {most} at most");
                return refused(message, "Try again later, or ask an owner for more.");
            }
        }
        Ok(())
    }
}
