//! How many SQL statements this process has sent to its stores, for its metrics.

use std::sync::atomic::{AtomicU64, Ordering};

/// One count for the process: what SQLite calls for each statement has no state of its own.
static SENT: AtomicU64 = AtomicU64::new(0);

/// Counts statements that are sent.
pub(super) fn sent(number: u64) {
    SENT.fetch_add(number, Ordering::Relaxed);
}

/// How many there were.
pub(crate) fn count() -> u64 {
    SENT.load(Ordering::Relaxed)
}
