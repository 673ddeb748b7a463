//! Leases: which process drives a conversation.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::store::id::{HolderId, LeaseId};
use crate::store::timestamp::Timestamp;

/// How long a challenged lease stays with a holder that does not renew it, by default.
pub const LEASE_TIMEOUT: Duration = Duration::from_secs(20);
/// How often a lease is renewed within its time-out.
const RENEWALS: u32 = 4;

/// The pause between two renewals of a lease, or two heartbeats of a process, with this time-out.
pub(crate) fn heartbeat(timeout: Duration) -> Duration {
    timeout / RENEWALS
}

/// The right to drive a conversation, held by one process at a time.
///
/// A lease does not expire by itself: whoever wants a leased conversation challenges the lease, and
/// gets it once the holder has not renewed it for [`LEASE_TIMEOUT`] after that. So a clock that jumps
/// or a machine that sleeps takes no unchallenged lease away, and a heartbeat without a challenge
/// writes nothing. A holder that is known to be dead, and the holder itself under a new id, are not
/// waited for. Every commit under a lease names its id: one that lost its lease is refused.
///
/// The functions are pure; a back end calls them within the transaction that acts on the result.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Lease {
    /// Its id: new with every time it is acquired.
    pub id: LeaseId,
    /// The process that holds it.
    pub holder: HolderId,
    /// Since when another process has waited for a renewal.
    pub challenged_at: Option<Timestamp>,
}

impl Lease {
    /// A new lease.
    pub fn new(id: LeaseId, holder: HolderId) -> Self {
        Self {
            id,
            holder,
            challenged_at: None,
        }
    }

    /// Acquires a lease in place of the stored one. `is_dead` returns whether a holder is known not to
    /// run any more.
    ///
    /// # Errors
    /// The stored lease, if another process has it: to be stored as it is returned, challenged.
    pub fn acquire(
        stored: Option<&Self>,
        wanted: Self,
        now: Timestamp,
        timeout: Duration,
        is_dead: impl FnOnce(&HolderId) -> bool,
    ) -> Result<Self, Self> {
        let Some(stored) = stored else {
            return Ok(wanted);
        };
        let overdue = stored
            .challenged_at
            .is_some_and(|since| since <= now && now.since(since) >= timeout);
        if stored.holder == wanted.holder || overdue || is_dead(&stored.holder) {
            return Ok(wanted);
        }
        let mut challenged = stored.clone();
        // A challenge of the future was made by a clock that has gone back since: it begins anew.
        let since = stored.challenged_at.filter(|since| *since <= now);
        challenged.challenged_at = Some(since.unwrap_or(now));
        Err(challenged)
    }

    /// Renews a lease: the stored one, without its challenge. Nothing if it was lost.
    pub fn renew(stored: Option<&Self>, id: &LeaseId) -> Option<Self> {
        let stored = stored.filter(|stored| stored.id == *id)?;
        Some(Self::new(stored.id.clone(), stored.holder.clone()))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Drivers that compete for one conversation.
    const DRIVERS: usize = 3;

    /// What happens next.
    #[derive(Clone, Debug)]
    enum Step {
        /// A driver wants the lease.
        Acquire(usize),
        /// A driver renews its lease and writes.
        Commit(usize),
        /// A driver is done.
        Release(usize),
        /// A driver dies; whether others can tell.
        Crash(usize, bool),
        /// Time passes, and everyone who lives and holds the lease renews in time.
        Pass(u64),
        /// The clock jumps.
        Jump(i64),
    }

    fn step() -> impl Strategy<Value = Step> {
        let driver = || 0..DRIVERS;
        prop_oneof![
            4 => driver().prop_map(Step::Acquire),
            4 => driver().prop_map(Step::Commit),
            1 => driver().prop_map(Step::Release),
            1 => (driver(), any::<bool>()).prop_map(|(driver, seen)| Step::Crash(driver, seen)),
            2 => (1..15_000u64).prop_map(Step::Pass),
            1 => (-100_000_000..100_000_000i64).prop_map(Step::Jump),
        ]
    }

    /// A driver in its process.
    #[derive(Clone)]
    struct Driver {
        holder: HolderId,
        /// The lease it believes to have.
        lease: Option<LeaseId>,
    }

    struct World {
        now: u64,
        stored: Option<Lease>,
        drivers: Vec<Driver>,
        /// Processes that are known to be dead.
        dead: Vec<HolderId>,
        /// Whose commits were accepted last, and which leases are over.
        writer: Option<LeaseId>,
        over: Vec<LeaseId>,
        fresh: u64,
    }

    impl World {
        fn new() -> Self {
            let driver = |number| Driver {
                holder: HolderId::new(format!("process{number}")),
                lease: None,
            };
            Self {
                now: 1_000_000_000,
                stored: None,
                drivers: (0..DRIVERS).map(driver).collect(),
                dead: Vec::new(),
                writer: None,
                over: Vec::new(),
                fresh: 0,
            }
        }

        fn fresh(&mut self) -> u64 {
            self.fresh += 1;
            self.fresh
        }

        fn acquire(&mut self, driver: usize) -> bool {
            let id = LeaseId::new(format!("lease{}", self.fresh()));
            let wanted = Lease::new(id.clone(), self.drivers[driver].holder.clone());
            let now = Timestamp::from_millis(self.now);
            let is_dead = |holder: &HolderId| self.dead.contains(holder);
            let stored = self.stored.as_ref();
            match Lease::acquire(stored, wanted, now, LEASE_TIMEOUT, is_dead) {
                Ok(lease) => {
                    self.over.extend(self.stored.take().map(|old| old.id));
                    self.stored = Some(lease);
                    self.drivers[driver].lease = Some(id);
                    true
                }
                Err(challenged) => {
                    self.stored = Some(challenged);
                    false
                }
            }
        }

        /// Whether a driver's commit is accepted.
        fn commit(&mut self, driver: usize) -> bool {
            let Some(id) = self.drivers[driver].lease.clone() else {
                return false;
            };
            match Lease::renew(self.stored.as_ref(), &id) {
                Some(lease) => {
                    self.stored = Some(lease);
                    assert!(
                        !self.over.contains(&id),
                        "a lease that was lost is accepted"
                    );
                    self.writer = Some(id);
                    true
                }
                None => {
                    self.drivers[driver].lease = None;
                    false
                }
            }
        }

        fn take(&mut self, step: &Step) {
            match *step {
                Step::Acquire(driver) => {
                    self.acquire(driver);
                }
                Step::Commit(driver) => {
                    self.commit(driver);
                }
                Step::Release(driver) => {
                    let id = self.drivers[driver].lease.take();
                    if id.is_some() && self.stored.as_ref().map(|it| &it.id) == id.as_ref() {
                        self.over.extend(self.stored.take().map(|old| old.id));
                    }
                }
                Step::Crash(driver, seen) => {
                    let holder = HolderId::new(format!("process{}", 100 + self.fresh()));
                    let gone = std::mem::replace(&mut self.drivers[driver].holder, holder);
                    self.drivers[driver].lease = None;
                    self.dead.extend(seen.then_some(gone));
                }
                Step::Pass(millis) => {
                    let mut left = millis;
                    while left > 0 {
                        let step = left.min(heartbeat(LEASE_TIMEOUT).as_millis() as u64);
                        self.now += step;
                        left -= step;
                        for driver in 0..DRIVERS {
                            let before = self.stored.clone();
                            let held = self.drivers[driver].lease.clone();
                            self.commit(driver);
                            // It was not acquired meanwhile, so its holder still has it.
                            assert_eq!(
                                before.map(|it| it.id) == held && held.is_some(),
                                self.drivers[driver].lease.is_some(),
                            );
                        }
                    }
                }
                Step::Jump(millis) => self.now = self.now.saturating_add_signed(millis),
            }
        }
    }

    proptest! {
        /// Whatever happens, a commit is accepted only under the latest lease, and after the last
        /// crash anyone gets the lease within one time-out of asking for it.
        #[test]
        fn one_driver_writes_at_a_time_and_none_is_locked_out(
            steps in prop::collection::vec(step(), 0..80),
        ) {
            let mut world = World::new();
            for step in &steps {
                world.take(step);
            }
            for driver in 0..DRIVERS {
                world.take(&Step::Crash(driver, false));
            }
            if !world.acquire(0) {
                world.now += LEASE_TIMEOUT.as_millis() as u64;
                prop_assert!(world.acquire(0), "stuck: {:?}", world.stored);
            }
            prop_assert!(world.commit(0));
        }

        /// A driver that renews in time keeps its lease, whatever others do and wherever the clock
        /// jumps while it is not challenged.
        #[test]
        fn who_renews_is_never_overtaken(
            steps in prop::collection::vec((any::<bool>(), 0..5_000u64, any::<i32>()), 0..60),
        ) {
            let mut world = World::new();
            prop_assert!(world.acquire(0));
            for (wanted, pass, jump) in steps {
                world.now = world.now.saturating_add_signed(i64::from(jump));
                if wanted {
                    prop_assert!(!world.acquire(1), "a live holder was overtaken");
                }
                world.now += pass;
                prop_assert!(world.commit(0), "a live holder was refused");
            }
        }
    }
}
