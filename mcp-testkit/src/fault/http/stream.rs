//! HTTP+SSE: streams that break off and POSTs that fail.

use std::io;

use serde_json::json;

use super::{HTML, Hit, JSON, On, TEXT, sse};
use crate::fault::Fault;
use crate::protocol::Piece;
use crate::wire::legacy;

const MIB: usize = 1 << 20;

pub(super) const FAULTS: &[Fault] = &[
    sse(
        "post-400",
        "answers the POST of the first call with 400",
        On::FirstCall,
        |hit| Box::pin(hit.conn.reply(400, TEXT, &[], b"bad request")),
    ),
    sse(
        "post-500",
        "answers the POST of the first call with 500",
        On::FirstCall,
        |hit| Box::pin(hit.conn.reply(500, TEXT, &[], b"boom")),
    ),
    sse(
        "post-hang",
        "never answers the POST of a call, but sends the result on the stream",
        On::Call,
        |hit| {
            Box::pin(async move {
                let good = hit.good().await;
                push(hit, Piece::Message(good)).await;
                hit.conn.hang().await
            })
        },
    ),
    sse(
        "post-body-answer",
        "answers a call in the POST's body too, with the text IN-POST-BODY",
        On::Call,
        |hit| {
            Box::pin(async move {
                let result = json!({"content": [{"type": "text", "text": "IN-POST-BODY"}]});
                let body = json!({"jsonrpc": "2.0", "id": hit.message.get("id"), "result": result});
                hit.conn
                    .reply(200, JSON, &[], body.to_string().as_bytes())
                    .await?;
                let good = hit.good().await;
                push(hit, Piece::Message(good)).await;
                Ok(())
            })
        },
    ),
    sse(
        "drop-mid-call",
        "resets the stream when the first call arrives",
        On::FirstCall,
        |hit| {
            Box::pin(async move {
                hit.conn.reply(202, TEXT, &[], b"Accepted").await?;
                push(hit, Piece::Reset).await;
                Ok(())
            })
        },
    ),
    sse(
        "drop-idle",
        "ends the stream after the first list of tools",
        On::Post,
        |hit| {
            Box::pin(async move {
                let list = hit.is_method("tools/list") && hit.site.world.nth("list") == 1;
                hit.behave().await?;
                if list {
                    push(hit, Piece::End).await;
                }
                Ok(())
            })
        },
    ),
    sse("get-404", "answers the GET with 404", On::Get, |hit| {
        Box::pin(hit.conn.reply(404, TEXT, &[], b"gone"))
    }),
    sse("get-html", "answers the GET with a page", On::Get, |hit| {
        Box::pin(hit.conn.reply(200, HTML, &[], b"<html>hi</html>"))
    }),
    sse("sse-get-hang", "never answers the GET", On::Get, |hit| {
        Box::pin(hit.conn.hang())
    }),
    sse(
        "bad-event",
        "sends a junk event and one of another type before the answers to calls",
        On::Call,
        |hit| {
            Box::pin(async move {
                push(
                    hit,
                    Piece::raw(b"event: message\ndata: {nope\n\n".as_slice()),
                )
                .await;
                push(hit, Piece::raw(b"event: other\ndata: x\n\n".as_slice())).await;
                hit.behave().await
            })
        },
    ),
    sse(
        "endless-event",
        "answers calls with one event line of 1 GiB",
        On::Call,
        |hit| {
            Box::pin(async move {
                hit.conn.reply(202, TEXT, &[], b"Accepted").await?;
                push(hit, Piece::raw(b"event: message\ndata: ".as_slice())).await;
                push(hit, Piece::Raw(vec![b'A'; MIB].into(), 1_024)).await;
                Ok(())
            })
        },
    ),
    sse(
        "redirect-cross",
        "redirects the GET to another origin",
        On::Get,
        |hit| Box::pin(redirect(hit, "/sse")),
    ),
    sse(
        "post-redirect-cross",
        "redirects every POST to another origin",
        On::Post,
        |hit| Box::pin(redirect(hit, "/messages?session=1")),
    ),
];

/// Sends a piece on the client's stream.
async fn push(hit: &Hit<'_>, piece: Piece) {
    if let Some((_, out)) = legacy::session(hit.site, hit.http) {
        out.send(piece).await;
    }
}

async fn redirect(hit: &mut Hit<'_>, path: &str) -> io::Result<()> {
    let to = format!("{}{path}", hit.site.other.as_deref().unwrap_or_default());
    hit.conn.reply(307, TEXT, &[("Location", &to)], b"").await
}
