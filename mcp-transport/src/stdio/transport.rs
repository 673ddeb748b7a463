//! The handle of a stdio connection.

use std::fmt;
use std::sync::{Arc, Weak};

use async_trait::async_trait;
use mcp_jsonrpc::RequestId;
use tokio::task::JoinHandle;

use super::StdioLimits;
use super::connection::{Connection, Pipes};
use crate::process::{ProcessTracker, SpawnedProcess, Stop, Tracked};
use crate::{Incoming, Outgoing, ProcessExit, SendError, Transport, TransportKind};

/// A connection to a server that runs as a child process.
///
/// Messages are written in batches: messages sent during a write are written next. [`send`](Transport::send) returns
/// when its message is queued. A queued message cannot be withdrawn; if the server exits first, it is listed in
/// [`Closed::unsent`](crate::Closed::unsent).
///
/// Lines on stdout that are not messages are skipped up to a limit. Replies written before the server's exit are
/// delivered before [`Closed`](Incoming::Closed), whose error carries the exit status and the tail of stderr.
///
/// On Linux the server's stdout is a socket, as for programs started by Node: it is faster than a pipe, but a script
/// that reopens `/dev/stdout` fails. (`>&1` works.)
///
/// [`close`](Transport::close) closes stdin, then sends SIGTERM, then SIGKILL, to the whole process group and within
/// [the limit](StdioLimits::with_shutdown_timeout). Dropping the transport kills the group at once.
pub struct StdioTransport {
    connection: Arc<Connection>,
    tasks: [JoinHandle<()>; 3],
}

/// Does not print the messages.
impl fmt::Debug for StdioTransport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StdioTransport")
            .field("command", &self.connection.name)
            .field("process", &self.process_id())
            .field("is_alive", &self.is_alive())
            .finish_non_exhaustive()
    }
}

impl StdioTransport {
    pub(super) fn new(
        name: String,
        process: Arc<dyn SpawnedProcess>,
        pipes: Pipes,
        limits: &StdioLimits,
        tracker: &ProcessTracker,
    ) -> Self {
        let Pipes {
            stdin,
            stdout,
            stderr,
        } = pipes;
        let connection =
            Connection::new(name.clone(), Arc::clone(&process), stdout, stderr, limits);
        let connection = Arc::new(connection);
        let weak: Weak<dyn Tracked> = Arc::downgrade(&connection) as Weak<dyn Tracked>;
        *connection.tracking.lock() = Some(tracker.track(name, process, weak));
        let tasks = [
            tokio::spawn(Arc::clone(&connection).write(stdin)),
            tokio::spawn(Arc::clone(&connection).watch()),
            tokio::spawn(Arc::clone(&connection).drain_stderr()),
        ];
        Self { connection, tasks }
    }

    /// The id of the server's process on this machine, if it runs here.
    pub fn process_id(&self) -> Option<u32> {
        self.connection.process.id()
    }

    /// The tail of what the server has written to stderr so far.
    pub fn stderr_tail(&self) -> String {
        self.connection.stderr_tail()
    }
}

#[async_trait]
impl Transport for StdioTransport {
    async fn send(&self, message: Outgoing) -> Result<(), SendError> {
        self.connection.send(message).await
    }

    fn try_send(&self, message: &mut Outgoing) -> bool {
        self.connection.try_send(message)
    }

    async fn recv(&self) -> Incoming {
        self.connection.recv().await
    }

    fn release(&self, _: &RequestId) {}

    async fn close(&self) {
        self.connection.close().await;
        for task in &self.tasks {
            task.abort();
        }
    }

    fn kind(&self) -> TransportKind {
        TransportKind::Pipe
    }

    fn is_alive(&self) -> bool {
        self.connection.is_alive()
    }

    fn exit(&self) -> Option<ProcessExit> {
        self.connection.exit()
    }
}

impl Drop for StdioTransport {
    fn drop(&mut self) {
        self.connection.begin_closing();
        self.connection.process.stop(Stop::Kill);
        self.connection.finish_closing();
        for task in &self.tasks {
            task.abort();
        }
    }
}
