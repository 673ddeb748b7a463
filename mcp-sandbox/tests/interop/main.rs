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
use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use mcp_client::{Client, ClientBuilder, ClientLimits};
use mcp_sandbox::{Network, PathKind, Profile, Sandbox, suggest};
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
    python_of("INTEROP_PYTHON", program)
}

fn python_of(environment: &str, program: &str) -> ServerCommand {
    let program = folder(environment).join(program);
    ServerCommand::new(program.to_str().unwrap())
}

/// A site with one page; its port.
fn site() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for client in listener.incoming() {
            let mut client = client.unwrap();
            let _ = client.read(&mut [0; 4096]);
            let page =
                "<html><head><title>Local site</title></head><body><h1>Hello</h1></body></html>";
            let _ = write!(
                client,
                "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{page}",
                page.len()
            );
        }
    });
    port
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

#[tokio::test(flavor = "multi_thread")]
async fn the_server_that_thinks_in_steps_answers() {
    let temp = tempfile::tempdir().unwrap();
    let command = node("@modelcontextprotocol/server-sequential-thinking");
    let client = contained(command, &temp.path().join("own"), |it| it).await;
    let thought = json!({"thought": "one", "nextThoughtNeeded": false, "thoughtNumber": 1, "totalThoughts": 1});
    let (said, failed) = say(&client, "sequentialthinking", thought).await;
    assert!(!failed && said.contains("thoughtHistoryLength"), "{said}");
    client.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_sqlite_server_writes_its_database() {
    let temp = tempfile::tempdir().unwrap();
    let folder = temp.path().canonicalize().unwrap().join("some/data");
    fs::create_dir_all(&folder).unwrap();
    let database = folder.join("notes.db");
    let command = python_of("INTEROP_OLDER", "mcp-server-sqlite")
        .with_args(["--db-path", database.to_str().unwrap()]);
    let client = contained(command, &temp.path().join("own"), |it| it).await;
    for (tool, query) in [
        ("create_table", "CREATE TABLE notes (text TEXT)"),
        ("write_query", "INSERT INTO notes VALUES ('hello')"),
    ] {
        let (said, failed) = say(&client, tool, json!({"query": query})).await;
        assert!(!failed && !said.contains("error"), "{said}");
    }
    let query = json!({"query": "SELECT text FROM notes"});
    let (said, _) = say(&client, "read_query", query).await;
    assert!(said.contains("hello"), "{said}");
    client.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_fetch_server_reaches_the_site_of_its_profile_and_no_other() {
    let temp = tempfile::tempdir().unwrap();
    let (listed, other) = (site(), site());
    let command =
        python("mcp-server-fetch").with_args(["--ignore-robots-txt", "--allow-private-ips"]);
    let rule = format!("127.0.0.1:{listed}").parse().unwrap();
    let reach = |profile: Profile| profile.with_network(Network::Hosts(vec![rule]));
    let client = contained(command, &temp.path().join("own"), reach).await;
    // The raw page: to make Markdown of it, the server installs a package of npm's.
    let page = |port| json!({"url": format!("http://127.0.0.1:{port}/"), "raw": true});
    let (said, failed) = say(&client, "fetch", page(listed)).await;
    assert!(!failed && said.contains("<h1>Hello</h1>"), "{said}");
    let (said, failed) = say(&client, "fetch", page(other)).await;
    assert!(failed && !said.contains("<h1>Hello</h1>"), "{said}");
    client.close().await;
}

/// Its browser needs more than servers do: `/proc`, and sockets between its processes.
#[tokio::test(flavor = "multi_thread")]
async fn the_playwright_server_opens_a_page() {
    let temp = tempfile::tempdir().unwrap();
    let script = folder("INTEROP_NODE").join("@playwright/mcp/cli.js");
    let browser = folder("CHROMIUM");
    let own = temp.path().canonicalize().unwrap().join("own");
    let pages = own.join("home/pages");
    let command = ServerCommand::new("node").with_args([
        script.to_str().unwrap(),
        "--headless",
        "--isolated",
        "--no-sandbox",
        "--executable-path",
        browser.to_str().unwrap(),
        "--output-dir",
        pages.to_str().unwrap(),
    ]);
    let add = |profile: Profile| {
        profile
            .with_read("/proc")
            .with_read("/etc/chromium.d")
            .with_network(Network::All)
            .with_unix_sockets()
            .with_attributes()
    };
    let client = contained(command, &own, add).await;
    let page = json!({"url": format!("http://127.0.0.1:{}/", site())});
    let (said, failed) = say(&client, "browser_navigate", page).await;
    assert!(!failed && said.contains("Local site"), "{said}");
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
