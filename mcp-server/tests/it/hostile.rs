//! Misbehaving clients: each is answered with a refusal, holds nothing, and disturbs no one.

use std::time::Duration;

use http::{Method, StatusCode};
use mcp_server::http::HttpService;
use serde_json::{Value, json};

use crate::http_kit::{app, call, call_modern, initialize, modern, open, post, send};
use crate::kit::{Alive, until};

/// One request that ought to be refused.
struct Case {
    name: &'static str,
    method: Method,
    headers: Vec<(&'static str, String)>,
    body: Vec<u8>,
    /// The status, and the error's code if it matters.
    want: (u16, Option<i64>),
}

fn case(name: &'static str, want: (u16, Option<i64>)) -> Case {
    Case {
        name,
        method: Method::POST,
        headers: Vec::new(),
        body: Vec::new(),
        want,
    }
}

impl Case {
    fn method(mut self, method: Method) -> Self {
        self.method = method;
        self
    }

    fn header(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }

    fn json(mut self, body: &Value) -> Self {
        self.body = body.to_string().into_bytes();
        self
    }

    fn bytes(mut self, body: impl Into<Vec<u8>>) -> Self {
        self.body = body.into();
        self
    }

    /// The headers of a modern request.
    fn modern(self, method: &str) -> Self {
        self.header("mcp-protocol-version", "2026-07-28")
            .header("mcp-method", method)
    }
}

fn without(mut request: Value, key: &str) -> Value {
    request["params"]["_meta"]
        .as_object_mut()
        .unwrap()
        .remove(key);
    request
}

fn malformed() -> Vec<Case> {
    // Deeper than the limit of 64, though not than what can be decoded at all.
    let deep = format!("{}{}", "[".repeat(70), "]".repeat(70));
    let deep: Value = serde_json::from_str(&deep).unwrap();
    vec![
        case("empty body", (400, Some(-32700))),
        case("half a request", (400, Some(-32700))).bytes(r#"{"jsonrpc":"2.0","id":1,"meth"#),
        case("not JSON", (400, Some(-32700))).bytes("hello"),
        case("not UTF-8", (400, Some(-32700)))
            .bytes(b"{\"jsonrpc\":\"2.0\",\"id\":\"\xFF\"}".to_vec()),
        case("two documents", (400, Some(-32700)))
            .bytes(r#"{"jsonrpc":"2.0","id":1,"method":"ping"}{}"#),
        case("a number", (400, Some(-32600))).bytes("7"),
        case("null", (400, Some(-32600))).bytes("null"),
        case("no version", (400, Some(-32600))).json(&json!({"id": 1, "method": "ping"})),
        case("version 1.0", (400, Some(-32600)))
            .json(&json!({"jsonrpc": "1.0", "id": 1, "method": "ping"})),
        case("nothing to say", (400, Some(-32600))).json(&json!({"jsonrpc": "2.0", "id": 1})),
        case("an array as id", (400, Some(-32600)))
            .json(&json!({"jsonrpc": "2.0", "id": [1], "method": "ping"})),
        case("a number as method", (400, Some(-32600)))
            .json(&json!({"jsonrpc": "2.0", "id": 1, "method": 7})),
        case("an array as params", (400, Some(-32600)))
            .json(&json!({"jsonrpc": "2.0", "id": 1, "method": "ping", "params": [1]})),
        case("nested too deep", (400, Some(-32600)))
            .modern("tools/list")
            .json(&modern("tools/list", json!({"a": deep}))),
        case("too large", (413, None)).bytes(vec![b' '; 100 << 10]),
        case("an empty batch", (400, None)).bytes("[]"),
        case("a giant batch", (400, None)).bytes(format!("[{}1]", "1,".repeat(5000))),
        case("a batch without a session", (400, None)).json(&json!([call(1, "echo")])),
        case("a form", (415, None))
            .header("content-type", "application/x-www-form-urlencoded")
            .bytes("a=b"),
        case("text", (415, None))
            .header("content-type", "text/plain")
            .json(&call(1, "echo")),
        case("no content type", (415, None))
            .header("content-type", "(none)")
            .json(&call(1, "echo")),
        case("accepts pictures", (406, None))
            .header("accept", "image/png")
            .json(&call(1, "echo")),
    ]
}

fn wrong_place() -> Vec<Case> {
    let evil = "evil.example.com";
    vec![
        case("a foreign host", (403, None)).header("host", evil).json(&initialize("2025-11-25")),
        case("no host", (403, None)).header("host", "(none)").json(&initialize("2025-11-25")),
        case("a host that begins like ours", (403, None))
            .header("host", "localhost.evil.example").json(&initialize("2025-11-25")),
        case("a foreign origin", (403, None))
            .header("origin", format!("http://{evil}")).json(&initialize("2025-11-25")),
        case("the null origin", (403, None)).header("origin", "null").json(&initialize("2025-11-25")),
        case("a file's origin", (403, None)).header("origin", "file://").json(&initialize("2025-11-25")),
        case("an origin with a user", (403, None))
            .header("origin", format!("http://localhost@{evil}")).json(&initialize("2025-11-25")),
        case("PUT", (405, None)).method(Method::PUT).json(&call(1, "echo")),
        case("PATCH", (405, None)).method(Method::PATCH).json(&call(1, "echo")),
        case("OPTIONS", (405, None)).method(Method::OPTIONS),
        case("HEAD", (405, None)).method(Method::HEAD),
        case("GET without a session", (400, None)).method(Method::GET),
        case("GET that takes no events", (406, None)).method(Method::GET).header("accept", "application/json"),
        case("DELETE without a session", (400, None)).method(Method::DELETE),
        case("DELETE of a foreign session", (404, None)).method(Method::DELETE).header("mcp-session-id", "guess"),
        case("GET of a foreign session", (404, None)).method(Method::GET).header("mcp-session-id", "guess"),
        case("a call without a session", (400, None)).json(&call(1, "echo")),
        case("a call in a guessed session", (404, None)).header("mcp-session-id", "guess").json(&call(1, "echo")),
        case("a call in an empty session", (404, None)).header("mcp-session-id", "").json(&call(1, "echo")),
        case("a notification without a session", (400, None))
            .json(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"})),
        case("an answer without a session", (400, None))
            .json(&json!({"jsonrpc": "2.0", "id": 0, "result": {}})),
        case("an unknown version", (400, None)).header("mcp-protocol-version", "1999-01-01").json(&call(1, "echo")),
        case("initialize without params", (400, Some(-32602)))
            .json(&json!({"jsonrpc": "2.0", "id": 1, "method": "initialize"})),
        case("initialize with a number as version", (400, Some(-32602)))
            .json(&json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
                "protocolVersion": 7, "capabilities": {}, "clientInfo": {"name": "a", "version": "1"}}})),
    ]
}

fn lying() -> Vec<Case> {
    const VERSION: &str = "io.modelcontextprotocol/protocolVersion";
    const CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
    let echo = || modern("tools/call", json!({"name": "echo", "arguments": {}}));
    let list = || modern("tools/list", json!({}));
    let mut newer = list();
    newer["params"]["_meta"][VERSION] = json!("2099-01-01");
    let mut numeric = list();
    numeric["params"]["_meta"][VERSION] = json!(7);
    let mut vague = list();
    vague["params"]["_meta"][CAPABILITIES] = json!("all");
    let mut state = echo();
    state["params"]["requestState"] = json!("AAAA");
    let mut long = echo();
    long["params"]["requestState"] = json!("A".repeat(60_000));
    let mut typed = echo();
    typed["params"]["inputResponses"] = json!([1, 2]);
    vec![
        case("no headers", (400, Some(-32020))).json(&list()),
        case("no method header", (400, Some(-32020)))
            .header("mcp-protocol-version", "2026-07-28")
            .json(&list()),
        case("another method", (400, Some(-32020)))
            .modern("tools/call")
            .json(&list()),
        case("a method in capitals", (400, Some(-32020)))
            .modern("TOOLS/LIST")
            .json(&list()),
        case("the method twice", (400, Some(-32020)))
            .modern("tools/list")
            .header("mcp-method", "tools/list")
            .json(&list()),
        case("no name", (400, Some(-32020)))
            .modern("tools/call")
            .json(&echo()),
        case("another name", (400, Some(-32020)))
            .modern("tools/call")
            .header("mcp-name", "hang")
            .json(&echo()),
        case("another name beside a number as uri", (400, Some(-32020)))
            .modern("tools/call")
            .header("mcp-name", "echo")
            .json(&modern("tools/call", json!({"name": "hang", "uri": 7}))),
        case("the name twice", (400, Some(-32020)))
            .modern("tools/call")
            .header("mcp-name", "echo")
            .bytes(
                modern("tools/call", json!({"name": "hang"}))
                    .to_string()
                    .replace("\"name\"", "\"name\":\"echo\",\"name\""),
            ),
        case("a name in bad base64", (400, Some(-32020)))
            .modern("tools/call")
            .header("mcp-name", "=?base64?!!?=")
            .json(&echo()),
        case("another version in the header", (400, Some(-32020)))
            .header("mcp-protocol-version", "2025-11-25")
            .header("mcp-method", "tools/list")
            .json(&list()),
        case("a version from the future", (400, Some(-32022)))
            .header("mcp-protocol-version", "2099-01-01")
            .header("mcp-method", "tools/list")
            .json(&newer),
        case("a number as version", (400, Some(-32602)))
            .modern("tools/list")
            .json(&numeric),
        case("no version in the body", (400, Some(-32602)))
            .modern("tools/list")
            .json(&without(list(), VERSION)),
        case("no capabilities", (400, Some(-32602)))
            .modern("tools/list")
            .json(&without(list(), CAPABILITIES)),
        case("a string as capabilities", (400, Some(-32602)))
            .modern("tools/list")
            .json(&vague),
        case("an unknown method", (404, Some(-32601)))
            .modern("no/such")
            .json(&modern("no/such", json!({}))),
        case("a removed method", (404, Some(-32601)))
            .modern("ping")
            .json(&modern("ping", json!({}))),
        case("initialize in the modern way", (404, Some(-32601)))
            .modern("initialize")
            .json(&modern("initialize", json!({}))),
        case("a forged state", (400, Some(-32602)))
            .modern("tools/call")
            .header("mcp-name", "echo")
            .json(&state),
        case("a huge state", (400, Some(-32602)))
            .modern("tools/call")
            .header("mcp-name", "echo")
            .json(&long),
        case("answers of the wrong type", (400, Some(-32602)))
            .modern("tools/call")
            .header("mcp-name", "echo")
            .json(&typed),
        case("an unknown tool", (400, Some(-32602)))
            .modern("tools/call")
            .header("mcp-name", "none")
            .json(&modern("tools/call", json!({"name": "none"}))),
        case("a foreign task", (404, Some(-32601)))
            .modern("tasks/get")
            .header("mcp-name", "x")
            .json(&modern("tasks/get", json!({"taskId": "x"}))),
        case("a bad cursor", (400, Some(-32602)))
            .modern("tools/list")
            .json(&modern("tools/list", json!({"cursor": "at-999"}))),
        case("too many watched resources", (400, Some(-32602)))
            .modern("subscriptions/listen")
            .json(&modern(
                "subscriptions/listen",
                json!({"notifications": {"resourceSubscriptions": vec!["x"; 1001]}}),
            )),
    ]
}

/// The time that each misbehaving request may take, refusal included. The clock is paused: it
/// advances when nothing else can happen, so whatever waits for something runs into it.
const LIMIT: Duration = Duration::from_secs(5);

#[tokio::test(start_paused = true)]
async fn every_misbehaving_request_is_refused_in_time_and_disturbs_no_other() {
    let alive = Alive::default();
    let service = HttpService::new(&app(&alive));
    let session = open(&service).await;
    let cases: Vec<Case> = malformed()
        .into_iter()
        .chain(wrong_place())
        .chain(lying())
        .collect();
    assert!(cases.len() >= 60, "{}", cases.len());
    for case in cases {
        let headers: Vec<(&str, &str)> = case
            .headers
            .iter()
            .map(|(name, value)| (*name, value.as_str()))
            .collect();
        let refusal = async {
            let reply = send(&service, case.method, &headers, case.body).await;
            (reply.status.as_u16(), reply.text().await)
        };
        let refusal = tokio::time::timeout(LIMIT, refusal).await;
        let (status, text) = refusal.unwrap_or_else(|_| panic!("{}: no reply", case.name));
        assert_eq!(status, case.want.0, "{}: {text}", case.name);
        if let Some(code) = case.want.1 {
            let body: Value = serde_json::from_str(&text).unwrap();
            assert_eq!(body["error"]["code"], code, "{}: {text}", case.name);
        }
        // No one else notices.
        let reply = post(&service, &[("mcp-session-id", &session)], &call(1, "echo")).await;
        assert_eq!(reply.status, StatusCode::OK, "after {}", case.name);
        assert_eq!(service.sessions(), 1, "after {}", case.name);
    }
    assert_eq!(alive.count(), 0);
}

#[tokio::test]
async fn a_flood_of_sessions_ends_at_the_limit_and_spares_the_open_ones() {
    let service = HttpService::new(&app(&Alive::default()));
    let first = open(&service).await;
    let mut refused = 0;
    for _ in 0..50 {
        let reply = post(&service, &[], &initialize("2025-11-25")).await;
        refused += usize::from(reply.status == StatusCode::SERVICE_UNAVAILABLE);
    }
    assert_eq!((refused, service.sessions()), (43, 8));
    let reply = post(&service, &[("mcp-session-id", &first)], &call(1, "echo")).await;
    assert_eq!(reply.status, StatusCode::OK);
}

#[tokio::test]
async fn a_flood_of_requests_in_one_session_is_refused_there_and_nowhere_else() {
    let alive = Alive::default();
    let service = HttpService::new(&app(&alive));
    let (flooded, quiet) = (open(&service).await, open(&service).await);
    let mut running = Vec::new();
    for id in 1..=4 {
        let (service, session) = (service.clone(), flooded.clone());
        running.push(tokio::spawn(async move {
            let headers = [("mcp-session-id", session.as_str())];
            post(&service, &headers, &call(id, "hang"))
                .await
                .text()
                .await
        }));
    }
    until(|| alive.count() == 4).await;
    let headers = [("mcp-session-id", flooded.as_str())];
    let refused = post(&service, &headers, &call(5, "echo"))
        .await
        .json()
        .await;
    assert_eq!(refused["error"]["code"], -32600);
    let again = post(&service, &headers, &call(1, "hang"))
        .await
        .json()
        .await;
    assert_eq!(again["error"]["code"], -32600, "an id in use");
    let reply = post(&service, &[("mcp-session-id", &quiet)], &call(1, "echo")).await;
    assert_eq!(reply.json().await["result"]["content"][0]["text"], "echo");
    let reply = call_modern(&service, "echo", json!({})).await;
    assert_eq!(reply.status, StatusCode::OK);
    send(&service, Method::DELETE, &headers, "").await;
    until(|| alive.count() == 0).await;
}

#[tokio::test]
async fn a_batch_beyond_the_limit_is_refused_where_batches_are_allowed() {
    let service = HttpService::new(&app(&Alive::default()));
    let session = post(&service, &[], &initialize("2025-03-26"))
        .await
        .session();
    let headers = [("mcp-session-id", session.as_str())];
    let pings = |count: u64| -> Value {
        let ping = |id| json!({"jsonrpc": "2.0", "id": id, "method": "ping"});
        (0..count).map(ping).collect()
    };
    let largest = post(&service, &headers, &pings(2)).await;
    assert_eq!(largest.status, StatusCode::OK);
    let refused = post(&service, &headers, &pings(65)).await;
    assert_eq!(refused.status, StatusCode::BAD_REQUEST);
}

#[tokio::test]
async fn unsolicited_answers_and_replayed_ones_change_nothing() {
    let service = HttpService::new(&app(&Alive::default()));
    let (session, other) = (open(&service).await, open(&service).await);
    let headers = [("mcp-session-id", session.as_str())];
    let mut reply = post(&service, &headers, &call(1, "ask")).await;
    reply.chunk().await.unwrap();
    let event = reply.chunk().await.unwrap();
    let question: Value = serde_json::from_str(event.split_once("data: ").unwrap().1).unwrap();
    let answer = |name: &str| {
        json!({"jsonrpc": "2.0", "id": question["id"], "result": {
            "action": "accept", "content": {"name": name}}})
    };
    // From another session it belongs to no one.
    let foreign = [("mcp-session-id", other.as_str())];
    assert_eq!(
        post(&service, &foreign, &answer("Eve")).await.status,
        StatusCode::ACCEPTED
    );
    // In its session, but to a question that was not asked.
    let mut unasked = answer("Eve");
    unasked["id"] = json!(4711);
    post(&service, &headers, &unasked).await;
    post(&service, &headers, &answer("Ann")).await;
    post(&service, &headers, &answer("Eve")).await;
    let text = reply.text().await;
    assert!(text.contains("Ann") && !text.contains("Eve"), "{text}");
}

#[tokio::test]
async fn a_reader_that_never_reads_costs_a_bounded_buffer() {
    let service = app(&Alive::default());
    let http = HttpService::new(&service);
    let session = open(&http).await;
    let stream = send(&http, Method::GET, &[("mcp-session-id", &session)], "").await;
    let listen = modern(
        "subscriptions/listen",
        json!({"notifications": {"toolsListChanged": true}}),
    );
    let headers = [
        ("mcp-protocol-version", "2026-07-28"),
        ("mcp-method", "subscriptions/listen"),
    ];
    let subscription = post(&http, &headers, &listen).await;
    for _ in 0..10_000 {
        service.notifier().tools_changed();
    }
    // The subscription ends, and says why; what was kept of it is bounded.
    let text = subscription.text().await;
    assert!(text.len() < 256 * 400, "{}", text.len());
    assert!(text.contains("too slow"), "{}", &text[text.len() - 400..]);
    send(&http, Method::DELETE, &[("mcp-session-id", &session)], "").await;
    let text = stream.text().await;
    assert!(text.len() < 256 * 200, "{}", text.len());
}
