//! Servers that ask for roots when they have started, and when those have changed: outside of calls.

use std::sync::Arc;

use mcp_client::{Client, ClientBuilder, EraMode};
use mcp_gateway::Gateway;
use mcp_jsonrpc::RequestId;
use mcp_jsonrpc::model::Implementation;
use mcp_manager::{Connector, Manager, ServerConfig};
use mcp_transport::memory::{self, MemoryTransport};
use mcp_transport::{BoxError, Incoming, Outgoing, Transport};
use parking_lot::Mutex;
use serde_json::{Value, json};

use crate::kit::{Obliging, everything, listen, until, upstream};

/// The answers that servers got to their question for roots.
type Answers = Arc<Mutex<Vec<Value>>>;

/// Reaches a legacy server that asks for roots as soon as its client has initialized, and at each change.
#[derive(Clone, Debug, Default)]
struct Rooted(Answers);

impl Connector for Rooted {
    fn builder(&self, _: &ServerConfig) -> Result<ClientBuilder, BoxError> {
        let (connect, mut listener) = memory::listen();
        let answers = Arc::clone(&self.0);
        tokio::spawn(async move {
            while let Some(transport) = listener.accept().await {
                tokio::spawn(serve(transport, Arc::clone(&answers)));
            }
        });
        Ok(Client::builder(connect).era(EraMode::Legacy))
    }
}

async fn serve(transport: MemoryTransport, answers: Answers) {
    let mut asked = 0;
    while let Incoming::Message { body, .. } = transport.recv().await {
        let message: Value = serde_json::from_slice(&body).unwrap();
        let asks =
            json!({"jsonrpc": "2.0", "id": format!("roots-{asked}"), "method": "roots/list"});
        let answer =
            |result: Value| json!({"jsonrpc": "2.0", "id": message["id"], "result": result});
        let said = match message["method"].as_str() {
            None => {
                answers.lock().push(message);
                continue;
            }
            Some("notifications/initialized" | "notifications/roots/list_changed") => {
                asked += 1;
                asks
            }
            Some("initialize") => answer(json!({
                "protocolVersion": "2025-11-25", "capabilities": {"tools": {}},
                "serverInfo": {"name": "rooted", "version": "1"},
            })),
            Some("tools/list") => {
                answer(json!({"tools": [{"name": "go", "inputSchema": {"type": "object"}}]}))
            }
            Some("tools/call") => answer(json!({"content": []})),
            Some(_) => continue,
        };
        let said = serde_json::to_vec(&said).unwrap();
        let said = Outgoing::request(RequestId::from(0), "", said);
        if transport.send(said).await.is_err() {
            return;
        }
    }
}

#[tokio::test]
async fn a_server_gets_the_roots_of_its_own_client_whenever_it_asks_for_them() {
    let rooted = Rooted::default();
    let answers = Arc::clone(&rooted.0);
    let (gateway, _) = Gateway::builder(Implementation::new("gateway", "1"))
        .upstream(upstream("up", None))
        .manager(Manager::builder().connector(rooted))
        .start()
        .await;
    // On the connection that clients share no one can tell whose roots it wants.
    until(|| answers.lock().len() == 1).await;
    assert!(answers.lock()[0]["error"].is_object());
    let client = Client::builder(listen(gateway.service()))
        .era(EraMode::Legacy)
        .host(Obliging::default(), everything())
        .connect()
        .await
        .unwrap();
    // It is connected for this client, and asks before the call, or beside it.
    client.call_tool("up__go", json!({})).await.unwrap();
    client.call_tool("up__go", json!({})).await.unwrap();
    until(|| answers.lock().len() == 2).await;
    // It asks between two calls, and hears in the next one.
    client.roots_changed().await.unwrap();
    for _ in 0..1_000 {
        tokio::task::yield_now().await;
    }
    client.call_tool("up__go", json!({})).await.unwrap();
    client.call_tool("up__go", json!({})).await.unwrap();
    until(|| answers.lock().len() == 3).await;
    for answer in &answers.lock()[1..] {
        let roots = &answer["result"]["roots"];
        assert_eq!(roots[0]["uri"], "file:///tmp", "{answer}");
    }
    gateway.shutdown().await;
}
