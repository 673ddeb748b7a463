//! The retry policy: whether and when to try again.

use std::time::Duration;

use super::Failure;
use crate::model::ModelError;

/// The retry policy.
///
/// ```
/// let never = provider_adapters::Retry::default().with_tries(0);
/// ```
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Retry {
    tries: u32,
    first: Duration,
    longest: Duration,
    patience: Duration,
}

impl Default for Retry {
    /// Two retries, after half a second and a second, each reduced by random jitter. A delay requested by the provider
    /// is respected up to two minutes.
    fn default() -> Self {
        Self {
            tries: 2,
            first: Duration::from_millis(500),
            longest: Duration::from_secs(8),
            patience: Duration::from_secs(120),
        }
    }
}

impl Retry {
    /// Sets the number of retries.
    #[must_use]
    pub fn with_tries(mut self, tries: u32) -> Self {
        self.tries = tries;
        self
    }

    /// Sets the first delay; each further delay is twice as long.
    #[must_use]
    pub fn with_first_delay(mut self, delay: Duration) -> Self {
        self.first = delay;
        self
    }

    /// Sets the maximum delay where the provider does not request one.
    #[must_use]
    pub fn with_longest_delay(mut self, delay: Duration) -> Self {
        self.longest = delay;
        self
    }

    /// Sets the maximum delay the provider may request. If it requests more, the request fails at once.
    #[must_use]
    pub fn with_patience(mut self, delay: Duration) -> Self {
        self.patience = delay;
        self
    }

    /// How long to wait before the next attempt; `None` if there is none. By
    /// `chance` it is a little sooner, so that clients that failed together do not come back
    /// together.
    pub(crate) fn delay(&self, tries: u32, failure: &Failure, chance: u8) -> Option<Duration> {
        if tries >= self.tries || !failure.should_retry.unwrap_or(failure.error.is_retryable()) {
            return None;
        }
        if let ModelError::Provider(error) = &failure.error
            && let Some(asked) = error.retry_after
        {
            return (asked <= self.patience).then_some(asked);
        }
        let doubled = self
            .first
            .saturating_mul(1 << tries.min(16))
            .min(self.longest);
        Some(doubled - doubled * u32::from(chance) / 1024)
    }
}

/// What a reply's headers say about another try.
#[derive(Debug, Default)]
pub(crate) struct Hints {
    pub(crate) retry_after: Option<Duration>,
    pub(crate) should_retry: Option<bool>,
    pub(crate) request_id: Option<String>,
}

impl Hints {
    pub(crate) fn read(headers: &[(String, String)]) -> Self {
        let find = |wanted: &str| {
            headers
                .iter()
                .find(|(name, _)| name == wanted)
                .map(|(_, value)| value.as_str())
        };
        let number = |wanted: &str| find(wanted).and_then(|value| value.parse::<f64>().ok());
        let seconds = number("retry-after-ms")
            .map(|ms| ms / 1000.0)
            .or_else(|| number("retry-after"));
        Self {
            retry_after: seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok()),
            should_retry: find("x-should-retry").and_then(|value| value.parse().ok()),
            request_id: find("x-request-id")
                .or_else(|| find("request-id"))
                .map(str::to_owned),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::provider_error::{ErrorKind, ProviderError};

    fn failure(kind: ErrorKind, after: Option<u64>, should_retry: Option<bool>) -> Failure {
        let mut error = ProviderError::new(kind, "x");
        error.retry_after = after.map(Duration::from_secs);
        Failure {
            error: ModelError::Provider(Box::new(error)),
            should_retry,
        }
    }

    #[test]
    fn waits_grow_to_a_limit_and_end() {
        let retry = Retry::default().with_tries(9);
        let server = failure(ErrorKind::Server, None, None);
        let waits: Vec<Duration> = (0..9)
            .map_while(|tries| retry.delay(tries, &server, 77))
            .collect();
        assert_eq!(waits.len(), 9);
        for (tries, wait) in waits.iter().enumerate() {
            let full = Duration::from_millis(500 << tries).min(Duration::from_secs(8));
            assert!(
                *wait <= full && *wait >= full * 3 / 4,
                "{wait:?} for {full:?}"
            );
        }
        assert_eq!(retry.delay(9, &server, 77), None);
    }

    #[test]
    fn the_provider_knows_best() {
        let retry = Retry::default();
        let asked = failure(ErrorKind::RateLimit, Some(34), None);
        assert_eq!(retry.delay(0, &asked, 77), Some(Duration::from_secs(34)));
        assert_eq!(
            retry.delay(0, &failure(ErrorKind::RateLimit, Some(121), None), 0),
            None
        );
        assert_eq!(
            retry.delay(0, &failure(ErrorKind::Quota, None, None), 0),
            None
        );
        assert_eq!(
            retry.delay(0, &failure(ErrorKind::Server, None, Some(false)), 0),
            None
        );
        assert!(
            retry
                .delay(0, &failure(ErrorKind::Request, None, Some(true)), 0)
                .is_some()
        );
    }

    #[test]
    fn hints_are_read_from_headers() {
        let header = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let hints = Hints::read(&[
            header("retry-after", "7"),
            header("retry-after-ms", "1500"),
            header("x-should-retry", "false"),
            header("request-id", "req_1"),
        ]);
        assert_eq!(hints.retry_after, Some(Duration::from_millis(1500)));
        assert_eq!(
            (hints.should_retry, hints.request_id.as_deref()),
            (Some(false), Some("req_1"))
        );
        assert!(
            Hints::read(&[header("retry-after", "Mon, 16 Nov 2026")])
                .retry_after
                .is_none()
        );
    }
}
