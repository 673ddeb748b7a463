//! Servers of others work under the profile that is suggested for them. `cargo xtask interop` installs them.
#![cfg(target_os = "linux")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "tests"
)]

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use mcp_client::{Client, ClientBuilder, ClientLimits};
use mcp_sandbox::{PathKind, Profile, Sandbox, suggest};
use mcp_transport::{LocalSpawner, ServerCommand, Spawner, StdioConnect};
use serde_json::{Value, json};

/// What takes longer than this never comes: machines under test may be slow and busy.
const TEST_TIMEOUT: Duration = Duration::from_secs(120);

fn folder(variable: &str) -> PathBuf {
    match std::env::var_os(variable) {
        Some(folder) => folder.into(),
        None => panic!("{variable} is not set: run `cargo xtask interop`, which installs servers"),
    }
}

fn node(package: &str) -> ServerCommand {
    let script = folder("INTEROP_NODE").join(package).join("dist/index.js");
    ServerCommand::new("node").with_arg(script.to_str().unwrap())
}

fn python(program: &str) -> ServerCommand {
    let program = folder("INTEROP_PYTHON").join(program);
    ServerCommand::new(program.to_str().unwrap())
}

fn kind(path: &Path) -> PathKind {
    match fs::metadata(path) {
        Ok(it) if it.is_dir() => PathKind::Folder,
        Ok(_) => PathKind::File,
        Err(_) => PathKind::Missing,
    }
}

/// A server under the suggested profile, with what only a host can know added.
async fn contained(
    command: ServerCommand,
    own: &Path,
    add: impl FnOnce(Profile) -> Profile,
) -> Client {
    let (profile, _) = suggest(&command, kind);
    // Root's processes are not limited.
    let profile = add(profile).weaker_if_need_be();
    connect(command, Arc::new(Sandbox::new(profile, own))).await
}

async fn connect(command: ServerCommand, spawner: Arc<dyn Spawner>) -> Client {
    let connect = StdioConnect::new(command, spawner);
    ClientBuilder::new(Arc::new(connect))
        .name("interop")
        .limits(
            ClientLimits::default()
                .with_connect_timeout(TEST_TIMEOUT)
                .with_probe_timeout(TEST_TIMEOUT),
        )
        .connect()
        .await
        .unwrap()
}

/// What a tool says, and whether it failed.
async fn say(client: &Client, tool: &str, arguments: Value) -> (String, bool) {
    let result = client.call_tool(tool, arguments).await.unwrap();
    let text = result.content.iter().filter_map(|one| one.as_text());
    (text.collect(), result.failed())
}

#[tokio::test(flavor = "multi_thread")]
async fn the_filesystem_server_works_in_its_folder() {
    let temp = tempfile::tempdir().unwrap();
    let work = temp.path().canonicalize().unwrap().join("work");
    fs::create_dir(&work).unwrap();
    let command = node("@modelcontextprotocol/server-filesystem").with_arg(work.to_str().unwrap());
    let client = contained(command, &temp.path().join("own"), |it| it).await;
    let path = work.join("a.txt");
    let (said, failed) = say(
        &client,
        "write_file",
        json!({"path": path, "content": "hello"}),
    )
    .await;
    assert!(!failed, "{said}");
    assert_eq!(fs::read_to_string(path).unwrap(), "hello");
    client.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_memory_server_keeps_its_graph_in_its_own_folder() {
    let temp = tempfile::tempdir().unwrap();
    let own = temp.path().join("own");
    let graph = own.join("home/graph.jsonl");
    let command = node("@modelcontextprotocol/server-memory")
        .with_env("MEMORY_FILE_PATH", graph.to_str().unwrap());
    let client = contained(command, &own, |it| it).await;
    let entity = json!({"name": "Ada", "entityType": "person", "observations": ["counts"]});
    let (said, failed) = say(&client, "create_entities", json!({"entities": [entity]})).await;
    assert!(!failed, "{said}");
    assert!(fs::read_to_string(graph).unwrap().contains("Ada"));
    client.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_reference_servers_of_two_years_answer() {
    for package in [
        "@modelcontextprotocol/server-everything",
        "server-everything-2025",
    ] {
        let temp = tempfile::tempdir().unwrap();
        let client = contained(node(package), &temp.path().join("own"), |it| it).await;
        let (said, failed) = say(&client, "echo", json!({"message": "hello"})).await;
        assert!(!failed && said.contains("hello"), "{package}: {said}");
        client.close().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_time_server_answers() {
    let temp = tempfile::tempdir().unwrap();
    let client = contained(python("mcp-server-time"), &temp.path().join("own"), |it| it).await;
    let (said, failed) = say(&client, "get_current_time", json!({"timezone": "UTC"})).await;
    assert!(!failed && said.contains("UTC"), "{said}");
    client.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_git_server_reads_its_repository_and_no_other() {
    let temp = tempfile::tempdir().unwrap();
    let root = temp.path().canonicalize().unwrap();
    for name in ["work", "other"] {
        let done = std::process::Command::new("git")
            .args(["init", "-q"])
            .arg(root.join(name))
            .status();
        assert!(done.unwrap().success());
        fs::write(root.join(name).join("a.txt"), "hello").unwrap();
    }
    let repository = root.join("work");
    let command =
        python("mcp-server-git").with_args(["--repository", repository.to_str().unwrap()]);
    let client = contained(command, &root.join("own"), |it| it).await;
    let (said, failed) = say(&client, "git_status", json!({"repo_path": repository})).await;
    assert!(!failed && said.contains("a.txt"), "{said}");
    let (said, failed) = say(
        &client,
        "git_status",
        json!({"repo_path": root.join("other")}),
    )
    .await;
    assert!(failed, "{said}");
    client.close().await;
}

/// No claim about time: the numbers are for people.
#[tokio::test(flavor = "multi_thread")]
async fn the_overhead_of_a_start_is_printed() {
    let temp = tempfile::tempdir().unwrap();
    let command = || ServerCommand::new("cat");
    let profile = Profile::new().weaker_if_need_be();
    let sandbox: Arc<dyn Spawner> = Arc::new(Sandbox::new(profile, temp.path().join("own")));
    let local: Arc<dyn Spawner> = Arc::new(LocalSpawner::new());
    for (name, spawner) in [("uncontained", local), ("contained", sandbox)] {
        let mut times = Vec::new();
        for _ in 0..50 {
            let connect = StdioConnect::new(command(), Arc::clone(&spawner));
            let start = Instant::now();
            let transport = connect.start().await.unwrap();
            times.push(start.elapsed());
            mcp_transport::Transport::close(&transport).await;
        }
        times.sort();
        println!(
            "start, {name}: median {:?}, slowest {:?}",
            times[25], times[49]
        );
    }
}
