//! What modern HTTP wants beside the body.

use mcp_client::Client;
use mcp_transport::{Outgoing, TransportKind};
use serde_json::{Value, json};

use crate::fake::{Fake, FakeConnect, echo, modern, text};

fn tool(name: &str, zone: Value) -> Value {
    json!({"name": name, "inputSchema": {"type": "object", "properties": {"zone": zone}}})
}

fn tools() -> Value {
    json!({"tools": [
        tool("plain", json!({"type": "string"})),
        tool("mirrored", json!({"type": "string", "x-mcp-header": "Zone"})),
        tool("invalid", json!({"type": "number", "x-mcp-header": "Zone"})),
    ]})
}

fn weather(server: &Fake, message: &Value) {
    match message["method"].as_str() {
        Some("tools/list") => server.reply(message, tools()),
        _ => echo(server, message),
    }
}

fn last(connect: &FakeConnect) -> Outgoing {
    connect.last().outgoing().pop().unwrap()
}

#[tokio::test]
async fn arguments_travel_as_headers_where_the_schema_asks_for_it() {
    let connect = modern(TransportKind::Http, weather);
    let client = Client::builder(connect.clone()).connect().await.unwrap();
    client.list_tools().await.unwrap();
    client
        .call_tool("mirrored", json!({"zone": "é"}))
        .await
        .unwrap();
    let sent = last(&connect);
    assert_eq!(sent.name.as_deref(), Some("mirrored"));
    assert_eq!(sent.params, [("Zone".to_owned(), "é".to_owned())]);
    client
        .call_tool("mirrored", json!({"zone": null}))
        .await
        .unwrap();
    assert_eq!(last(&connect).params, []);
    client
        .call_tool("plain", json!({"zone": "a"}))
        .await
        .unwrap();
    assert_eq!(last(&connect).params, []);
}

#[tokio::test]
async fn a_pipe_has_no_headers() {
    let connect = modern(TransportKind::Pipe, weather);
    let client = Client::builder(connect.clone()).connect().await.unwrap();
    assert_eq!(client.list_tools().await.unwrap().items.len(), 3);
    client
        .call_tool("mirrored", json!({"zone": "a"}))
        .await
        .unwrap();
    assert_eq!((last(&connect).name, last(&connect).params), (None, vec![]));
}

#[tokio::test]
async fn a_tool_with_forbidden_headers_is_left_out_and_named() {
    let client = Client::builder(modern(TransportKind::Http, weather))
        .connect()
        .await
        .unwrap();
    let listed = client.list_tools().await.unwrap();
    let names: Vec<_> = listed.items.iter().map(|tool| tool.name.as_str()).collect();
    assert_eq!(names, ["plain", "mirrored"]);
    assert_eq!(listed.skipped[0].name.as_deref(), Some("invalid"));
}

#[tokio::test]
async fn a_header_mismatch_refreshes_the_tools_and_retries_once() {
    let connect = modern(
        TransportKind::Http,
        |server, message| match message["method"].as_str() {
            Some("tools/list") => server.reply(message, tools()),
            _ => match server.outgoing().pop().unwrap().params.is_empty() {
                true => server.error(message, -32020, "Header mismatch"),
                false => server.reply(message, text(&json!("ok"))),
            },
        },
    );
    let client = Client::builder(connect.clone()).connect().await.unwrap();
    client
        .call_tool("mirrored", json!({"zone": "a"}))
        .await
        .unwrap();
    let methods = connect.last().methods();
    assert_eq!(methods[1..], ["tools/call", "tools/list", "tools/call"]);
    let error = client.call_tool("plain", json!({})).await.unwrap_err();
    assert_eq!(error.peer().unwrap().code.get(), -32020);
}

#[tokio::test]
async fn every_modern_request_has_our_info_and_capabilities() {
    let connect = modern(TransportKind::Http, weather);
    let client = Client::builder(connect.clone()).connect().await.unwrap();
    client.call_tool("plain", json!({})).await.unwrap();
    for message in connect.last().seen() {
        let meta = &message["params"]["_meta"];
        assert_eq!(
            meta["io.modelcontextprotocol/protocolVersion"],
            "2026-07-28"
        );
        assert_eq!(
            meta["io.modelcontextprotocol/clientCapabilities"],
            json!({})
        );
        assert_eq!(
            meta["io.modelcontextprotocol/clientInfo"]["name"],
            "switchboard-mcp-client"
        );
        assert_eq!(meta["progressToken"], message["id"]);
    }
}

/// However fresh the list says that it is.
#[tokio::test]
async fn a_header_mismatch_lists_the_tools_again() {
    let connect = modern(TransportKind::Http, |server, message| {
        let listed = server
            .methods()
            .iter()
            .filter(|m| *m == "tools/list")
            .count();
        match message["method"].as_str() {
            Some("tools/list") => {
                // The schema gains the header after the first list.
                let mut zone = json!({"type": "string"});
                if listed > 1 {
                    zone["x-mcp-header"] = json!("Zone");
                }
                let tools = [tool("mirrored", zone)];
                let page = json!({"tools": tools, "ttlMs": 3_600_000, "cacheScope": "public"});
                server.reply(message, page);
            }
            _ => match server.outgoing().pop().unwrap().params.is_empty() {
                true => server.error(message, -32020, "Header mismatch"),
                false => server.reply(message, text(&json!("ok"))),
            },
        }
    });
    let client = Client::builder(connect.clone()).connect().await.unwrap();
    client.list_tools().await.unwrap();
    let zone = json!({"zone": "a"});
    client.call_tool("mirrored", &zone).await.unwrap();
    let methods = connect.last().methods();
    let want = ["tools/list", "tools/call", "tools/list", "tools/call"];
    assert_eq!(methods[1..], want);
}
