//! A success is a result that was really received for that very call.

use std::time::Duration;

use mcp_client::{CallError, CallOptions, Client, Interests, TimeoutKind};
use mcp_transport::TransportKind;
use serde_json::{Value, json};

use crate::fake::{Fake, FakeConnect, modern, text};

const SHAPES: [TransportKind; 2] = [TransportKind::Pipe, TransportKind::Http];

async fn connect(connect: FakeConnect) -> Client {
    let client = Client::builder(connect).tasks().connect().await;
    client.unwrap()
}

fn cancel(server: &Fake, id: &Value) {
    let params = json!({"requestId": id});
    server.say(json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params}));
}

fn acknowledge(server: &Fake, id: &Value) {
    let params = json!({
        "notifications": {}, "_meta": {"io.modelcontextprotocol/subscriptionId": id},
    });
    let method = "notifications/subscriptions/acknowledged";
    server.say(json!({"jsonrpc": "2.0", "method": method, "params": params}));
}

fn task(status: &str, more: Value) -> Value {
    let mut task = json!({
        "resultType": "complete", "taskId": "t", "status": status, "ttlMs": null,
        "createdAt": "2026-07-28T00:00:00Z", "lastUpdatedAt": "2026-07-28T00:00:00Z",
    });
    let members = task.as_object_mut().unwrap();
    members.extend(more.as_object().unwrap().clone());
    task
}

#[tokio::test(start_paused = true)]
async fn a_server_that_cancels_our_call_does_not_answer_it() {
    for shape in SHAPES {
        let client = connect(modern(shape, |server, message| {
            cancel(server, &message["id"]);
            server.reply(message, text(&json!("the real answer")));
        }))
        .await;
        let result = client.call_tool("x", json!({})).await.unwrap();
        assert_eq!(result.content[0].as_text(), Some("the real answer"));
    }
}

#[tokio::test(start_paused = true)]
async fn a_call_that_is_cancelled_and_never_answered_times_out() {
    for shape in SHAPES {
        let client = connect(modern(shape, |server, message| {
            cancel(server, &message["id"]);
        }))
        .await;
        let error = client.call_tool("x", json!({})).await.unwrap_err();
        assert!(matches!(error, CallError::Timeout { .. }), "{error}");
    }
}

#[tokio::test(start_paused = true)]
async fn only_a_subscription_is_freed_of_its_time_limit_by_an_acknowledgement() {
    let client = connect(modern(TransportKind::Pipe, |server, message| {
        acknowledge(server, &message["id"]);
    }))
    .await;
    let client = client.with(CallOptions::default().with_idle_timeout(Duration::from_secs(7)));
    let error = client.call_tool("x", json!({})).await.unwrap_err();
    let CallError::Timeout { limit, kind, .. } = error else {
        panic!("{error}");
    };
    assert_eq!((limit, kind), (Duration::from_secs(7), TimeoutKind::Idle));
}

#[tokio::test(start_paused = true)]
async fn a_server_may_cancel_a_subscription() {
    for shape in SHAPES {
        let fake = modern(shape, |server, message| {
            if message["method"] == "subscriptions/listen" {
                acknowledge(server, &message["id"]);
            }
        });
        let client = connect(fake.clone()).await;
        let mut changes = client.subscribe(Interests::default()).await.unwrap();
        tokio::time::sleep(Duration::from_secs(3600)).await;
        let server = fake.last();
        let listen = server.seen().pop().unwrap();
        assert_eq!(listen["method"], "subscriptions/listen");
        cancel(&server, &listen["id"]);
        assert_eq!(changes.next().await, None);
        assert!(changes.error().is_none(), "{:?}", changes.error());
    }
}

/// What a task that is over holds counts only if it is the complete result of its call.
#[tokio::test(start_paused = true)]
async fn a_task_is_no_success_unless_its_result_is_complete() {
    let cases = [
        (
            "completed",
            json!({"result": {"resultType": "input_required", "requestState": "s"}}),
        ),
        (
            "completed",
            json!({"result": {"resultType": "task", "content": []}}),
        ),
        (
            "completed",
            json!({"result": {"resultType": 7, "content": []}}),
        ),
        ("completed", json!({"result": {}})),
        ("completed", json!({})),
        ("failed", json!({"result": {"content": []}})),
        ("failed", json!({})),
    ];
    for (status, more) in cases {
        let held = more.clone();
        let client =
            connect(modern(
                TransportKind::Http,
                move |server, message| match message["method"].as_str() {
                    Some("tools/call") => {
                        server.reply(message, task("working", json!({"resultType": "task"})));
                    }
                    _ => server.reply(message, task(status, more.clone())),
                },
            ))
            .await;
        let error = client.call_tool("x", json!({})).await.unwrap_err();
        assert!(
            matches!(error, CallError::InvalidReply { .. }),
            "{status} {held}: {error}"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn a_task_that_failed_may_hold_the_tools_own_words() {
    let client = connect(modern(
        TransportKind::Http,
        |server, message| match message["method"].as_str() {
            Some("tools/call") => {
                server.reply(message, task("working", json!({"resultType": "task"})));
            }
            _ => {
                let result = json!({"isError": true, "content": [{"type": "text", "text": "no"}]});
                server.reply(message, task("failed", json!({"result": result})));
            }
        },
    ))
    .await;
    let result = client.call_tool("x", json!({})).await.unwrap();
    assert!(result.failed());
}

#[tokio::test(start_paused = true)]
async fn another_kind_of_object_is_no_tool_result() {
    for result in [
        json!({}),
        json!({"tools": []}),
        json!({"resultType": "complete"}),
    ] {
        let answer = result.clone();
        let client = connect(modern(TransportKind::Pipe, move |server, message| {
            server.reply(message, answer.clone());
        }))
        .await;
        let error = client.call_tool("x", json!({})).await.unwrap_err();
        let reported = error.to_string();
        assert!(
            reported.contains("`content` is missing"),
            "{result}: {reported}"
        );
    }
}
