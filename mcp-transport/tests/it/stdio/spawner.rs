//! The plug point for sandboxes.

use std::io::{BufRead, BufReader, Write};
use std::thread;

use async_trait::async_trait;
use mcp_transport::{ProcessStatus, SpawnRequest, SpawnedProcess, Spawner, Stop, TransportError};
use tokio::sync::watch;

use super::*;

/// Runs servers as threads: no process anywhere.
#[derive(Debug)]
struct Threads;

#[derive(Debug)]
struct ThreadServer {
    ended: watch::Receiver<bool>,
}

#[async_trait]
impl Spawner for Threads {
    async fn spawn(
        &self,
        request: SpawnRequest,
    ) -> Result<Arc<dyn SpawnedProcess>, TransportError> {
        assert_eq!(
            (request.program.as_str(), request.args.as_slice()),
            ("shout", &["!".to_owned()][..])
        );
        assert!(
            !format!("{request:?}").contains("hush"),
            "no value in Debug"
        );
        let (end, ended) = watch::channel(false);
        thread::spawn(move || {
            let mut stdout = request.stdout;
            for line in BufReader::new(request.stdin).lines() {
                writeln!(stdout, "{}", line.unwrap().to_uppercase()).unwrap();
            }
            drop(stdout);
            end.send_replace(true);
        });
        Ok(Arc::new(ThreadServer { ended }))
    }
}

#[async_trait]
impl SpawnedProcess for ThreadServer {
    fn id(&self) -> Option<u32> {
        None
    }

    async fn exited(&self) -> ProcessStatus {
        let _ = self.ended.clone().wait_for(|ended| *ended).await;
        ProcessStatus::exited(0)
    }

    fn stop(&self, _: Stop) {}
}

#[tokio::test]
async fn a_sandbox_of_ones_own_starts_servers() {
    let command = ServerCommand::new("shout")
        .with_arg("!")
        .with_env("SECRET", "hush");
    let connect = StdioConnect::new(command, Arc::new(Threads));
    let transport = connect.start().await.unwrap();
    assert_eq!(transport.process_id(), None);
    transport.send(request(1, "hello")).await.unwrap();
    assert_eq!(message(&transport).await, "{\"ID\":1,\"TEXT\":\"HELLO\"}");
    transport.close().await;
    assert_eq!(transport.exit().unwrap().code, Some(0));
}
