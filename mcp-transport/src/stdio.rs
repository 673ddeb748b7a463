//! A server as a child process, over its stdin and stdout.

mod busy_poll;
mod command;
mod connection;
mod inbox;
mod limits;
mod outbox;
mod pipe;
mod queue;
mod requeue;
mod shutdown;
mod stderr;
mod transport;

use std::sync::Arc;

use async_trait::async_trait;

pub use command::{EnvPolicy, ServerCommand};
pub use limits::StdioLimits;
pub use transport::StdioTransport;

use crate::process::{LEDGER_VARIABLE, LocalSpawner, ProcessTracker, SpawnRequest, Spawner};
use crate::{Connect, Transport, TransportError, TransportKind};

/// Starts a server process per connection.
///
/// ```no_run
/// use std::sync::Arc;
/// use mcp_transport::{Connect, LocalSpawner, ServerCommand, StdioConnect};
///
/// # async fn example() -> Result<(), mcp_transport::TransportError> {
/// let command = ServerCommand::new("uvx").with_arg("mcp-server-git");
/// let connect = StdioConnect::new(command, Arc::new(LocalSpawner::new()));
/// let transport = connect.connect().await?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct StdioConnect {
    command: ServerCommand,
    spawner: Arc<dyn Spawner>,
    limits: StdioLimits,
    tracker: ProcessTracker,
}

impl StdioConnect {
    /// Runs `command` with `spawner`.
    pub fn new(command: ServerCommand, spawner: Arc<dyn Spawner>) -> Self {
        Self {
            command,
            spawner,
            limits: StdioLimits::default(),
            tracker: ProcessTracker::global(),
        }
    }

    /// Sets the limits of the connections.
    #[must_use]
    pub fn with_limits(mut self, limits: StdioLimits) -> Self {
        self.limits = limits;
        self
    }

    /// Registers the processes with this tracker instead of the [global](ProcessTracker::global) one.
    #[must_use]
    pub fn with_tracker(mut self, tracker: ProcessTracker) -> Self {
        self.tracker = tracker;
        self
    }

    /// Starts the server. Its process is running when this returns; its first message shows whether it works.
    ///
    /// The connection does not depend on the task that called this. If the future is dropped, no
    /// process is left behind.
    pub async fn start(&self) -> Result<StdioTransport, TransportError> {
        let failed = |error| TransportError::Io {
            action: format!("making pipes for '{}'", self.command),
            source: Box::new(error),
        };
        let (stdin, child_stdin) = pipe::to_child().map_err(failed)?;
        let (stdout, child_stdout) = pipe::messages_from_child().map_err(failed)?;
        let (stderr, child_stderr) = pipe::from_child().map_err(failed)?;
        let mut env = self.command.environment(std::env::vars_os());
        if let Some(mark) = self.tracker.mark() {
            env.retain(|(name, _)| name != LEDGER_VARIABLE);
            env.push((LEDGER_VARIABLE.into(), mark.into()));
        }
        let request = SpawnRequest {
            program: self.command.program().to_owned(),
            args: self
                .command
                .args()
                .iter()
                .map(|arg| arg.expose().to_owned())
                .collect(),
            env,
            cwd: self.command.cwd().map(Into::into),
            stdin: child_stdin,
            stdout: child_stdout,
            stderr: child_stderr,
        };
        let process = self.spawner.spawn(request).await?;
        let pipes = connection::Pipes {
            stdin,
            stdout,
            stderr,
        };
        let name = self.command.to_string();
        Ok(StdioTransport::new(
            name,
            process,
            pipes,
            &self.limits,
            &self.tracker,
        ))
    }
}

#[async_trait]
impl Connect for StdioConnect {
    async fn connect(&self) -> Result<Arc<dyn Transport>, TransportError> {
        Ok(Arc::new(self.start().await?))
    }

    fn target(&self) -> String {
        self.command.to_string()
    }

    fn kind(&self) -> TransportKind {
        TransportKind::Pipe
    }
}

/// Runs the command on this machine, with the default limits. [`StdioConnect`] has more options.
#[async_trait]
impl Connect for ServerCommand {
    async fn connect(&self) -> Result<Arc<dyn Transport>, TransportError> {
        let spawner = Arc::new(LocalSpawner::new());
        StdioConnect::new(self.clone(), spawner).connect().await
    }

    fn target(&self) -> String {
        self.to_string()
    }

    fn kind(&self) -> TransportKind {
        TransportKind::Pipe
    }
}
