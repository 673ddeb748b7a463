//! The plain course of things, in both eras.

use mcp_client::{CallError, Client};
use mcp_jsonrpc::Revision;
use mcp_testkit::Script;
use mcp_transport::TransportKind;
use serde_json::json;

use crate::fake::{echo, legacy, modern};
use crate::kit::{ERAS, server};

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
    for kind in [TransportKind::Pipe, TransportKind::Http] {
        let connect = modern(kind, echo);
        let client = Client::builder(connect.clone()).connect().await.unwrap();
        assert_eq!(client.revision(), Revision::V2026_07_28);
        let result = client
            .call_tool("echo", json!({"text": "hello"}))
            .await
            .unwrap();
        assert_eq!(result.content[0].as_text(), Some("hello"));
    }
}

#[cfg(feature = "http")]
#[tokio::test]
async fn a_url_is_enough_to_connect() {
    for era in ERAS {
        let server = server(Script::standard(), era).await;
        let client = Client::http(&server.url()).unwrap().bearer("token");
        let client = client.connect().await.unwrap();
        assert!(!client.list_tools().await.unwrap().items.is_empty());
        client.close().await;
        server.shutdown().await;
    }
}

#[tokio::test]
async fn arguments_that_are_not_an_object_are_not_sent() {
    let connect = legacy(echo);
    let client = Client::builder(connect.clone()).connect().await.unwrap();
    for bad in [json!([1, 2]), json!("text"), json!(7)] {
        let error = client.call_tool("echo", &bad).await.unwrap_err();
        assert!(matches!(error, CallError::InvalidRequest { .. }), "{bad}");
    }
    // The reply of the fake server does not matter.
    drop(client.call_tool("echo", ()).await);
    let calls = connect.last().seen();
    let calls: Vec<_> = calls
        .iter()
        .filter(|message| message["method"] == "tools/call")
        .collect();
    assert_eq!(calls.len(), 1);
    assert_eq!(calls[0]["params"]["arguments"], json!(null));
}
