//! Sessions, and their GET and DELETE requests.

use std::time::Duration;

use serde_json::json;
use tokio::time::sleep;

use super::{Hit, JSON, On, TEXT, http};
use crate::fault::{Fault, Kind};
use crate::protocol::{Piece, notification};

pub(super) const FAULTS: &[Fault] = &[
    http(
        "404-session",
        "forgets the session at the first call: 404",
        On::FirstCall,
        |hit| {
            Box::pin(async move {
                forget(hit);
                let error = json!({"code": -32001, "message": "Session not found"});
                let body = json!({"jsonrpc": "2.0", "id": hit.message.get("id"), "error": error});
                hit.conn
                    .reply(404, JSON, &[], body.to_string().as_bytes())
                    .await
            })
        },
    ),
    http(
        "404-session-empty-body",
        "forgets the session at the first call: 404 without a body",
        On::FirstCall,
        |hit| {
            Box::pin(async move {
                forget(hit);
                hit.conn.reply(404, "", &[], b"").await
            })
        },
    ),
    http(
        "404-session-loop",
        "forgets every session as soon as it exists",
        On::Any,
        |hit| {
            Box::pin(async move {
                if hit.message.get("id").is_some() && !hit.is_method("initialize") {
                    forget(hit);
                }
                hit.behave().await
            })
        },
    ),
    http(
        "session-changes",
        "sends another Mcp-Session-Id with the list of tools, which only initialize may",
        On::Post,
        |hit| {
            Box::pin(async move {
                if !hit.is_method("tools/list") {
                    return hit.behave().await;
                }
                let good = hit.good().await;
                hit.conn
                    .reply(200, JSON, &[("Mcp-Session-Id", "hijacked")], &good)
                    .await
            })
        },
    ),
    Fault::new(
        "session-odd-chars",
        "assigns a session id of all kinds of visible ASCII (no fault)",
        Kind::Script(|script| script.with_session_id(r##"!"#$&'()*+,-./:;<=>?@[\]^_`{|}~0aZ"##)),
    ),
    Fault::new(
        "session-long",
        "assigns a session id of 6000 characters (no fault)",
        Kind::Script(|script| script.with_session_id("s".repeat(6_000))),
    ),
    Fault::new(
        "session-non-ascii",
        "assigns a session id with letters beyond ASCII and a blank",
        Kind::Script(|script| script.with_session_id("caf\u{e9} \u{ff}")),
    ),
    http(
        "delete-405",
        "answers DELETE with 405 (no fault)",
        On::Any,
        |hit| {
            Box::pin(async move {
                if hit.http.method == "DELETE" {
                    return hit.conn.reply(405, "", &[], b"").await;
                }
                hit.behave().await
            })
        },
    ),
    http("delete-hang", "never answers DELETE", On::Any, |hit| {
        Box::pin(async move {
            if hit.http.method == "DELETE" {
                return hit.conn.hang().await;
            }
            hit.behave().await
        })
    }),
    http(
        "get-500",
        "answers GET with 500, and calls only after 3 s",
        On::Any,
        |hit| {
            Box::pin(async move {
                if hit.is(On::Get) {
                    return hit.conn.reply(500, TEXT, &[], b"boom").await;
                }
                late(hit, 3_000).await
            })
        },
    ),
    http("get-hang", "never answers GET", On::Get, |hit| {
        Box::pin(hit.conn.hang())
    }),
    http(
        "get-closes-at-once",
        "ends the GET stream at once, and answers calls only after 3 s",
        On::Any,
        |hit| {
            Box::pin(async move {
                if hit.is(On::Get) {
                    hit.conn.begin_events(&[]).await?;
                    return hit.conn.end().await;
                }
                late(hit, 3_000).await
            })
        },
    ),
    http(
        "get-storm",
        "says 10 000 times on the GET stream that the tools changed, and answers calls after 1 s",
        On::Any,
        |hit| {
            Box::pin(async move {
                if !hit.is(On::Get) {
                    return late(hit, 1_000).await;
                }
                hit.conn.begin_events(&[]).await?;
                let note = notification("notifications/tools/list_changed", json!({})).to_string();
                let note = note.into_bytes();
                let storm = Piece::Many(10_000, std::sync::Arc::new(move |_| note.clone()));
                hit.conn.write_piece(&storm, None).await?;
                hit.conn.hang().await
            })
        },
    ),
];

fn forget(hit: &Hit<'_>) {
    let id = hit.http.headers.get("mcp-session-id").unwrap_or_default();
    hit.site.sessions.lock().remove(id);
}

async fn late(hit: &mut Hit<'_>, ms: u64) -> std::io::Result<()> {
    if hit.is(On::Call) {
        sleep(Duration::from_millis(ms)).await;
    }
    hit.behave().await
}
