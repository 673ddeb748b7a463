//! Random HTTP requests, sensible, broken and in between: each is answered in time with a status of HTTP and, where it
//! can be, with one response for its id; and no other client notices.

use std::fmt;
use std::time::Duration;

use http::{Method, StatusCode};
use mcp_server::http::HttpService;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Value, json};

use crate::http_kit::{Reply, app, call, initialize, open, post, send};
use crate::kit::{Alive, until};

/// The time that a reply may take to begin, and one that streams to end by itself.
const LIMIT: Duration = Duration::from_secs(5);

/// Every method that a server knows in either era, and some that none does.
const METHODS: [&str; 29] = [
    "initialize",
    "server/discover",
    "ping",
    "tools/list",
    "tools/call",
    "resources/list",
    "resources/templates/list",
    "resources/read",
    "resources/subscribe",
    "resources/unsubscribe",
    "resources/directory/read",
    "prompts/list",
    "prompts/get",
    "completion/complete",
    "logging/setLevel",
    "subscriptions/listen",
    "skills/list",
    "skills/get",
    "tasks/get",
    "tasks/list",
    "tasks/result",
    "tasks/update",
    "tasks/cancel",
    "notifications/initialized",
    "notifications/cancelled",
    "notifications/roots/list_changed",
    "sampling/createMessage",
    "TOOLS/LIST",
    "",
];

#[derive(Clone, Debug)]
struct Wanted {
    method: Method,
    headers: Vec<(&'static str, String)>,
    /// Whose session it names.
    session: Session,
    body: Text,
    /// The id that a response must have, if the body can be read.
    id: Option<Value>,
}

/// A body that is printed as text.
#[derive(Clone)]
struct Text(Vec<u8>);

impl fmt::Debug for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        String::from_utf8_lossy(&self.0).fmt(f)
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Session {
    None,
    Own,
    Guessed,
    Ended,
}

fn params() -> impl Strategy<Value = Value> {
    let tool = select(vec!["echo", "ask", "progress", "later", "hang", "none"]);
    prop_oneof![
        4 => tool.prop_map(|name| json!({"name": name, "arguments": {}})),
        1 => Just(json!({"name": "echo", "arguments": {}, "requestState": "AAAA"})),
        1 => Just(json!({"name": "ask", "inputResponses": {"name": {"action": "accept"}}})),
        1 => Just(json!({"name": "echo", "arguments": {}, "uri": 7})),
        1 => Just(json!({"uri": "test://a"})),
        1 => Just(json!({"uri": 7})),
        1 => Just(json!({"cursor": "x"})),
        1 => Just(json!({"level": "debug"})),
        1 => Just(json!({"taskId": "x"})),
        1 => Just(json!({"requestId": 1})),
        1 => Just(json!({"notifications": {"toolsListChanged": true}})),
        1 => Just(json!({"ref": {"type": "ref/prompt", "name": "x"}, "argument": {"name": "a", "value": ""}})),
        2 => Just(initialize("2025-11-25")["params"].clone()),
        1 => Just(initialize("1999-01-01")["params"].clone()),
        1 => Just(json!({})),
    ]
}

fn meta() -> impl Strategy<Value = Option<Value>> {
    const VERSION: &str = "io.modelcontextprotocol/protocolVersion";
    const CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
    prop_oneof![
        3 => Just(Some(json!({VERSION: "2026-07-28", CAPABILITIES: {"elicitation": {}}}))),
        2 => Just(None),
        1 => Just(Some(json!({VERSION: "2026-07-28"}))),
        1 => Just(Some(json!({VERSION: "2099-01-01", CAPABILITIES: {}}))),
        1 => Just(Some(json!({VERSION: 7, CAPABILITIES: "all"}))),
        1 => Just(Some(json!({"progressToken": "p"}))),
        1 => Just(Some(json!([]))),
    ]
}

/// What is done to a body that was well made.
#[derive(Clone, Debug)]
enum Damage {
    None,
    Cut(prop::sample::Index),
    Flip(prop::sample::Index, u8),
    Batch(usize),
    Random(Vec<u8>),
}

fn damage() -> impl Strategy<Value = Damage> {
    prop_oneof![
        6 => Just(Damage::None),
        1 => any::<prop::sample::Index>().prop_map(Damage::Cut),
        1 => (any::<prop::sample::Index>(), 0..8u8).prop_map(|(at, bit)| Damage::Flip(at, bit)),
        1 => (0..6usize).prop_map(Damage::Batch),
        1 => prop::collection::vec(any::<u8>(), 0..40).prop_map(Damage::Random),
    ]
}

fn id() -> impl Strategy<Value = Option<Value>> {
    prop_oneof![
        6 => (1..4u8).prop_map(|id| Some(json!(id))),
        1 => Just(Some(json!("a"))),
        1 => Just(Some(json!(1.5))),
        1 => Just(Some(json!(null))),
        1 => Just(Some(json!([1]))),
        2 => Just(None),
    ]
}

/// Headers of which any may be a lie.
fn headers() -> impl Strategy<Value = Vec<(&'static str, String)>> {
    let header = |name: &'static str, values: &[&'static str]| {
        let value = select(values.to_vec());
        prop::option::weighted(0.15, value).prop_map(move |value| Some((name, value?.to_owned())))
    };
    let versions = ["2024-11-05", "2025-11-25", "2026-07-28", "2099-01-01", "x"];
    let all = (
        header("mcp-protocol-version", &versions),
        header("mcp-method", &["tools/list", "tools/call", "x"]),
        header("mcp-name", &["echo", "hang", "=?base64?!!?="]),
        header(
            "accept",
            &["application/json", "text/event-stream", "image/png", "*/*"],
        ),
        header(
            "content-type",
            &["application/json; charset=utf-8", "text/plain", "x"],
        ),
        header("last-event-id", &["0-0", "1-1", "99-99", "x"]),
        header("host", &["localhost:80", "evil.example", "[::1]"]),
        header(
            "origin",
            &["null", "http://localhost", "https://evil.example"],
        ),
    );
    all.prop_map(|(a, b, c, d, e, f, g, h)| {
        [a, b, c, d, e, f, g, h].into_iter().flatten().collect()
    })
}

fn wanted() -> impl Strategy<Value = Wanted> {
    let http = prop_oneof![
        8 => Just(Method::POST),
        1 => Just(Method::GET),
        1 => Just(Method::DELETE),
        1 => Just(Method::PUT),
    ];
    let session = select(vec![
        Session::None,
        Session::Own,
        Session::Own,
        Session::Guessed,
        Session::Ended,
    ]);
    let message = (select(METHODS.to_vec()), id(), params(), meta());
    (http, session, message, headers(), any::<bool>(), damage()).prop_map(
        |(http, session, (method, id, mut params, meta), mut headers, honest, damage)| {
            let name = params["name"]
                .as_str()
                .or(params["uri"].as_str())
                .map(str::to_owned);
            if let Some(meta) = meta {
                params["_meta"] = meta;
            }
            if honest {
                let there = |key: &str| headers.iter().any(|(name, _)| *name == key);
                let version = (!there("mcp-protocol-version"))
                    .then_some(("mcp-protocol-version", "2026-07-28".to_owned()));
                let named = (!there("mcp-method")).then_some(("mcp-method", method.to_owned()));
                let name = name
                    .filter(|_| !there("mcp-name"))
                    .map(|name| ("mcp-name", name));
                headers.extend(version.into_iter().chain(named).chain(name));
            }
            let mut message = json!({"jsonrpc": "2.0", "method": method, "params": params});
            if let Some(id) = &id {
                message["id"] = id.clone();
            }
            let whole = message.to_string().into_bytes();
            let is_whole = matches!(damage, Damage::None);
            let body = match damage {
                Damage::None => whole,
                Damage::Cut(at) => whole[..at.index(whole.len())].to_vec(),
                Damage::Flip(at, bit) => {
                    let mut whole = whole;
                    let at = at.index(whole.len());
                    whole[at] ^= 1 << bit;
                    whole
                }
                Damage::Batch(count) => json!(vec![message; count]).to_string().into_bytes(),
                Damage::Random(bytes) => bytes,
            };
            Wanted {
                method: http,
                headers,
                session,
                body: Text(body),
                id: id.filter(|_| is_whole),
            }
        },
    )
}

/// What a reply may be, and that it is about its request.
async fn check(reply: Reply, wanted: &Wanted) -> Result<(), TestCaseError> {
    const STATUSES: [u16; 14] = [
        200, 202, 204, 400, 403, 404, 405, 406, 408, 413, 415, 500, 501, 503,
    ];
    let status = reply.status.as_u16();
    prop_assert!(STATUSES.contains(&status), "{status}");
    // No handler here fails in a way that is the server's own fault.
    prop_assert!(!(500..=501).contains(&status), "{status}");
    let is_json = reply
        .headers
        .get("content-type")
        .is_some_and(|kind| kind == "application/json");
    if !reply.is_stream() {
        let text = reply.text().await;
        if is_json {
            let body: Value = serde_json::from_str(&text).unwrap();
            let answers = body["result"].is_object() != body["error"].is_object();
            prop_assert!(body["jsonrpc"] == "2.0" && answers, "{text}");
            // A refusal by HTTP's own rules may come before the body was read.
            let id = wanted
                .id
                .as_ref()
                .filter(|id| id.is_string() || id.is_u64());
            let is_refusal = body["error"].is_object() && body["id"].is_null();
            prop_assert!(
                id.is_none_or(|id| is_refusal || body["id"] == *id),
                "{text}"
            );
        }
        return Ok(());
    }
    prop_assert_eq!(status, 200);
    // It may last: then its reader goes away.
    let mut reply = reply;
    let mut text = String::new();
    let _ = tokio::time::timeout(LIMIT, async {
        while let Some(chunk) = reply.chunk().await {
            text.push_str(&chunk);
        }
    })
    .await;
    let data = text.lines().filter_map(|line| line.strip_prefix("data: "));
    for data in data.filter(|data| !data.is_empty()) {
        let message: Value = serde_json::from_str(data).unwrap();
        let entries = message.as_array().cloned().unwrap_or_else(|| vec![message]);
        prop_assert!(
            entries.iter().all(|entry| entry["jsonrpc"] == "2.0"),
            "{data}"
        );
    }
    Ok(())
}

async fn all(requests: &[Wanted]) -> Result<(), TestCaseError> {
    let alive = Alive::default();
    let service = HttpService::new(&app(&alive));
    let (quiet, own, ended) = (
        open(&service).await,
        open(&service).await,
        open(&service).await,
    );
    send(&service, Method::DELETE, &[("mcp-session-id", &ended)], "").await;
    for wanted in requests {
        let mut headers: Vec<(&str, &str)> = wanted
            .headers
            .iter()
            .map(|(name, value)| (*name, value.as_str()))
            .collect();
        match wanted.session {
            Session::None => {}
            Session::Own => headers.push(("mcp-session-id", &own)),
            Session::Guessed => headers.push(("mcp-session-id", "guess")),
            Session::Ended => headers.push(("mcp-session-id", &ended)),
        }
        // A tool that hangs is answered for when its time is up, where no stream can say that it works.
        let reply = send(
            &service,
            wanted.method.clone(),
            &headers,
            wanted.body.0.clone(),
        );
        if let Ok(reply) = tokio::time::timeout(LIMIT, reply).await {
            check(reply, wanted).await?;
        } else {
            let text = String::from_utf8_lossy(&wanted.body.0);
            let waits = text.contains("\"hang\"")
                || text.contains("\"ask\"")
                || text.contains("subscriptions/listen");
            prop_assert!(waits, "no reply");
        }
        let reply = post(&service, &[("mcp-session-id", &quiet)], &call(1, "echo")).await;
        prop_assert_eq!(reply.status, StatusCode::OK);
        prop_assert_eq!(&reply.json().await["result"]["content"][0]["text"], "echo");
    }
    send(&service, Method::DELETE, &[("mcp-session-id", &own)], "").await;
    // Sessions that a request opened end with the endpoint.
    drop(service);
    until(|| alive.count() == 0).await;
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 250, ..ProptestConfig::default() })]

    #[test]
    fn any_request_is_answered_in_time_and_disturbs_no_other(requests in prop::collection::vec(wanted(), 1..8)) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
        runtime.block_on(all(&requests))?;
    }
}
