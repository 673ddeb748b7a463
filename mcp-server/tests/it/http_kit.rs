//! Requests to the endpoint without a socket, and the server that most tests ask.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context as Poller, Poll};

use bytes::Bytes;
use http::{HeaderMap, Method, Request, StatusCode};
use http_body::{Body, Frame};
use mcp_jsonrpc::model::Resource;
use mcp_server::http::{HttpService, ResponseBody};
use mcp_server::{Authenticator, Caller, Context, Denied, Error, ServerLimits, Service};
use serde_json::{Value, json};
use tower_service::Service as _;

use crate::kit::{Alive, any, name_form, server};

/// A body of some chunks.
pub(crate) struct Chunks(pub(crate) Vec<Bytes>);

impl Body for Chunks {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Poller<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let next = (!self.0.is_empty()).then(|| self.0.remove(0));
        Poll::Ready(next.map(|chunk| Ok(Frame::data(chunk))))
    }
}

/// A reply as a test looks at it.
pub(crate) struct Reply {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: ResponseBody,
}

impl Reply {
    pub(crate) async fn chunk(&mut self) -> Option<String> {
        let body = &mut self.body;
        let frame = std::future::poll_fn(|cx| Pin::new(&mut *body).poll_frame(cx)).await?;
        let data = frame.unwrap().into_data().unwrap();
        Some(String::from_utf8(data.to_vec()).unwrap())
    }

    pub(crate) async fn text(mut self) -> String {
        let mut all = String::new();
        while let Some(chunk) = self.chunk().await {
            all.push_str(&chunk);
        }
        all
    }

    pub(crate) async fn json(self) -> Value {
        let text = self.text().await;
        serde_json::from_str(&text).unwrap_or_else(|_| panic!("not JSON: {text}"))
    }

    pub(crate) fn session(&self) -> String {
        self.headers["mcp-session-id"].to_str().unwrap().to_owned()
    }

    pub(crate) fn is_stream(&self) -> bool {
        self.headers
            .get("content-type")
            .is_some_and(|kind| kind == "text/event-stream")
    }
}

pub(crate) async fn send(
    service: &HttpService,
    method: Method,
    headers: &[(&str, &str)],
    body: impl Into<Bytes>,
) -> Reply {
    send_to(service, method, "/mcp", headers, body).await
}

pub(crate) async fn send_to(
    service: &HttpService,
    method: Method,
    uri: &str,
    headers: &[(&str, &str)],
    body: impl Into<Bytes>,
) -> Reply {
    let mut request = Request::builder().method(method).uri(uri);
    let given = |name: &str| {
        headers
            .iter()
            .any(|(given, _)| given.eq_ignore_ascii_case(name))
    };
    for (name, value) in [
        ("host", "localhost"),
        ("content-type", "application/json"),
        ("accept", "application/json, text/event-stream"),
    ] {
        if !given(name) {
            request = request.header(name, value);
        }
    }
    for (name, value) in headers.iter().filter(|(_, value)| *value != "(none)") {
        request = request.header(*name, *value);
    }
    let request = request.body(Chunks(vec![body.into()])).unwrap();
    let (parts, body) = service.clone().call(request).await.unwrap().into_parts();
    Reply {
        status: parts.status,
        headers: parts.headers,
        body,
    }
}

pub(crate) async fn post(service: &HttpService, headers: &[(&str, &str)], body: &Value) -> Reply {
    send(service, Method::POST, headers, body.to_string()).await
}

/// A modern request with everything it needs.
pub(crate) fn modern(method: &str, mut params: Value) -> Value {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {"elicitation": {}},
    });
    json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
}

pub(crate) async fn call_modern(service: &HttpService, tool: &str, params: Value) -> Reply {
    let mut all = json!({"name": tool, "arguments": {}});
    for (key, value) in params.as_object().into_iter().flatten() {
        all[key] = value.clone();
    }
    let headers = [
        ("mcp-protocol-version", "2026-07-28"),
        ("mcp-method", "tools/call"),
        ("mcp-name", tool),
    ];
    post(service, &headers, &modern("tools/call", all)).await
}

pub(crate) fn initialize(version: &str) -> Value {
    json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
        "protocolVersion": version,
        "capabilities": {"elicitation": {}},
        "clientInfo": {"name": "test", "version": "1"},
    }})
}

pub(crate) async fn open(service: &HttpService) -> String {
    let reply = post(service, &[], &initialize("2025-11-25")).await;
    assert_eq!(reply.status, StatusCode::OK);
    reply.session()
}

pub(crate) fn call(id: u64, tool: &str) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {"name": tool}})
}

pub(crate) fn app(alive: &Alive) -> Service {
    let guard = alive.clone();
    server()
        .tool_with_schema(any("echo"), |_: Value, _| async { "echo" })
        .tool_with_schema(any("ask"), |_: Value, cx: Context| async move {
            let answer = cx.ask("name", name_form()).await?;
            Ok::<_, Error>(serde_json::to_string(&answer.content)?)
        })
        .tool_with_schema(any("progress"), |_: Value, cx: Context| async move {
            cx.progress(1.0, None, None);
            tokio::task::yield_now().await;
            "progressed"
        })
        .tool_with_schema(any("later"), |_: Value, cx: Context| async move {
            cx.release_stream();
            tokio::task::yield_now().await;
            "later"
        })
        .tool_with_schema(any("hang"), move |_: Value, _| {
            let guard = guard.enter();
            async move {
                let _guard = guard;
                std::future::pending::<()>().await;
            }
        })
        .resource(Resource::new("test://a", "a"), |_| async { "a" })
        .limits(
            ServerLimits::default()
                .with_sessions(8)
                .with_caller_percent(100)
                .with_in_flight(4)
                .with_message_bytes(64 << 10)
                .with_batch_len(4),
        )
        .build()
}
/// Takes the header `x-user` at its word.
pub(crate) struct ByHeader;

#[async_trait::async_trait]
impl Authenticator for ByHeader {
    async fn authenticate(&self, headers: &HeaderMap) -> Result<Caller, Denied> {
        let user = headers.get("x-user").and_then(|user| user.to_str().ok());
        user.map(Caller::new)
            .ok_or_else(|| Denied::unauthorized("Bearer"))
    }
}
