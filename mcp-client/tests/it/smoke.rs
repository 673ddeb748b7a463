//! The plain course of things, in both eras.

use mcp_client::Client;
use mcp_jsonrpc::Revision;
use mcp_transport::TransportKind;
use serde_json::json;

use crate::fake::{echo, legacy, modern};

#[tokio::test]
async fn a_legacy_server_is_initialised_and_called() {
    let connect = legacy(echo);
    let client = Client::builder(connect.clone()).connect().await.unwrap();
    assert_eq!(client.revision(), Revision::V2025_11_25);
    let result = client
        .call_tool("echo", json!({"text": "hello"}))
        .await
        .unwrap();
    assert_eq!(result.content[0].as_text(), Some("hello"));
    client.close().await;
    let seen = connect.last().seen();
    assert_eq!(seen[0]["params"]["protocolVersion"], "2025-11-25");
    assert_eq!(
        connect.last().methods(),
        ["initialize", "notifications/initialized", "tools/call"]
    );
    assert_eq!(
        seen[2]["params"],
        json!({"name": "echo", "arguments": {"text": "hello"}, "_meta": {"progressToken": 2}})
    );
}

#[tokio::test]
async fn a_modern_server_is_found_out_and_called() {
    for shape in [TransportKind::Pipe, TransportKind::Http] {
        let connect = modern(shape, echo);
        let client = Client::builder(connect.clone()).connect().await.unwrap();
        assert_eq!(client.revision(), Revision::V2026_07_28);
        let result = client
            .call_tool("echo", json!({"text": "hello"}))
            .await
            .unwrap();
        assert_eq!(result.content[0].as_text(), Some("hello"));
    }
}
