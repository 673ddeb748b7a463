//! The tasks of one connection: found by request, aborted together.

use std::collections::HashMap;
use std::sync::Arc;

use mcp_jsonrpc::RequestId;
use parking_lot::Mutex;
use tokio::sync::Semaphore;
use tokio::task::AbortHandle;

/// The maximum number of tasks of one connection.
const MAX_TASKS: u32 = 1 << 16;

/// The tasks that read replies, and the one that listens.
#[derive(Debug)]
pub(crate) struct Tasks {
    running: Mutex<Running>,
    /// Each task holds a permit: acquiring all of them proves that no task is left.
    permits: Arc<Semaphore>,
}

#[derive(Debug, Default)]
struct Running {
    replies: HashMap<RequestId, AbortHandle>,
    /// Streams whose response has arrived and which are drained.
    answered: HashMap<RequestId, AbortHandle>,
    listener: Option<AbortHandle>,
    closed: bool,
}

impl Tasks {
    pub(crate) fn new() -> Self {
        Self {
            running: Mutex::default(),
            permits: Arc::new(Semaphore::new(MAX_TASKS as usize)),
        }
    }

    /// Spawns the task that reads the reply to `request`; returns whether it succeeded.
    #[must_use]
    pub(crate) fn read_reply(
        self: &Arc<Self>,
        request: RequestId,
        work: impl Future<Output = ()> + Send + 'static,
    ) -> bool {
        let mut running = self.running.lock();
        let task = self.spawn(&running, request.clone(), work);
        task.map(|task| running.replies.insert(request, task))
            .is_some()
    }

    /// Spawns the task that reads what follows the response to `request`.
    pub(crate) fn drain(
        self: &Arc<Self>,
        request: RequestId,
        work: impl Future<Output = ()> + Send + 'static,
    ) {
        let mut running = self.running.lock();
        if let Some(task) = self.spawn(&running, request.clone(), work) {
            running.answered.insert(request, task);
        }
    }

    /// Spawns a task that belongs to `request`. It cannot finish before it is in the table, because that takes the lock
    /// that the caller holds.
    fn spawn(
        self: &Arc<Self>,
        running: &Running,
        request: RequestId,
        work: impl Future<Output = ()> + Send + 'static,
    ) -> Option<AbortHandle> {
        let permit = self.permits.clone().try_acquire_owned().ok()?;
        if running.closed {
            return None;
        }
        let tasks = self.clone();
        let task = tokio::spawn(async move {
            work.await;
            tasks.forget(&request);
            drop(permit);
        });
        Some(task.abort_handle())
    }

    /// Spawns the task that listens, replacing an earlier one.
    pub(crate) fn listen(&self, work: impl Future<Output = ()> + Send + 'static) {
        let mut running = self.running.lock();
        let Ok(permit) = self.permits.clone().try_acquire_owned() else {
            return;
        };
        if running.closed {
            return;
        }
        let task = tokio::spawn(async move {
            work.await;
            drop(permit);
        });
        if let Some(before) = running.listener.replace(task.abort_handle()) {
            before.abort();
        }
    }

    /// Stops listening.
    pub(crate) fn stop_listening(&self) {
        if let Some(listener) = self.running.lock().listener.take() {
            listener.abort();
        }
    }

    /// Records that the response has arrived: [`release`](Self::release) then leaves the stream alone.
    pub(crate) fn answered(&self, request: &RequestId) {
        let mut running = self.running.lock();
        if let Some((id, task)) = running.replies.remove_entry(request) {
            running.answered.insert(id, task);
        }
    }

    /// Stops reading the reply to `request`, unless its response has arrived.
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

    /// Aborts every task and prevents new ones.
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

    /// Waits until all tasks have ended.
    pub(crate) async fn gone(&self) {
        // An error would mean that the semaphore was closed, which never happens.
        let _ = self.permits.acquire_many(MAX_TASKS).await;
    }
}
