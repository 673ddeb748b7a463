//! Processes that are killed in the middle of a call: no call is made twice, and none is left behind.

use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use mcp_client::{Client, ClientBuilder};
use mcp_transport::{LocalSpawner, ServerCommand, StdioConnect};
use serde_json::json;

use super::{gateway, switchboard};

const ROUNDS: usize = 30;

fn lines(folder: &Path, name: &str) -> Vec<String> {
    let text = std::fs::read_to_string(folder.join(name)).unwrap_or_default();
    text.lines().map(str::to_owned).collect()
}

async fn until(what: &str, mut reached: impl FnMut() -> bool) {
    let waiting = async {
        while !reached() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    let waited = tokio::time::timeout(Duration::from_secs(60), waiting).await;
    assert!(waited.is_ok(), "{what}");
}

fn kill(pid: &str) {
    let killed = Command::new("kill").args(["-9", pid]).status().unwrap();
    assert!(killed.success());
}

fn is_alive(pid: &str) -> bool {
    let state = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let state = state.rsplit_once(") ").map_or("", |(_, rest)| rest);
    !matches!(state.chars().next(), None | Some('Z' | 'X'))
}

fn servers(folder: &Path) -> serde_json::Value {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/interop/counter.py");
    json!({"counter": {"command": "python3", "args": [script, folder]}})
}

async fn connect(program: &Path) -> Client {
    let command = ServerCommand::new(program.to_str().unwrap());
    let end = StdioConnect::new(command, Arc::new(LocalSpawner::new()));
    ClientBuilder::new(Arc::new(end)).connect().await.unwrap()
}

/// A call that takes a minute, and has begun at its server.
async fn begun(client: &Client, folder: &Path, id: &str) -> tokio::task::JoinHandle<bool> {
    let (client, name) = (client.clone(), id.to_owned());
    let call = tokio::spawn(async move {
        let arguments = json!({"id": name, "seconds": 60});
        let called = client.call_tool("count", arguments).await;
        called.is_ok_and(|result| !result.failed())
    });
    until("the call has begun", || {
        lines(folder, "calls").iter().any(|line| line == id)
    })
    .await;
    call
}

fn once(folder: &Path, ids: impl Iterator<Item = String>) {
    let calls = lines(folder, "calls");
    for id in ids {
        let times = calls.iter().filter(|line| **line == id).count();
        assert_eq!(times, 1, "{id} was made {times} times");
    }
}

/// Kills the server in the middle of a call, and calls it again once it is back.
async fn lose(client: &Client, folder: &Path, round: usize) {
    let call = begun(client, folder, &format!("lost-{round}")).await;
    kill(lines(folder, "pids").last().unwrap());
    assert!(!call.await.unwrap(), "round {round}: there is no result");
    // The session goes on, with the server's next process; until it is there, calls are refused, by
    // name, and not made.
    let id = format!("next-{round}");
    let again = async {
        while let Err(error) = client.call_tool("count", json!({"id": id})).await {
            let text = error.to_string();
            assert!(text.contains("counter"), "round {round}: {text}");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    let again = tokio::time::timeout(Duration::from_secs(120), again).await;
    assert!(again.is_ok(), "round {round}: the server did not come back");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_is_killed_ends_its_call_and_not_the_session() {
    let home = tempfile::tempdir().unwrap();
    let folder = home.path();
    let program = gateway(folder, &servers(folder));
    // A server that crashes again and again is started less and less often: two rounds a session.
    for rounds in (0..ROUNDS).collect::<Vec<_>>().chunks(2) {
        let client = connect(&program).await;
        for round in rounds {
            lose(&client, folder, *round).await;
        }
        client.close().await;
    }
    let ids = (0..ROUNDS).flat_map(|round| [format!("lost-{round}"), format!("next-{round}")]);
    once(folder, ids);
    let pids = lines(folder, "pids");
    until("no server is left", || {
        !pids.iter().any(|pid| is_alive(pid))
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_gateway_that_is_killed_leaves_no_process_and_an_audit_log_that_tells() {
    let home = tempfile::tempdir().unwrap();
    let folder = home.path();
    let program = gateway(folder, &servers(folder));
    for round in 0..ROUNDS {
        let client = connect(&program).await;
        let call = begun(&client, folder, &format!("lost-{round}")).await;
        let pid = lines(folder, "pids").last().unwrap().clone();
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
        let parent = stat
            .rsplit_once(") ")
            .unwrap()
            .1
            .split(' ')
            .nth(1)
            .unwrap()
            .to_owned();
        kill(&parent);
        assert!(!call.await.unwrap(), "round {round}");
        client.close().await;
    }
    once(folder, (0..ROUNDS).map(|round| format!("lost-{round}")));
    let pids = lines(folder, "pids");
    until("no server is left", || {
        !pids.iter().any(|pid| is_alive(pid))
    })
    .await;
    // Every call was recorded before it was made, and has no end.
    let audit = |verb: &str| {
        let mut audit = Command::new(switchboard());
        let output = audit
            .args(["audit", verb, "--json"])
            .env("SWITCHBOARD_HOME", folder);
        let output = output.output().unwrap();
        assert!(
            output.status.success(),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
        String::from_utf8(output.stdout).unwrap()
    };
    let records = audit("export");
    assert_eq!(records.lines().count(), ROUNDS);
    assert!(!records.contains("outcome"), "{records}");
    audit("verify");
}
