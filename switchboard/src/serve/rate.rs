//! Rate limits per user.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use parking_lot::Mutex;

use crate::store::UserId;

/// A token bucket.
#[derive(Clone, Copy, Debug)]
struct Bucket {
    size: f64,
    per_second: f64,
    level: f64,
    seen: Option<Instant>,
}

impl Bucket {
    /// A full bucket.
    pub(crate) const fn new(size: f64, per_second: f64) -> Self {
        Self {
            size,
            per_second,
            level: size,
            seen: None,
        }
    }

    /// Takes a token, or returns the seconds until one is available.
    fn take(&mut self, now: Instant) -> Result<(), Duration> {
        if let Some(seen) = self.seen {
            let passed = now.saturating_duration_since(seen).as_secs_f64();
            self.level = (self.level + passed * self.per_second).min(self.size);
        }
        self.seen = Some(now);
        if self.level < 1.0 {
            let missing = (1.0 - self.level) / self.per_second;
            return Err(Duration::from_secs_f64(missing));
        }
        self.level -= 1.0;
        Ok(())
    }
}

/// The buckets of those who come in.
#[derive(Debug)]
pub(crate) struct Rates {
    /// One for each user who is served: their number is bounded.
    users: Mutex<BTreeMap<UserId, Bucket>>,
    /// A user's full bucket.
    user: Bucket,
    /// One for all who have no token.
    strangers: Mutex<Bucket>,
    /// One for all who log in.
    logins: Mutex<Bucket>,
}

impl Rates {
    /// 200 requests a second for a user unless it is said, and ten times that at once; 30 at once and one a second for all who
    /// have no token; 60 at once and five a second for steps of logins.
    pub(crate) fn new(per_second: Option<u32>) -> Self {
        let rate = per_second.map_or(200.0, f64::from);
        Self {
            users: Mutex::default(),
            user: Bucket::new(10.0 * rate, rate),
            strangers: Mutex::new(Bucket::new(30.0, 1.0)),
            logins: Mutex::new(Bucket::new(60.0, 5.0)),
        }
    }

    /// Counts a step of a login; the seconds to wait if it is one too many.
    pub(crate) fn count_login(&self) -> Result<(), u64> {
        let taken = self.logins.lock().take(Instant::now());
        taken.map_err(|wait| wait.as_secs() + 1)
    }

    /// Counts a request; the seconds to wait if it is one too many.
    pub(crate) fn count(&self, user: Option<&UserId>) -> Result<(), u64> {
        let now = Instant::now();
        let taken = match user {
            Some(user) => {
                let mut users = self.users.lock();
                let bucket = users.entry(user.clone());
                bucket.or_insert(self.user).take(now)
            }
            None => self.strangers.lock().take(now),
        };
        taken.map_err(|wait| wait.as_secs() + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bucket_gives_what_is_in_it_and_then_what_flows_in() {
        let (mut bucket, start) = (Bucket::new(2.0, 4.0), Instant::now());
        assert_eq!(bucket.take(start), Ok(()));
        assert_eq!(bucket.take(start), Ok(()));
        assert_eq!(bucket.take(start), Err(Duration::from_millis(250)));
        let later = start + Duration::from_millis(250);
        assert_eq!(bucket.take(later), Ok(()));
        let much_later = start + Duration::from_secs(60);
        assert_eq!(bucket.take(much_later), Ok(()));
        assert_eq!(bucket.take(much_later), Ok(()));
        assert!(
            bucket.take(much_later).is_err(),
            "it holds no more than two"
        );
    }
}
