//! Slowness, order, and requests at the wrong moment.

use std::io;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::{sleep, timeout};

use super::process::log_lines;
use super::{End, STYLE, lines, serve};
use crate::fault::Fault;
use crate::log::Seen;
use crate::protocol::{Piece, result};
use crate::wire::Lines;

pub(super) const FAULTS: &[Fault] = &[
    lines(
        "slow-drip",
        "answers the first call with one byte every 20 ms",
        STYLE,
        |lines| {
            Box::pin(async move {
                if let Some(call) = lines.until("tools/call").await? {
                    let mut answer = lines.answer(&call).await;
                    answer.push(b'\n');
                    for byte in answer {
                        lines.out.send(Piece::raw([byte])).await;
                        sleep(Duration::from_millis(20)).await;
                    }
                }
                serve(lines).await
            })
        },
    ),
    lines(
        "slow-reader",
        "reads slowly after the first list: 64 KiB every 15 ms",
        STYLE,
        |lines| {
            Box::pin(async move {
                if let Some(list) = lines.until("tools/list").await? {
                    lines.handle(list).await;
                    lines.patience = Some((64 << 10, Duration::from_millis(15)));
                }
                serve(lines).await
            })
        },
    ),
    lines(
        "pipe-deadlock",
        "writes 8 MB of log messages while a long request is arriving, and reads on only then",
        STYLE,
        |lines| {
            Box::pin(async move {
                if let Some(list) = lines.until("tools/list").await? {
                    lines.handle(list).await;
                    if lines.wait_for_bytes(4_096).await? {
                        lines.out.send(log_lines(8)).await;
                        lines.out.flush().await;
                    }
                }
                serve(lines).await
            })
        },
    ),
    lines(
        "reorder-1000",
        "collects up to 1000 calls and answers them out of order",
        STYLE,
        |lines| Box::pin(reorder(lines)),
    ),
    lines(
        "cancel-race",
        "answers a call to slow with TOO LATE after it was cancelled",
        STYLE,
        |lines| Box::pin(answer_late(lines)),
    ),
    lines(
        "discover-silent",
        "ignores everything before initialize",
        STYLE,
        |lines| Box::pin(before_initialize(lines, None)),
    ),
    lines(
        "discover-exit",
        "exits with status 1 on any request before initialize",
        STYLE,
        |lines| Box::pin(before_initialize(lines, Some(1))),
    ),
    lines(
        "discover-slow",
        "takes 6 s for server/discover",
        STYLE,
        |lines| {
            Box::pin(async move {
                if let Some(discover) = lines.until("server/discover").await? {
                    sleep(Duration::from_secs(6)).await;
                    lines.handle(discover).await;
                }
                serve(lines).await
            })
        },
    ),
];

async fn reorder(lines: &mut Lines) -> io::Result<End> {
    while let Some(first) = lines.until("tools/call").await? {
        let mut calls = vec![first];
        while calls.len() < 1_000 {
            match timeout(Duration::from_millis(400), lines.receive()).await {
                Ok(Ok(Some(message)))
                    if message.get("method").is_some_and(|m| m == "tools/call") =>
                {
                    calls.push(message);
                }
                Ok(Ok(Some(message))) => lines.handle(message).await,
                Ok(ended) => {
                    ended?;
                    return Ok(End::Closed);
                }
                Err(_) => break,
            }
        }
        lines
            .session
            .world
            .log
            .mark("collected", u64::try_from(calls.len()).unwrap_or(u64::MAX));
        calls.reverse();
        for third in 0..3 {
            for call in calls.iter().skip(third).step_by(3) {
                lines.handle(call.clone()).await;
            }
        }
    }
    Ok(End::Closed)
}

async fn answer_late(lines: &mut Lines) -> io::Result<End> {
    let mut slow = None;
    while let Some(message) = lines.receive().await? {
        let method = message.get("method").and_then(Value::as_str);
        let tool = message.pointer("/params/name").and_then(Value::as_str);
        match (method, tool, &slow) {
            (Some("tools/call"), Some("slow"), _) => slow = message.get("id").cloned(),
            (Some("notifications/cancelled"), _, Some(id)) => {
                if message.pointer("/params/requestId") == Some(id) {
                    lines
                        .session
                        .world
                        .log
                        .record(Seen::Cancelled { id: id.clone() });
                }
                let late = json!({"content": [{"type": "text", "text": "TOO LATE"}], "resultType": "complete"});
                lines.out.send(&result(id, &late)).await;
                slow = None;
            }
            _ => lines.handle(message).await,
        }
    }
    Ok(End::Closed)
}

/// A legacy server that does not know requests before `initialize`: it stays silent, or exits.
async fn before_initialize(lines: &mut Lines, exit: Option<i32>) -> io::Result<End> {
    while let Some(message) = lines.receive().await? {
        if message
            .get("method")
            .is_some_and(|method| method == "initialize")
        {
            lines.handle(message).await;
            return serve(lines).await;
        }
        if let (Some(status), Some(_)) = (exit, message.get("id")) {
            return Ok(End::Exit(status));
        }
    }
    Ok(End::Closed)
}
