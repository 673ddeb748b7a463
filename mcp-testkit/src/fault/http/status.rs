//! Status codes.

use super::{HTML, JSON, On, TEXT, http};
use crate::fault::Fault;

pub(super) const FAULTS: &[Fault] = &[
    http(
        "500-then-ok",
        "answers the first call with 500",
        On::FirstCall,
        |hit| Box::pin(hit.conn.reply(500, TEXT, &[], b"Internal Server Error")),
    ),
    http(
        "503-then-ok",
        "answers the first call with 503 and Retry-After: 1",
        On::FirstCall,
        |hit| Box::pin(hit.conn.reply(503, TEXT, &[("Retry-After", "1")], b"")),
    ),
    http(
        "503-init-then-ok",
        "answers the first POST with 503",
        On::Post,
        |hit| {
            Box::pin(async move {
                if hit.site.world.nth("post") == 1 {
                    return hit
                        .conn
                        .reply(503, TEXT, &[("Retry-After", "1")], b"starting up")
                        .await;
                }
                hit.behave().await
            })
        },
    ),
    http(
        "502-html",
        "answers calls with a proxy's error page",
        On::Call,
        |hit| {
            Box::pin(async move {
                let page = "<html><body><h1>502 Bad Gateway</h1>nginx</body></html>".repeat(50);
                hit.conn.reply(502, HTML, &[], page.as_bytes()).await
            })
        },
    ),
    http(
        "429-retry-after",
        "answers the first call with 429 and Retry-After: 1",
        On::FirstCall,
        |hit| {
            Box::pin(async move {
                hit.mark("429");
                hit.conn
                    .reply(429, TEXT, &[("Retry-After", "1")], b"slow down")
                    .await
            })
        },
    ),
    http(
        "429-forever",
        "answers calls with 429 and Retry-After: 86400",
        On::Call,
        |hit| {
            Box::pin(
                hit.conn
                    .reply(429, TEXT, &[("Retry-After", "86400")], b"slow down"),
            )
        },
    ),
    http("401-init", "answers everything with 401", On::Any, |hit| {
        Box::pin(async move {
            let challenge = [("WWW-Authenticate", r#"Bearer error="invalid_token""#)];
            let body = br#"{"error":"invalid_token"}"#;
            hit.conn.reply(401, JSON, &challenge, body).await
        })
    }),
    http("401-call", "answers calls with 401", On::Call, |hit| {
        Box::pin(async move {
            let challenge = [("WWW-Authenticate", r#"Bearer error="invalid_token""#)];
            hit.conn.reply(401, TEXT, &challenge, b"").await
        })
    }),
    http("403-call", "answers calls with 403", On::Call, |hit| {
        Box::pin(hit.conn.reply(403, TEXT, &[], b"forbidden"))
    }),
    http(
        "404-init",
        "answers everything with 404: there is no MCP here",
        On::Any,
        |hit| Box::pin(hit.conn.reply(404, HTML, &[], b"<html>no such page</html>")),
    ),
    http(
        "202-for-request",
        "answers the first call with 202",
        On::FirstCall,
        |hit| Box::pin(hit.conn.reply(202, "", &[], b"")),
    ),
    http(
        "204-for-request",
        "answers the first call with 204",
        On::FirstCall,
        |hit| Box::pin(hit.conn.reply(204, "", &[], b"")),
    ),
    http(
        "discover-404",
        "answers server/discover with a gateway's 404 page",
        On::Post,
        |hit| {
            Box::pin(async move {
                if hit.is_method("server/discover") {
                    return hit
                        .conn
                        .reply(404, HTML, &[], b"<html>not found</html>")
                        .await;
                }
                hit.behave().await
            })
        },
    ),
    http(
        "notify-400",
        "answers notifications with 400",
        On::Post,
        |hit| {
            Box::pin(async move {
                if hit.message.get("id").is_none() {
                    return hit
                        .conn
                        .reply(400, TEXT, &[], b"no notifications please")
                        .await;
                }
                hit.behave().await
            })
        },
    ),
    http(
        "notify-json-200",
        "answers notifications with 200 and a JSON body",
        On::Post,
        |hit| {
            Box::pin(async move {
                if hit.message.get("id").is_none() {
                    let body = br#"{"jsonrpc":"2.0","id":null,"result":{}}"#;
                    return hit.conn.reply(200, JSON, &[], body).await;
                }
                hit.behave().await
            })
        },
    ),
];
