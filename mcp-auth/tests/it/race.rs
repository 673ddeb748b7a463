//! Two processes, one expired token, and a refresh token that is good for one use.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::Arc;

use mcp_auth::{FileStore, OAuth};
use serde_json::json;

use crate::realm::{Realm, call};
use crate::store::Directory;

const SERVER: &str = "MCP_AUTH_RACE_SERVER";
const ROUNDS: usize = 100;

#[tokio::test(flavor = "multi_thread")]
async fn two_processes_refresh_one_token_a_hundred_times_without_a_logout() {
    let realm = Realm::start().await;
    realm.books.lock().token = json!({ "expires_in": 0 });
    realm.books.lock().refreshed = json!({ "expires_in": 3600 });
    let directory = Directory::new("race");
    let mut racers = [Racer::start(&realm.server()), Racer::start(&realm.server())];
    for round in 0..ROUNDS {
        let store = directory.0.join(round.to_string());
        let oauth = realm
            .oauth()
            .store(Arc::new(FileStore::new(&store)))
            .build()
            .unwrap();
        realm.challenge(&oauth).await.unwrap();
        for racer in &mut racers {
            writeln!(racer.commands, "{}", store.display()).unwrap();
        }
        for racer in &mut racers {
            let report = tokio::task::block_in_place(|| racer.report());
            assert_eq!(report, "200", "round {round}");
        }
    }
    let books = realm.books.lock();
    assert!(!books.reused, "a refresh token was used twice");
    assert_eq!(books.logins.len(), ROUNDS);
    assert_eq!(
        books.asked.len(),
        2 * ROUNDS,
        "a login and one refresh per round"
    );
}

/// A process that uses the store named on its standard input, without a way to log in.
struct Racer {
    child: Child,
    commands: ChildStdin,
    reports: BufReader<ChildStdout>,
}

impl Racer {
    fn start(server: &str) -> Self {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "race::a_racer", "--ignored", "--nocapture"])
            .env(SERVER, server)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let commands = child.stdin.take().unwrap();
        let reports = BufReader::new(child.stdout.take().unwrap());
        Self {
            child,
            commands,
            reports,
        }
    }

    fn report(&mut self) -> String {
        loop {
            let mut line = String::new();
            assert_ne!(
                self.reports.read_line(&mut line).unwrap(),
                0,
                "the racer is gone"
            );
            if let Some(report) = line.trim().strip_prefix("report: ") {
                return report.to_owned();
            }
        }
    }
}

impl Drop for Racer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[tokio::test]
#[ignore = "run as a process of its own by the test above"]
async fn a_racer() {
    let Ok(server) = std::env::var(SERVER) else {
        return;
    };
    for store in std::io::stdin().lock().lines() {
        let store = Arc::new(FileStore::new(store.unwrap()));
        let oauth = OAuth::builder(&server).store(store).build().unwrap();
        match call(&server, &oauth, "read").await {
            Ok(status) => println!("report: {status}"),
            Err(error) => println!("report: {error}"),
        }
    }
}
