//! Threads that own a connection and run jobs in order.

use std::thread;

use rusqlite::Connection;
use tokio::sync::{mpsc, oneshot};

use crate::store::error::StoreError;

/// A thread with a connection of its own: a cheap clone. It ends with its last clone.
#[derive(Clone)]
pub(super) struct Worker {
    jobs: mpsc::Sender<Job>,
}

enum Job {
    Do(Box<dyn FnOnce(&mut Connection) + Send>),
    Close(oneshot::Sender<()>),
}

impl Worker {
    /// Starts a thread, and returns once it has opened its connection. `queue` bounds the waiting
    /// jobs.
    pub(super) async fn start(
        queue: usize,
        open: impl FnOnce() -> Result<Connection, StoreError> + Send + 'static,
    ) -> Result<Self, StoreError> {
        let (jobs, queue) = mpsc::channel(queue);
        let (opened, wait) = oneshot::channel();
        let work = move || match open() {
            Ok(connection) => {
                if opened.send(Ok(())).is_ok() {
                    serve(connection, queue);
                }
            }
            Err(error) => drop(opened.send(Err(error))),
        };
        thread::Builder::new()
            .name("switchboard-store".to_owned())
            .spawn(work)
            .map_err(|error| StoreError::Failed(error.into()))?;
        wait.await.map_err(|_| StoreError::Closed)??;
        Ok(Self { jobs })
    }

    /// Runs a job on the thread and waits for its result.
    pub(super) async fn ask<T: Send + 'static>(
        &self,
        job: impl FnOnce(&mut Connection) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let (answer, wait) = oneshot::channel();
        let job = Job::Do(Box::new(move |connection| {
            drop(answer.send(job(connection)))
        }));
        self.jobs.send(job).await.map_err(|_| StoreError::Closed)?;
        wait.await.map_err(|_| StoreError::Closed)?
    }

    /// Finishes what was asked before, and closes the connection.
    pub(super) async fn close(&self) -> Result<(), StoreError> {
        let (done, wait) = oneshot::channel();
        let sent = self.jobs.send(Job::Close(done)).await;
        sent.map_err(|_| StoreError::Closed)?;
        wait.await.map_err(|_| StoreError::Closed)
    }
}

/// Runs jobs until all senders are gone.
fn serve(mut connection: Connection, mut queue: mpsc::Receiver<Job>) {
    while let Some(job) = queue.blocking_recv() {
        match job {
            Job::Do(job) => job(&mut connection),
            Job::Close(done) => {
                drop(connection);
                drop(queue);
                let _ = done.send(());
                return;
            }
        }
    }
}
