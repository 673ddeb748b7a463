//! How much of a limit one authenticated caller may take, so that none takes everything.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::Mutex;

use crate::server::limits::ServerLimits;

/// What each caller holds of one limit.
pub(crate) struct Shares {
    most: usize,
    held: Mutex<HashMap<String, usize>>,
}

/// One thing that a caller holds. Dropping it makes room.
pub(crate) struct Share(Option<(Arc<Shares>, String)>);

/// The limits that callers share.
pub(crate) struct CallerShares {
    pub(crate) sessions: Arc<Shares>,
    pub(crate) requests: Arc<Shares>,
    pub(crate) tasks: Arc<Shares>,
    pub(crate) parked_calls: Arc<Shares>,
    pub(crate) subscriptions: Arc<Shares>,
}

impl CallerShares {
    pub(crate) fn new(limits: &ServerLimits) -> Self {
        let of = |total: usize| Shares::new(total, limits.caller_percent());
        Self {
            sessions: of(limits.sessions()),
            requests: of(limits.requests()),
            tasks: of(limits.tasks()),
            parked_calls: of(limits.parked_calls()),
            subscriptions: of(limits.subscriptions()),
        }
    }
}

impl Shares {
    fn new(total: usize, percent: usize) -> Arc<Self> {
        let most = total / 100 * percent + total % 100 * percent / 100;
        Arc::new(Self {
            most: most.clamp(1, total.max(1)),
            held: Mutex::default(),
        })
    }

    /// The most that one caller may hold.
    pub(crate) fn most(&self) -> usize {
        self.most
    }

    /// One more thing for this caller; `None` if it holds its share. Unauthenticated callers cannot be
    /// distinguished, and share the whole.
    pub(crate) fn take(self: &Arc<Self>, caller: Option<&str>) -> Option<Share> {
        let Some(caller) = caller else {
            return Some(Share(None));
        };
        let mut held = self.held.lock();
        match held.get_mut(caller) {
            Some(count) if *count >= self.most => return None,
            Some(count) => *count += 1,
            None => drop(held.insert(caller.to_owned(), 1)),
        }
        Some(Share(Some((Arc::clone(self), caller.to_owned()))))
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        if let Some((shares, caller)) = &self.0 {
            let mut held = shares.held.lock();
            if let Some(count) = held.get_mut(caller) {
                *count -= 1;
                if *count == 0 {
                    held.remove(caller);
                }
            }
        }
    }
}
