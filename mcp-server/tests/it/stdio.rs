//! Byte streams, one message a line.

use mcp_jsonrpc::RawObject;
use mcp_jsonrpc::model::Tool;
use mcp_server::{Context, Service};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};

use crate::kit::{any, server};

async fn talk(input: &[u8]) -> Vec<Value> {
    let service = server()
        .tool_with_schema(any("echo"), |arguments: Value, _: Context| async move {
            arguments.to_string()
        })
        .limits(mcp_server::ServerLimits::default().with_message_bytes(4096))
        .build();
    exchange(service, input).await
}

async fn exchange(service: Service, input: &[u8]) -> Vec<Value> {
    let (ours, theirs) = tokio::io::duplex(1 << 16);
    let (reader, writer) = tokio::io::split(theirs);
    let serving = tokio::spawn(async move { service.serve_streams(reader, writer).await });
    let (reader, mut writer) = tokio::io::split(ours);
    writer.write_all(input).await.unwrap();
    writer.shutdown().await.unwrap();
    let mut lines = BufReader::new(reader).lines();
    let mut all = Vec::new();
    while let Ok(Some(line)) = lines.next_line().await {
        all.push(serde_json::from_str(&line).unwrap());
    }
    serving.await.unwrap();
    all
}

const META: &str = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}"#;

#[tokio::test]
async fn requests_that_came_before_the_end_of_input_are_answered() {
    let input = format!(
        "{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{{\"name\":\"echo\",\"arguments\":{{\"a\":1}},{META}}}}}\n"
    );
    let replies = talk(input.as_bytes()).await;
    assert_eq!(replies.len(), 1);
    assert_eq!(replies[0]["result"]["content"][0]["text"], r#"{"a":1}"#);
    assert_eq!(replies[0]["result"]["resultType"], "complete");
}

#[tokio::test(start_paused = true)]
async fn an_open_subscription_does_not_delay_the_end() {
    let input = format!(
        "{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"subscriptions/listen\",\"params\":{{\"notifications\":{{\"toolsListChanged\":true}},{META}}}}}\n"
    );
    let (ours, theirs) = tokio::io::duplex(1 << 16);
    let (reader, writer) = tokio::io::split(theirs);
    let service = server().build();
    let serving = tokio::spawn(async move { service.serve_streams(reader, writer).await });
    let (reader, mut writer) = tokio::io::split(ours);
    writer.write_all(input.as_bytes()).await.unwrap();
    let mut lines = BufReader::new(reader).lines();
    let first = lines.next_line().await.unwrap().unwrap();
    assert!(first.contains("acknowledged"), "{first}");
    let closed = tokio::time::Instant::now();
    writer.shutdown().await.unwrap();
    serving.await.unwrap();
    // The clock stands still until all wait for it.
    assert_eq!(closed.elapsed(), std::time::Duration::ZERO);
}

#[tokio::test]
async fn what_cannot_be_read_is_answered_and_does_not_end_the_connection() {
    let long = "x".repeat(10_000);
    let input = format!(
        "not json\n{{\"jsonrpc\":\"2.0\",\"id\":7}}\n{long}\n[]\n\
         {{\"jsonrpc\":\"2.0\",\"id\":8,\"method\":\"tools/list\"}}\n\
         {{\"jsonrpc\":\"2.0\",\"id\":9,\"method\":\"ping\"}}\n"
    );
    let replies = talk(input.as_bytes()).await;
    let codes: Vec<_> = replies
        .iter()
        .map(|reply| reply["error"]["code"].as_i64())
        .collect();
    assert_eq!(
        codes,
        [
            Some(-32700),
            Some(-32600),
            Some(-32600),
            Some(-32600),
            Some(-32600),
            None
        ]
    );
    assert_eq!(replies[5]["id"], 9);
}

#[tokio::test]
async fn a_batch_is_answered_as_one_only_where_the_revision_has_batches() {
    let open = |version: &str| {
        format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{{\"protocolVersion\":\"{version}\",\"capabilities\":{{}},\"clientInfo\":{{\"name\":\"c\",\"version\":\"1\"}}}}}}\n"
        )
    };
    let batch = "[{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"ping\"},{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"ping\"},7]\n";
    let replies = talk(format!("{}{batch}", open("2025-03-26")).as_bytes()).await;
    assert_eq!(replies[0]["result"]["protocolVersion"], "2025-03-26");
    assert_eq!(
        replies[1].as_array().map(Vec::len),
        Some(3),
        "{}",
        replies[1]
    );
    let replies = talk(format!("{}{batch}", open("2025-06-18")).as_bytes()).await;
    assert_eq!(replies[1]["error"]["code"], -32600);
}

#[tokio::test]
async fn a_result_with_line_breaks_between_its_tokens_is_one_line() {
    let schema = serde_json::from_str::<RawObject>("{\n  \"type\": \"object\"\r\n}").unwrap();
    let service = server()
        .tool_with_schema(Tool::new("t", schema), |_: Value, _: Context| async {})
        .build();
    let request = format!(
        "{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\",\"params\":{{{META}}}}}\n"
    );
    let replies = exchange(service, request.as_bytes()).await;
    assert_eq!(replies.len(), 1);
    assert_eq!(
        replies[0]["result"]["tools"][0]["inputSchema"],
        json!({"type": "object"})
    );
}
