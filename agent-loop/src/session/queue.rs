//! The calls that are queued at their servers, each with its latest reason.

use std::collections::BTreeMap;

use mcp_client::Queued;
use parking_lot::Mutex;
use tokio::sync::Notify;

use crate::run::number::CallNumber;

/// Reports of queued calls; only the latest one of each call is kept.
#[derive(Debug, Default)]
pub(crate) struct Queues {
    latest: Mutex<BTreeMap<CallNumber, Option<Queued>>>,
    bell: Notify,
}

impl Queues {
    /// A call is queued for this reason, or is not queued any more.
    pub(crate) fn set(&self, number: CallNumber, queued: Option<Queued>) {
        self.latest.lock().insert(number, queued);
        self.bell.notify_one();
    }

    /// Drops the report of a call that is over.
    pub(crate) fn forget(&self, number: CallNumber) {
        self.latest.lock().remove(&number);
    }

    /// The next word on a call. Cancel safe.
    pub(crate) async fn next(&self) -> (CallNumber, Option<Queued>) {
        loop {
            if let Some(next) = self.latest.lock().pop_first() {
                return next;
            }
            self.bell.notified().await;
        }
    }
}
