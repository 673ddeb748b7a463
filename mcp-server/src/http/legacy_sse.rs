//! HTTP+SSE of 2024-11-05: `GET …/sse` opens a session and its one event stream, messages are posted to `…/messages`,
//! and the server sends everything on the stream.

use std::collections::HashMap;
use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use http::{Method, StatusCode, Uri};
use parking_lot::Mutex;
use tokio::sync::mpsc;

use super::body::ResponseBody;
use super::reply::{self, HttpReply};
use super::service::Subject;
use crate::pipe::{self, Input, Output, Received};
use crate::server::random;
use crate::server::shares::Share;

/// The end of the path that opens a session.
const STREAM: &str = "/sse";
/// The end of the path that takes messages.
const MESSAGES: &str = "/messages";
/// The query parameter that names the session.
const SESSION: &str = "sessionId=";
/// Messages of one session that wait for the server, and batches of events that wait for the client.
const QUEUE: usize = 16;

/// What a request asks of this transport.
pub(crate) enum Route<'a> {
    /// Open a session; messages go to this path.
    Open(String),
    /// Take a message for the session of this id.
    Message(&'a str),
}

impl<'a> Route<'a> {
    /// `None` if the request belongs to Streamable HTTP.
    pub(crate) fn of(method: &Method, uri: &'a Uri) -> Option<Self> {
        let path = uri.path();
        if *method == Method::GET {
            let prefix = path.strip_suffix(STREAM)?;
            return Some(Self::Open(format!("{prefix}{MESSAGES}")));
        }
        if *method != Method::POST || !path.ends_with(MESSAGES) {
            return None;
        }
        let mut pairs = uri.query().unwrap_or_default().split('&');
        Some(Self::Message(
            pairs
                .find_map(|pair| pair.strip_prefix(SESSION))
                .unwrap_or_default(),
        ))
    }
}

/// All sessions at one endpoint.
#[derive(Default)]
pub(crate) struct SseSessions(Mutex<HashMap<String, SseSession>>);

struct SseSession {
    owner: Option<String>,
    _share: Share,
    messages: mpsc::Sender<Vec<u8>>,
}

impl SseSessions {
    pub(crate) fn len(&self) -> usize {
        self.0.lock().len()
    }

    /// Opens a session, which lives as long as its stream is read.
    pub(crate) fn open(self: &Arc<Self>, subject: &Subject<'_>, messages_path: &str) -> HttpReply {
        if !subject.accepts.events {
            return reply::refusal(StatusCode::NOT_ACCEPTABLE, "accept text/event-stream");
        }
        let shared = Arc::clone(subject.shared);
        let (messages, inbox) = mpsc::channel(QUEUE);
        let (events, outbox) = mpsc::channel(QUEUE);
        let id = random::token();
        {
            let mut sessions = self.0.lock();
            let share = shared.shares.sessions.take(subject.caller_id());
            let share = share.filter(|_| sessions.len() < shared.limits.sessions());
            let Some(share) = share else {
                return reply::refusal(StatusCode::SERVICE_UNAVAILABLE, "too many sessions");
            };
            let session = SseSession {
                owner: subject.caller_id().map(str::to_owned),
                _share: share,
                messages,
            };
            sessions.insert(id.clone(), session);
        }
        let endpoint = format!("event: endpoint\ndata: {messages_path}?{SESSION}{id}\n\n");
        // The channel is empty: there is room.
        let _ = events.try_send(Bytes::from(endpoint));
        let (sessions, caller) = (Arc::clone(self), subject.caller.clone());
        tokio::spawn(async move {
            let closed = events.clone();
            let serving = pipe::serve(&shared, caller, Posted(inbox), Events(events));
            tokio::select! {
                () = serving => {}
                () = closed.closed() => {}
            }
            sessions.0.lock().remove(&id);
        });
        reply::events(ResponseBody::channel(outbox))
    }

    /// Hands a message to its session.
    pub(crate) async fn message(&self, subject: &Subject<'_>, id: &str, body: &[u8]) -> HttpReply {
        let found = self.0.lock().get(id).and_then(|session| {
            let owned = session.owner.as_deref() == subject.caller_id();
            owned.then(|| session.messages.clone())
        });
        let Some(messages) = found else {
            return reply::refusal(StatusCode::NOT_FOUND, "unknown session");
        };
        let limit = subject.shared.limits.read_time();
        match messages.send_timeout(body.to_vec(), limit).await {
            Ok(()) => reply::empty(StatusCode::ACCEPTED),
            Err(_) => reply::refusal(StatusCode::SERVICE_UNAVAILABLE, "the session is busy"),
        }
    }
}

/// Posted messages.
struct Posted(mpsc::Receiver<Vec<u8>>);

#[async_trait]
impl Input for Posted {
    async fn recv(&mut self) -> Received {
        match self.0.recv().await {
            Some(message) => Received::Message(message),
            None => Received::End,
        }
    }
}

/// Messages as events of the stream.
struct Events(mpsc::Sender<Bytes>);

#[async_trait]
impl Output for Events {
    async fn send(&mut self, messages: Vec<Vec<u8>>) -> bool {
        let size = messages.iter().map(|message| message.len() + 32).sum();
        let mut events = Vec::with_capacity(size);
        for message in messages {
            events.extend_from_slice(b"event: message\ndata: ");
            events.extend_from_slice(&message);
            events.extend_from_slice(b"\n\n");
        }
        self.0.send(events.into()).await.is_ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(method: Method, uri: &str, want: Option<&str>) {
        let uri: Uri = uri.parse().unwrap();
        let got = Route::of(&method, &uri).map(|route| match route {
            Route::Open(path) => format!("open {path}"),
            Route::Message(id) => format!("message {id}"),
        });
        assert_eq!(got.as_deref(), want, "{method} {uri}");
    }

    #[test]
    fn its_two_paths_are_distinguished_from_all_others_under_any_prefix() {
        check(Method::GET, "/sse", Some("open /messages"));
        check(Method::GET, "/a/b/sse?x=1", Some("open /a/b/messages"));
        check(Method::GET, "/mcp", None);
        check(Method::POST, "/sse", None);
        check(
            Method::POST,
            "/a/messages?x=1&sessionId=7",
            Some("message 7"),
        );
        check(Method::POST, "/messages", Some("message "));
        check(Method::DELETE, "/messages?sessionId=7", None);
    }
}
