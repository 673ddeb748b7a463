//! Streamable HTTP against a scripted server.

mod auth;
mod basics;
mod choice;
mod closing;
mod deadlines;
mod faults;
mod listening;
mod modern;
mod redirects;
mod resuming;
mod sessions;
mod window;

use std::sync::Arc;
use std::time::Duration;

use mcp_jsonrpc::{RequestId, Revision};
use mcp_transport::{
    Connect, HttpConfig, HttpConnect, HttpLimits, Incoming, Outgoing, SendError, Transport,
};

use crate::server::{Answer, Gate, Seen, Server};

/// Everything here is prompt; this only keeps a broken test from hanging for ever.
pub(crate) const BOUND: Duration = Duration::from_secs(30);

pub(crate) fn config(server: &Server) -> HttpConfig {
    HttpConfig::new(&server.url("/mcp")).unwrap()
}

pub(crate) async fn open(config: HttpConfig) -> Arc<dyn Transport> {
    HttpConnect::new(config).unwrap().connect().await.unwrap()
}

pub(crate) async fn open_with(server: &Server, limits: HttpLimits) -> Arc<dyn Transport> {
    open(config(server).with_limits(limits)).await
}

pub(crate) fn request(id: i64, method: &str) -> Outgoing {
    let body = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}"}}"#);
    Outgoing::request(RequestId::from(id), method, body.into_bytes())
}

pub(crate) fn notification(method: &str) -> Outgoing {
    let body = format!(r#"{{"jsonrpc":"2.0","method":"{method}"}}"#);
    Outgoing::notification(method, body.into_bytes())
}

/// A call in the legacy era.
pub(crate) fn call(id: i64) -> Outgoing {
    request(id, "tools/call").with_revision(Revision::V2025_11_25)
}

/// A call in the modern era.
pub(crate) fn modern_call(id: i64) -> Outgoing {
    request(id, "tools/call").with_revision(Revision::V2026_07_28)
}

pub(crate) fn result(id: i64) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{}}}}"#)
}

pub(crate) fn event(data: &str) -> String {
    format!("data: {data}\n\n")
}

/// Says what happened next in one line.
pub(crate) async fn next(transport: &Arc<dyn Transport>) -> String {
    let incoming = tokio::time::timeout(BOUND, transport.recv())
        .await
        .expect("something came");
    match incoming {
        Incoming::Message { body, stream } => {
            let stream = stream.map_or("-".to_owned(), |id| id.to_string());
            format!("{stream} {}", String::from_utf8_lossy(&body))
        }
        Incoming::Ended { request, error } => format!("{request} ended: {error}"),
        Incoming::TooLarge { limit, .. } => format!("too large for {limit}"),
        Incoming::Gap => "gap".to_owned(),
        Incoming::Closed(closed) => {
            format!(
                "closed: {}",
                closed
                    .error
                    .map_or("clean".to_owned(), |error| error.to_string())
            )
        }
        other => format!("{other:?}"),
    }
}

/// What a failed message tells, with the server's address left out.
pub(crate) fn describe(server: &Server, failed: &SendError) -> String {
    format!("{}\n  delivery: {:?}\n", failed.error, failed.delivery)
        .replace(&server.address, "HOST")
}

pub(crate) async fn send(
    transport: &Arc<dyn Transport>,
    message: Outgoing,
) -> Result<(), SendError> {
    tokio::time::timeout(BOUND, transport.send(message))
        .await
        .expect("sending is prompt")
}

/// A legacy server with session `s1`: shakes hands, refuses the GET, leaves calls to `script`.
pub(crate) fn legacy(
    script: impl Fn(&Seen) -> Answer + Send + Sync + 'static,
) -> impl Fn(&Seen) -> Answer + Send + Sync + 'static {
    move |seen| {
        if seen.calls("initialize") {
            let headers = [
                ("Content-Type", "application/json"),
                ("Mcp-Session-Id", "s1"),
            ];
            Answer::with(200, &headers, &result(0))
        } else if seen.calls("notifications/initialized") {
            Answer::status(202)
        } else {
            script(seen)
        }
    }
}

pub(crate) async fn shake_hands(transport: &Arc<dyn Transport>) {
    send(transport, request(0, "initialize")).await.unwrap();
    assert_eq!(next(transport).await, format!("0 {}", result(0)));
    assert!(next(transport).await.starts_with("0 ended"));
    let ready = notification("notifications/initialized").with_revision(Revision::V2025_11_25);
    send(transport, ready).await.unwrap();
}
