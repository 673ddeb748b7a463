//! Every request ends in exactly one outcome, and as soon as it can be known.

use std::time::Duration;

use mcp_client::{CallError, Client, ClientLimits};
use mcp_jsonrpc::RequestId;
use mcp_jsonrpc::model::CallToolResult;
use mcp_transport::{Closed, Delivery, Incoming, TransportError, TransportKind};
use serde_json::{Value, json};

use crate::fake::{Fake, FakeConnect, echo, legacy, legacy_script, text};

/// Calls `echo` on a server that answers calls as `script` says.
async fn call(
    script: impl Fn(&Fake, &Value) + Send + Sync + 'static,
) -> Result<CallToolResult, CallError> {
    let client = Client::builder(legacy(script))
        .name("chaos")
        .connect()
        .await
        .unwrap();
    client.call_tool("echo", json!({"text": "hello"})).await
}

/// A raw answer to a request, with the id where `ID` stands.
fn raw(answer: &'static str) -> impl Fn(&Fake, &Value) + Send + Sync {
    move |server, message| {
        let answer = answer.replace("ID", &message["id"].to_string());
        server.say_bytes(answer.as_bytes(), None);
    }
}

#[tokio::test(start_paused = true)]
async fn a_malformed_answer_with_a_readable_id_fails_its_call_at_once() {
    let deep = format!(
        r#"{{"jsonrpc":"2.0","id":ID,"result":{}{}}}"#,
        "[".repeat(10_000),
        "]".repeat(10_000)
    );
    let bad = [
        r#"{"jsonrpc":"2.0","id":ID}"#,
        r#"{"jsonrpc":"2.0","id":ID,"result":{},"error":{"code":1,"message":"x"}}"#,
        r#"{"id":ID,"result":{}}"#,
        r#"{"jsonrpc":"2.0","id":ID,"error":"boom"}"#,
        r#"{"jsonrpc":"2.0","id":ID,"error":{"code":99999999999999999999,"message":"x"}}"#,
        r#"{"jsonrpc":"2.0","id":ID,"result":"text"}"#,
        r#"{"jsonrpc":"2.0","id":ID,"result":null}"#,
        r#"{"jsonrpc":"2.0","id":ID,"result":{"content":"#,
        deep.leak(),
    ];
    for answer in bad {
        let begun = tokio::time::Instant::now();
        let error = call(raw(answer)).await.unwrap_err();
        assert!(matches!(error, CallError::InvalidReply { .. }), "{error}");
        assert_eq!(begun.elapsed(), Duration::ZERO, "{error}");
    }
}

#[tokio::test]
async fn ids_come_back_as_numbers_floats_and_texts() {
    for id in ["ID", "ID.0", "\"ID\""] {
        let answer = format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"content":[]}}}}"#);
        call(raw(answer.leak())).await.unwrap();
    }
}

#[tokio::test]
async fn unsolicited_responses_settle_no_request() {
    let client = Client::builder(legacy(|server, message| {
        let forged = text(&json!("forged"));
        for id in [
            json!(99),
            json!("x"),
            json!(message["id"].as_i64().unwrap() + 1),
        ] {
            server.say(json!({"jsonrpc": "2.0", "id": id, "result": forged}));
        }
        echo(server, message);
        server.reply(message, forged);
    }))
    .connect()
    .await
    .unwrap();
    for want in ["one", "two", "three"] {
        let result = client
            .call_tool("echo", json!({"text": want}))
            .await
            .unwrap();
        assert_eq!(result.content[0].as_text(), Some(want));
    }
}

#[tokio::test]
async fn other_programs_json_on_the_pipe_fails_no_call() {
    let result = call(|server, message| {
        server.say(json!({"level": "info", "id": message["id"], "msg": "listening"}));
        server.say_bytes(b"plain text", None);
        echo(server, message);
    });
    result.await.unwrap();
}

#[tokio::test]
async fn a_batch_is_read() {
    let result = call(|server, message| {
        server.say(json!([
            {"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info", "data": 1}},
            7,
            {"jsonrpc": "2.0", "id": message["id"], "result": text(&json!("hello"))},
        ]));
    });
    assert_eq!(result.await.unwrap().content[0].as_text(), Some("hello"));
}

#[tokio::test(start_paused = true)]
async fn an_error_without_an_id_is_reported_if_there_is_no_response() {
    let error = call(|server, _| {
        let error = json!({"code": -32700, "message": "Parse error"});
        server.say(json!({"jsonrpc": "2.0", "id": null, "error": error}));
    })
    .await
    .unwrap_err();
    let CallError::Timeout {
        trouble: Some(trouble),
        ..
    } = error
    else {
        panic!("{error}")
    };
    assert!(trouble.contains("Parse error"), "{trouble}");
}

#[tokio::test]
async fn an_error_without_an_id_does_not_end_the_session() {
    let result = call(|server, message| {
        server.say(json!({"jsonrpc": "2.0", "error": {"code": -32600, "message": "what"}}));
        echo(server, message);
    });
    result.await.unwrap();
}

#[tokio::test]
async fn a_lost_connection_says_what_is_known_of_delivery() {
    let client = Client::builder(legacy(|server, message| {
        let mut closed = Closed::with_error(TransportError::Closed);
        if message["params"]["name"] == "unsent" {
            closed
                .unsent
                .push(RequestId::from(message["id"].as_i64().unwrap()));
        }
        server.end(closed);
    }));
    let client = client.connect().await.unwrap();
    let error = client.call_tool("sent", json!({})).await.unwrap_err();
    assert!(matches!(error, CallError::OutcomeUnknown { .. }) && !error.is_safe_to_reissue());
    let error = client.call_tool("sent", json!({})).await.unwrap_err();
    assert!(matches!(error, CallError::Closed { .. }) && error.is_safe_to_reissue());

    let client = client.reconnect().await.unwrap();
    let error = client.call_tool("unsent", json!({})).await.unwrap_err();
    assert!(matches!(error, CallError::NotSent { .. }) && error.is_safe_to_reissue());

    let client = client.reconnect().await.unwrap();
    let error = client.list_tools().await.unwrap_err();
    assert!(matches!(error, CallError::Lost { .. }) && error.is_safe_to_reissue());
}

#[tokio::test]
async fn a_safe_call_is_issued_again_only_when_asked_to() {
    let connect = legacy(|server, message| match message["method"].as_str() {
        Some("tools/list") if server.seen().len() > 3 => {
            server.reply(message, json!({"tools": []}))
        }
        Some("tools/list") => server.refuse(TransportError::Closed, Delivery::NotSent),
        _ => server.end(Closed::with_error(TransportError::Closed)),
    });
    let client = Client::builder(connect.clone()).connect().await.unwrap();
    client
        .reissue(|client| async move { client.list_tools().await })
        .await
        .unwrap();
    assert_eq!(connect.last().methods()[2..], ["tools/list", "tools/list"]);
    let call = |client: Client| async move { client.call_tool("pay", json!({})).await };
    let error = client.reissue(call).await.unwrap_err();
    assert!(matches!(error, CallError::OutcomeUnknown { .. }));
    let calls = |fake: &Fake| {
        fake.methods()
            .iter()
            .filter(|method| *method == "tools/call")
            .count()
    };
    assert_eq!(
        connect.made().iter().map(|fake| calls(fake)).sum::<usize>(),
        1
    );
}

fn too_large(server: &Fake, head: String) {
    server.push(Incoming::TooLarge {
        head: head.into_bytes(),
        limit: 1000,
    });
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_is_too_large_fails_its_call_at_once() {
    let begun = tokio::time::Instant::now();
    let error = call(|server, message| {
        too_large(
            server,
            format!(r#"{{"jsonrpc":"2.0","id":{},"result":{{"#, message["id"]),
        );
    });
    assert!(matches!(
        error.await.unwrap_err(),
        CallError::InvalidReply { .. }
    ));
    let error = call(|server, _| too_large(server, r#"{"result":{"content":[{"#.to_owned()));
    assert!(matches!(
        error.await.unwrap_err(),
        CallError::InvalidReply { .. }
    ));
    let fine = call(|server, message| {
        too_large(
            server,
            r#"{"jsonrpc":"2.0","method":"notifications/message","params":{"#.to_owned(),
        );
        echo(server, message);
    });
    fine.await.unwrap();
    assert_eq!(begun.elapsed(), Duration::ZERO);
}

#[tokio::test(start_paused = true)]
async fn a_response_that_could_be_any_calls_ends_the_connection() {
    let connect = legacy(|server, message| {
        if message["params"]["name"] == "second" {
            too_large(server, r#"{"result":{"content":[{"#.to_owned());
        }
    });
    let client = Client::builder(connect).connect().await.unwrap();
    let (first, second) = tokio::join!(
        client.call_tool("first", json!({})),
        client.call_tool("second", json!({}))
    );
    for error in [first.unwrap_err(), second.unwrap_err()] {
        let source = std::error::Error::source(&error).unwrap().to_string();
        assert!(
            source.contains("larger than the limit of 1000"),
            "{error}: {source}"
        );
    }
    assert!(!client.is_alive());
}

/// Over HTTP the exchange tells which call a bad answer belongs to.
async fn exchange(script: impl Fn(&Fake, &Value) + Send + Sync + 'static) -> CallError {
    let connect = FakeConnect::new(
        TransportKind::Http,
        legacy_script(move |server, message| {
            if message["method"] != "tools/call" {
                return server.error(message, -32601, "no");
            }
            script(server, message);
            server.push(Incoming::Ended {
                request: RequestId::from(message["id"].as_i64().unwrap()),
                error: TransportError::NoResponse {
                    detail: "the reply is over".to_owned(),
                }
                .into(),
            });
        }),
    );
    let client = Client::builder(connect).connect().await.unwrap();
    client.call_tool("echo", json!({})).await.unwrap_err()
}

#[tokio::test(start_paused = true)]
async fn a_reply_without_the_answer_fails_its_call_at_once() {
    let begun = tokio::time::Instant::now();
    let error = exchange(|_, _| {}).await;
    assert!(matches!(error, CallError::OutcomeUnknown { .. }), "{error}");
    let error = exchange(|server, message| {
        server.say_on(
            &message["id"],
            json!({"jsonrpc": "2.0", "id": 987, "result": {}}),
        );
    });
    let error = error.await;
    assert!(
        matches!(&error, CallError::InvalidReply { detail, .. } if detail.contains("987")),
        "{error}"
    );
    let error =
        exchange(|server, message| server.say_on(&message["id"], json!({"hello": 1}))).await;
    assert!(matches!(error, CallError::InvalidReply { .. }), "{error}");
    let error = exchange(|server, message| {
        let error = json!({"code": -32000, "message": "no id"});
        server.say_on(
            &message["id"],
            json!({"jsonrpc": "2.0", "id": null, "error": error}),
        );
    });
    assert_eq!(error.await.peer().unwrap().message, "no id");
    assert_eq!(begun.elapsed(), Duration::ZERO);
}

#[tokio::test(start_paused = true)]
async fn calls_beyond_the_window_wait_their_turn() {
    let connect = legacy(|_, _| {});
    let limits = ClientLimits::default()
        .with_calls_in_flight(2)
        .with_call_idle_timeout(Duration::from_secs(10));
    let client = Client::builder(connect.clone())
        .limits(limits)
        .connect()
        .await
        .unwrap();
    let calls: Vec<_> = (0..5)
        .map(|_| {
            let client = client.clone();
            tokio::spawn(async move { client.call_tool("slow", json!({})).await.unwrap_err() })
        })
        .collect();
    for call in calls {
        let error = call.await.unwrap();
        assert!(
            matches!(error, CallError::Timeout { .. } | CallError::NotSent { .. }),
            "{error}"
        );
    }
    client.close().await;
    let methods = connect.last().methods();
    let sent = methods
        .iter()
        .filter(|method| *method == "tools/call")
        .count();
    let reported = methods
        .iter()
        .filter(|method| *method == "notifications/cancelled")
        .count();
    assert_eq!(
        sent, reported,
        "each call that was sent was cancelled: {methods:?}"
    );
}
