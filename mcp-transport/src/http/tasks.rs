//! The tasks of one connection: found by request, ended together.

use std::collections::HashMap;
use std::sync::Arc;

use mcp_jsonrpc::RequestId;
use parking_lot::Mutex;
use tokio::sync::Semaphore;
use tokio::task::AbortHandle;

/// The most tasks one connection runs.
const MOST: u32 = 1 << 16;

/// Tasks that read replies, and the one that listens.
#[derive(Debug)]
pub(crate) struct Tasks {
    running: Mutex<Running>,
    /// Each task holds a permit; whoever gets all of them knows that no task is left.
    places: Arc<Semaphore>,
}

#[derive(Debug, Default)]
struct Running {
    replies: HashMap<RequestId, AbortHandle>,
    /// Streams whose answer has come: nobody asks for them by name any more.
    answered: HashMap<RequestId, AbortHandle>,
    listener: Option<AbortHandle>,
    closed: bool,
}

impl Tasks {
    pub(crate) fn new() -> Self {
        Self {
            running: Mutex::default(),
            places: Arc::new(Semaphore::new(MOST as usize)),
        }
    }

    /// Starts reading the reply to `request`; says whether it did.
    #[must_use]
    pub(crate) fn read_reply(
        self: &Arc<Self>,
        request: RequestId,
        work: impl Future<Output = ()> + Send + 'static,
    ) -> bool {
        let mut running = self.running.lock();
        let Ok(place) = self.places.clone().try_acquire_owned() else {
            return false;
        };
        if running.closed {
            return false;
        }
        let (tasks, id) = (self.clone(), request.clone());
        // The task cannot forget itself before it is known: that takes the lock we hold.
        let task = tokio::spawn(async move {
            work.await;
            tasks.forget(&id);
            drop(place);
        });
        running.replies.insert(request, task.abort_handle());
        true
    }

    /// Starts listening, in place of whoever listened before.
    pub(crate) fn listen(&self, work: impl Future<Output = ()> + Send + 'static) {
        let mut running = self.running.lock();
        let Ok(place) = self.places.clone().try_acquire_owned() else {
            return;
        };
        if running.closed {
            return;
        }
        let task = tokio::spawn(async move {
            work.await;
            drop(place);
        });
        if let Some(before) = running.listener.replace(task.abort_handle()) {
            before.abort();
        }
    }

    /// Nobody listens any more.
    pub(crate) fn stop_listening(&self) {
        if let Some(listener) = self.running.lock().listener.take() {
            listener.abort();
        }
    }

    /// The answer has come: what is left of the stream is nobody's to release.
    pub(crate) fn answered(&self, request: &RequestId) {
        let mut running = self.running.lock();
        if let Some((id, task)) = running.replies.remove_entry(request) {
            running.answered.insert(id, task);
        }
    }

    /// Ends the reading of the reply to `request`, unless its answer has come.
    pub(crate) fn release(&self, request: &RequestId) {
        if let Some(task) = self.running.lock().replies.remove(request) {
            task.abort();
        }
    }

    fn forget(&self, request: &RequestId) {
        let mut running = self.running.lock();
        running.replies.remove(request);
        running.answered.remove(request);
    }

    /// Ends every task. None can be started afterwards.
    pub(crate) fn abort_all(&self) {
        let mut running = self.running.lock();
        running.closed = true;
        let Running {
            replies,
            answered,
            listener,
            ..
        } = &mut *running;
        let tasks = replies
            .drain()
            .chain(answered.drain())
            .map(|(_, task)| task);
        for task in tasks.chain(listener.take()) {
            task.abort();
        }
    }

    /// Waits until every task is gone.
    pub(crate) async fn gone(&self) {
        // An error would mean that the semaphore was closed, which nobody does.
        let _ = self.places.acquire_many(MOST).await;
    }
}
