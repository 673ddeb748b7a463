//! Programs on this machine, each in its own process group (on Windows, its own job).

use std::io;
use std::path::Path;
use std::process::{Child, Command};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use tokio::sync::{oneshot, watch};

use super::{ProcessStatus, SpawnRequest, SpawnedProcess, Spawner, Stop, resolve, sys};
use crate::{BoxError, TransportError};

/// The time the group may keep running after its leader has exited …
const LINGER: Duration = Duration::from_millis(500);
/// … the time it gets after SIGTERM …
const TERMINATION: Duration = Duration::from_secs(1);
/// … and the time we wait for it after SIGKILL.
const AFTER_KILL: Duration = Duration::from_secs(2);
const POLL: Duration = Duration::from_millis(10);
const KEEPER_STACK: usize = 256 * 1024;

/// Starts programs on this machine.
///
/// The program is searched in the `PATH` it will get itself, then in the usual directories for developer tools, then in
/// the `PATH` of the login shell, which an application that was not started from a shell does not have.
///
/// Each child leads a process group (on Windows, it is in a job object), which is stopped as a whole. On Linux the
/// kernel kills the child when this process ends; Windows kills the whole job. A
/// [`ProcessLedger`](super::ProcessLedger) finds any other leftovers.
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct LocalSpawner;

impl LocalSpawner {
    /// Creates a spawner; it has no state.
    pub fn new() -> Self {
        Self
    }

    /// Starts a server like [`spawn`](Spawner::spawn), after `prepare` has changed its command. Sandboxes build on it.
    ///
    /// `prepare` may block. It sees the resolved path of the program, the arguments, the whole environment and the
    /// directory; the command already leads a process group and has its pipes.
    pub async fn spawn_prepared(
        &self,
        request: SpawnRequest,
        prepare: impl FnOnce(&mut Command) -> io::Result<()> + Send + 'static,
    ) -> Result<Arc<dyn SpawnedProcess>, TransportError> {
        let program = request.program.clone();
        let failed = |source: BoxError| TransportError::Spawn { program, source };
        let (report, started) = oneshot::channel();
        let keeper = thread::Builder::new()
            .name("mcp-keeper".to_owned())
            .stack_size(KEEPER_STACK)
            .spawn(move || keep(request, prepare, report));
        if let Err(error) = keeper {
            return Err(failed(error.into()));
        }
        match started.await {
            Ok(started) => started.map(|process| Arc::new(process) as Arc<dyn SpawnedProcess>),
            Err(lost) => Err(failed(lost.into())),
        }
    }
}

#[async_trait]
impl Spawner for LocalSpawner {
    async fn spawn(
        &self,
        request: SpawnRequest,
    ) -> Result<Arc<dyn SpawnedProcess>, TransportError> {
        self.spawn_prepared(request, |_| Ok(())).await
    }
}

/// The handle of a child of this process. Dropping it kills what remains of the group, even if it is dropped before it
/// reaches the caller.
#[derive(Debug)]
struct LocalProcess {
    kept: Arc<Kept>,
}

/// The state that the handle shares with the keeper, a thread that starts the child and stays until the whole group has
/// ended: the kernel kills the child when the thread that started it ends, and the keeper reaps the child even if the
/// async runtime has ended.
#[derive(Debug)]
struct Kept {
    id: u32,
    group: sys::Group,
    /// Locked for writing while the child is reaped and for reading while it is signalled, so that no signal can reach
    /// another process with the child's id.
    life: watch::Sender<Life>,
}

#[derive(Clone, Copy, Debug)]
enum Life {
    Running,
    Exited(ProcessStatus),
    Gone(ProcessStatus),
}

/// The keeper thread.
fn keep(
    request: SpawnRequest,
    prepare: impl FnOnce(&mut Command) -> io::Result<()>,
    report: oneshot::Sender<Result<LocalProcess, TransportError>>,
) {
    match start(request, prepare) {
        Ok((mut child, kept)) => {
            let kept = Arc::new(kept);
            let _ = report.send(Ok(LocalProcess {
                kept: Arc::clone(&kept),
            }));
            kept.reap(&mut child);
            kept.see_off_the_rest();
        }
        Err(error) => {
            let _ = report.send(Err(error));
        }
    }
}

fn start(
    request: SpawnRequest,
    prepare: impl FnOnce(&mut Command) -> io::Result<()>,
) -> Result<(Child, Kept), TransportError> {
    let program = request.program.clone();
    let failed = |source: io::Error| TransportError::Spawn {
        program: program.clone(),
        source: Box::new(source),
    };
    if let Some(cwd) = request.cwd.as_deref().filter(|cwd| !cwd.is_dir()) {
        let text = format!(
            "its working directory '{}' is not a directory",
            cwd.display()
        );
        return Err(failed(io::Error::new(io::ErrorKind::NotFound, text)));
    }
    let found = resolve::resolve(&request.program, &request.env, request.cwd.as_deref())?;
    let mut command = Command::new(&found.path);
    command.args(request.args).env_clear().envs(request.env);
    if let Some(path) = found.search_path {
        command.env("PATH", path);
    }
    if let Some(cwd) = request.cwd {
        command.current_dir(cwd);
    }
    command
        .stdin(request.stdin)
        .stdout(request.stdout)
        .stderr(request.stderr);
    sys::prepare(&mut command);
    prepare(&mut command).map_err(&failed)?;
    let mut child = command
        .spawn()
        .map_err(|error| failed(explain(error, &found.path)))?;
    // The command holds our copies of the child's pipe ends: without this there is no end of file.
    drop(command);
    match sys::Group::of(&child) {
        Ok(group) => {
            let (id, life) = (child.id(), watch::Sender::new(Life::Running));
            Ok((child, Kept { id, group, life }))
        }
        Err(error) => {
            let _ = child.kill().and_then(|()| child.wait());
            Err(failed(error))
        }
    }
}

/// "Not found" for a file that exists means that its interpreter is missing.
fn explain(error: io::Error, path: &Path) -> io::Error {
    if error.kind() != io::ErrorKind::NotFound || !path.exists() {
        return error;
    }
    let text = format!(
        "'{}' is there, but the interpreter it names is not",
        path.display()
    );
    io::Error::new(io::ErrorKind::NotFound, text)
}

impl Kept {
    fn reap(&self, child: &mut Child) {
        // If this fails, the wait below still works, only without the lock's protection.
        let _ = sys::wait_unreaped(child);
        self.life.send_modify(|life| {
            let status = child.wait().map(ProcessStatus::from).unwrap_or_default();
            *life = if self.group.is_empty() {
                Life::Gone(status)
            } else {
                Life::Exited(status)
            };
        });
    }

    /// Ends what the leader has left behind, with SIGTERM first.
    fn see_off_the_rest(&self) {
        let steps = [
            (LINGER, Stop::Terminate),
            (TERMINATION, Stop::Kill),
            (AFTER_KILL, Stop::Kill),
        ];
        for (timeout, then) in steps {
            let deadline = Instant::now() + timeout;
            while Instant::now() < deadline {
                self.settle(self.group.is_empty());
                if matches!(*self.life.borrow(), Life::Gone(_)) {
                    return;
                }
                thread::sleep(POLL);
            }
            self.stop(then);
        }
        self.settle(true);
    }

    fn settle(&self, is_gone: bool) {
        self.life.send_if_modified(|life| match *life {
            Life::Exited(status) if is_gone => {
                *life = Life::Gone(status);
                true
            }
            _ => false,
        });
    }

    fn stop(&self, how: Stop) {
        let life = self.life.borrow();
        if !matches!(*life, Life::Gone(_)) {
            self.group.signal(how);
        }
    }
}

#[async_trait]
impl SpawnedProcess for LocalProcess {
    fn id(&self) -> Option<u32> {
        Some(self.kept.id)
    }

    async fn exited(&self) -> ProcessStatus {
        let mut life = self.kept.life.subscribe();
        let ended = life.wait_for(|life| !matches!(life, Life::Running));
        match ended.await.as_deref() {
            Ok(Life::Exited(status) | Life::Gone(status)) => *status,
            _ => ProcessStatus::default(),
        }
    }

    async fn gone(&self) {
        let mut life = self.kept.life.subscribe();
        let _ = life.wait_for(|life| matches!(life, Life::Gone(_))).await;
    }

    fn stop(&self, how: Stop) {
        self.kept.stop(how);
    }
}

impl Drop for LocalProcess {
    fn drop(&mut self) {
        self.kept.stop(Stop::Kill);
    }
}
