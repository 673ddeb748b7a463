//! Connections that are slow, stale, reset, or not HTTP at all.

use std::time::Duration;

use serde_json::json;
use tokio::time::sleep;

use super::{On, http, json_head};
use crate::fault::Fault;

const TICK: Duration = Duration::from_millis(100);

pub(super) const FAULTS: &[Fault] = &[
    http("init-hang", "never answers a POST", On::Post, |hit| {
        Box::pin(hit.conn.hang())
    }),
    http("call-hang", "never answers a call", On::Call, |hit| {
        Box::pin(hit.conn.hang())
    }),
    http(
        "slow-headers",
        "answers calls with a header of one byte every 0.1 s, for ever",
        On::Call,
        |hit| {
            Box::pin(async move {
                hit.conn.raw(b"HTTP/1.1 200 OK\r\nX-Slow: ").await?;
                hit.conn.drip(&[b'a'; 600], TICK).await
            })
        },
    ),
    http(
        "slow-body",
        "answers calls with one byte every 20 ms (no fault)",
        On::Call,
        |hit| {
            Box::pin(async move {
                let good = hit.good().await;
                hit.conn.raw(&json_head(good.len())).await?;
                hit.conn.drip(&good, Duration::from_millis(20)).await
            })
        },
    ),
    http(
        "reset-mid-body",
        "resets the connection in the first answer to a call",
        On::FirstCall,
        |hit| {
            Box::pin(async move {
                let good = hit.good().await;
                hit.conn.raw(&json_head(good.len())).await?;
                hit.conn.raw(good.get(..30).unwrap_or(&good)).await?;
                sleep(TICK).await;
                hit.conn.reset()
            })
        },
    ),
    http(
        "keepalive-closed",
        "closes the idle connection 0.3 s after the answer to a call",
        On::Call,
        |hit| {
            Box::pin(async move {
                hit.behave().await?;
                sleep(3 * TICK).await;
                hit.mark("closed-idle");
                hit.conn.close().await
            })
        },
    ),
    http(
        "keepalive-stale",
        "resets a reused connection when the first call arrives on it",
        On::FirstCall,
        |hit| {
            Box::pin(async move {
                if hit.conn.requests > 1 {
                    hit.mark("stale");
                    return hit.conn.reset();
                }
                hit.behave().await
            })
        },
    ),
    http(
        "restart",
        "is away for 0.8 s after the list of tools, then back with its sessions",
        On::Any,
        |hit| {
            Box::pin(async move {
                hit.behave().await?;
                if hit.is_method("tools/list") {
                    hit.site.go_away(8 * TICK);
                    return hit.conn.hang().await;
                }
                Ok(())
            })
        },
    ),
    http(
        "response-desync",
        "sends a second answer after that to the first call: for the next id, with the text POISON",
        On::FirstCall,
        |hit| {
            Box::pin(async move {
                let next = hit
                    .message
                    .get("id")
                    .and_then(serde_json::Value::as_i64)
                    .unwrap_or(0)
                    + 1;
                let result = json!({"content": [{"type": "text", "text": "POISON"}], "resultType": "complete"});
                let forged = json!({"jsonrpc": "2.0", "id": next, "result": result}).to_string();
                let mut bytes = Vec::new();
                for body in [hit.good().await, forged.into_bytes()] {
                    bytes.extend(json_head(body.len()));
                    bytes.extend(body);
                }
                hit.conn.raw(&bytes).await
            })
        },
    ),
    http("not-http", "speaks SSH", On::Connect, |hit| {
        Box::pin(async move {
            hit.conn.raw(&b"SSH-2.0-OpenSSH_9.6\r\n".repeat(3)).await?;
            hit.conn.hang().await
        })
    }),
    http(
        "accept-then-close",
        "closes every connection at once",
        On::Connect,
        |hit| Box::pin(hit.conn.close()),
    ),
    http(
        "accept-then-reset",
        "resets every connection at once",
        On::Connect,
        |hit| Box::pin(async move { hit.conn.reset() }),
    ),
    http(
        "concurrent-50",
        "answers calls only when 50 have arrived, or none for 1 s",
        On::Call,
        |hit| {
            Box::pin(async move {
                let world = &hit.site.world;
                let (mut arrived, mut quiet) = (world.nth("together"), 0);
                while arrived < 50 && quiet < 10 {
                    sleep(TICK).await;
                    let now = world.count("together");
                    quiet = if now == arrived { quiet + 1 } else { 0 };
                    arrived = now;
                }
                world.log.mark("together", arrived);
                hit.behave().await
            })
        },
    ),
];
