//! Streams to be resumed, and streams that cannot be resumed.

use std::io;

use super::{Hit, On, TEXT, http};
use crate::fault::Fault;
use crate::wire::event;

pub(super) const FAULTS: &[Fault] = &[
    http(
        "sse-resume",
        "ends the first call's stream early; the answer waits for a GET",
        On::Any,
        |hit| Box::pin(resume(hit, "")),
    ),
    http(
        "sse-resume-retry",
        "ends the first call's stream early and asks to come back after 1500 ms",
        On::Any,
        |hit| Box::pin(resume(hit, "retry: 1500\n")),
    ),
    http(
        "sse-resume-huge-retry",
        "ends the first call's stream early and asks to come back after 10^15 ms",
        On::Any,
        |hit| Box::pin(resume(hit, "retry: 1000000000000000\n")),
    ),
    http(
        "sse-resume-fails",
        "ends the first call's stream early and answers every GET with 500",
        On::Any,
        |hit| {
            Box::pin(async move {
                if is_resume(hit) {
                    hit.mark("resume");
                    return hit.conn.reply(500, TEXT, &[], b"no").await;
                }
                resume(hit, "").await
            })
        },
    ),
    http(
        "sse-resume-endless",
        "ends every stream of a call early, with retry: 1, and never answers",
        On::Any,
        |hit| {
            Box::pin(async move {
                if !is_resume(hit) {
                    return resume(hit, "retry: 1\n").await;
                }
                hit.mark("resume");
                let number = hit.site.world.nth("resume");
                hit.conn.begin_events(&[]).await?;
                let next = format!("id: ev-{}\nretry: 1\ndata: \n\n", number + 1);
                hit.conn.chunk(next.as_bytes()).await?;
                hit.conn.end().await
            })
        },
    ),
];

fn is_resume(hit: &Hit<'_>) -> bool {
    hit.is(On::Get) && hit.http.headers.get("last-event-id").is_some()
}

/// Ends the first call's stream after an empty event; a GET with its id gets the response.
async fn resume(hit: &mut Hit<'_>, retry: &str) -> io::Result<()> {
    if hit.is(On::FirstCall) {
        let good = hit.good().await;
        *hit.site.pending.lock() = good;
        hit.conn.begin_events(&[]).await?;
        hit.conn
            .chunk(format!("id: ev-1\n{retry}data: \n\n").as_bytes())
            .await?;
        hit.mark("dropped");
        return hit.conn.end().await;
    }
    if !is_resume(hit) {
        return hit.behave().await;
    }
    hit.mark("resume");
    let answer = event(&hit.site.pending.lock(), Some("ev-2"));
    hit.conn.begin_events(&[]).await?;
    hit.conn.chunk(&answer).await?;
    hit.conn.end().await
}
