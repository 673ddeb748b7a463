//! What one caller may take of the limits that all callers share.

use http::StatusCode;
use mcp_server::http::HttpService;
use mcp_server::{Context, ServerLimits, Service};
use serde_json::{Value, json};

use crate::http_kit::{ByHeader, Reply, initialize, modern, post};
use crate::kit::{Alive, any, server, until};
use crate::tasks::with_tasks;

/// A server of which each caller may have half: four sessions, four requests and so on.
fn half(alive: &Alive) -> Service {
    let guard = alive.clone();
    let limits = ServerLimits::default()
        .with_sessions(8)
        .with_requests(8)
        .with_tasks(8)
        .with_subscriptions(8)
        .with_caller_percent(50);
    server()
        .tool_with_schema(any("echo"), |_: Value, _| async { "echo" })
        .tool_with_schema(any("hang"), move |_: Value, _: Context| {
            let guard = guard.enter();
            async move {
                let _guard = guard;
                std::future::pending::<()>().await;
            }
        })
        .tool_with_schema(with_tasks("job"), |_: Value, cx: Context| async move {
            cx.detach().await;
            std::future::pending::<()>().await;
        })
        .limits(limits)
        .build()
}

fn service(alive: &Alive) -> HttpService {
    HttpService::new(&half(alive)).authenticator(ByHeader)
}

async fn call(service: &HttpService, user: &str, method: &str, params: Value) -> Reply {
    let name = params["name"].as_str().unwrap_or_default().to_owned();
    let mut headers = vec![
        ("x-user", user),
        ("mcp-protocol-version", "2026-07-28"),
        ("mcp-method", method),
    ];
    if !name.is_empty() {
        headers.push(("mcp-name", &name));
    }
    post(service, &headers, &modern(method, params)).await
}

async fn echoes(service: &HttpService, user: &str) -> bool {
    let reply = call(
        service,
        user,
        "tools/call",
        json!({"name": "echo", "arguments": {}}),
    )
    .await;
    reply.status == StatusCode::OK && reply.json().await["result"]["content"][0]["text"] == "echo"
}

#[tokio::test]
async fn a_flood_of_one_callers_sessions_leaves_sessions_to_the_next() {
    let service = service(&Alive::default());
    let open = async |user: &str| {
        let reply = post(&service, &[("x-user", user)], &initialize("2025-11-25")).await;
        reply.status
    };
    for number in 0..20 {
        let want = match number < 4 {
            true => StatusCode::OK,
            false => StatusCode::SERVICE_UNAVAILABLE,
        };
        assert_eq!(open("ann").await, want, "{number}");
    }
    for _ in 0..4 {
        assert_eq!(open("bob").await, StatusCode::OK);
    }
    // Both have their half.
    assert_eq!(open("bob").await, StatusCode::SERVICE_UNAVAILABLE);
}

#[tokio::test]
async fn a_flood_of_one_callers_requests_leaves_room_to_the_next() {
    let alive = Alive::default();
    let service = service(&alive);
    let hang = json!({"name": "hang", "arguments": {}});
    let mut flood = tokio::task::JoinSet::new();
    for _ in 0..4 {
        let (service, hang) = (service.clone(), hang.clone());
        flood.spawn(async move { call(&service, "ann", "tools/call", hang).await.status });
    }
    until(|| alive.count() == 4).await;
    let refused = call(&service, "ann", "tools/call", hang).await;
    assert_eq!(refused.status, StatusCode::SERVICE_UNAVAILABLE);
    assert_eq!(refused.headers["retry-after"], "1");
    assert!(echoes(&service, "bob").await);
    flood.shutdown().await;
    until(|| alive.count() == 0).await;
    assert!(echoes(&service, "ann").await, "its share is free again");
}

#[tokio::test]
async fn a_flood_of_one_callers_subscriptions_leaves_some_to_the_next() {
    let service = service(&Alive::default());
    let mut open = Vec::new();
    let wanted = json!({"notifications": {"toolsListChanged": true}});
    for (user, streams) in [("ann", 4), ("bob", 4)] {
        for number in 0..6 {
            let reply = call(&service, user, "subscriptions/listen", wanted.clone()).await;
            assert_eq!(reply.is_stream(), number < streams, "{user} {number}");
            open.push(reply);
        }
    }
}

#[tokio::test]
async fn a_flood_of_one_callers_tasks_leaves_some_to_the_next() {
    let service = service(&Alive::default());
    for (user, most) in [("ann", 4), ("bob", 4)] {
        let opened = post(&service, &[("x-user", user)], &initialize("2025-11-25")).await;
        let session = opened.session();
        for number in 0..6 {
            let params = json!({"name": "job", "arguments": {}, "task": {}});
            let call =
                json!({"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params});
            let headers = [("x-user", user), ("mcp-session-id", session.as_str())];
            let reply = post(&service, &headers, &call).await.json().await;
            let is_task = reply["result"]["task"]["taskId"].is_string();
            assert_eq!(is_task, number < most, "{user} {number}: {reply}");
        }
    }
}
