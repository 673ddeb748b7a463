//! The shutdown of a server: stdin is closed, then SIGTERM, then SIGKILL, with a delay before each.

use std::future::pending;
use std::sync::Arc;

use async_trait::async_trait;
use tokio::time::{Instant, sleep_until};

use super::connection::Connection;
use crate::process::{Stop, Tracked};

/// The buffer size for discarding stdout.
const SCRATCH: usize = 64 * 1024;

impl Connection {
    /// Shuts the server down and returns when it has ended. The first caller spawns the work; all callers wait for it.
    pub(super) async fn close(self: &Arc<Self>) {
        if self.begin_closing() {
            self.outbox.close();
            tokio::spawn(Arc::clone(self).shut_down());
        }
        let _ = self.is_closed.subscribe().wait_for(|closed| *closed).await;
    }

    async fn shut_down(self: Arc<Self>) {
        let start = Instant::now();
        let whole = self.shutdown_timeout;
        for (until, then) in [
            (whole / 2, Stop::Terminate),
            (whole * 5 / 6, Stop::Kill),
            (whole, Stop::Kill),
        ] {
            tokio::select! {
                () = self.process.gone() => {
                    self.note_exit(self.process.exited().await);
                    break;
                }
                () = sleep_until(start + until) => self.process.stop(then),
                () = self.discard_stdout() => {}
            }
        }
        self.finish_closing();
    }

    /// Completes the shutdown: the server has ended or has been killed.
    pub(super) fn finish_closing(&self) {
        self.outbox.end();
        self.tracking.lock().take();
        self.is_closed.send_replace(true);
    }

    /// Drains stdout, because a server that is blocked on writing cannot exit. Never returns: a process may close its
    /// stdout and keep running.
    async fn discard_stdout(&self) {
        let mut scratch = vec![0; SCRATCH];
        while let Ok(1..) = self.skip_stdout(&mut scratch).await {}
        pending().await
    }
}

#[async_trait]
impl Tracked for Connection {
    async fn close_connection(self: Arc<Self>) {
        self.close().await;
    }
}
