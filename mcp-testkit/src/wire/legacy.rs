//! The HTTP+SSE transport of 2024-11-05 of a well-behaved server.

use std::io;
use std::sync::Arc;

use serde_json::Value;

use super::{Conn, HttpRequest, Site};
use crate::protocol::{Out, Session};

pub(super) async fn serve(site: &Site, conn: &mut Conn, request: &HttpRequest) -> io::Result<()> {
    match (request.path(), request.method.as_str()) {
        ("/sse", "GET") => {
            let number = site.world.nth("session");
            let endpoint = format!("event: endpoint\ndata: /messages?session={number}\n\n");
            stream(site, conn, number, endpoint.as_bytes()).await
        }
        ("/sse", _) => conn.reply(405, "", &[("Allow", "GET")], b"").await,
        ("/messages", "POST") => message(site, conn, request).await,
        _ => conn.reply(404, "text/plain", &[], b"not here").await,
    }
}

/// Keeps a client's event stream open, which begins with these bytes.
pub(crate) async fn stream(
    site: &Site,
    conn: &mut Conn,
    number: u64,
    first: &[u8],
) -> io::Result<()> {
    let session = Session::new(&site.world);
    let (out, mut pieces) = Out::channel();
    session.set_general(out);
    let name = number.to_string();
    site.sessions.lock().insert(name.clone(), session);
    conn.begin_events(&[]).await?;
    conn.chunk(first).await?;
    let ended = loop {
        tokio::select! {
            Some(piece) = pieces.recv() => {
                if let Err(ended) = conn.write_piece(&piece, None).await {
                    break Err(ended);
                }
            }
            () = conn.gone() => break Err(io::ErrorKind::ConnectionAborted.into()),
            () = site.world.stopped() => break conn.end().await,
        }
    };
    site.sessions.lock().remove(&name);
    ended
}

/// The session a POST belongs to, and its stream.
pub(crate) fn session(site: &Site, request: &HttpRequest) -> Option<(Arc<Session>, Out)> {
    let (_, query) = request.target.split_once("session=")?;
    let number = query.split('&').next()?;
    let session = site.sessions.lock().get(number).cloned()?;
    let out = session.general()?;
    Some((session, out))
}

async fn message(site: &Site, conn: &mut Conn, request: &HttpRequest) -> io::Result<()> {
    let Some((session, out)) = session(site, request) else {
        return conn.reply(404, "text/plain", &[], b"no such session").await;
    };
    let Ok(message @ Value::Object(_)) = serde_json::from_slice(&request.body) else {
        return conn.reply(400, "text/plain", &[], b"not one message").await;
    };
    conn.reply(202, "text/plain", &[], b"Accepted").await?;
    session.handle(message, &out).await;
    Ok(())
}
