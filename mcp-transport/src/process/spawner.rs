//! The extension point for starting servers.

use std::ffi::OsString;
use std::fmt;
use std::io::{PipeReader, PipeWriter};
use std::path::PathBuf;
use std::sync::Arc;

use async_trait::async_trait;

use crate::TransportError;

/// Starts server processes.
#[async_trait]
pub trait Spawner: fmt::Debug + Send + Sync {
    /// Starts one server, connected to the pipe ends in the request.
    ///
    /// If the future is dropped before it completes, no process may be left.
    async fn spawn(&self, request: SpawnRequest)
    -> Result<Arc<dyn SpawnedProcess>, TransportError>;
}

/// The program to start, and the server's ends of its pipes.
///
/// A spawner that runs a program passes the pipe ends to it and closes its own copies; one that runs it on another
/// machine copies bytes between the pipes and that machine.
#[non_exhaustive]
pub struct SpawnRequest {
    /// The program as configured: a name to search for, or a path.
    pub program: String,
    /// Its arguments.
    pub args: Vec<String>,
    /// Its complete environment: nothing else is inherited.
    pub env: Vec<(OsString, OsString)>,
    /// Its working directory; `None` for the host's.
    pub cwd: Option<PathBuf>,
    /// The server reads our messages here.
    pub stdin: PipeReader,
    /// The server writes its messages here. On Linux this is one end of a socket.
    pub stdout: PipeWriter,
    /// The server writes its log here.
    pub stderr: PipeWriter,
}

/// A running server, including everything it started in turn.
#[async_trait]
pub trait SpawnedProcess: fmt::Debug + Send + Sync {
    /// The id of the process on this machine, which is also that of its group; `None` if it runs
    /// elsewhere.
    fn id(&self) -> Option<u32>;

    /// Waits until the server itself has exited. May be called repeatedly and concurrently.
    ///
    /// Cancel-safe.
    async fn exited(&self) -> ProcessStatus;

    /// Waits until the server and everything it has started in its group have ended.
    ///
    /// Cancel-safe.
    async fn gone(&self) {
        self.exited().await;
    }

    /// Stops the server and everything it has started in its group. Never blocks; does nothing if they have ended.
    fn stop(&self, how: Stop);
}

/// How a process ended.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub struct ProcessStatus {
    /// Exit code, if it exited by itself.
    pub code: Option<i32>,
    /// Signal number, if a signal ended it.
    pub signal: Option<i32>,
}

/// The way to stop a process.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Stop {
    /// A request that the process can handle or ignore: SIGTERM. Windows has no equivalent.
    Terminate,
    /// Immediately: SIGKILL, or the end of the job on Windows.
    Kill,
}

impl ProcessStatus {
    /// It exited by itself.
    pub fn exited(code: i32) -> Self {
        Self {
            code: Some(code),
            signal: None,
        }
    }

    /// A signal ended it.
    pub fn signalled(signal: i32) -> Self {
        Self {
            code: None,
            signal: Some(signal),
        }
    }
}

impl From<std::process::ExitStatus> for ProcessStatus {
    fn from(status: std::process::ExitStatus) -> Self {
        #[cfg(unix)]
        let signal = std::os::unix::process::ExitStatusExt::signal(&status);
        #[cfg(not(unix))]
        let signal = None;
        Self {
            code: status.code(),
            signal,
        }
    }
}

/// Does not print the values of environment variables.
impl fmt::Debug for SpawnRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let env: Vec<_> = self.env.iter().map(|(name, _)| name).collect();
        f.debug_struct("SpawnRequest")
            .field("program", &self.program)
            .field("args", &format_args!("{} of them", self.args.len()))
            .field("env", &env)
            .field("cwd", &self.cwd)
            .finish_non_exhaustive()
    }
}
