//! Bodies that do not match their head, or are not a response.

use std::time::Duration;

use serde_json::json;
use tokio::time::sleep;

use super::{HTML, JSON, On, http, json_head};
use crate::fault::{Fault, Kind};
use crate::wire::{Dress, gzip, head};

pub(super) const FAULTS: &[Fault] = &[
    Fault::new(
        "stateless",
        "assigns no session id (no fault)",
        Kind::Script(|script| script.without_sessions()),
    ),
    http(
        "html-200",
        "answers the first call with a captive portal's page",
        On::FirstCall,
        |hit| {
            Box::pin(async move {
                let page = b"<html>captive portal, please log in</html>";
                hit.conn.reply(200, HTML, &[], page).await
            })
        },
    ),
    http(
        "empty-json",
        "answers the first call with an empty body",
        On::FirstCall,
        |hit| Box::pin(hit.conn.reply(200, JSON, &[], b"")),
    ),
    http(
        "no-content-type",
        "answers the first call without Content-Type",
        On::FirstCall,
        |hit| {
            Box::pin(async move {
                let good = hit.good().await;
                hit.conn.reply(200, "", &[], &good).await
            })
        },
    ),
    http(
        "content-type-case",
        "writes its content types in odd case and with parameters (no fault)",
        On::Any,
        |hit| {
            Box::pin(async move {
                hit.conn.dress = Dress::OddCase;
                if !hit.is(On::Call) {
                    return hit.behave().await;
                }
                let good = hit.good().await;
                hit.conn
                    .begin(200, "Text/Event-Stream;charset=utf-8", &[])
                    .await?;
                hit.conn.chunk(&crate::wire::event(&good, None)).await?;
                hit.conn.end().await
            })
        },
    ),
    http(
        "truncated-body",
        "closes before the promised length of the first answer to a call",
        On::FirstCall,
        |hit| {
            Box::pin(async move {
                let good = hit.good().await;
                hit.conn.raw(&json_head(good.len() + 100)).await?;
                hit.conn.raw(good.get(..40).unwrap_or(&good)).await?;
                hit.conn.close().await
            })
        },
    ),
    http(
        "truncated-json",
        "answers the first call with half a document",
        On::FirstCall,
        |hit| {
            Box::pin(async move {
                let good = hit.good().await;
                hit.conn
                    .reply(200, JSON, &[], good.get(..40).unwrap_or(&good))
                    .await
            })
        },
    ),
    http(
        "json-array",
        "answers the first call with an array, a log message beside the answer",
        On::FirstCall,
        |hit| {
            Box::pin(async move {
                let good = hit.good().await;
                let note = r#"{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"batch"}}"#;
                let body = format!("[{note},{}]", String::from_utf8_lossy(&good));
                hit.conn.reply(200, JSON, &[], body.as_bytes()).await
            })
        },
    ),
    http(
        "json-wrong-id",
        "answers the first call with another id and the text STRAY",
        On::FirstCall,
        |hit| {
            Box::pin(async move {
                let result = json!({"content": [{"type": "text", "text": "STRAY"}], "resultType": "complete"});
                let body = json!({"jsonrpc": "2.0", "id": 987_654, "result": result});
                hit.conn
                    .reply(200, JSON, &[], body.to_string().as_bytes())
                    .await
            })
        },
    ),
    http(
        "json-notification-only",
        "answers the first call with a notification",
        On::FirstCall,
        |hit| {
            Box::pin(async move {
                let params = json!({"level": "info", "data": "this is not an answer"});
                let body =
                    json!({"jsonrpc": "2.0", "method": "notifications/message", "params": params});
                hit.conn
                    .reply(200, JSON, &[], body.to_string().as_bytes())
                    .await
            })
        },
    ),
    http(
        "gzip-ok",
        "compresses its answers if the client accepts gzip (no fault)",
        On::Any,
        |hit| {
            Box::pin(async move {
                let accepts = hit
                    .http
                    .headers
                    .get("accept-encoding")
                    .is_some_and(|list| list.contains("gzip"));
                hit.conn.dress = if accepts { Dress::Gzip } else { Dress::Plain };
                hit.behave().await
            })
        },
    ),
    http(
        "gzip-unasked",
        "answers the first call in gzip without saying so",
        On::FirstCall,
        |hit| {
            Box::pin(async move {
                let body = gzip::compress(&hit.good().await);
                hit.conn.reply(200, JSON, &[], &body).await
            })
        },
    ),
    http(
        "http10-close",
        "answers in HTTP/1.0, bodies ended by closing (no fault)",
        On::Any,
        |hit| {
            Box::pin(async move {
                hit.conn.dress = Dress::Http10;
                hit.behave().await
            })
        },
    ),
    http(
        "interim-1xx",
        "sends 103 and 100 before the answers to calls (no fault)",
        On::Call,
        |hit| {
            Box::pin(async move {
                hit.conn
                    .raw(b"HTTP/1.1 103 Early Hints\r\nLink: </x>; rel=preload\r\n\r\n")
                    .await?;
                hit.conn.raw(b"HTTP/1.1 100 Continue\r\n\r\n").await?;
                hit.behave().await
            })
        },
    ),
    http(
        "bad-chunks",
        "answers the first call with a chunk size that is no number",
        On::FirstCall,
        |hit| {
            Box::pin(async move {
                let good = hit.good().await;
                let bytes = head(
                    200,
                    &[("Content-Type", JSON), ("Transfer-Encoding", "chunked")],
                );
                hit.conn.raw(&bytes).await?;
                hit.conn
                    .raw(&[b"zz\r\n", good.as_slice(), b"\r\n0\r\n\r\n"].concat())
                    .await?;
                sleep(Duration::from_millis(200)).await;
                hit.conn.close().await
            })
        },
    ),
];
