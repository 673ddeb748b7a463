//! HTTP+SSE: endpoint events with wrong addresses.

use std::io;

use super::{Hit, On, sse};
use crate::fault::Fault;
use crate::wire::legacy;

pub(super) const FAULTS: &[Fault] = &[
    sse(
        "endpoint-relative",
        "gives its endpoint relative to the stream (no fault)",
        On::Get,
        |hit| {
            Box::pin(
                async move { open(hit, |_, number| format!("messages?session={number}")).await },
            )
        },
    ),
    sse(
        "endpoint-absolute",
        "gives its endpoint as a whole URL (no fault)",
        On::Get,
        |hit| {
            Box::pin(open(hit, |hit, number| {
                format!("{}/messages?session={number}", hit.site.base)
            }))
        },
    ),
    sse(
        "endpoint-cross",
        "gives an endpoint of another origin",
        On::Get,
        |hit| {
            Box::pin(open(hit, |hit, number| {
                format!("http://{}/messages?session={number}", other(hit))
            }))
        },
    ),
    sse(
        "endpoint-protocol-relative",
        "gives an endpoint of another origin without a scheme",
        On::Get,
        |hit| {
            Box::pin(open(hit, |hit, number| {
                format!("//{}/messages?session={number}", other(hit))
            }))
        },
    ),
    sse(
        "endpoint-userinfo",
        "gives an endpoint whose user name is its own address",
        On::Get,
        |hit| {
            Box::pin(open(hit, |hit, number| {
                format!("{}@{}/messages?session={number}", hit.site.base, other(hit))
            }))
        },
    ),
    sse(
        "endpoint-backslash",
        "gives an endpoint of another origin by way of a backslash",
        On::Get,
        |hit| {
            Box::pin(open(hit, |hit, number| {
                format!("/\\{}/messages?session={number}", other(hit))
            }))
        },
    ),
    sse(
        "endpoint-scheme",
        "gives file:///etc/passwd for its endpoint",
        On::Get,
        |hit| Box::pin(open(hit, |_, _| "file:///etc/passwd".to_owned())),
    ),
    sse(
        "endpoint-garbage",
        "gives an endpoint that is not a URL",
        On::Get,
        |hit| Box::pin(open(hit, |_, _| "http://[::bad/1".to_owned())),
    ),
    sse("endpoint-missing", "sends no endpoint", On::Get, |hit| {
        Box::pin(async move {
            let number = hit.site.world.nth("session");
            legacy::stream(hit.site, hit.conn, number, b": no endpoint for you\n\n").await
        })
    }),
    sse(
        "endpoint-second-moves",
        "sends a second endpoint, of another origin, with the list of tools",
        On::Post,
        |hit| {
            Box::pin(async move {
                if let (true, Some((_, out))) = (
                    hit.is_method("tools/list"),
                    legacy::session(hit.site, hit.http),
                ) {
                    let event =
                        format!("event: endpoint\ndata: http://{}/messages\n\n", other(hit));
                    out.send(crate::protocol::Piece::raw(event.into_bytes()))
                        .await;
                }
                hit.behave().await
            })
        },
    ),
    sse(
        "stream-crlf",
        "ends the lines of its events with CRLF (no fault)",
        On::Get,
        |hit| {
            Box::pin(async move {
                let number = hit.site.world.nth("session");
                hit.conn.line_end = b"\r\n";
                let event = format!("event: endpoint\r\ndata: /messages?session={number}\r\n\r\n");
                legacy::stream(hit.site, hit.conn, number, event.as_bytes()).await
            })
        },
    ),
];

/// The address of the other origin.
fn other(hit: &Hit<'_>) -> String {
    let base = hit.site.other.as_deref().unwrap_or_default();
    base.trim_start_matches("http://").to_owned()
}

async fn open(hit: &mut Hit<'_>, endpoint: fn(&Hit<'_>, u64) -> String) -> io::Result<()> {
    let number = hit.site.world.nth("session");
    let event = format!("event: endpoint\ndata: {}\n\n", endpoint(hit, number));
    legacy::stream(hit.site, hit.conn, number, event.as_bytes()).await
}
