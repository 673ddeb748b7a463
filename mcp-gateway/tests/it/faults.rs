//! Crashes, floods and slow readers: no call runs twice, and no client suffers for another.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use futures_util::future::join_all;
use mcp_client::{CallOptions, Client, EraMode};
use mcp_gateway::CallLimits;
use mcp_jsonrpc::model::{Implementation, LogMessageParams, LoggingLevel};
use mcp_jsonrpc::{RawJson, RequestId};
use mcp_server::{Context, Eras, Server, Service};
use mcp_transport::{Incoming, Outgoing, Transport, memory};
use parking_lot::Mutex;
use serde_json::{Value, json};

use crate::kit::{CELLS, MODERN, Net, any, gateway, gateway_on, gateway_with, listen, text, until};

/// How often each call ran, by the number it carries.
type Runs = Arc<Mutex<HashMap<u64, usize>>>;

/// A server that notes each call, and answers it in its own time.
fn noting(eras: Eras, runs: &Runs) -> Service {
    let runs = Arc::clone(runs);
    Server::new(Implementation::new("upstream", "1"))
        .tool_with_schema(any("note"), move |arguments: Value, _: Context| {
            let runs = Arc::clone(&runs);
            async move {
                let number = arguments["number"].as_u64().unwrap_or_default();
                *runs.lock().entry(number).or_default() += 1;
                for _ in 0..number % 7 {
                    tokio::task::yield_now().await;
                }
                number.to_string()
            }
        })
        .eras(eras)
        .build()
}

async fn client(service: &Service, era: EraMode) -> Client {
    let builder = Client::builder(listen(service)).era(era);
    builder.connect().await.unwrap()
}

#[tokio::test]
async fn crashes_in_the_middle_of_calls_double_none_and_touch_no_other_server() {
    for (client_era, server_era) in CELLS {
        let (lost, kept) = (Runs::default(), Runs::default());
        let (bad, good) = (noting(server_era, &lost), noting(server_era, &kept));
        let net = Net::default();
        let servers = [("bad", None, &bad), ("good", None, &good)];
        let gateway = gateway_on(&net, &servers, |it| it).await;
        let client = client(gateway.service(), client_era).await;
        let cell = format!("{client_era:?} {server_era:?}");
        let mut ended = 0;
        for round in 0..30_u64 {
            let numbers = (0..4).map(|it| round * 4 + it);
            let calls = numbers.map(|number| {
                let client = &client;
                async move {
                    let arguments = json!({"number": number});
                    tokio::join!(
                        client.call_tool("bad__note", &arguments),
                        client.call_tool("good__note", &arguments),
                    )
                }
            });
            let crash = async {
                for _ in 0..round {
                    tokio::task::yield_now().await;
                }
                net.cut("bad");
            };
            let (outcomes, ()) = tokio::join!(join_all(calls), crash);
            for (number, (bad, good)) in (round * 4..).zip(outcomes) {
                assert_eq!(text(&good.unwrap()), number.to_string(), "{cell}");
                match bad {
                    Ok(result) => assert_eq!(text(&result), number.to_string(), "{cell}"),
                    Err(error) => {
                        ended += 1;
                        let message = &error.peer().unwrap().message;
                        let ran = lost.lock().contains_key(&number);
                        assert!(
                            !ran || message.contains("may have run"),
                            "{cell}: {message}"
                        );
                    }
                }
            }
        }
        assert!(lost.lock().values().all(|count| *count == 1), "{cell}");
        assert_eq!(kept.lock().len(), 120, "{cell}");
        assert!(kept.lock().values().all(|count| *count == 1), "{cell}");
        assert!(ended > 0, "{cell}: no call was hit");
        gateway.shutdown().await;
    }
}

#[tokio::test]
async fn a_flooding_server_drowns_neither_its_own_result_nor_other_calls() {
    for (client_era, server_era) in CELLS {
        let flood = Server::new(Implementation::new("upstream", "1"))
            .tool_with_schema(any("flood"), |_: Value, cx: Context| async move {
                let data = "x".repeat(100);
                for step in 0..5_000 {
                    cx.log(LoggingLevel::Error, &data);
                    cx.progress(f64::from(step), None, None);
                    if step % 100 == 0 {
                        cx.notifier().tools_changed();
                        let message = RawJson::from_serialize(&data).unwrap();
                        let message = LogMessageParams::new(LoggingLevel::Error, message);
                        cx.notifier().log(message);
                        tokio::task::yield_now().await;
                    }
                }
                "over"
            })
            .eras(server_era)
            .build();
        let runs = Runs::default();
        let calm = noting(server_era, &runs);
        let gateway = gateway(&[("flood", None, &flood), ("calm", None, &calm)]).await;
        let (one, two) = (
            client(gateway.service(), client_era).await,
            client(gateway.service(), client_era).await,
        );
        let cell = format!("{client_era:?} {server_era:?}");
        let heard = Arc::new(AtomicUsize::new(0));
        let noted = Arc::clone(&heard);
        let options = CallOptions::default()
            .with_log_level(LoggingLevel::Debug)
            .with_log(move |_| {
                noted.fetch_add(1, Ordering::SeqCst);
            })
            .with_progress(|_| {});
        let flooded = one.with(options);
        let calls = (0..50_u64).map(|number| {
            let two = &two;
            async move { two.call_tool("calm__note", json!({"number": number})).await }
        });
        let (over, others) = tokio::join!(
            flooded.call_tool("flood__flood", json!({})),
            join_all(calls)
        );
        assert_eq!(text(&over.unwrap()), "over", "{cell}");
        assert!(others.iter().all(Result::is_ok), "{cell}");
        assert!(heard.load(Ordering::SeqCst) > 0, "{cell}");
        assert_eq!(runs.lock().len(), 50, "{cell}");
        gateway.shutdown().await;
    }
}

#[tokio::test]
async fn a_client_that_does_not_read_keeps_no_other_waiting() {
    let runs = Runs::default();
    let upstream = noting(Eras::Both, &runs);
    let gateway = gateway(&[("up", None, &upstream)]).await;
    // It sends requests and never reads a response.
    let (deaf, end) = memory::pair_with_capacity(4);
    let serving = {
        let service = gateway.service().clone();
        tokio::spawn(async move { service.serve(end).await })
    };
    let send = |id: i64, method: &str, params: Value| {
        let message = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        let message = Outgoing::request(RequestId::from(id), method, message.to_string().into());
        let deaf = &deaf;
        async move { deaf.send(message).await.unwrap() }
    };
    let hello = json!({
        "protocolVersion": "2025-11-25", "capabilities": {},
        "clientInfo": {"name": "deaf", "version": "1"},
    });
    send(0, "initialize", hello).await;
    let Incoming::Message { .. } = deaf.recv().await else {
        panic!("no handshake");
    };
    for number in 1..=64_i64 {
        let params = json!({"name": "up__note", "arguments": {"number": 1_000 + number}});
        let sending = send(number, "tools/call", params);
        tokio::select! {
            () = sending => {}
            // The gateway takes no more before it is read from.
            () = settled() => break,
        }
    }
    let other = client(gateway.service(), MODERN).await;
    let calls = (0..100_u64).map(|number| {
        let other = &other;
        async move { other.call_tool("up__note", json!({"number": number})).await }
    });
    let outcomes = join_all(calls).await;
    assert!(outcomes.iter().all(Result::is_ok));
    drop(deaf);
    until(|| serving.is_finished()).await;
    assert!(runs.lock().values().all(|count| *count == 1));
    gateway.shutdown().await;
}

/// Lets everything else run for a while.
async fn settled() {
    for _ in 0..1_000 {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn a_thousand_sessions_get_each_its_own_results() {
    let runs = Runs::default();
    let upstream = noting(Eras::Legacy, &runs);
    let mut limits = CallLimits::default();
    (limits.per_caller, limits.per_tool, limits.per_server) = (1_000, 1_000, 1_000);
    let servers = [("up", None, &upstream)];
    let gateway = gateway_with(&servers, |it| it.call_limits(limits)).await;
    let sessions = (0..1_000_u64).map(|number| {
        let service = gateway.service();
        async move {
            let era = if number % 2 == 0 {
                EraMode::Legacy
            } else {
                MODERN
            };
            let client = client(service, era).await;
            let arguments = json!({"number": number});
            let result = client.call_tool("up__note", arguments).await.unwrap();
            assert_eq!(text(&result), number.to_string());
            client
        }
    });
    let clients = join_all(sessions).await;
    assert_eq!(clients.len(), 1_000);
    assert_eq!(runs.lock().len(), 1_000);
    assert!(runs.lock().values().all(|count| *count == 1));
    gateway.shutdown().await;
}
