//! Redirects.

use std::io;

use super::{Hit, On, TEXT, http};
use crate::fault::Fault;

pub(super) const FAULTS: &[Fault] = &[
    http(
        "redirect-307-cross",
        "redirects every POST to another origin with 307",
        On::Post,
        |hit| Box::pin(cross(hit, 307)),
    ),
    http(
        "redirect-302-cross",
        "redirects every POST to another origin with 302",
        On::Post,
        |hit| Box::pin(cross(hit, 302)),
    ),
    http(
        "redirect-call-cross",
        "redirects calls to another origin",
        On::Call,
        |hit| Box::pin(cross(hit, 307)),
    ),
    http(
        "redirect-get-cross",
        "redirects the GET stream to another origin",
        On::Get,
        |hit| Box::pin(cross(hit, 307)),
    ),
    http(
        "redirect-loop",
        "redirects every POST to itself",
        On::Post,
        |hit| {
            Box::pin(async move {
                let to = hit.site.url();
                redirect(hit, 307, &to).await
            })
        },
    ),
    http(
        "redirect-same-origin",
        "redirects every POST to another path of its own",
        On::Post,
        |hit| {
            Box::pin(async move {
                if hit.http.target == "/mcp?moved" {
                    return hit.behave().await;
                }
                redirect(hit, 307, "/mcp?moved").await
            })
        },
    ),
    http(
        "redirect-file",
        "redirects every POST to file:///etc/passwd",
        On::Post,
        |hit| Box::pin(redirect(hit, 307, "file:///etc/passwd")),
    ),
    http(
        "redirect-garbage",
        "redirects every POST to something that is not a URL",
        On::Post,
        |hit| Box::pin(redirect(hit, 307, "http://[::bad")),
    ),
];

/// To another origin.
async fn cross(hit: &mut Hit<'_>, status: u16) -> io::Result<()> {
    let to = format!("{}/mcp", hit.site.other.as_deref().unwrap_or_default());
    redirect(hit, status, &to).await
}

async fn redirect(hit: &mut Hit<'_>, status: u16, to: &str) -> io::Result<()> {
    hit.conn.reply(status, TEXT, &[("Location", to)], b"").await
}
