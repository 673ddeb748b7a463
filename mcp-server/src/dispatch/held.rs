//! Live values of calls that wait for the answer to a question between two rounds.

use std::any::Any;
use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::Mutex;
use tokio::task::AbortHandle;

use crate::server::random;
use crate::server::shared::Shared;
use crate::server::shares::Share;

/// What one call holds, by key.
pub(crate) type Held = HashMap<String, Arc<dyn Any + Send + Sync>>;

/// What is held for calls that have no request in flight.
#[derive(Default)]
pub(crate) struct HeldTable(Mutex<HashMap<String, Parked>>);

struct Parked {
    held: Held,
    expiry: AbortHandle,
    _share: Share,
}

impl HeldTable {
    /// Keeps values for the call's next round and returns the token to fetch them with; `None` if
    /// too many calls wait. They are dropped if no round comes in the time for an answer.
    pub(crate) fn park(shared: &Arc<Shared>, held: Held, caller: Option<&str>) -> Option<String> {
        let mut table = shared.held.0.lock();
        if table.len() >= shared.limits.parked_calls() {
            return None;
        }
        let share = shared.shares.parked_calls.take(caller)?;
        let token = random::token();
        let (weak, key) = (Arc::downgrade(shared), token.clone());
        let limit = shared.limits.answer_time();
        let expiry = tokio::spawn(async move {
            tokio::time::sleep(limit).await;
            if let Some(shared) = weak.upgrade() {
                shared.held.take(&key);
            }
        });
        let expiry = expiry.abort_handle();
        let parked = Parked {
            held,
            expiry,
            _share: share,
        };
        table.insert(token.clone(), parked);
        Some(token)
    }

    /// Takes what a call has parked; nothing if its time was up or another round has it.
    pub(crate) fn take(&self, token: &str) -> Held {
        let parked = self.0.lock().remove(token);
        parked.map_or_else(Held::new, |parked| {
            parked.expiry.abort();
            parked.held
        })
    }
}
