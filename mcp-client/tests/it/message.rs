//! Errors are for people: what failed, on which server, why, and what to do.

use std::error::Error;
use std::fmt::Write;

use mcp_client::{CallError, Client, ConnectError, EraMode, HostCapabilities};
use mcp_transport::{Closed, Delivery, TransportError, TransportKind};
use serde_json::{Value, json};

use crate::fake::{Fake, FakeConnect, discover_result, initialize_result, legacy, modern};
use crate::server_request::{Kind, all};

fn describe(error: &(dyn Error + 'static)) -> String {
    let causes = std::iter::successors(Some(error), |&error| error.source());
    causes
        .map(ToString::to_string)
        .collect::<Vec<_>>()
        .join("\n    because ")
}

async fn called(connect: FakeConnect) -> CallError {
    let client = Client::builder(connect).name("weather").host(Kind, all());
    client
        .connect()
        .await
        .unwrap()
        .call_tool("forecast", json!({"city": "Oslo"}))
        .await
        .unwrap_err()
}

fn lost() -> TransportError {
    TransportError::Io {
        action: "reading from weather".to_owned(),
        source: "broken pipe".into(),
    }
}

#[tokio::test(start_paused = true)]
async fn calls_that_fail_say_why() {
    let asks = |result: Value| {
        modern(
            TransportKind::Http,
            move |server: &Fake, message: &Value| server.reply(message, result.clone()),
        )
    };
    let form = |message: &str| {
        let question =
            json!({"method": "elicitation/create", "params": crate::server_request::form(message)});
        asks(json!({"resultType": "input_required", "inputRequests": {"age": question}}))
    };
    let closed = {
        let client = Client::builder(legacy(|_, _| {}))
            .name("weather")
            .connect()
            .await
            .unwrap();
        client.close().await;
        client.call_tool("forecast", json!({})).await.unwrap_err()
    };
    let unsupported = {
        let connect = FakeConnect::new(TransportKind::Http, |server: &Fake, message: &Value| {
            let mut result = discover_result(&["2026-07-28"]);
            result["capabilities"] = json!({});
            server.reply(message, result);
        });
        let client = Client::builder(connect)
            .name("weather")
            .connect()
            .await
            .unwrap();
        client.list_tools().await.unwrap_err()
    };
    let (listed, unwritable) = {
        let client = Client::builder(legacy(|server, _| server.refuse(lost(), Delivery::Unknown)));
        let client = client.name("weather").connect().await.unwrap();
        let numbers = std::collections::BTreeMap::from([(vec![1], 1)]);
        (
            client.list_tools().await.unwrap_err(),
            client.call_tool("forecast", numbers).await.unwrap_err(),
        )
    };
    let errors = [
        (
            "the server refuses",
            called(legacy(|server, message| {
                server.error(message, -32602, "unknown city")
            }))
            .await,
        ),
        ("no answer", called(legacy(|_, _| {})).await),
        (
            "not sent",
            called(legacy(|server, _| server.refuse(lost(), Delivery::NotSent))).await,
        ),
        (
            "lost under way",
            called(legacy(|server, _| server.end(Closed::with_error(lost())))).await,
        ),
        ("a list lost under way", listed),
        ("closed before", closed),
        (
            "nonsense",
            called(legacy(|server, message| {
                server.reply(message, json!("sunny"))
            }))
            .await,
        ),
        ("not offered", unsupported),
        (
            "not authorized",
            called(legacy(|server, _| {
                server.refuse(
                    TransportError::Unauthorized {
                        status: 401,
                        source: None,
                    },
                    Delivery::NotSent,
                );
            }))
            .await,
        ),
        (
            "asks for ever",
            called(asks(
                json!({"resultType": "input_required", "requestState": "x"}),
            ))
            .await,
        ),
        ("wrong answer", called(form("wrong")).await),
        ("host fails", called(form("fail")).await),
        ("answer later", called(form("later")).await),
        ("cannot be written", unwritable),
    ];
    let mut page = String::new();
    for (when, error) in errors {
        writeln!(page, "{when}:\n    {}", describe(&error)).unwrap();
    }
    insta::assert_snapshot!(page);
}

async fn connected(connect: FakeConnect, mode: EraMode) -> ConnectError {
    let client = Client::builder(connect).name("weather").era(mode);
    client
        .host(Kind, HostCapabilities::default())
        .connect()
        .await
        .unwrap_err()
}

#[tokio::test(start_paused = true)]
async fn connections_that_fail_say_why() {
    let answers = |result: Value| {
        FakeConnect::new(
            TransportKind::Pipe,
            move |server: &Fake, message: &Value| server.reply(message, result.clone()),
        )
    };
    let errors = [
        (
            "silence",
            connected(
                FakeConnect::new(TransportKind::Pipe, |_, _| {}),
                EraMode::Auto,
            )
            .await,
        ),
        (
            "no common version",
            connected(
                answers(initialize_result(&json!("2099-01-01"))),
                EraMode::Auto,
            )
            .await,
        ),
        (
            "refused",
            connected(
                FakeConnect::new(TransportKind::Pipe, |server: &Fake, message: &Value| {
                    server.error(message, -32000, "go away")
                }),
                EraMode::Auto,
            )
            .await,
        ),
        (
            "nonsense",
            connected(answers(json!({"hello": "world"})), EraMode::Legacy).await,
        ),
        (
            "not authorized",
            connected(
                FakeConnect::new(TransportKind::Http, |server: &Fake, _: &Value| {
                    let source = Some("the browser was closed".into());
                    server.refuse(
                        TransportError::Unauthorized {
                            status: 401,
                            source,
                        },
                        Delivery::NotSent,
                    );
                }),
                EraMode::Auto,
            )
            .await,
        ),
        (
            "lost",
            connected(
                FakeConnect::new(TransportKind::Pipe, |server: &Fake, _: &Value| {
                    server.end(Closed::with_error(lost()))
                }),
                EraMode::Auto,
            )
            .await,
        ),
    ];
    let mut page = String::new();
    for (when, error) in errors {
        writeln!(page, "{when}:\n    {}", describe(&error)).unwrap();
    }
    insta::assert_snapshot!(page);
}
