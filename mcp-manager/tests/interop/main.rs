#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests"
)]
//! A manager of five real servers of other people's making. `cargo xtask interop` installs them
//! and runs this.
#![cfg(target_os = "linux")]

mod installed;
mod process;
mod questions;

use std::collections::BTreeSet;
use std::time::Duration;

use mcp_client::CallError;
use mcp_manager::{
    DefaultConnector, Manager, ManagerEvent, ServerCommand, ServerConfig, ServerState, Wait,
    flatten,
};
use mcp_transport::ProcessTracker;
use serde_json::{Value, json};

use crate::installed::{node, npx, python};
use crate::process::{group, kill};

const SERVERS: [&str; 5] = ["everything", "files", "git", "memory", "time"];

fn configs(folder: &std::path::Path) -> Vec<ServerConfig> {
    let folder = folder.to_str().unwrap();
    let endpoint = |server: &str| match server {
        "everything" => node("server-everything").with_args(["stdio"]),
        "files" => node("server-filesystem").with_args([folder]),
        "git" => python("mcp-server-git").with_args(["--repository", folder]),
        // Through a launcher, which starts a shell, which starts the server.
        "memory" => {
            npx("mcp-server-memory").with_env("MEMORY_FILE_PATH", format!("{folder}/graph"))
        }
        _ => python("mcp-server-time"),
    };
    let config = |server: &str, endpoint: ServerCommand| {
        let config = ServerConfig::stdio(server.parse().unwrap(), endpoint);
        // Interpreters are slow to start on a busy machine.
        config.with_connect_timeout(Duration::from_secs(120))
    };
    SERVERS
        .map(|server| config(server, endpoint(server)))
        .into()
}

async fn say(manager: &Manager, server: &str, tool: &str, arguments: Value) -> String {
    let result = manager.call_tool(server, tool, arguments).await;
    flatten(
        &result
            .unwrap_or_else(|error| panic!("{server}: {error:?}"))
            .content,
    )
}

#[tokio::test(flavor = "multi_thread")]
async fn five_servers_work_at_once_one_is_killed_and_returns_and_none_is_left() {
    let folder = tempfile::tempdir().unwrap();
    let git = std::process::Command::new("git")
        .arg("init")
        .arg(folder.path())
        .output();
    assert!(git.unwrap().status.success());
    std::fs::write(folder.path().join("poem.txt"), "roses\n").unwrap();
    let folder_name = folder.path().to_str().unwrap();

    let tracker = ProcessTracker::new();
    let connector = DefaultConnector::new().with_tracker(tracker.clone());
    let manager = Manager::builder().connector(connector).build();
    let startup = manager.connect_all(configs(folder.path()), Wait::All).await;
    assert_eq!(startup.connected.len(), 5, "{:?}", startup.errors);
    let catalog = manager.catalog();
    let servers: BTreeSet<&str> = catalog
        .tools()
        .iter()
        .map(|tool| tool.server().as_str())
        .collect();
    assert_eq!(servers, SERVERS.into());
    assert!(catalog.tool("mcp__files__read_text_file").is_some());

    let poem = json!({"path": format!("{folder_name}/poem.txt")});
    let (echo, poem, status, graph, time) = tokio::join!(
        say(&manager, "everything", "echo", json!({"message": "hello"})),
        say(&manager, "files", "read_text_file", poem),
        say(
            &manager,
            "git",
            "git_status",
            json!({"repo_path": folder_name})
        ),
        say(&manager, "memory", "read_graph", json!({})),
        say(
            &manager,
            "time",
            "get_current_time",
            json!({"timezone": "UTC"})
        ),
    );
    assert_eq!((echo.as_str(), poem.as_str()), ("Echo: hello", "roses\n"));
    assert!(status.contains("poem.txt") && graph.contains("entities") && time.contains("UTC"));

    // One is killed in the middle of a call.
    let mut events = manager.events();
    let tracked = tracker.processes();
    let victim = tracked
        .iter()
        .find(|process| process.program.contains("server-everything"));
    let victim = victim.and_then(|process| process.id).unwrap();
    let working = manager.clone();
    let call = tokio::spawn(async move {
        let long = json!({"duration": 60, "steps": 60});
        working
            .call_tool("everything", "trigger-long-running-operation", long)
            .await
    });
    // The others do not notice, and by the time they have answered the call is under way.
    let time = say(
        &manager,
        "time",
        "get_current_time",
        json!({"timezone": "UTC"}),
    )
    .await;
    assert!(time.contains("UTC"));
    kill(victim);
    let error = call.await.unwrap().unwrap_err();
    assert!(
        matches!(error.call(), Some(CallError::OutcomeUnknown { .. })),
        "{error:?}"
    );
    let echo = say(&manager, "everything", "echo", json!({"message": "again"})).await;
    assert_eq!(echo, "Echo: again", "it returned, and the next call works");
    let mut reported = Vec::new();
    while let Some(event) = events.try_next() {
        match event {
            ManagerEvent::StateChanged { ref server, .. } => {
                assert_eq!(server.as_str(), "everything")
            }
            ManagerEvent::Reconnecting { .. } | ManagerEvent::Reconnected { .. } => {
                reported.push(event.name())
            }
            _ => {}
        }
    }
    assert_eq!(reported, ["mcp_reconnecting", "mcp_reconnected"]);
    assert!(
        manager
            .servers()
            .iter()
            .all(|server| server.state == ServerState::Connected)
    );

    // Launchers and what they have started: all of it is gone.
    let groups: Vec<u32> = tracker
        .processes()
        .iter()
        .filter_map(|process| process.id)
        .collect();
    assert_eq!(groups.len(), 5);
    let sizes: Vec<usize> = groups.iter().map(|id| group(*id).len()).collect();
    assert!(
        sizes.iter().any(|size| *size > 1),
        "the launcher's server is there: {sizes:?}"
    );
    manager.shutdown().await;
    for id in groups {
        assert_eq!(group(id), Vec::<u32>::new(), "orphans of {id}");
    }
    assert!(tracker.processes().is_empty());
}
