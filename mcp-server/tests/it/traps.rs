//! Handlers that panic or hang wherever the server calls them: each request is answered once, its id
//! is free again, and its connection lives on.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use http::{HeaderMap, StatusCode};
use mcp_jsonrpc::model::experimental_task::{TaskSupport, ToolExecution};
use mcp_jsonrpc::model::{
    CallToolParams, CallToolResult, ContentBlock, FlagCapability, Implementation, ListCapability,
    LoggingLevel, ResourcesCapability, ServerCapabilities, Tool, extension,
};
use mcp_jsonrpc::{RawMap, RawObject};
use mcp_server::http::HttpService;
use mcp_server::{
    Authenticator, Caller, Context, Denied, Error, Handler, Server, ServerLimits, Service,
};
use serde_json::{Value, json};
use tokio::io::{
    AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, Lines, ReadHalf, WriteHalf,
};

use crate::http_kit::{app, call, call_modern, initialize, modern, post};
use crate::kit::{Alive, any};

/// What happens in the method of this name.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Trap {
    Panic(&'static str),
    Hang(&'static str),
}

impl Trap {
    fn now(self, method: &'static str) {
        assert_ne!(self, Self::Panic(method), "as planned");
    }

    async fn spring(self, method: &'static str) {
        self.now(method);
        if self == Self::Hang(method) {
            std::future::pending::<()>().await;
        }
    }
}

struct Trapped(Trap);

#[async_trait]
impl Handler for Trapped {
    fn info(&self) -> Implementation {
        Implementation::new("trapped", "1")
    }

    fn capabilities(&self) -> ServerCapabilities {
        self.0.now("capabilities");
        let mut all = ServerCapabilities::default();
        all.tools = Some(ListCapability::default());
        all.logging = Some(FlagCapability::default());
        let mut resources = ResourcesCapability::default();
        resources.subscribe = Some(true);
        all.resources = Some(resources);
        let mut extensions = RawMap::new();
        extensions.insert(extension::TASKS, RawObject::empty().into());
        all.extensions = Some(extensions);
        all
    }

    fn instructions_for(&self, _: Option<&Caller>) -> Option<String> {
        self.0.now("instructions_for");
        None
    }

    async fn find_tool(&self, name: &str, _: &Context) -> Option<Arc<Tool>> {
        self.0.spring("find_tool").await;
        let mut tool = any(name);
        let mut execution = ToolExecution::default();
        execution.task_support = Some(TaskSupport::Optional);
        tool.execution = Some(execution);
        Some(Arc::new(tool))
    }

    async fn call_tool(&self, _: CallToolParams, _: Context) -> Result<CallToolResult, Error> {
        Ok(CallToolResult::new(vec![ContentBlock::text("called")]))
    }

    async fn log_level_changed(&self, _: LoggingLevel, _: &Context) {
        self.0.spring("log_level_changed").await;
    }

    fn roots_changed(&self, _: u64) {
        self.0.now("roots_changed");
    }

    async fn can_watch(&self, _: &str, _: &Context) -> bool {
        self.0.spring("can_watch").await;
        true
    }
}

fn trapped(trap: Trap) -> Service {
    Server::with_handler(Trapped(trap))
        .limits(ServerLimits::default().with_request_time(Duration::from_millis(500)))
        .build()
}

/// A client that writes and reads lines.
struct Pipe {
    lines: Lines<BufReader<ReadHalf<DuplexStream>>>,
    write: WriteHalf<DuplexStream>,
}

impl Pipe {
    fn open(service: &Service) -> Self {
        let (here, there) = tokio::io::duplex(64 << 10);
        let service = service.clone();
        let (read, write) = tokio::io::split(there);
        tokio::spawn(async move { service.serve_streams(read, write).await });
        let (read, write) = tokio::io::split(here);
        let lines = BufReader::new(read).lines();
        Self { lines, write }
    }

    async fn tell(&mut self, message: &Value) {
        let line = format!("{message}\n");
        self.write.write_all(line.as_bytes()).await.unwrap();
    }

    async fn ask(&mut self, request: &Value) -> Value {
        self.tell(request).await;
        let line = self.lines.next_line().await.unwrap();
        serde_json::from_str(&line.expect("the connection ended")).unwrap()
    }
}

fn request(method: &str, params: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
}

/// What each trap is sprung with by a legacy client.
fn legacy_requests() -> [(&'static str, Value); 3] {
    [
        ("find_tool", call(1, "any")),
        (
            "can_watch",
            request("resources/subscribe", json!({"uri": "test://a"})),
        ),
        (
            "log_level_changed",
            request("logging/setLevel", json!({"level": "info"})),
        ),
    ]
}

#[tokio::test(start_paused = true)]
async fn a_handler_that_panics_or_hangs_is_answered_for_and_its_id_is_free_again() {
    for (name, springs) in legacy_requests() {
        for trap in [Trap::Panic(name), Trap::Hang(name)] {
            let mut pipe = Pipe::open(&trapped(trap));
            pipe.ask(&initialize("2025-11-25")).await;
            for _ in 0..2 {
                let answer = pipe.ask(&springs).await;
                assert_eq!(answer["error"]["code"], -32603, "{trap:?}: {answer}");
                assert_eq!(answer["id"], 1, "{trap:?}");
            }
            let pong = pipe.ask(&request("ping", json!({}))).await;
            assert_eq!(pong["result"], json!({}), "{trap:?}");

            let http = HttpService::new(&trapped(trap));
            let session = post(&http, &[], &initialize("2025-11-25")).await.session();
            let headers = [("mcp-session-id", session.as_str())];
            for _ in 0..2 {
                let answer = post(&http, &headers, &springs).await.json().await;
                assert_eq!(answer["error"]["code"], -32603, "{trap:?}: {answer}");
            }
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_modern_request_is_answered_for_wherever_its_handler_panics_or_hangs() {
    let watch = json!({"notifications": {"resourceSubscriptions": ["test://a"]}});
    for trap in [Trap::Panic("find_tool"), Trap::Hang("find_tool")] {
        let http = HttpService::new(&trapped(trap));
        let answer = call_modern(&http, "any", json!({})).await.json().await;
        assert_eq!(answer["error"]["code"], -32603, "{trap:?}: {answer}");
    }
    for (trap, method, params) in [
        (
            Trap::Panic("can_watch"),
            "subscriptions/listen",
            watch.clone(),
        ),
        (Trap::Hang("can_watch"), "subscriptions/listen", watch),
        (Trap::Panic("capabilities"), "server/discover", json!({})),
        (
            Trap::Panic("instructions_for"),
            "server/discover",
            json!({}),
        ),
    ] {
        let request = modern(method, params);
        let mut pipe = Pipe::open(&trapped(trap));
        for _ in 0..2 {
            let answer = pipe.ask(&request).await;
            assert_eq!(answer["error"]["code"], -32603, "{trap:?}: {answer}");
        }
        let http = HttpService::new(&trapped(trap));
        let headers = [
            ("mcp-protocol-version", "2026-07-28"),
            ("mcp-method", method),
        ];
        let text = post(&http, &headers, &request).await.text().await;
        assert!(text.contains("-32603"), "{trap:?}: {text}");
    }
}

#[tokio::test]
async fn a_panic_while_a_session_opens_refuses_the_session_and_spares_the_connection() {
    for name in ["capabilities", "instructions_for"] {
        let service = trapped(Trap::Panic(name));
        let mut pipe = Pipe::open(&service);
        let refused = pipe.ask(&initialize("2025-11-25")).await;
        assert_eq!(refused["error"]["code"], -32603, "{name}: {refused}");
        let pong = pipe.ask(&request("ping", json!({}))).await;
        assert_eq!(pong["result"], json!({}), "{name}");
        let refused = post(&HttpService::new(&service), &[], &initialize("2025-11-25")).await;
        assert_eq!(refused.status, StatusCode::INTERNAL_SERVER_ERROR, "{name}");
    }
}

#[tokio::test]
async fn a_panic_about_changed_roots_ends_neither_the_connection_nor_the_session() {
    let service = trapped(Trap::Panic("roots_changed"));
    let changed = json!({"jsonrpc": "2.0", "method": "notifications/roots/list_changed"});
    let mut pipe = Pipe::open(&service);
    pipe.ask(&initialize("2025-11-25")).await;
    pipe.tell(&changed).await;
    let pong = pipe.ask(&request("ping", json!({}))).await;
    assert_eq!(pong["result"], json!({}));
    let http = HttpService::new(&service);
    let session = post(&http, &[], &initialize("2025-11-25")).await.session();
    let headers = [("mcp-session-id", session.as_str())];
    assert_eq!(
        post(&http, &headers, &changed).await.status,
        StatusCode::ACCEPTED
    );
}

/// Panics, or never decides.
struct Undecided(bool);

#[async_trait]
impl Authenticator for Undecided {
    async fn authenticate(&self, _: &HeaderMap) -> Result<Caller, Denied> {
        assert!(!self.0, "as planned");
        std::future::pending().await
    }
}

#[tokio::test(start_paused = true)]
async fn an_authenticator_that_panics_or_hangs_denies() {
    for panics in [true, false] {
        let http = HttpService::new(&app(&Alive::default())).authenticator(Undecided(panics));
        let reply = post(&http, &[], &initialize("2025-11-25")).await;
        assert_eq!(reply.status, StatusCode::SERVICE_UNAVAILABLE);
    }
}
