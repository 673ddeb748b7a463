//! `switchboard gateway`: the demo server behind it, as any client sees it.

use std::io::BufRead as _;
use std::process::Stdio;
use std::sync::Arc;

use async_trait::async_trait;
use mcp_client::{
    Client, ClientBuilder, EraMode, Host, HostCapabilities, HostError, ServerRequest,
};
use mcp_jsonrpc::Revision;
use mcp_jsonrpc::model::{CallToolResult, ElicitFormParams, ElicitResult};
use mcp_transport::{Connect, HttpConfig, LocalSpawner, ServerCommand, StdioConnect};
use serde_json::{Value, json};

use crate::program::{path, program};

/// Someone called Ada.
struct Ada;

#[async_trait]
impl Host for Ada {
    async fn elicit_form(
        &self,
        _: ServerRequest<ElicitFormParams>,
    ) -> Result<ElicitResult, HostError> {
        let content = serde_json::from_value(json!({"name": "Ada"})).unwrap();
        Ok(ElicitResult::accept(content))
    }
}

/// A file with the demo server in it, of one era.
fn config(folder: &std::path::Path, era: &str) -> String {
    let file = folder.join("servers.json");
    let server = json!({"command": path(), "args": ["demo-server", "--era", era]});
    let text = json!({"mcpServers": {"demo": server}}).to_string();
    std::fs::write(&file, text).unwrap();
    file.to_str().unwrap().to_owned()
}

async fn connect(end: Arc<dyn Connect>, era: EraMode) -> Client {
    let forms = HostCapabilities::default().with_forms();
    let client = ClientBuilder::new(end).era(era).host(Ada, forms);
    client.connect().await.unwrap()
}

fn text(result: &CallToolResult) -> &str {
    let first = result.content.first();
    first.and_then(|block| block.as_text()).unwrap_or_default()
}

const MODERN: EraMode = EraMode::Pinned(Revision::V2026_07_28);

#[tokio::test]
async fn over_stdio_every_pair_of_eras_lists_calls_and_asks() {
    for upstream in ["legacy", "modern"] {
        let folder = tempfile::tempdir().unwrap();
        let file = config(folder.path(), upstream);
        for era in [EraMode::Legacy, MODERN] {
            let command = ServerCommand::new(path())
                .with_args(["gateway", "--approve", "auto", "--config", &file])
                .with_env("SWITCHBOARD_HOME", folder.path().to_str().unwrap());
            let end = StdioConnect::new(command, Arc::new(LocalSpawner::new()));
            let client = connect(Arc::new(end), era).await;
            let tools = client.list_tools().await.unwrap();
            let names: Vec<&str> = tools.items.iter().map(|tool| tool.name.as_str()).collect();
            assert!(names.contains(&"demo__echo"), "{names:?}");
            let echoed = client.call_tool("demo__echo", json!({"text": "hi"})).await;
            assert_eq!(text(&echoed.unwrap()), "hi", "{upstream} {era:?}");
            let asked = client.call_tool("demo__ask_name", json!({})).await.unwrap();
            assert!(
                text(&asked).contains("Ada"),
                "{upstream} {era:?}: {asked:?}"
            );
            client.close().await;
        }
    }
}

#[tokio::test]
async fn over_http_it_wants_its_token() {
    let folder = tempfile::tempdir().unwrap();
    let file = config(folder.path(), "legacy");
    let mut child = program(&[
        "gateway",
        "--http",
        "--json",
        "--no-prefix",
        "--approve",
        "auto",
        "--config",
        &file,
    ])
    .env("SWITCHBOARD_HOME", folder.path())
    .stdout(Stdio::piped())
    .spawn()
    .unwrap();
    let mut line = String::new();
    let output = child.stdout.take().unwrap();
    std::io::BufReader::new(output)
        .read_line(&mut line)
        .unwrap();
    let printed: Value = serde_json::from_str(&line).unwrap();
    let url = printed["url"].as_str().unwrap();
    let refused = ClientBuilder::new(HttpConfig::new(url).unwrap().into_connect().unwrap());
    let refused = refused.connect().await.unwrap_err();
    assert!(refused.to_string().contains("authorization"), "{refused}");
    let token = format!("Bearer {}", printed["token"].as_str().unwrap());
    let end = HttpConfig::new(url).unwrap();
    let end = end.with_header("Authorization", &token).unwrap();
    let client = connect(end.into_connect().unwrap(), EraMode::Auto).await;
    let echoed = client.call_tool("echo", json!({"text": "hi"})).await;
    assert_eq!(text(&echoed.unwrap()), "hi");
    client.close().await;
    child.kill().unwrap();
    child.wait().unwrap();
}

/// Says yes or no to calls.
struct Judge(&'static str);

#[async_trait]
impl Host for Judge {
    async fn elicit_form(
        &self,
        _: ServerRequest<ElicitFormParams>,
    ) -> Result<ElicitResult, HostError> {
        let content = serde_json::from_value(json!({"decision": self.0})).unwrap();
        Ok(ElicitResult::accept(content))
    }
}

#[tokio::test]
async fn by_default_calls_are_asked_for_and_recorded_in_a_chain_that_shows_changes() {
    let folder = tempfile::tempdir().unwrap();
    let (home, file) = (folder.path(), config(folder.path(), "modern"));
    for (answer, runs) in [("run once", true), ("do not run", false)] {
        let command = ServerCommand::new(path())
            .with_args(["gateway", "--config", &file])
            .with_env("SWITCHBOARD_HOME", home.to_str().unwrap());
        let end = StdioConnect::new(command, Arc::new(LocalSpawner::new()));
        let forms = HostCapabilities::default().with_forms();
        let client = ClientBuilder::new(Arc::new(end)).host(Judge(answer), forms);
        let client = client.connect().await.unwrap();
        let echoed = client.call_tool("demo__echo", json!({"text": "hi"})).await;
        assert_eq!(text(&echoed.unwrap()) == "hi", runs, "{answer}");
        client.close().await;
    }
    let audit = |verb: &str| {
        let mut program = program(&["audit", verb]);
        let output = program.env("SWITCHBOARD_HOME", home).output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        (output.status.success(), text)
    };
    let (_, exported) = audit("export");
    let records: Vec<Value> = exported
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let seen: Vec<_> = records
        .iter()
        .map(|it| (it["decision"].as_str().unwrap(), it["outcome"].as_str()))
        .collect();
    let want = [
        ("approved", None),
        ("approved", Some("succeeded")),
        ("declined", None),
    ];
    assert_eq!(seen, want);
    assert!(!exported.contains("\"hi\""), "digests only");
    let (good, said) = audit("verify");
    assert!(good && said.contains("3 records"), "{said}");
    let mut files = std::fs::read_dir(home.join("audit")).unwrap();
    let file = files.next().unwrap().unwrap().path();
    let changed = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, changed.replacen("demo", "oops", 1)).unwrap();
    assert!(!audit("verify").0);
}
