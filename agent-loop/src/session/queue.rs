//! Which calls are queued at their servers: the latest word on each.

use std::collections::BTreeMap;

use mcp_client::Queued;
use parking_lot::Mutex;
use tokio::sync::Notify;

use crate::run::number::CallNumber;

/// What is to be told of calls in queues. Only the latest word on a call is kept.
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

    /// A call is over: nothing is to be told of it.
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
