//! A run on its own task.

use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll};

use futures_core::Stream;
use tokio::sync::mpsc;
use tokio::task::JoinSet;

use crate::agent::Agent;
use crate::event::RunEvent;
use crate::run::Run;
use crate::session::handle::Handle;

/// Events that wait to be taken.
const EVENTS: usize = 64;

impl Agent {
    /// Drives a run on its own task. Calls that need approval are passed to [`on_approval`](Self::on_approval), or wait
    /// for an answer through the [`handle`](SpawnedRun::handle).
    ///
    /// The task pauses while its queue of events is full. To store the run between two steps, drive it in a
    /// [`session`](Self::session) instead.
    ///
    /// # Panics
    /// Outside of a tokio runtime.
    pub fn spawn(&self, mut run: Run) -> SpawnedRun {
        let (agent, handle) = (self.clone(), Handle::default());
        let (tell, events) = mpsc::channel(EVENTS);
        let mut task = JoinSet::new();
        let given = handle.clone();
        task.spawn(async move {
            let session = agent.session(&mut run).with_handle(given);
            agent.drive_spawned(session, tell).await;
            run
        });
        SpawnedRun {
            events,
            handle,
            task,
        }
    }
}

/// A run on its own task, as a stream of its events. Dropping it stops the run.
pub struct SpawnedRun {
    events: mpsc::Receiver<RunEvent>,
    handle: Handle,
    task: JoinSet<Run>,
}

impl SpawnedRun {
    /// The next event; `None` once the run has ended. Cancel-safe.
    pub async fn next(&mut self) -> Option<RunEvent> {
        self.events.recv().await
    }

    /// A handle that answers and cancels from anywhere.
    pub fn handle(&self) -> Handle {
        self.handle.clone()
    }

    /// Waits for the end and returns the run; `None` if the code that drives it panicked. Events that were not taken
    /// are dropped.
    pub async fn finish(mut self) -> Option<Run> {
        while self.events.recv().await.is_some() {}
        self.task.join_next().await?.ok()
    }
}

impl Stream for SpawnedRun {
    type Item = RunEvent;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<RunEvent>> {
        self.events.poll_recv(cx)
    }
}

impl fmt::Debug for SpawnedRun {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SpawnedRun").finish_non_exhaustive()
    }
}
