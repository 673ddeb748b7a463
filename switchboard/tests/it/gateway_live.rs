//! A running `switchboard gateway` follows the store and its file, knows its callers, and leaves an
//! audit log that shows what goes missing.

use std::io::BufRead as _;
use std::path::Path;
use std::process::{Child, Stdio};
use std::sync::Arc;
use std::time::Duration;

use mcp_client::{Client, ClientBuilder};
use mcp_transport::{HttpConfig, LocalSpawner, ServerCommand, StdioConnect};
use serde_json::{Value, json};

use crate::program::{path, program};

pub(crate) fn switchboard(home: &Path, args: &[&str]) -> (bool, Value, String) {
    let mut command = program(args);
    let output = command
        .arg("--json")
        .env("SWITCHBOARD_HOME", home)
        .output()
        .unwrap();
    let value = serde_json::from_slice(&output.stdout).unwrap_or(Value::Null);
    (
        output.status.success(),
        value,
        String::from_utf8(output.stderr).unwrap(),
    )
}

pub(crate) fn add_demo(home: &Path, name: &str) {
    let (good, _, errors) =
        switchboard(home, &["servers", "add", name, "--", path(), "demo-server"]);
    assert!(good, "{errors}");
}

async fn over_stdio(home: &Path, args: &[&str]) -> Client {
    let command = ServerCommand::new(path())
        .with_args([&["gateway"], args].concat())
        .with_env("SWITCHBOARD_HOME", home.to_str().unwrap());
    let end = StdioConnect::new(command, Arc::new(LocalSpawner::new()));
    ClientBuilder::new(Arc::new(end)).connect().await.unwrap()
}

pub(crate) struct Http {
    child: Child,
    pub(crate) url: String,
    pub(crate) token: String,
}

impl Http {
    pub(crate) fn start(home: &Path, args: &[&str]) -> Self {
        Self::run(home, &[&["gateway", "--http", "--json"], args].concat())
    }

    /// Starts it with all its arguments.
    pub(crate) fn run(home: &Path, args: &[&str]) -> Self {
        let mut child = program(args)
            .env("SWITCHBOARD_HOME", home)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        let output = child.stdout.take().unwrap();
        std::io::BufReader::new(output)
            .read_line(&mut line)
            .unwrap();
        let printed: Value = serde_json::from_str(&line).unwrap();
        let text = |name: &str| printed[name].as_str().unwrap().to_owned();
        Self {
            child,
            url: text("url"),
            token: text("token"),
        }
    }

    pub(crate) async fn client(&self, token: &str) -> Result<Client, String> {
        let end = HttpConfig::new(&self.url).unwrap();
        let end = end
            .with_header("Authorization", &format!("Bearer {token}"))
            .unwrap();
        let client = ClientBuilder::new(end.into_connect().unwrap());
        client.connect().await.map_err(|error| error.to_string())
    }
}

impl Drop for Http {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub(crate) async fn names(client: &Client) -> Vec<String> {
    let tools = client.list_tools().await.unwrap().items;
    tools.iter().map(|tool| tool.name.clone()).collect()
}

/// Lists until the list is as wanted; it has to become so.
async fn until(client: &Client, wanted: impl Fn(&[String]) -> bool) {
    let listed = async {
        while !wanted(&names(client).await) {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(60), listed)
        .await
        .unwrap();
}

#[tokio::test]
async fn servers_that_come_and_go_reach_a_running_session_and_its_calls_go_on() {
    let folder = tempfile::tempdir().unwrap();
    let home = folder.path();
    add_demo(home, "one");
    let client = over_stdio(home, &["--approve", "auto"]).await;
    assert!(names(&client).await.contains(&"one__echo".to_owned()));
    let slow = client.clone();
    let running =
        tokio::spawn(async move { slow.call_tool("one__slow", json!({"ms": 600})).await });
    add_demo(home, "two");
    until(&client, |names| names.contains(&"two__echo".to_owned())).await;
    let echoed = client
        .call_tool("two__echo", json!({"text": "hi"}))
        .await
        .unwrap();
    assert!(!echoed.failed());
    assert!(switchboard(home, &["servers", "disable", "two"]).0);
    until(&client, |names| {
        !names.iter().any(|name| name.starts_with("two__"))
    })
    .await;
    let ended = running.await.unwrap().unwrap();
    assert!(!ended.failed(), "{ended:?}");
    client.close().await;
}

#[tokio::test]
async fn a_file_that_changes_is_read_again() {
    let folder = tempfile::tempdir().unwrap();
    let home = folder.path();
    let file = home.join("servers.json");
    let server = json!({"command": path(), "args": ["demo-server"]});
    let write = |servers: Value| {
        std::fs::write(&file, json!({ "mcpServers": servers }).to_string()).unwrap();
    };
    write(json!({"one": server}));
    let client = over_stdio(
        home,
        &["--approve", "auto", "--config", file.to_str().unwrap()],
    )
    .await;
    assert!(names(&client).await.contains(&"one__echo".to_owned()));
    // Half a file changes nothing.
    std::fs::write(&file, "{\"mcpServers\": {").unwrap();
    write(json!({"other": server, "one": server}));
    until(&client, |names| names.contains(&"other__echo".to_owned())).await;
    assert!(names(&client).await.contains(&"one__echo".to_owned()));
    client.close().await;
}

#[tokio::test]
async fn a_named_token_is_a_caller_with_its_assistants_servers_until_it_is_removed() {
    let folder = tempfile::tempdir().unwrap();
    let home = folder.path();
    add_demo(home, "one");
    add_demo(home, "two");
    let (good, _, errors) = switchboard(
        home,
        &[
            "assistants",
            "add",
            "narrow",
            "--server",
            "two",
            "--approve",
            "auto",
        ],
    );
    assert!(good, "{errors}");
    let args = [
        "gateway",
        "tokens",
        "add",
        "laptop",
        "--assistant",
        "narrow",
    ];
    let (good, made, errors) = switchboard(home, &args);
    assert!(good, "{errors}");
    let token = made["token"].as_str().unwrap().to_owned();
    assert!(!switchboard(home, &args).0, "a name is given once");
    let gateway = Http::start(home, &["--approve", "auto"]);
    let owner = gateway.client(&gateway.token).await.unwrap();
    assert!(names(&owner).await.contains(&"one__echo".to_owned()));
    let laptop = gateway.client(&token).await.unwrap();
    let seen = names(&laptop).await;
    assert!(
        seen.iter().all(|name| name.starts_with("two__")),
        "{seen:?}"
    );
    // What is not listed cannot be called, read or got either.
    let refused = laptop.call_tool("one__echo", json!({"text": "hi"})).await;
    assert!(refused.unwrap_err().to_string().contains("not permitted"));
    let prompts = laptop.list_prompts().await.unwrap().items;
    assert!(
        prompts
            .iter()
            .all(|prompt| prompt.name.starts_with("two__")),
        "{prompts:?}"
    );
    let echoed = laptop
        .call_tool("two__echo", json!({"text": "hi"}))
        .await
        .unwrap();
    assert!(!echoed.failed(), "{echoed:?}");
    let (_, listed, _) = switchboard(home, &["audit", "list"]);
    let call = &listed["calls"][0];
    assert_eq!(
        (&call["caller"], &call["server"]),
        (&json!("laptop"), &json!("two"))
    );
    assert_eq!(
        (&call["decision"], &call["outcome"]),
        (&json!("allowed"), &json!("succeeded"))
    );
    // The store never has the token itself.
    let store = std::fs::read(home.join("switchboard.db")).unwrap();
    assert!(
        !store
            .windows(token.len())
            .any(|part| part == token.as_bytes())
    );
    let (good, ..) = switchboard(home, &["gateway", "tokens", "remove", "laptop"]);
    assert!(good);
    let gone = async {
        while gateway.client(&token).await.is_ok() {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(60), gone)
        .await
        .unwrap();
    assert!(gateway.client("nonsense").await.is_err());
}

#[tokio::test]
async fn records_that_go_missing_are_missed() {
    let folder = tempfile::tempdir().unwrap();
    let home = folder.path();
    add_demo(home, "one");
    let client = over_stdio(home, &["--approve", "auto"]).await;
    for _ in 0..3 {
        client
            .call_tool("one__echo", json!({"text": "hi"}))
            .await
            .unwrap();
    }
    client.close().await;
    let verify = || switchboard(home, &["audit", "verify"]);
    // The gateway takes leave after its client has gone.
    let ended = async {
        while verify().1["notAnchored"] != 0 {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(60), ended)
        .await
        .unwrap();
    assert_eq!(verify().1["records"], 6);
    let mut files = std::fs::read_dir(home.join("audit")).unwrap();
    let file = files.next().unwrap().unwrap().path();
    let whole = std::fs::read_to_string(&file).unwrap();
    let cut: String = whole
        .lines()
        .take(4)
        .map(|line| format!("{line}\n"))
        .collect();
    std::fs::write(&file, cut).unwrap();
    let (good, _, errors) = verify();
    assert!(!good && errors.contains("4 lines, of 6"), "{errors}");
    std::fs::remove_file(&file).unwrap();
    let (good, _, errors) = verify();
    assert!(
        !good && errors.contains("is missing (6 records)"),
        "{errors}"
    );
    std::fs::write(&file, whole).unwrap();
    assert!(verify().0);
}

#[tokio::test]
async fn a_call_whose_client_cannot_be_asked_waits_for_an_answer_to_exactly_it() {
    let folder = tempfile::tempdir().unwrap();
    let home = folder.path();
    add_demo(home, "one");
    let client = over_stdio(home, &["--approve", "ask"]).await;
    for allow in [true, false] {
        let asking = client.clone();
        let call =
            tokio::spawn(async move { asking.call_tool("one__echo", json!({"text": "hi"})).await });
        let pending = || switchboard(home, &["approvals", "pending"]).1["pending"].clone();
        let asked = async {
            while pending().get(0).is_none() {
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        };
        tokio::time::timeout(Duration::from_secs(60), asked)
            .await
            .unwrap();
        let shown = pending();
        assert_eq!(shown[0]["question"]["tool"], "echo");
        assert_eq!(shown[0]["question"]["arguments"], "{\"text\":\"hi\"}");
        let (good, _, errors) = switchboard(home, &["approvals", "allow", "nonsense"]);
        assert!(!good && errors.contains("waits"), "{errors}");
        let id = shown[0]["id"].as_str().unwrap();
        let verb = if allow { "allow" } else { "deny" };
        assert!(switchboard(home, &["approvals", verb, id]).0);
        assert!(
            !switchboard(home, &["approvals", "allow", id]).0,
            "it is answered once"
        );
        let ended = call.await.unwrap().unwrap();
        assert_eq!(!ended.failed(), allow, "{ended:?}");
    }
    // A call that is cancelled leaves no question.
    let asking = client.clone();
    let call = tokio::spawn(async move {
        asking
            .call_tool("one__echo", json!({"text": "never"}))
            .await
    });
    let count = || {
        let (_, said, _) = switchboard(home, &["approvals", "pending"]);
        said["pending"].as_array().map_or(0, Vec::len)
    };
    for wanted in [1, 0] {
        let reached = async {
            while count() != wanted {
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        };
        tokio::time::timeout(Duration::from_secs(60), reached)
            .await
            .unwrap();
        call.abort();
    }
    client.close().await;
    let (_, listed, _) = switchboard(home, &["audit"]);
    let decisions: Vec<&Value> = listed["calls"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| &it["decision"])
        .collect();
    assert_eq!(decisions, [&json!("declined"), &json!("approved")]);
}
