//! A call that no caller waits for is cancelled on the wire, as its era prescribes.

use std::time::Duration;

use mcp_client::{CallError, CallOptions, Client, TimeoutKind};
use mcp_transport::TransportKind;
use serde_json::{Value, json};

use crate::fake::{Fake, FakeConnect, legacy, legacy_script, modern};

fn silent(_: &Fake, _: &Value) {}

/// Drops a call that will never be answered, and returns what the server then heard.
async fn dropped(connect: FakeConnect) -> (Vec<Value>, Vec<String>) {
    let client = Client::builder(connect.clone()).connect().await.unwrap();
    let call = client.call_tool("slow", json!({}));
    assert!(
        tokio::time::timeout(Duration::from_secs(1), call)
            .await
            .is_err()
    );
    client.close().await;
    let server = connect.last();
    let cancelled = server
        .seen()
        .into_iter()
        .filter(|sent| sent["method"] == "notifications/cancelled");
    (
        cancelled.collect(),
        server.released().iter().map(ToString::to_string).collect(),
    )
}

#[tokio::test(start_paused = true)]
async fn a_dropped_call_is_cancelled_by_a_notification() {
    for connect in [
        legacy(silent),
        FakeConnect::new(TransportKind::LegacySse, legacy_script(silent)),
    ] {
        let (cancelled, released) = dropped(connect).await;
        assert_eq!(cancelled.len(), 1);
        assert_eq!(cancelled[0]["params"]["requestId"], 2);
        assert_eq!(released, ["2"]);
    }
}

#[tokio::test(start_paused = true)]
async fn a_modern_pipe_is_notified_of_a_cancellation() {
    let (cancelled, _) = dropped(modern(TransportKind::Pipe, silent)).await;
    assert_eq!(cancelled[0]["params"]["requestId"], 3);
}

#[tokio::test(start_paused = true)]
async fn modern_http_cancels_by_closing_the_stream_alone() {
    let (cancelled, released) = dropped(modern(TransportKind::Http, silent)).await;
    assert_eq!(cancelled, Vec::<Value>::new());
    assert!(released.contains(&"2".to_owned()));
}

#[tokio::test(start_paused = true)]
async fn a_timed_out_call_is_cancelled_with_the_reason() {
    let connect = legacy(silent);
    let client = Client::builder(connect.clone()).connect().await.unwrap();
    let error = client.call_tool("slow", json!({})).await.unwrap_err();
    let CallError::Timeout { limit, kind, .. } = &error else {
        panic!("{error}")
    };
    assert_eq!(
        (*limit, *kind),
        (Duration::from_secs(120), TimeoutKind::Idle)
    );
    client.close().await;
    let last = connect.last().seen().pop().unwrap();
    assert_eq!(
        last["params"],
        json!({"requestId": 2, "reason": "the request timed out"})
    );
}

#[tokio::test(start_paused = true)]
async fn initialize_is_never_cancelled() {
    let connect = FakeConnect::new(TransportKind::Pipe, silent);
    Client::builder(connect.clone())
        .connect()
        .await
        .unwrap_err();
    assert_eq!(connect.last().methods(), ["initialize"]);
}

#[tokio::test(start_paused = true)]
async fn a_late_response_to_a_cancelled_call_settles_no_other_call() {
    let connect = legacy(|server, message| {
        if message["method"] == "notifications/cancelled" {
            server.reply(
                &json!({"id": message["params"]["requestId"]}),
                json!({"content": []}),
            );
        }
        if message["params"]["name"] == "echo" {
            server.reply(message, crate::fake::text(&json!("mine")));
        }
    });
    let client = Client::builder(connect).connect().await.unwrap();
    let hasty = client.with(CallOptions::default().with_idle_timeout(Duration::from_millis(10)));
    hasty.call_tool("slow", json!({})).await.unwrap_err();
    let result = client.call_tool("echo", json!({})).await.unwrap();
    assert_eq!(result.content[0].as_text(), Some("mine"));
}

#[tokio::test(start_paused = true)]
async fn progress_extends_a_call_up_to_its_cap() {
    let connect = legacy(silent);
    let client = Client::builder(connect.clone()).connect().await.unwrap();
    let server = connect.last();
    let busy = tokio::spawn(async move {
        for step in 0.. {
            tokio::time::sleep(Duration::from_secs(5)).await;
            let params = json!({"progressToken": 2, "progress": step});
            server.say(
                json!({"jsonrpc": "2.0", "method": "notifications/progress", "params": params}),
            );
        }
    });
    let options = CallOptions::default().with_idle_timeout(Duration::from_secs(10));
    let begun = tokio::time::Instant::now();
    let error = client
        .with(options)
        .call_tool("slow", json!({}))
        .await
        .unwrap_err();
    assert!(
        matches!(
            error,
            CallError::Timeout {
                kind: TimeoutKind::Deadline,
                ..
            }
        ),
        "{error}"
    );
    assert_eq!(begun.elapsed(), Duration::from_secs(100));
    busy.abort();
}

/// A deadline is total; only the idle timeout begins anew with each progress report.
#[tokio::test(start_paused = true)]
async fn progress_does_not_move_a_deadline() {
    let connect = legacy(|_, _| {});
    let client = Client::builder(connect.clone()).connect().await.unwrap();
    let server = connect.last();
    let busy = tokio::spawn(async move {
        for step in 0.. {
            tokio::time::sleep(Duration::from_secs(1)).await;
            let params = json!({"progressToken": 2, "progress": step});
            let method = "notifications/progress";
            server.say(json!({"jsonrpc": "2.0", "method": method, "params": params}));
        }
    });
    let options = CallOptions::default()
        .with_deadline(Duration::from_secs(5))
        .with_idle_timeout(Duration::from_secs(2));
    let begun = tokio::time::Instant::now();
    let call = client.with(options);
    let error = call.call_tool("slow", json!({})).await.unwrap_err();
    assert_eq!(begun.elapsed(), Duration::from_secs(5));
    let reported = error.to_string();
    assert!(reported.contains("within its deadline of 5s"), "{reported}");
    busy.abort();
}

#[tokio::test(start_paused = true)]
async fn progress_reaches_its_call_in_order_and_before_the_answer() {
    let connect = legacy(|server, message| {
        for step in 1..=3 {
            let token = &message["params"]["_meta"]["progressToken"];
            let params = json!({"progressToken": token, "progress": step, "message": "on it"});
            server.say(
                json!({"jsonrpc": "2.0", "method": "notifications/progress", "params": params}),
            );
        }
        server.reply(message, crate::fake::text(&json!("done")));
    });
    let client = Client::builder(connect).connect().await.unwrap();
    let seen = std::sync::Arc::new(parking_lot::Mutex::new(Vec::new()));
    let options = CallOptions::default().with_progress({
        let seen = seen.clone();
        move |report| seen.lock().push(report.progress)
    });
    client
        .with(options)
        .call_tool("slow", json!({}))
        .await
        .unwrap();
    assert_eq!(*seen.lock(), [1.0, 2.0, 3.0]);
}
