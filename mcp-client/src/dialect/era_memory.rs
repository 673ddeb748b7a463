//! The eras of servers, remembered from earlier connections.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::time::Instant;

/// Remembers the era of each server, so that the next connection need not negotiate it.
///
/// Clones share their content: use one for all clients. Entries expire, because servers are upgraded.
#[derive(Clone, Debug)]
pub struct EraMemory {
    verdicts: Arc<Mutex<BTreeMap<String, (Era, Instant)>>>,
    max_age: Duration,
}

/// The two eras of the protocol.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Era {
    /// Up to 2025-11-25.
    Legacy,
    /// From 2026-07-28 on.
    Modern,
}

/// The maximum number of servers remembered.
const MAX_SERVERS: usize = 4096;

impl EraMemory {
    /// Creates an empty memory whose entries expire after an hour.
    pub fn new() -> Self {
        Self {
            verdicts: Arc::default(),
            max_age: Duration::from_secs(3600),
        }
    }

    /// Sets the time after which an entry expires.
    #[must_use]
    pub fn with_max_age(mut self, max_age: Duration) -> Self {
        self.max_age = max_age;
        self
    }

    pub(crate) fn recall(&self, target: &str) -> Option<Era> {
        let verdicts = self.verdicts.lock();
        let (era, since) = verdicts.get(target)?;
        (since.elapsed() < self.max_age).then_some(*era)
    }

    pub(crate) fn learn(&self, target: &str, era: Era) {
        let mut verdicts = self.verdicts.lock();
        if verdicts.len() >= MAX_SERVERS && !verdicts.contains_key(target) {
            let max_age = self.max_age;
            verdicts.retain(|_, (_, since)| since.elapsed() < max_age);
            if verdicts.len() >= MAX_SERVERS {
                verdicts.pop_first();
            }
        }
        verdicts.insert(target.to_owned(), (era, Instant::now()));
    }

    pub(crate) fn forget(&self, target: &str) {
        self.verdicts.lock().remove(target);
    }
}

impl Default for EraMemory {
    fn default() -> Self {
        Self::new()
    }
}
