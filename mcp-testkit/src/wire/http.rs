//! Streamable HTTP of a well-behaved server, in both eras.

use std::io;
use std::sync::Arc;

use mcp_jsonrpc::Revision;
use serde_json::{Value, json};
use tokio::sync::oneshot;

use super::replay::{Replay, parse_event_id};
use super::{Conn, HttpRequest, Site};
use crate::log::Seen;
use crate::protocol::{self, Out, Piece, Reply, Session};
use crate::script::{Polling, Replies};
use crate::{Era, Refusal};

/// The number of sessions and resumable streams remembered; the oldest are dropped first.
const MAX_KEPT: usize = 1_000;

const JSON: &str = "application/json";

pub(super) async fn serve(site: &Site, conn: &mut Conn, request: &HttpRequest) -> io::Result<()> {
    match (request.path(), request.method.as_str()) {
        ("/mcp", "POST") => post(site, conn, request).await,
        ("/mcp", "GET") => get(site, conn, request).await,
        ("/mcp", "DELETE") => delete(site, conn, request).await,
        ("/mcp", _) => {
            conn.reply(405, "", &[("Allow", "GET, POST, DELETE")], b"")
                .await
        }
        _ => conn.reply(404, "text/plain", &[], b"not here").await,
    }
}

async fn post(site: &Site, conn: &mut Conn, request: &HttpRequest) -> io::Result<()> {
    let message: Value = match serde_json::from_slice(&request.body) {
        Ok(message @ Value::Object(_)) => message,
        Ok(_) => return refuse(conn, 400, &Value::Null, -32600, "Not one message").await,
        Err(_) => return refuse(conn, 400, &Value::Null, -32700, "Parse error").await,
    };
    let id = message.get("id").cloned().unwrap_or_default();
    let accept = request.headers.get("accept").unwrap_or_default();
    if !accept.contains(JSON) || !accept.contains("text/event-stream") {
        return refuse(
            conn,
            406,
            &id,
            -32000,
            "Accept must list JSON and event streams",
        )
        .await;
    }
    let header = request.headers.get("mcp-protocol-version");
    let is_request = message.get("id").is_some() && message.get("method").is_some();
    let era = match (protocol::era_of(&message), header) {
        (Era::Legacy, Some(header)) if header == Revision::LATEST.as_str() => Era::Modern,
        (era, _) => era,
    };
    let script = site.world.script();
    if era == Era::Modern && script.speaks(Era::Modern) || !script.speaks(Era::Legacy) {
        if !is_request {
            return conn.reply(202, "", &[], b"").await;
        }
        let session = Session::new(&site.world);
        return answer(site, conn, request, &session, message, &[]).await;
    }
    if header.is_some_and(|header| {
        !script
            .revisions
            .iter()
            .any(|known| known.as_str() == header)
    }) {
        let text = "Bad Request: Unsupported protocol version";
        return refuse(conn, 400, &Value::Null, -32000, text).await;
    }
    if message
        .get("method")
        .is_some_and(|method| method == "initialize")
        && is_request
    {
        let session = Session::new(&site.world);
        let id = assign(site, &session);
        let headers: Vec<(&str, &str)> = id
            .iter()
            .map(|id| ("Mcp-Session-Id", id.as_str()))
            .collect();
        return answer(site, conn, request, &session, message, &headers).await;
    }
    let session = match session(site, request) {
        Ok(session) => session,
        Err((status, refusal)) => {
            site.world.log.refused(&refusal);
            return refuse(conn, status, &id, refusal.code, &refusal.message).await;
        }
    };
    if is_request {
        return answer(site, conn, request, &session, message, &[]).await;
    }
    session.accept(&message);
    conn.reply(202, "", &[], b"").await
}

/// A new session's id; `None` if the script assigns none.
fn assign(site: &Site, session: &Arc<Session>) -> Option<String> {
    let script = site.world.script();
    let number = site.world.nth("session");
    let id = match (&script.session_id, script.sessions) {
        (_, false) => String::new(),
        (Some(id), true) => id.clone(),
        (None, true) => format!("session-{number:06}"),
    };
    let mut sessions = site.sessions.lock();
    sessions.insert(id.clone(), Arc::clone(session));
    if sessions.len() > MAX_KEPT {
        sessions.pop_first();
    }
    script.sessions.then_some(id)
}

fn session(site: &Site, request: &HttpRequest) -> Result<Arc<Session>, (u16, Refusal)> {
    let sessions = site.world.script().sessions;
    let id = match request.headers.get("mcp-session-id") {
        Some(id) if sessions => id,
        None if sessions => {
            return Err((
                400,
                Refusal::new(-32000, "Bad Request: Mcp-Session-Id is required"),
            ));
        }
        _ => "",
    };
    let found = site.sessions.lock().get(id).cloned();
    match found {
        Some(session) => Ok(session),
        None if sessions => Err((404, Refusal::new(-32001, "Session not found"))),
        None => Ok(Session::new(&site.world)),
    }
}

async fn answer(
    site: &Site,
    conn: &mut Conn,
    http: &HttpRequest,
    session: &Arc<Session>,
    message: Value,
    headers: &[(&str, &str)],
) -> io::Result<()> {
    let script = site.world.script();
    let (out, mut before) = Out::channel();
    if session.is_quick(&message) {
        let reply = session.answer(&message, &out, Some(&http.headers)).await;
        return write_reply(site, conn, reply, headers).await;
    }
    let id = message.get("id").cloned().unwrap_or_default();
    let era = protocol::era_of(&message);
    let (done, mut answered) = oneshot::channel();
    let task = tokio::spawn({
        let (session, http_headers) = (Arc::clone(session), http.headers.clone());
        async move {
            let reply = session.answer(&message, &out, Some(&http_headers)).await;
            // The client may have closed the connection.
            let _ = done.send(reply);
        }
    });
    session.began(&id, task.abort_handle());
    if let (Some(polling), Era::Legacy) = (script.polling, era) {
        let (all, pieces) = Out::channel();
        tokio::spawn(async move {
            while let Some(piece) = before.recv().await {
                all.send(piece).await;
            }
            for piece in answered.await.map(|reply| reply.pieces).unwrap_or_default() {
                all.send(piece).await;
            }
        });
        return poll(
            site,
            conn,
            polling,
            Replay::of(site.world.nth("stream"), pieces),
        )
        .await;
    }
    let mut begun = script.replies == Replies::Sse;
    if begun {
        conn.begin_events(headers).await?;
    }
    loop {
        tokio::select! {
            biased;
            Some(piece) = before.recv() => {
                if !begun {
                    conn.begin_events(headers).await?;
                    begun = true;
                }
                conn.write_piece(&piece, None).await?;
            }
            reply = &mut answered => {
                return match reply {
                    Ok(reply) if !begun => write_reply(site, conn, reply, headers).await,
                    Ok(reply) => finish(conn, reply).await,
                    // Cancelled: the stream ends without a response.
                    Err(_) if begun => conn.end().await,
                    Err(_) => {
                        conn.begin_events(headers).await?;
                        conn.end().await
                    }
                };
            }
            () = conn.gone() => {
                site.world.log.record(Seen::Abandoned { id: id.clone() });
                // Closing the stream cancels in the modern era only.
                if era == Era::Modern {
                    session.cancel(&id);
                }
                return Err(io::ErrorKind::ConnectionAborted.into());
            }
        }
    }
}

/// Writes a response that is the first output of its connection.
async fn write_reply(
    site: &Site,
    conn: &mut Conn,
    reply: Reply,
    headers: &[(&str, &str)],
) -> io::Result<()> {
    let plain = site.world.script().replies == Replies::Json || reply.status != 200;
    match reply.pieces.as_slice() {
        [] => conn.hang().await,
        [Piece::Message(body)] if plain => conn.reply(reply.status, JSON, headers, body).await,
        _ => {
            conn.begin_events(headers).await?;
            finish(conn, reply).await
        }
    }
}

async fn finish(conn: &mut Conn, reply: Reply) -> io::Result<()> {
    for piece in &reply.pieces {
        conn.write_piece(piece, None).await?;
    }
    conn.end().await
}

/// A resumable stream: an empty first event, then everything with ids.
async fn poll(
    site: &Site,
    conn: &mut Conn,
    polling: Polling,
    replay: Arc<Replay>,
) -> io::Result<()> {
    {
        let mut replays = site.replays.lock();
        replays.insert(replay.stream, Arc::clone(&replay));
        if replays.len() > MAX_KEPT {
            replays.pop_first();
        }
    }
    conn.begin_events(&[]).await?;
    let retry = polling
        .retry
        .map(|retry| format!("retry: {}\n", retry.as_millis()));
    let first = format!(
        "id: {}\n{}data:\n\n",
        replay.event_id(0),
        retry.unwrap_or_default()
    );
    conn.chunk(first.as_bytes()).await?;
    if polling.hang_up {
        site.world.log.mark("dropped", replay.stream);
        return conn.end().await;
    }
    follow(conn, &replay, 0).await
}

async fn follow(conn: &mut Conn, replay: &Replay, mut at: usize) -> io::Result<()> {
    loop {
        let piece = tokio::select! {
            piece = replay.piece(at) => piece,
            () = conn.gone() => return Err(io::ErrorKind::ConnectionAborted.into()),
        };
        let Some(piece) = piece else {
            return conn.end().await;
        };
        at += 1;
        conn.write_piece(&piece, Some(&replay.event_id(at))).await?;
    }
}

async fn get(site: &Site, conn: &mut Conn, request: &HttpRequest) -> io::Result<()> {
    let script = site.world.script();
    if !script.speaks(Era::Legacy) || !script.get_stream {
        return conn.reply(405, "", &[("Allow", "POST")], b"").await;
    }
    let accept = request.headers.get("accept").unwrap_or_default();
    if !accept.contains("text/event-stream") {
        return refuse(
            conn,
            406,
            &Value::Null,
            -32000,
            "Accept must list event streams",
        )
        .await;
    }
    let session = match session(site, request) {
        Ok(session) => session,
        Err((status, refusal)) => {
            site.world.log.refused(&refusal);
            return refuse(conn, status, &Value::Null, refusal.code, &refusal.message).await;
        }
    };
    if let Some(last) = request.headers.get("last-event-id") {
        let (stream, at) = parse_event_id(last).unwrap_or_default();
        site.world.log.mark("resumed", stream);
        let replay = site.replays.lock().get(&stream).cloned();
        if let Some(replay) = replay {
            conn.begin_events(&[]).await?;
            return follow(conn, &replay, at).await;
        }
    }
    let (out, mut pieces) = Out::channel();
    session.set_general(out);
    conn.begin_events(&[]).await?;
    loop {
        tokio::select! {
            Some(piece) = pieces.recv() => conn.write_piece(&piece, None).await?,
            () = conn.gone() => return Err(io::ErrorKind::ConnectionAborted.into()),
            () = site.world.stopped() => return conn.end().await,
        }
    }
}

async fn delete(site: &Site, conn: &mut Conn, request: &HttpRequest) -> io::Result<()> {
    let script = site.world.script();
    if !script.sessions || !script.speaks(Era::Legacy) {
        return conn.reply(405, "", &[], b"").await;
    }
    let id = request.headers.get("mcp-session-id").unwrap_or_default();
    let ended = site.sessions.lock().remove(id);
    match ended {
        Some(_) => conn.reply(200, "", &[], b"").await,
        None => refuse(conn, 404, &Value::Null, -32001, "Session not found").await,
    }
}

async fn refuse(
    conn: &mut Conn,
    status: u16,
    id: &Value,
    code: i64,
    message: &str,
) -> io::Result<()> {
    let body = json!({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": message}});
    conn.reply(status, JSON, &[], body.to_string().as_bytes())
        .await
}
