//! The handle: cheap to share, explicit to end, and honest about what it knows.

use std::sync::Arc;
use std::time::Duration;

use mcp_client::{CallError, Client, ClientEvent};
use mcp_jsonrpc::Revision;
use mcp_jsonrpc::model::{Implementation, LoggingLevel, Ping};
use mcp_transport::{Closed, Incoming, Transport, TransportError, TransportKind, memory};
use parking_lot::Mutex;
use serde_json::{Value, json};
use tokio::sync::Notify;

use crate::fake::{Fake, echo, legacy, modern, text};

fn silent(_: &Fake, _: &Value) {}

/// Thread-safe, cloneable, not generic; clones are one connection.
#[tokio::test(flavor = "multi_thread")]
async fn clones_share_one_connection() {
    fn shareable<T: Clone + Send + Sync + std::fmt::Debug + 'static>(_: &T) {}
    let connect = legacy(echo);
    let client = Client::builder(connect.clone()).connect().await.unwrap();
    shareable(&client);
    let calls: Vec<_> = (0..100)
        .map(|n| {
            let client = client.clone();
            tokio::spawn(async move {
                let want = n.to_string();
                let result = client
                    .call_tool("echo", json!({"text": want}))
                    .await
                    .unwrap();
                assert_eq!(result.content[0].as_text(), Some(want.as_str()));
            })
        })
        .collect();
    for call in calls {
        call.await.unwrap();
    }
    assert_eq!(connect.made().len(), 1);
}

/// What the server said about itself.
#[tokio::test]
async fn the_server_is_introduced() {
    for connect in [legacy(silent), modern(TransportKind::Http, silent)] {
        let client = Client::builder(connect)
            .name("weather")
            .connect()
            .await
            .unwrap();
        assert_eq!(client.name(), "weather");
        let facts = client.server();
        assert_eq!(facts.info.unwrap(), Implementation::new("fake", "1"));
        assert_eq!(facts.instructions.as_deref(), Some("be kind"));
        assert!(facts.capabilities.tools.is_some());
        assert_eq!(facts.revision, Some(client.revision()));
        assert!(client.is_alive() && client.process_exit().is_none());
    }
}

#[tokio::test]
async fn close_ends_every_clone() {
    let client = Client::builder(legacy(silent)).connect().await.unwrap();
    let other = client.clone();
    let waiting = tokio::spawn(async move { other.call_tool("slow", json!({})).await });
    tokio::task::yield_now().await;
    client.close().await;
    client.close().await;
    assert!(matches!(
        waiting.await.unwrap(),
        Err(CallError::OutcomeUnknown { .. })
    ));
    assert!(!client.is_alive());
    let error = client.call_tool("slow", json!({})).await.unwrap_err();
    assert!(matches!(error, CallError::Closed { .. }), "{error}");
}

#[tokio::test]
async fn dropping_the_last_handle_closes() {
    let closed = Arc::new(Notify::new());
    let reported = closed.clone();
    let client = Client::builder(legacy(silent)).on_close(move |_| reported.notify_one());
    let client = client.connect().await.unwrap();
    let other = client.clone();
    drop(client);
    assert!(other.is_alive());
    drop(other);
    closed.notified().await;
}

/// A late listener hears of an end that has come already.
#[tokio::test]
async fn on_close_fires_early_and_late_with_the_reason() {
    let connect = legacy(|server, _| {
        let detail = "it broke".to_owned();
        server.end(Closed::with_error(TransportError::Malformed { detail }));
    });
    let heard = Arc::new(Mutex::new(Vec::new()));
    let bell = Arc::new(Notify::new());
    let listener = |name: &'static str| {
        let (heard, bell) = (heard.clone(), bell.clone());
        move |why: Option<Arc<TransportError>>| {
            heard.lock().push((name, why.map(|why| why.to_string())));
            bell.notify_one();
        }
    };
    let client = Client::builder(connect)
        .on_close(listener("built"))
        .connect()
        .await
        .unwrap();
    client.on_close(listener("before"));
    client.call_tool("echo", json!({})).await.unwrap_err();
    while heard.lock().len() < 2 {
        bell.notified().await;
    }
    client.on_close(listener("after"));
    while heard.lock().len() < 3 {
        bell.notified().await;
    }
    let why = Some("the server broke the protocol: it broke".to_owned());
    let want: Vec<_> = ["built", "before", "after"]
        .map(|name| (name, why.clone()))
        .to_vec();
    assert_eq!(*heard.lock(), want);
}

#[tokio::test(start_paused = true)]
async fn the_time_limit_can_be_changed() {
    let client = Client::builder(legacy(silent)).connect().await.unwrap();
    client.set_idle_timeout(Duration::from_secs(7));
    let begun = tokio::time::Instant::now();
    client.call_tool("slow", json!({})).await.unwrap_err();
    assert_eq!(begun.elapsed(), Duration::from_secs(7));
}

/// By name; connected again; and idle since its last use.
#[tokio::test(start_paused = true)]
async fn an_instance_knows_how_long_it_was_idle() {
    let connect = legacy(|server, message| {
        if message["params"]["name"] == "echo" {
            echo(server, message);
        }
    });
    let client = Client::builder(connect).connect().await.unwrap();
    tokio::time::advance(Duration::from_secs(60)).await;
    assert!(client.idle_time() >= Duration::from_secs(60));
    client
        .call_tool("echo", json!({"text": "x"}))
        .await
        .unwrap();
    assert_eq!(client.idle_time(), Duration::ZERO);
    let busy = client.clone();
    let busy = tokio::spawn(async move { busy.call_tool("slow", json!({})).await });
    tokio::time::sleep(Duration::from_secs(60)).await;
    assert_eq!(client.idle_time(), Duration::ZERO, "a call is under way");
    busy.abort();
    let again = client.reconnect().await.unwrap();
    assert!(again.is_alive() && client.is_alive());
}

/// One result type; a tool that fails answers, a server that fails is an error.
#[tokio::test]
async fn a_tool_that_fails_is_an_answer() {
    let client = Client::builder(legacy(|server, message| {
        match message["params"]["name"].as_str() {
        Some("tool") => server.reply(message, json!({"content": [], "isError": true, "structuredContent": {"a": 1}, "_meta": {"b": 2}})),
        _ => server.error(message, -32602, "unknown tool"),
    }
    }));
    let client = client.connect().await.unwrap();
    let result = client.call_tool("tool", json!({})).await.unwrap();
    assert!(result.failed() && result.structured_content.is_some() && result.meta.is_some());
    let error = client.call_tool("other", json!({})).await.unwrap_err();
    assert_eq!(error.peer().unwrap().message, "unknown tool");
}

#[tokio::test]
async fn ping_asks_what_the_era_has_for_it() {
    let legacy = legacy(|server, message| server.reply(message, json!({})));
    Client::builder(legacy.clone())
        .connect()
        .await
        .unwrap()
        .ping()
        .await
        .unwrap();
    assert_eq!(legacy.last().methods()[2], "ping");
    let modern = modern(TransportKind::Http, silent);
    Client::builder(modern.clone())
        .connect()
        .await
        .unwrap()
        .ping()
        .await
        .unwrap();
    assert_eq!(
        modern.last().methods(),
        ["server/discover", "server/discover"]
    );
}

#[tokio::test]
async fn the_log_level_is_set_in_the_way_of_the_era() {
    let old = legacy(|server, message| server.reply(message, json!({})));
    let client = Client::builder(old.clone()).connect().await.unwrap();
    client.set_log_level(LoggingLevel::Warning).await.unwrap();
    assert_eq!(old.last().seen()[2]["params"]["level"], "warning");

    let new = modern(TransportKind::Http, echo);
    let client = Client::builder(new.clone()).connect().await.unwrap();
    client.set_log_level(LoggingLevel::Warning).await.unwrap();
    client.call_tool("echo", json!({"text": ""})).await.unwrap();
    let seen = new.last().seen();
    assert_eq!(seen.len(), 2, "nothing is sent for the level alone");
    assert_eq!(
        seen[1]["params"]["_meta"]["io.modelcontextprotocol/logLevel"],
        "warning"
    );
}

#[tokio::test]
async fn what_a_server_does_not_offer_is_not_asked_for() {
    let connect =
        crate::fake::FakeConnect::new(TransportKind::Pipe, |server: &Fake, message: &Value| {
            if message["method"] == "initialize" {
                let mut result = crate::fake::initialize_result(&json!("2025-11-25"));
                result["capabilities"] = json!({});
                server.reply(message, result);
            }
        });
    let client = Client::builder(connect.clone()).connect().await.unwrap();
    let errors = [
        client.list_tools().await.unwrap_err(),
        client.call_tool("x", json!({})).await.unwrap_err(),
        client.list_resources().await.unwrap_err(),
        client.read_resource("x").await.unwrap_err(),
        client.list_prompts().await.unwrap_err(),
        client.set_log_level(LoggingLevel::Info).await.unwrap_err(),
    ];
    for error in errors {
        assert!(matches!(error, CallError::Unsupported { .. }), "{error}");
    }
    assert_eq!(connect.last().methods().len(), 2);
}

#[tokio::test]
async fn extensions_can_be_called_raw_and_keep_their_meta() {
    let connect = legacy(|server, message| server.reply(message, json!({"said": "hi"})));
    let client = Client::builder(connect.clone()).connect().await.unwrap();
    let params = json!({"a": 1, "_meta": {"traceparent": "00-x", "progressToken": "mine"}});
    let result = client.request_raw("acme/greet", &params).await.unwrap();
    assert_eq!(result.get(), r#"{"said":"hi"}"#);
    client
        .request::<Ping>(&mcp_jsonrpc::model::EmptyParams::default())
        .await
        .unwrap();
    client
        .notify_raw("acme/note", &json!({"b": 2}))
        .await
        .unwrap();
    let seen = connect.last().seen();
    let want = json!({"a": 1, "_meta": {"traceparent": "00-x", "progressToken": 2}});
    assert_eq!(seen[2]["params"], want);
    assert_eq!(
        seen[4],
        json!({"jsonrpc": "2.0", "method": "acme/note", "params": {"b": 2}})
    );
    let error = client
        .request_raw("acme/greet", &json!([1]))
        .await
        .unwrap_err();
    assert!(matches!(error, CallError::InvalidRequest { .. }), "{error}");
}

/// Events come in order, on a task of their own, and a slow handler blocks no one.
#[tokio::test]
async fn a_stuck_event_handler_blocks_no_call() {
    let connect = legacy(|server, message| {
        for n in 0..5000 {
            let params = json!({"level": "info", "data": n});
            server.say(
                json!({"jsonrpc": "2.0", "method": "notifications/message", "params": params}),
            );
        }
        server.reply(message, text(&json!("done")));
    });
    let client = Client::builder(connect)
        .on_event(|_| std::future::pending())
        .connect()
        .await
        .unwrap();
    client.call_tool("noisy", json!({})).await.unwrap();
    client.call_tool("noisy", json!({})).await.unwrap();
}

#[tokio::test]
async fn events_come_in_order() {
    let connect = legacy(|server, message| {
        let note = |method: &str, params: Value| {
            server.say(json!({"jsonrpc": "2.0", "method": method, "params": params}));
        };
        note("notifications/tools/list_changed", json!({}));
        note(
            "notifications/resources/updated",
            json!({"uri": "file:///a"}),
        );
        note("notifications/resources/updated", json!({"nonsense": 1}));
        note(
            "notifications/message",
            json!({"level": "error", "data": {"x": 1}}),
        );
        note("acme/custom", json!({"y": 2}));
        server.push(mcp_transport::Incoming::Gap);
        server.reply(message, text(&json!("done")));
    });
    let (sender, mut events) = tokio::sync::mpsc::channel(16);
    let client = Client::builder(connect).on_event(move |event| {
        let sender = sender.clone();
        async move { sender.send(event).await.unwrap() }
    });
    let client = client.connect().await.unwrap();
    client.call_tool("noisy", json!({})).await.unwrap();
    assert_eq!(events.recv().await.unwrap(), ClientEvent::ToolsChanged);
    assert_eq!(
        events.recv().await.unwrap(),
        ClientEvent::ResourceUpdated {
            uri: "file:///a".to_owned()
        }
    );
    assert!(
        matches!(events.recv().await.unwrap(), ClientEvent::Log(log) if log.data.get() == r#"{"x":1}"#)
    );
    assert!(
        matches!(events.recv().await.unwrap(), ClientEvent::Other { method, .. } if method == "acme/custom")
    );
    assert_eq!(events.recv().await.unwrap(), ClientEvent::Gap);
}

#[tokio::test]
async fn a_new_session_is_opened_once_for_all_calls_that_need_it() {
    let connect =
        crate::fake::FakeConnect::new(TransportKind::Http, |server: &Fake, message: &Value| {
            let sessions = server
                .methods()
                .iter()
                .filter(|method| *method == "initialize")
                .count();
            match message["method"].as_str() {
                Some("initialize") => {
                    server.reply(
                        message,
                        crate::fake::initialize_result(&json!("2025-11-25")),
                    );
                }
                Some("tools/call") if sessions == 1 => {
                    server.refuse(
                        TransportError::SessionExpired,
                        mcp_transport::Delivery::NotSent,
                    );
                }
                Some("tools/call") => echo(server, message),
                Some("server/discover") => server.error(message, -32601, "no"),
                _ => {}
            }
        });
    let client = Client::builder(connect.clone()).connect().await.unwrap();
    let arguments = json!({"text": "x"});
    let (one, two) = tokio::join!(
        client.call_tool("echo", &arguments),
        client.call_tool("echo", &arguments)
    );
    one.unwrap();
    two.unwrap();
    let methods = connect.last().methods();
    assert_eq!(
        methods
            .iter()
            .filter(|method| *method == "initialize")
            .count(),
        2,
        "{methods:?}"
    );
    assert_eq!(client.revision(), Revision::V2025_11_25);
}

/// As the TypeScript SDK's example server says it, where it should say 404.
#[tokio::test]
async fn a_lost_session_reported_in_the_message_is_renewed_too() {
    let connect = crate::fake::FakeConnect::new(
        TransportKind::Http,
        |server: &Fake, message: &Value| {
            let sessions = server
                .methods()
                .iter()
                .filter(|method| *method == "initialize")
                .count();
            match message["method"].as_str() {
                Some("initialize") => {
                    server.reply(
                        message,
                        crate::fake::initialize_result(&json!("2025-11-25")),
                    );
                }
                Some("tools/call") if sessions == 2 => echo(server, message),
                Some("server/discover" | "tools/call") => {
                    let body = r#"{"jsonrpc":"2.0","error":{"code":-32000,"message":"Bad Request: No valid session ID provided"},"id":null}"#;
                    server.refuse(crate::era::status(400, body), mcp_transport::Delivery::Sent);
                }
                _ => {}
            }
        },
    );
    let client = Client::builder(connect.clone()).connect().await.unwrap();
    client
        .call_tool("echo", json!({"text": "x"}))
        .await
        .unwrap();
}

#[tokio::test]
async fn a_session_that_dies_again_is_an_error() {
    let connect = crate::fake::FakeConnect::new(
        TransportKind::Http,
        crate::fake::legacy_script(|server, message| match message["method"].as_str() {
            Some("server/discover") => server.error(message, -32601, "no"),
            _ => server.refuse(
                TransportError::SessionExpired,
                mcp_transport::Delivery::NotSent,
            ),
        }),
    );
    let client = Client::builder(connect.clone()).connect().await.unwrap();
    let error = client.call_tool("echo", json!({})).await.unwrap_err();
    assert!(matches!(error, CallError::NotSent { .. }), "{error}");
    let methods = connect.last().methods();
    assert_eq!(
        methods
            .iter()
            .filter(|method| *method == "tools/call")
            .count(),
        2
    );
}

#[tokio::test]
async fn giving_connecting_up_leaves_no_connection_behind() {
    let (connect, mut listener) = memory::listen();
    let connecting = tokio::spawn(Client::builder(connect).connect());
    let server = listener.accept().await.unwrap();
    // The handshake is under way, and no one answers.
    assert!(matches!(server.recv().await, Incoming::Message { .. }));
    connecting.abort();
    assert!(connecting.await.unwrap_err().is_cancelled());
    loop {
        if let Incoming::Closed(_) = server.recv().await {
            break;
        }
    }
}
