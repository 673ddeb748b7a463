//! Messages of the legacy era: each belongs to a session, and replies outlive their connection.

use std::sync::Arc;

use http::{HeaderValue, StatusCode};
use mcp_jsonrpc::model::RootsListChanged;
use mcp_jsonrpc::{
    DecodeError, ErrorCode, MessageRef, NotificationMethod as _, RawRef, RequestId, Revision,
};

use super::body::ResponseBody;
use super::event_stream::{Begin, EventStream};
use super::headers;
use super::reply::{self, HttpReply};
use super::service::{STREAM_AFTER, Subject};
use super::sessions::HttpSession;
use crate::dispatch::{Exchange, Reply, malformed, owned};
use crate::session::Session;

/// Answers one message.
pub(crate) async fn message(subject: &Subject<'_>, message: MessageRef<'_>) -> HttpReply {
    if let Some(refused) = check_version(subject) {
        return refused;
    }
    if let MessageRef::Request { id, method, params } = &message
        && method == "initialize"
    {
        return initialize(subject, id, *params);
    }
    let session = match find_session(subject) {
        Ok(session) => session,
        Err(refused) => return *refused,
    };
    match message {
        MessageRef::Request { id, method, params } => {
            let stream = session.open_stream();
            match start(subject, &session, id, &method, params, &stream) {
                Ok(()) => begin(subject, &session, stream).await,
                Err(refusal) => {
                    session.forget(&stream);
                    reply::json(StatusCode::OK, refusal.body)
                }
            }
        }
        other => {
            accept(subject, &session, other);
            reply::empty(StatusCode::ACCEPTED)
        }
    }
}

/// Answers a batch (2025-03-26): every response comes on one stream.
pub(crate) async fn batch(
    subject: &Subject<'_>,
    messages: Vec<Result<MessageRef<'_>, DecodeError>>,
) -> HttpReply {
    if let Some(refused) = check_version(subject) {
        return refused;
    }
    let session = match find_session(subject) {
        Ok(session) => session,
        Err(refused) => return *refused,
    };
    if !session.session.client.revision.has_batches() {
        return reply::refusal(StatusCode::BAD_REQUEST, "batches are not supported");
    }
    let stream = session.open_stream();
    // The stream ends with the last one that holds this.
    let end = Arc::new(EndOfStream(Arc::clone(&stream)));
    let mut requests = 0;
    for message in messages {
        match message {
            Ok(MessageRef::Request { id, method, params }) => {
                requests += 1;
                let part = Part(Arc::clone(&end));
                if let Err(refusal) = spawn(subject, &session, id, &method, params, &stream, part) {
                    stream.push_response(refusal.body);
                }
            }
            Ok(other) => accept(subject, &session, other),
            Err(error) => {
                requests += 1;
                stream.push_response(malformed(&error).body);
            }
        }
    }
    drop(end);
    if requests == 0 {
        session.forget(&stream);
        return reply::empty(StatusCode::ACCEPTED);
    }
    reply::events(ResponseBody::events(stream.read(None), None))
}

/// Opens the stream for messages that belong to no request, or resumes one.
pub(crate) fn get(subject: &Subject<'_>) -> HttpReply {
    if !subject.accepts.events {
        return reply::refusal(StatusCode::NOT_ACCEPTABLE, "accept text/event-stream");
    }
    if let Some(refused) = check_version(subject) {
        return refused;
    }
    let session = match find_session(subject) {
        Ok(session) => session,
        Err(refused) => return *refused,
    };
    let last = subject
        .headers
        .get("last-event-id")
        .map(HeaderValue::to_str);
    let reader = match last {
        None => session.general.read_new(),
        Some(last) => match last.ok().and_then(|last| session.find_event(last)) {
            Some((stream, event)) => stream.read(Some(event)),
            // Not 404: that would mean that the session has ended.
            None => return reply::refusal(StatusCode::BAD_REQUEST, "unknown event id"),
        },
    };
    reply::events(ResponseBody::events(reader, None))
}

/// Ends a session.
pub(crate) fn delete(subject: &Subject<'_>) -> HttpReply {
    let Some(id) = session_id(subject) else {
        return reply::refusal(StatusCode::BAD_REQUEST, "Mcp-Session-Id is missing");
    };
    match subject.sessions.end(id, subject.caller_id()) {
        true => reply::empty(StatusCode::NO_CONTENT),
        false => reply::refusal(StatusCode::NOT_FOUND, "unknown session"),
    }
}

fn initialize(subject: &Subject<'_>, id: &RequestId, params: Option<RawRef<'_>>) -> HttpReply {
    let shared = subject.shared;
    let (session, answer) = match Session::open(
        shared,
        subject.caller.as_deref(),
        id,
        owned(params).as_ref(),
    ) {
        Ok(opened) => opened,
        Err(refusal) => {
            let status = match refusal.code {
                Some(ErrorCode::INTERNAL_ERROR) => StatusCode::INTERNAL_SERVER_ERROR,
                _ => StatusCode::BAD_REQUEST,
            };
            return reply::json(status, refusal.body);
        }
    };
    let Some(session) = subject.sessions.add(shared, session, subject.caller_id()) else {
        return reply::refusal(StatusCode::SERVICE_UNAVAILABLE, "too many sessions");
    };
    let mut reply = reply::json(StatusCode::OK, answer.body);
    if let Ok(session) = HeaderValue::from_str(&session) {
        reply.headers_mut().insert(headers::SESSION, session);
    }
    reply
}

/// Any revision we know will do: the session's own is what counts.
fn check_version(subject: &Subject<'_>) -> Option<HttpReply> {
    let version = subject.headers.get(headers::VERSION)?;
    let known = version
        .to_str()
        .ok()
        .map(str::trim)
        .map(str::parse::<Revision>);
    match known {
        Some(Ok(_)) => None,
        _ => Some(reply::refusal(
            StatusCode::BAD_REQUEST,
            "unsupported protocol version",
        )),
    }
}

fn session_id<'a>(subject: &Subject<'a>) -> Option<&'a str> {
    subject.headers.get(headers::SESSION)?.to_str().ok()
}

fn find_session(subject: &Subject<'_>) -> Result<Arc<HttpSession>, Box<HttpReply>> {
    let Some(id) = session_id(subject) else {
        let why = "Mcp-Session-Id is missing: send initialize first";
        return Err(Box::new(reply::refusal(StatusCode::BAD_REQUEST, why)));
    };
    let idle = subject.shared.limits.session_idle();
    let found = subject.sessions.find(id, subject.caller_id(), idle);
    found.ok_or_else(|| Box::new(reply::refusal(StatusCode::NOT_FOUND, "unknown session")))
}

/// Takes what needs no response.
fn accept(subject: &Subject<'_>, session: &HttpSession, message: MessageRef<'_>) {
    match message {
        MessageRef::Notification { method, .. } if method == RootsListChanged::NAME => {
            session.session.roots_changed(subject.shared);
        }
        MessageRef::Response {
            id: Some(id),
            outcome,
        } => {
            session.session.peer.answer(&id, outcome.map(Into::into));
        }
        MessageRef::Notification { method, params } if method == "notifications/cancelled" => {
            session.in_flight.cancel(params);
        }
        _ => {}
    }
}

/// Ends a stream when dropped: with the handler, whatever became of it.
struct EndOfStream(Arc<EventStream>);

impl Drop for EndOfStream {
    fn drop(&mut self) {
        self.0.finish(None);
    }
}

/// One request's hold on its stream.
struct Part(#[allow(dead_code, reason = "held for its drop")] Arc<EndOfStream>);

fn start(
    subject: &Subject<'_>,
    session: &HttpSession,
    id: RequestId,
    method: &str,
    params: Option<RawRef<'_>>,
    stream: &Arc<EventStream>,
) -> Result<(), Reply> {
    let part = Part(Arc::new(EndOfStream(Arc::clone(stream))));
    spawn(subject, session, id, method, params, stream, part)
}

fn spawn(
    subject: &Subject<'_>,
    session: &HttpSession,
    id: RequestId,
    method: &str,
    params: Option<RawRef<'_>>,
    stream: &Arc<EventStream>,
    part: Part,
) -> Result<(), Reply> {
    let limit = subject.shared.limits.in_flight();
    let exchange = Exchange {
        shared: Arc::clone(subject.shared),
        client: Arc::clone(&session.session.client),
        caller: subject.caller.clone(),
        outlet: stream.clone(),
        session: Some(Arc::clone(&session.session)),
        id: id.clone(),
        method: method.to_owned(),
        params: owned(params),
    };
    let stream = Arc::clone(stream);
    session.in_flight.start(&id, limit, |ticket| {
        let work = async move {
            let (place, part) = (ticket.take_place(), part);
            let reply = exchange.respond().await;
            if place.leave() {
                stream.miss_scopes(reply.scopes);
                stream.push_response(reply.body);
            }
            drop(part);
        };
        tokio::spawn(work).abort_handle()
    })
}

/// JSON if the response is all there is; a stream otherwise.
async fn begin(
    subject: &Subject<'_>,
    session: &HttpSession,
    stream: Arc<EventStream>,
) -> HttpReply {
    let first = std::future::poll_fn(|cx| stream.poll_begin(cx));
    let first = match (subject.accepts.json, subject.accepts.events) {
        (true, true) => tokio::time::timeout(STREAM_AFTER, first)
            .await
            .unwrap_or(Begin::Stream),
        (true, false) => {
            std::future::poll_fn(|cx| stream.poll_finished(cx)).await;
            match stream.last() {
                Some(body) => Begin::Response(body),
                None => Begin::Stream,
            }
        }
        (false, _) => Begin::Stream,
    };
    match first {
        Begin::Response(body) => {
            session.forget(&stream);
            subject.response(&stream, StatusCode::OK, body)
        }
        Begin::Stream => reply::events(ResponseBody::events(stream.read(None), None)),
    }
}
