//! Event streams: every corner case of the syntax, and streams that break off.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::sleep;

use super::hit::Doing;
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
            answer(hit, |good| {
                vec![format!("event: message\rdata: {NOTE}\r\rdata: {good}\r\r")]
            })
        },
    ),
    http(
        "sse-crlf",
        "ends the lines of its events with CRLF (no fault)",
        On::Call,
        |hit| {
            answer(hit, |good| {
                vec![format!(
                    "event: message\r\ndata: {NOTE}\r\n\r\ndata: {good}\r\n\r\n"
                )]
            })
        },
    ),
    http(
        "sse-crlf-split",
        "sends CR and LF in different chunks (no fault)",
        On::Call,
        |hit| {
            answer(hit, |good| {
                let (first, second) = (format!("data: {NOTE}\r"), format!("\ndata: {good}\r"));
                [&first, "\n\r", &second, "\n\r", "\n"]
                    .map(str::to_owned)
                    .into()
            })
        },
    ),
    http(
        "sse-comments",
        "sends comments between its events (no fault)",
        On::Call,
        |hit| {
            answer(hit, |good| {
                vec![format!(
                    ": hello\n:\n\n:keepalive\n\ndata: {good}\n: trailing\n\n"
                )]
            })
        },
    ),
    http(
        "sse-multiline",
        "spreads a message over several data lines (no fault)",
        On::Call,
        |hit| {
            answer(hit, |good| {
                let good: Value = serde_json::from_str(good).unwrap_or_default();
                let pretty = format!("{good:#}");
                let lines = pretty.lines().map(|line| format!("data: {line}\n"));
                vec![lines.collect(), "\n".to_owned()]
            })
        },
    ),
    http(
        "sse-bom",
        "begins its events with a byte order mark (no fault)",
        On::Call,
        |hit| answer(hit, |good| vec![format!("\u{feff}data: {good}\n\n")]),
    ),
    http(
        "sse-fields",
        "sends unknown fields, no blank after colons, an empty id (no fault)",
        On::Call,
        |hit| {
            answer(hit, |good| {
                vec![
                    format!("id:1\nretry:100\nevent:message\nfoo: bar\ndata:{NOTE}\n\n"),
                    format!("id:\n\ndata:{good}\nDATA: x\n\n"),
                ]
            })
        },
    ),
    http(
        "sse-no-colon",
        "sends fields without a colon (no fault)",
        On::Call,
        |hit| {
            answer(hit, |good| {
                vec![
                    format!("nocolon\nid\nretry\nevent\ndata: {NOTE}\n\nid: 7\ndata\n\n"),
                    format!("data: {good}\n\n"),
                ]
            })
        },
    ),
    http(
        "sse-bad-retry",
        "sends retry that is no number, and an id with NUL (no fault)",
        On::Call,
        |hit| {
            answer(hit, |good| {
                vec![
                    "retry: abc\n\nretry: -5\n\nretry: 99999999999999999999999\n\n".to_owned(),
                    format!("retry: 1.5\ndata: {NOTE}\n\nid: a\0b\ndata: {good}\n\n"),
                ]
            })
        },
    ),
    http(
        "sse-priming",
        "sends events with an id and no data first (no fault)",
        On::Call,
        |hit| {
            answer(hit, |good| {
                vec![
                    "id: prime-1\ndata: \n\n".to_owned(),
                    "id: prime-2\ndata:\n\n".to_owned(),
                    format!("id: p3\ndata: {good}\n\n"),
                ]
            })
        },
    ),
    http(
        "sse-other-events",
        "sends events of other types (no fault)",
        On::Call,
        |hit| {
            answer(hit, |good| {
                let others = concat!(
                    "event: ping\ndata: not json\n\n",
                    "event: heartbeat\ndata: {}\n\n",
                    "event: error\ndata: nope\n\n",
                );
                vec![others.to_owned(), format!("event:\ndata: {good}\n\n")]
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
            answer(hit, |good| {
                vec![
                    "data: {this is not json\n\n".to_owned(),
                    format!("data: {good}\n\n"),
                ]
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
        |hit| {
            Box::pin(async move {
                hit.conn.begin_events(&[]).await?;
                hit.conn
                    .chunk(format!("data: {NOTE}\n\n").as_bytes())
                    .await?;
                hit.conn.end().await
            })
        },
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

/// Sends an event stream with the chunks of the correct response, with a short pause after each so that none are
/// joined.
fn answer<'a>(hit: &'a mut Hit<'_>, chunks: fn(&str) -> Vec<String>) -> Doing<'a> {
    Box::pin(async move {
        let good = hit.good().await;
        hit.conn.begin_events(&[]).await?;
        for chunk in chunks(&String::from_utf8_lossy(&good)) {
            hit.conn.chunk(chunk.as_bytes()).await?;
            sleep(Duration::from_millis(10)).await;
        }
        hit.conn.end().await
    })
}
