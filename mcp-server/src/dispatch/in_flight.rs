//! The running requests of one connection or session, by id.

use std::collections::HashMap;
use std::sync::Arc;

use mcp_jsonrpc::model::CancelledParams;
use mcp_jsonrpc::{ErrorCode, ErrorObject, RawRef, RequestId, parse_params};
use parking_lot::Mutex;
use tokio::task::AbortHandle;

use crate::dispatch::Reply;

#[derive(Default)]
pub(crate) struct InFlight(Mutex<Table>);

#[derive(Default)]
struct Table {
    running: HashMap<RequestId, Running>,
    started: u64,
}

struct Running {
    number: u64,
    abort: AbortHandle,
}

/// The right to a place in the table, for the task that is about to run.
pub(crate) struct Ticket {
    table: Arc<InFlight>,
    id: RequestId,
    /// Tells it from a later request of the same id.
    number: u64,
}

/// A running request's place. Dropping it frees the id, however the request ended.
pub(crate) struct Place(Ticket);

impl InFlight {
    /// Starts a request, unless its id is in use or too many are running.
    pub(crate) fn start(
        self: &Arc<Self>,
        id: &RequestId,
        limit: usize,
        spawn: impl FnOnce(Ticket) -> AbortHandle,
    ) -> Result<(), Reply> {
        let mut table = self.0.lock();
        let refusal = if table.running.contains_key(id) {
            Some(format!("the request id {id} is in use"))
        } else if table.running.len() >= limit {
            Some(format!("too many requests in flight: the limit is {limit}"))
        } else {
            None
        };
        if let Some(message) = refusal {
            let error = ErrorObject::new(ErrorCode::INVALID_REQUEST, message);
            return Err(Reply::error(Some(id), &error));
        }
        table.started += 1;
        let number = table.started;
        let ticket = Ticket {
            table: Arc::clone(self),
            id: id.clone(),
            number,
        };
        // Under the lock: the task cannot leave before it is listed.
        let abort = spawn(ticket);
        table.running.insert(id.clone(), Running { number, abort });
        Ok(())
    }

    /// Cancels the request that these params of a notification name.
    pub(crate) fn cancel(&self, params: Option<RawRef<'_>>) {
        let id = parse_params::<CancelledParams>(params).ok();
        let Some(id) = id.and_then(|params| params.request_id) else {
            return;
        };
        let running = self.0.lock().running.remove(&id);
        if let Some(running) = running {
            running.abort.abort();
        }
    }

    #[cfg(feature = "http")]
    pub(crate) fn abort_all(&self) {
        let all = std::mem::take(&mut self.0.lock().running);
        for running in all.into_values() {
            running.abort.abort();
        }
    }

    #[cfg(feature = "http")]
    pub(crate) fn is_empty(&self) -> bool {
        self.0.lock().running.is_empty()
    }
}

impl Ticket {
    pub(crate) fn take_place(self) -> Place {
        Place(self)
    }

    fn free(&self) -> bool {
        let running = &mut self.table.0.lock().running;
        let own = running
            .get(&self.id)
            .is_some_and(|it| it.number == self.number);
        own && running.remove(&self.id).is_some()
    }
}

impl Place {
    /// Leaves with the answer; `false` if the request was cancelled. Afterwards it cannot be.
    pub(crate) fn leave(self) -> bool {
        self.0.free()
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.0.free();
    }
}
