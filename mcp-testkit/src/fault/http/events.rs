//! Event streams: every corner of the syntax, and streams that break off.

use std::time::Duration;

use serde_json::json;
use tokio::time::sleep;

use super::{Hit, On, http};
use crate::fault::Fault;
use crate::wire::event;

const NOTE: &str = r#"{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"log line"}}"#;

pub(super) const FAULTS: &[Fault] = &[
    http(
        "sse-cr",
        "ends the lines of its events with CR (no fault)",
        On::Call,
        |hit| {
            Box::pin(async move {
                let good = good(hit).await;
                write(
                    hit,
                    &[&format!("event: message\rdata: {NOTE}\r\rdata: {good}\r\r")],
                )
                .await
            })
        },
    ),
    http(
        "sse-crlf",
        "ends the lines of its events with CRLF (no fault)",
        On::Call,
        |hit| {
            Box::pin(async move {
                let good = good(hit).await;
                write(
                    hit,
                    &[&format!(
                        "event: message\r\ndata: {NOTE}\r\n\r\ndata: {good}\r\n\r\n"
                    )],
                )
                .await
            })
        },
    ),
    http(
        "sse-crlf-split",
        "sends CR and LF in different chunks (no fault)",
        On::Call,
        |hit| {
            Box::pin(async move {
                let good = good(hit).await;
                let (first, second) = (format!("data: {NOTE}\r"), format!("\ndata: {good}\r"));
                write(hit, &[&first, "\n\r", &second, "\n\r", "\n"]).await
            })
        },
    ),
    http(
        "sse-comments",
        "sends comments between its events (no fault)",
        On::Call,
        |hit| {
            Box::pin(async move {
                let good = good(hit).await;
                write(
                    hit,
                    &[&format!(
                        ": hello\n:\n\n:keepalive\n\ndata: {good}\n: trailing\n\n"
                    )],
                )
                .await
            })
        },
    ),
    http(
        "sse-multiline",
        "spreads a message over several data lines (no fault)",
        On::Call,
        |hit| {
            Box::pin(async move {
                let good: serde_json::Value = serde_json::from_slice(&hit.good().await)?;
                let pretty = serde_json::to_string_pretty(&good)?;
                let lines: String = pretty
                    .lines()
                    .map(|line| format!("data: {line}\n"))
                    .collect();
                write(hit, &[&lines, "\n"]).await
            })
        },
    ),
    http(
        "sse-bom",
        "begins its events with a byte order mark (no fault)",
        On::Call,
        |hit| {
            Box::pin(async move {
                let good = good(hit).await;
                write(hit, &[&format!("\u{feff}data: {good}\n\n")]).await
            })
        },
    ),
    http(
        "sse-fields",
        "sends unknown fields, no blank after colons, an empty id (no fault)",
        On::Call,
        |hit| {
            Box::pin(async move {
                let good = good(hit).await;
                let first = format!("id:1\nretry:100\nevent:message\nfoo: bar\ndata:{NOTE}\n\n");
                write(hit, &[&first, &format!("id:\n\ndata:{good}\nDATA: x\n\n")]).await
            })
        },
    ),
    http(
        "sse-no-colon",
        "sends fields without a colon (no fault)",
        On::Call,
        |hit| {
            Box::pin(async move {
                let good = good(hit).await;
                let first = format!("nocolon\nid\nretry\nevent\ndata: {NOTE}\n\nid: 7\ndata\n\n");
                write(hit, &[&first, &format!("data: {good}\n\n")]).await
            })
        },
    ),
    http(
        "sse-bad-retry",
        "sends retry that is no number, and an id with NUL (no fault)",
        On::Call,
        |hit| {
            Box::pin(async move {
                let good = good(hit).await;
                let first = "retry: abc\n\nretry: -5\n\nretry: 99999999999999999999999\n\n";
                let second = format!("retry: 1.5\ndata: {NOTE}\n\nid: a\0b\ndata: {good}\n\n");
                write(hit, &[first, &second]).await
            })
        },
    ),
    http(
        "sse-priming",
        "sends events with an id and no data first (no fault)",
        On::Call,
        |hit| {
            Box::pin(async move {
                let good = good(hit).await;
                let last = format!("id: p3\ndata: {good}\n\n");
                write(
                    hit,
                    &["id: prime-1\ndata: \n\n", "id: prime-2\ndata:\n\n", &last],
                )
                .await
            })
        },
    ),
    http(
        "sse-other-events",
        "sends events of other types (no fault)",
        On::Call,
        |hit| {
            Box::pin(async move {
                let good = good(hit).await;
                let others = "event: ping\ndata: not json\n\nevent: heartbeat\ndata: {}\n\nevent: error\ndata: nope\n\n";
                write(hit, &[others, &format!("event:\ndata: {good}\n\n")]).await
            })
        },
    ),
    http(
        "sse-one-byte",
        "sends its events one byte a chunk (no fault)",
        On::Call,
        |hit| {
            Box::pin(async move {
                let event = event(&hit.good().await, None);
                hit.conn.begin_events(&[]).await?;
                for byte in event.chunks(1) {
                    hit.conn.chunk(byte).await?;
                }
                hit.conn.end().await
            })
        },
    ),
    http(
        "sse-utf8-split",
        "splits letters over chunks (no fault)",
        On::Call,
        |hit| {
            Box::pin(async move {
                let result = json!({
                    "content": [{"type": "text", "text": "héllo 😀 你好"}], "resultType": "complete",
                });
                let message =
                    json!({"jsonrpc": "2.0", "id": hit.message.get("id"), "result": result});
                hit.conn.begin_events(&[]).await?;
                for byte in event(message.to_string().as_bytes(), None).chunks(1) {
                    hit.conn.chunk(byte).await?;
                    if !byte.is_ascii() {
                        sleep(Duration::from_millis(5)).await;
                    }
                }
                hit.conn.end().await
            })
        },
    ),
    http(
        "sse-bad-json",
        "sends a junk event before the answer to the first call",
        On::FirstCall,
        |hit| {
            Box::pin(async move {
                let good = good(hit).await;
                write(
                    hit,
                    &["data: {this is not json\n\n", &format!("data: {good}\n\n")],
                )
                .await
            })
        },
    ),
    http(
        "sse-left-open",
        "leaves the stream of the first call open after the answer",
        On::FirstCall,
        |hit| {
            Box::pin(async move {
                let event = event(&hit.good().await, None);
                hit.conn.begin_events(&[]).await?;
                hit.conn.chunk(&event).await?;
                hit.conn.hang().await
            })
        },
    ),
    http(
        "sse-no-response",
        "ends the stream of the first call without the answer",
        On::FirstCall,
        |hit| Box::pin(async move { write(hit, &[&format!("data: {NOTE}\n\n")]).await }),
    ),
    http(
        "truncated-sse",
        "closes in the middle of the event with the first answer",
        On::FirstCall,
        |hit| {
            Box::pin(async move {
                let mut event = event(&hit.good().await, None);
                event.truncate(46);
                hit.conn.begin_events(&[]).await?;
                hit.conn.chunk(&event).await?;
                hit.conn.close().await
            })
        },
    ),
    http(
        "reset-mid-sse",
        "resets the connection in the stream of the first call",
        On::FirstCall,
        |hit| {
            Box::pin(async move {
                hit.conn.begin_events(&[]).await?;
                hit.conn.chunk(&event(NOTE.as_bytes(), None)).await?;
                sleep(Duration::from_millis(100)).await;
                hit.conn.reset()
            })
        },
    ),
];

async fn good(hit: &Hit<'_>) -> String {
    String::from_utf8_lossy(&hit.good().await).into_owned()
}

/// A whole event stream of these chunks, with a short pause after each so that none are joined.
async fn write(hit: &mut Hit<'_>, chunks: &[&str]) -> std::io::Result<()> {
    hit.conn.begin_events(&[]).await?;
    for chunk in chunks {
        hit.conn.chunk(chunk.as_bytes()).await?;
        sleep(Duration::from_millis(10)).await;
    }
    hit.conn.end().await
}
