//! Abandoned calls that had become tasks: the server is notified, and the error names the task.

use std::time::Duration;

use mcp_client::{CallError, CallOptions, Client, ClientLimits, TimeoutKind};
use mcp_transport::{Delivery, TransportError, TransportKind};
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::fake::{Fake, FakeConnect, modern};

fn task(more: Value) -> Value {
    let mut task = json!({
        "resultType": "complete", "taskId": "t-1", "status": "working", "ttlMs": null,
        "createdAt": "2026-07-28T00:00:00Z", "lastUpdatedAt": "2026-07-28T00:00:00Z",
    });
    let members = task.as_object_mut().unwrap();
    members.extend(more.as_object().unwrap().clone());
    task
}

/// A server whose one tool is a task for ever; `look` answers `tasks/get`.
fn endless(look: impl Fn(&Fake, &Value) + Send + Sync + 'static) -> FakeConnect {
    modern(TransportKind::Http, move |server, message| {
        match message["method"].as_str() {
            Some("tools/call") => server.reply(message, task(json!({"resultType": "task"}))),
            Some("tasks/get") => look(server, message),
            _ => server.reply(message, json!({"resultType": "complete"})),
        }
    })
}

async fn client(connect: &FakeConnect, limit: Duration) -> Client {
    let limits = ClientLimits::default().with_task_timeout(limit);
    let builder = Client::builder(connect.clone()).name("fake").tasks();
    builder.limits(limits).connect().await.unwrap()
}

/// Waits until `tasks/cancel` was sent for the task.
async fn cancelled(connect: &FakeConnect) {
    while connect.last().methods().last().unwrap() != "tasks/cancel" {
        tokio::task::yield_now().await;
    }
    let cancel = connect.last().seen().pop().unwrap();
    assert_eq!(cancel["params"]["taskId"], "t-1");
}

#[tokio::test(start_paused = true)]
async fn a_task_that_takes_too_long_is_cancelled_and_named_in_the_error() {
    // The server would rather be asked once a minute.
    let connect = endless(|server, message| {
        server.reply(message, task(json!({"pollIntervalMs": 60_000})));
    });
    let limit = Duration::from_millis(6500);
    let client = client(&connect, limit).await;
    let began = Instant::now();
    let error = client.call_tool("chore", json!({})).await.unwrap_err();
    assert_eq!(began.elapsed(), limit);
    let CallError::Timeout {
        limit: reported, ..
    } = &error
    else {
        panic!("{error}");
    };
    assert_eq!(*reported, limit);
    let ticket = error.task().unwrap();
    assert_eq!((&*ticket.server, &*ticket.task_id), ("fake", "t-1"));
    let text = error.to_string();
    assert!(text.contains("'chore'") && text.contains("'t-1'"), "{text}");
    cancelled(&connect).await;
}

#[tokio::test(start_paused = true)]
async fn the_deadline_of_a_call_holds_for_the_task_it_becomes() {
    let connect = endless(|_, _| {});
    let client = client(&connect, Duration::from_secs(3600)).await;
    let deadline = Duration::from_secs(5);
    let client = client.with(CallOptions::default().with_deadline(deadline));
    let began = Instant::now();
    let error = client.call_tool("chore", json!({})).await.unwrap_err();
    assert_eq!(began.elapsed(), deadline);
    let CallError::Timeout { limit, kind, .. } = error else {
        panic!("{error}");
    };
    assert_eq!((limit, kind), (deadline, TimeoutKind::Deadline));
    cancelled(&connect).await;
}

/// Asking where a task stands may be repeated; the call that became it may not.
#[tokio::test(start_paused = true)]
async fn a_task_that_is_lost_sight_of_is_not_safe_to_reissue() {
    for delivery in [Delivery::NotSent, Delivery::Sent] {
        let connect = endless(move |server, _| {
            let detail = "the stream broke".to_owned();
            server.refuse(TransportError::NoResponse { detail }, delivery);
        });
        let client = client(&connect, Duration::from_secs(3600)).await;
        let error = client.call_tool("chore", json!({})).await.unwrap_err();
        assert!(matches!(error, CallError::OutcomeUnknown { .. }), "{error}");
        assert!(!error.is_safe_to_reissue());
        assert_eq!(error.task().unwrap().task_id, "t-1");
        cancelled(&connect).await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_task_that_is_over_is_not_cancelled() {
    let connect = endless(|server, message| {
        let error = json!({"code": -32603, "message": "it broke"});
        server.reply(message, task(json!({"status": "failed", "error": error})));
    });
    let client = client(&connect, Duration::from_secs(3600)).await;
    let error = client.call_tool("chore", json!({})).await.unwrap_err();
    assert!(matches!(error, CallError::Peer { .. }), "{error}");
    client.close().await;
    assert_eq!(connect.last().methods().last().unwrap(), "tasks/get");
}
