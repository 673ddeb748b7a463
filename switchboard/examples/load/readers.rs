//! Many readers of live events, of all users at all replicas.

use std::collections::BTreeSet;

use serde_json::Value;
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::TcpStream;
use tokio::runtime::Runtime;
use tokio::task::JoinSet;

use crate::door::Door;
use crate::server::Server;

/// Readers who each hear the end of every conversation of their user, once.
pub(super) struct Readers {
    runtime: Runtime,
    tasks: JoinSet<()>,
}

impl Readers {
    /// Opens the streams: `conversations` is how many all users together will have.
    pub(super) fn open(servers: &[Server], readers: usize, conversations: usize) -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .unwrap();
        let users = servers[0].doors.len();
        let mut tasks = JoinSet::new();
        for number in 0..readers {
            let (user, replica) = (number % users, number / users % servers.len());
            let door = servers[replica].doors[user].clone();
            let ends = (conversations + users - 1 - user) / users;
            let opened = runtime.block_on(open(&door));
            tasks.spawn_on(read(opened, ends), runtime.handle());
        }
        Self { runtime, tasks }
    }

    /// Waits until all have heard of everything.
    pub(super) fn join(mut self) {
        while let Some(read) = self.runtime.block_on(self.tasks.join_next()) {
            read.unwrap();
        }
    }
}

async fn open(door: &Door) -> BufReader<TcpStream> {
    let mut stream = TcpStream::connect(("127.0.0.1", door.port)).await.unwrap();
    stream.write_all(door.wish().as_bytes()).await.unwrap();
    let mut lines = BufReader::new(stream);
    let mut line = String::new();
    while !line.starts_with(": open") {
        line.clear();
        let read = lines.read_line(&mut line).await.unwrap();
        assert!(read > 0, "no events");
    }
    lines
}

async fn read(mut lines: BufReader<TcpStream>, ends: usize) {
    let (mut ended, mut line, mut is_end) = (BTreeSet::new(), String::new(), false);
    while ended.len() < ends {
        line.clear();
        let read = lines.read_line(&mut line).await.unwrap();
        assert!(read > 0, "the events ended");
        if let Some(kind) = line.strip_prefix("event: ") {
            is_end = kind.trim() == "run.finished";
        } else if let Some(data) = line.strip_prefix("data: ").filter(|_| is_end) {
            let data: Value = serde_json::from_str(data).unwrap();
            let id = data["conversationId"].as_str().unwrap().to_owned();
            assert!(ended.insert(id), "reported twice: {data}");
        }
    }
}
