//! Servers that serve everything but `subscriptions/listen`.

use super::{JSON, On, TEXT, http};
use crate::fault::Fault;

pub(super) const FAULTS: &[Fault] = &[
    http(
        "listen-401",
        "answers subscriptions/listen with 401",
        On::Listen,
        |hit| {
            Box::pin(async move {
                let challenge = [("WWW-Authenticate", r#"Bearer error="invalid_token""#)];
                hit.conn.reply(401, TEXT, &challenge, b"").await
            })
        },
    ),
    http(
        "listen-404",
        "answers subscriptions/listen with 404",
        On::Listen,
        |hit| Box::pin(hit.conn.reply(404, TEXT, &[], b"not here")),
    ),
    http(
        "listen-202",
        "answers subscriptions/listen with 202 and nothing",
        On::Listen,
        |hit| Box::pin(hit.conn.reply(202, "", &[], b"")),
    ),
    http(
        "listen-503",
        "answers subscriptions/listen with 503",
        On::Listen,
        |hit| Box::pin(hit.conn.reply(503, TEXT, &[], b"overloaded")),
    ),
    http(
        "listen-reset",
        "resets the connection at subscriptions/listen",
        On::Listen,
        |hit| Box::pin(async move { hit.conn.reset() }),
    ),
    http(
        "listen-hang",
        "never answers subscriptions/listen",
        On::Listen,
        |hit| Box::pin(hit.conn.hang()),
    ),
    http(
        "listen-result",
        "answers subscriptions/listen at once, without an acknowledgement",
        On::Listen,
        |hit| {
            Box::pin(async move {
                let id = hit.id();
                let body = format!(
                    r#"{{"jsonrpc":"2.0","id":{id},"result":{{"resultType":"complete"}}}}"#
                );
                hit.conn.reply(200, JSON, &[], body.as_bytes()).await
            })
        },
    ),
];
