//! The demo server: every tool the same over every transport and in both eras.

use std::io::{BufRead as _, Read as _, Write as _};
use std::process::{Child, Stdio};
use std::sync::Arc;

use async_trait::async_trait;
use mcp_client::{
    CallOptions, Client, ClientBuilder, ClientEvent, EraMode, Host, HostCapabilities, HostError,
    ServerRequest,
};
use mcp_jsonrpc::Revision;
use mcp_jsonrpc::model::{ElicitFormParams, ElicitResult};
use mcp_transport::{
    Connect, HttpConfig, LocalSpawner, ProcessTracker, ServerCommand, StdioConnect,
};
use serde_json::{Value, json};
use tokio::sync::mpsc;

use crate::program::{path, program};

/// 2023-05-23, a day after the one the model is asked for in the getTime dialogue.
const CLOCK: &str = "1684800000000";

/// Someone called Ada.
struct Ada;

#[async_trait]
impl Host for Ada {
    async fn elicit_form(
        &self,
        _question: ServerRequest<ElicitFormParams>,
    ) -> Result<ElicitResult, HostError> {
        let content = serde_json::from_value(json!({"name": "Ada"})).unwrap();
        Ok(ElicitResult::accept(content))
    }
}

/// How the server is reached.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Way {
    Stdio,
    Http,
    Sse,
}

/// A server that runs, and a client of it.
struct Session {
    client: Client,
    events: mpsc::Receiver<ClientEvent>,
    child: Option<Child>,
    tracker: ProcessTracker,
}

impl Session {
    async fn open(way: Way, mode: EraMode) -> Self {
        let tracker = ProcessTracker::new();
        let (connect, child): (Arc<dyn Connect>, _) = match way {
            Way::Stdio => {
                let command = ServerCommand::new(path()).with_args([
                    "demo-server",
                    "--stdio",
                    "--clock",
                    CLOCK,
                ]);
                let connect = StdioConnect::new(command, Arc::new(LocalSpawner::new()))
                    .with_tracker(tracker.clone());
                (Arc::new(connect), None)
            }
            Way::Http | Way::Sse => {
                let flag = if way == Way::Http { "--http" } else { "--sse" };
                let (child, url) = serve(flag);
                let config = HttpConfig::new(&url).unwrap();
                let config = if way == Way::Sse {
                    config.sse_only()
                } else {
                    config
                };
                let connect = config.into_connect().unwrap();
                (connect, Some(child))
            }
        };
        let (tell, events) = mpsc::channel(64);
        let client = ClientBuilder::new(connect)
            .name("demo")
            .era(mode)
            .host(Ada, HostCapabilities::default().with_forms())
            .on_event(move |event| {
                let tell = tell.clone();
                async move {
                    let _ = tell.send(event).await;
                }
            })
            .connect()
            .await
            .unwrap();
        Self {
            client,
            events,
            child,
            tracker,
        }
    }

    async fn close(mut self) {
        self.client.close().await;
        assert_eq!(self.tracker.processes(), []);
        if let Some(child) = &mut self.child {
            child.kill().unwrap();
            child.wait().unwrap();
        }
    }
}

/// The server as a process of its own, and its URL.
fn serve(flag: &str) -> (Child, String) {
    let mut child = program(&["demo-server", flag, "--clock", CLOCK])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut url = String::new();
    let mut lines = std::io::BufReader::new(child.stdout.take().unwrap());
    lines.read_line(&mut url).unwrap();
    (child, url.trim().to_owned())
}

/// What each tool is called with.
fn calls() -> Vec<(&'static str, Value)> {
    vec![
        ("get_time", json!({"offset_ms": -86_400_000})),
        ("add", json!({"a": 2, "b": 40.5})),
        ("echo", json!({"text": "héllo\n😀"})),
        ("write_note", json!({"text": "milk"})),
        ("slow", json!({"ms": 0})),
        ("fail", json!({"reason": "of a test"})),
        ("picture", json!({})),
        ("sound", json!({})),
        ("big", json!({"letters": 300_000})),
        ("ask_name", json!({})),
        ("grow", json!({})),
        ("grown", json!({})),
        (
            "odd",
            json!({"level": 2, "tree": {"label": null, "children": [{"label": "x"}]}, "$top": 5}),
        ),
        ("odd.names", json!({"user-id": "u", "größe": 1})),
    ]
}

const WAYS: [(Way, EraMode); 5] = [
    (Way::Stdio, EraMode::Legacy),
    (Way::Stdio, EraMode::Pinned(Revision::V2026_07_28)),
    (Way::Http, EraMode::Legacy),
    (Way::Http, EraMode::Pinned(Revision::V2026_07_28)),
    // This transport is older than the modern era.
    (Way::Sse, EraMode::Legacy),
];

#[tokio::test]
async fn every_demo_tool_answers_alike_over_every_transport_and_in_both_eras() {
    let mut first: Option<(Value, Value)> = None;
    for (way, mode) in WAYS {
        let session = Session::open(way, mode).await;
        let client = &session.client;
        let mut results = serde_json::Map::new();
        for (tool, arguments) in calls() {
            let result = client.call_tool(tool, arguments).await.unwrap();
            let mut result = serde_json::to_value(&result).unwrap();
            // What only one era has.
            for key in ["_meta", "resultType"] {
                result.as_object_mut().unwrap().shift_remove(key);
            }
            results.insert(tool.to_owned(), result);
        }
        let note = client.read_resource("demo://note").await.unwrap();
        let picture = client.read_resource("demo://picture").await.unwrap();
        let shown = json!({"note": note.contents, "picture": picture.contents});
        let got = (Value::Object(results), shown);
        let want = first.get_or_insert_with(|| got.clone());
        assert_eq!(&got, want, "{way:?} {mode:?}");
        session.close().await;
    }
    let (mut results, shown) = first.unwrap();
    for tool in ["picture", "sound"] {
        let data = &mut results[tool]["content"][0]["data"];
        *data = format!("{} letters", data.as_str().unwrap().len()).into();
    }
    let big = &mut results["big"]["content"][0]["text"];
    *big = format!("{} letters", big.as_str().unwrap().len()).into();
    insta::assert_json_snapshot!("results", results);
    assert_eq!(shown["note"][0]["text"], "milk");
}

#[tokio::test]
async fn what_the_demo_server_lists() {
    let session = Session::open(Way::Stdio, EraMode::Legacy).await;
    let tools = session.client.list_tools().await.unwrap().items;
    let prompts = session.client.list_prompts().await.unwrap().items;
    let resources = session.client.list_resources().await.unwrap().items;
    insta::assert_json_snapshot!(
        "lists",
        json!({"tools": tools, "prompts": prompts, "resources": resources})
    );
    session.close().await;
}

#[tokio::test]
async fn slow_tells_its_progress_and_can_be_cancelled() {
    for (way, mode) in WAYS {
        let session = Session::open(way, mode).await;
        let (tell, mut reported) = mpsc::channel(16);
        let options = CallOptions::default().with_progress(move |report| {
            let _ = tell.try_send(report.progress);
        });
        let watched = session.client.with(options);
        let result = watched.call_tool("slow", json!({"ms": 0})).await.unwrap();
        assert_eq!(result.content[0].as_text(), Some("Done, slowly."));
        assert!(reported.recv().await.is_some(), "{way:?} {mode:?}");

        // Dropped at its first progress; the next call finds the server well.
        let (tell, mut reported) = mpsc::channel(16);
        let options = CallOptions::default().with_progress(move |report| {
            let _ = tell.try_send(report.progress);
        });
        let watched = session.client.with(options);
        tokio::select! {
            _ = watched.call_tool("slow", json!({"ms": 50})) => panic!("not cancelled"),
            first = reported.recv() => assert_eq!(first, Some(1.0)),
        }
        let echo = session
            .client
            .call_tool("echo", json!({"text": "well"}))
            .await
            .unwrap();
        assert_eq!(echo.content[0].as_text(), Some("well"));
        session.close().await;
    }
}

#[tokio::test]
async fn grow_tells_that_the_list_of_tools_changed() {
    let mut session = Session::open(Way::Stdio, EraMode::Legacy).await;
    let before = session.client.list_tools().await.unwrap().items.len();
    session.client.call_tool("grow", json!({})).await.unwrap();
    while !matches!(
        session.events.recv().await.unwrap(),
        ClientEvent::ToolsChanged
    ) {}
    let after = session.client.list_tools().await.unwrap().items.len();
    assert_eq!(after, before + 1);
    session.close().await;
}

#[tokio::test]
async fn crash_ends_the_server_and_leaves_no_process() {
    for (way, mode) in WAYS {
        let mut session = Session::open(way, mode).await;
        session
            .client
            .call_tool("crash", json!({}))
            .await
            .unwrap_err();
        if let Some(mut child) = session.child.take() {
            assert_eq!(child.wait().unwrap().code(), Some(1), "{way:?}");
        }
        session.close().await;
    }
}

/// The status of a request to the server with these headers, as written.
fn status(url: &str, headers: &str) -> u16 {
    let (address, path) = url
        .strip_prefix("http://")
        .unwrap()
        .split_once('/')
        .unwrap();
    let body = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {},
        "clientInfo": {"name": "page", "version": "1"}}})
    .to_string();
    let mut stream = std::net::TcpStream::connect(address).unwrap();
    let request = format!(
        "POST /{path} HTTP/1.1\r\n{headers}content-type: application/json\r\n\
         accept: application/json, text/event-stream\r\nconnection: close\r\n\
         content-length: {}\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(request.as_bytes()).unwrap();
    let mut reply = String::new();
    stream.read_to_string(&mut reply).unwrap();
    reply.split_whitespace().nth(1).unwrap().parse().unwrap()
}

#[test]
fn pages_of_other_sites_cannot_reach_the_demo_server() {
    for flag in ["--http", "--sse"] {
        let (mut child, url) = serve(flag);
        let own = url
            .strip_prefix("http://")
            .unwrap()
            .split('/')
            .next()
            .unwrap();
        for (headers, is_foreign) in [
            (format!("host: {own}\r\n"), false),
            ("host: rebound.evil.example\r\n".to_owned(), true),
            (
                format!("host: {own}\r\norigin: https://evil.example\r\n"),
                true,
            ),
            (format!("host: {own}\r\norigin: null\r\n"), true),
        ] {
            assert_eq!(
                status(&url, &headers) == 403,
                is_foreign,
                "{flag} {headers}"
            );
        }
        child.kill().unwrap();
        child.wait().unwrap();
    }
}
