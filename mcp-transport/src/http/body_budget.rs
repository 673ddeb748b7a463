//! A limit on the bytes of large replies that are read at the same time.

use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Replies smaller than this are not counted.
pub(crate) const LARGE: usize = 64 * 1024;
/// The budget is counted in units of this many bytes.
const UNIT: usize = 4 * 1024;

/// The byte budget that the large replies of one connection share. Clones share it, too.
///
/// A message reserves its bytes once, when it proves to be large, and waits until they are available. It never requests
/// more while it holds a reservation, so replies cannot deadlock. A message larger than the whole budget takes all of
/// it.
#[derive(Clone, Debug)]
pub(crate) struct BodyBudget {
    units: Arc<Semaphore>,
    max_units: u32,
}

/// The share of the budget that one reader of replies holds, if any.
#[derive(Debug)]
pub(crate) struct Reservation {
    budget: BodyBudget,
    held: Option<OwnedSemaphorePermit>,
}

impl BodyBudget {
    pub(crate) fn new(bytes: usize) -> Self {
        let max_units = u32::try_from(bytes.div_ceil(UNIT)).unwrap_or(u32::MAX);
        let max_units = max_units.clamp(1, (Semaphore::MAX_PERMITS >> 1).min(1 << 30) as u32);
        Self {
            units: Arc::new(Semaphore::new(max_units as usize)),
            max_units,
        }
    }

    /// An empty reservation.
    pub(crate) fn reservation(&self) -> Reservation {
        Reservation {
            budget: self.clone(),
            held: None,
        }
    }
}

impl Reservation {
    /// Reserves room for a message of at least `bytes` bytes. Does nothing if the message is small or already has its
    /// reservation.
    pub(crate) async fn reserve(&mut self, bytes: usize) {
        if bytes < LARGE || self.held.is_some() {
            return;
        }
        let units = u32::try_from(bytes.div_ceil(UNIT)).unwrap_or(u32::MAX);
        let units = units.min(self.budget.max_units);
        // An error would mean that the semaphore was closed, which never happens.
        self.held = Arc::clone(&self.budget.units)
            .acquire_many_owned(units)
            .await
            .ok();
    }

    /// Releases the reservation: the message has been passed on.
    pub(crate) fn release(&mut self) {
        self.held = None;
    }
}

#[cfg(test)]
mod tests {
    use std::pin::pin;
    use std::task::{Context, Poll, Waker};

    use super::*;

    fn poll<F: Future>(future: F) -> Poll<F::Output> {
        pin!(future).poll(&mut Context::from_waker(Waker::noop()))
    }

    #[test]
    fn small_replies_never_wait() {
        let budget = BodyBudget::new(LARGE);
        let mut large = budget.reservation();
        assert!(poll(large.reserve(LARGE)).is_ready());
        assert!(poll(budget.reservation().reserve(LARGE - 1)).is_ready());
        assert!(poll(budget.reservation().reserve(LARGE)).is_pending());
    }

    #[test]
    fn large_replies_share_the_budget() {
        let budget = BodyBudget::new(3 * LARGE);
        let (mut one, mut other) = (budget.reservation(), budget.reservation());
        assert!(poll(one.reserve(2 * LARGE)).is_ready());
        assert!(poll(other.reserve(2 * LARGE)).is_pending());
        assert!(poll(other.reserve(LARGE)).is_ready());
        one.release();
        assert!(poll(budget.reservation().reserve(2 * LARGE)).is_ready());
    }

    #[test]
    fn a_message_reserves_once_however_large_it_becomes() {
        let budget = BodyBudget::new(2 * LARGE);
        let (mut one, mut other) = (budget.reservation(), budget.reservation());
        assert!(poll(one.reserve(LARGE)).is_ready());
        assert!(poll(other.reserve(LARGE)).is_ready());
        assert!(poll(one.reserve(100 * LARGE)).is_ready());
    }

    #[test]
    fn a_message_larger_than_the_budget_is_read_alone() {
        let budget = BodyBudget::new(0);
        let mut one = budget.reservation();
        assert!(poll(one.reserve(usize::MAX)).is_ready());
        assert!(poll(budget.reservation().reserve(LARGE)).is_pending());
        drop(one);
        assert!(poll(budget.reservation().reserve(LARGE)).is_ready());
    }
}
