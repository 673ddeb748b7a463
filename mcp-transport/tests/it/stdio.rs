//! Servers as child processes: shell scripts, most of them.

mod backpressure;
mod command;
mod end;
#[cfg(target_os = "linux")]
mod ledger;
mod noise;
mod shutdown;
mod spawner;
mod start;
mod tracker;

use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use mcp_transport::{
    Closed, Incoming, LocalSpawner, Outgoing, ProcessTracker, ServerCommand, StdioConnect,
    StdioTransport, Transport,
};
use tokio::time::timeout;

/// Longer than anything takes on the slowest machine.
const TEST_TIMEOUT: Duration = Duration::from_secs(60);

/// A server that is this shell script. It is not tracked with the whole program.
fn sh(script: &str) -> StdioConnect {
    connect(ServerCommand::new("sh").with_args(["-c", script]))
}

fn connect(command: ServerCommand) -> StdioConnect {
    StdioConnect::new(command, Arc::new(LocalSpawner::new())).with_tracker(ProcessTracker::new())
}

fn request(id: i64, text: &str) -> Outgoing {
    let body = format!("{{\"id\":{id},\"text\":\"{text}\"}}");
    Outgoing::request(id.into(), "echo", body.into_bytes())
}

async fn recv(transport: &StdioTransport) -> Incoming {
    timeout(TEST_TIMEOUT, transport.recv())
        .await
        .expect("nothing came")
}

async fn message(transport: &StdioTransport) -> String {
    match recv(transport).await {
        Incoming::Message { body, stream: None } => String::from_utf8(body).unwrap(),
        other => panic!("{other:?}"),
    }
}

async fn closed(transport: &StdioTransport) -> Closed {
    match recv(transport).await {
        Incoming::Closed(closed) => closed,
        other => panic!("{other:?}"),
    }
}

/// Why the connection ended.
async fn loss(transport: &StdioTransport) -> String {
    closed(transport)
        .await
        .error
        .expect("a clean end")
        .to_string()
}

/// Tells when every process that holds it is gone: the reading end of a named pipe.
struct Lifeline {
    path: PathBuf,
}

impl Lifeline {
    fn new(dir: &Path, name: &str) -> Self {
        let path = dir.join(name);
        let made = std::process::Command::new("mkfifo")
            .arg(&path)
            .status()
            .unwrap();
        assert!(made.success());
        Self { path }
    }

    /// The shell words that take hold of it, for the script and all it starts.
    fn hold(&self) -> String {
        format!("exec 3>'{}'", self.path.display())
    }

    /// A hand on the other end. Opening waits until someone holds the line.
    fn watch(&self) -> impl Future<Output = ()> + use<> {
        let (path, (cut, is_cut)) = (self.path.clone(), tokio::sync::oneshot::channel());
        std::thread::spawn(move || {
            let mut line = std::fs::File::open(path).unwrap();
            let _ = line.read_to_end(&mut Vec::new());
            let _ = cut.send(());
        });
        async {
            timeout(TEST_TIMEOUT, is_cut)
                .await
                .expect("someone is left")
                .unwrap()
        }
    }
}
