//! Requests of the modern era: each is self-contained, and closing the connection cancels it.

use std::sync::Arc;
use std::task::Poll;

use http::{HeaderValue, StatusCode, header};
use mcp_jsonrpc::model::{self, Meta, ParamHeader};
use mcp_jsonrpc::{ErrorCode, ErrorObject, RawRef, RequestId};
use tokio::sync::OwnedSemaphorePermit;

use super::body::{ResponseBody, Working};
use super::event_stream::{Begin, EventStream};
use super::headers::{self, Named};
use super::reply::{self, HttpReply, modern_status};
use super::service::{STREAM_AFTER, Subject};
use crate::dispatch::era;
use crate::dispatch::guarded::caught;
use crate::dispatch::{Exchange, Reply, owned};
use crate::handler::error::Error;
use crate::server::shares::Share;

/// Answers one request.
pub(crate) async fn request(
    subject: &Subject<'_>,
    id: RequestId,
    method: &str,
    params: Option<RawRef<'_>>,
    meta: Option<Meta>,
) -> HttpReply {
    // Subscriptions last, and have a bound of their own.
    let lasts = method == "subscriptions/listen";
    let room = match (!lasts).then(|| room(subject)).transpose() {
        Ok(room) => room,
        Err(limit) => return busy(&id, limit),
    };
    match start(subject, &id, method, params, meta, room).await {
        Ok((working, stream)) => begin(working, stream, subject).await,
        Err(error) => {
            let refusal = Reply::error(Some(&id), &error);
            reply::json(modern_status(refusal.code), refusal.body)
        }
    }
}

/// A request's place, among all and among those of its caller.
type Room = (OwnedSemaphorePermit, Share);

/// Room for a request, or the limit that is reached.
fn room(subject: &Subject<'_>) -> Result<Room, usize> {
    let requests = &subject.shared.shares.requests;
    let share = requests.take(subject.caller_id());
    let share = share.ok_or_else(|| requests.most())?;
    let permit = Arc::clone(subject.room).try_acquire_owned();
    let permit = permit.map_err(|_| subject.shared.limits.requests())?;
    Ok((permit, share))
}

/// Checks the request and sets its handler to work.
async fn start(
    subject: &Subject<'_>,
    id: &RequestId,
    method: &str,
    params: Option<RawRef<'_>>,
    meta: Option<Meta>,
    room: Option<Room>,
) -> Result<(Working, Arc<EventStream>), ErrorObject> {
    // A contradiction between header and body comes before everything but a missing `_meta`.
    if let Some(version) = meta.as_ref().and_then(|meta| meta.protocol_version()) {
        headers::check_request(subject.headers, &version, method)?;
    }
    let client = Arc::new(era::modern_client(meta.as_ref())?);
    let revision = client.revision;
    let limits = &subject.shared.limits;
    let stream = Arc::new(EventStream::plain(
        limits.replay_events(),
        limits.queue_bytes(),
    ));
    let exchange = Exchange {
        shared: Arc::clone(subject.shared),
        client,
        caller: subject.caller.clone(),
        outlet: stream.clone(),
        session: None,
        id: id.clone(),
        method: method.to_owned(),
        params: owned(params),
    };
    let named = Named::of(params);
    let wanted = caught(param_headers(&exchange, &named)).await;
    let wanted = wanted.map_err(|error| error.object(revision))?;
    headers::check_params(subject.headers, method, named, &wanted)?;
    let working = async move {
        let _room = room;
        exchange.respond().await
    };
    Ok((Box::pin(working), stream))
}

/// The reply where there is no room for another request.
fn busy(id: &RequestId, limit: usize) -> HttpReply {
    let message = format!("too many requests in flight: the limit is {limit}; try again later");
    let error = ErrorObject::new(ErrorCode::INTERNAL_ERROR, message);
    let body = Reply::error(Some(id), &error).body;
    let mut reply = reply::json(StatusCode::SERVICE_UNAVAILABLE, body);
    let seconds = HeaderValue::from_static("1");
    reply.headers_mut().insert(header::RETRY_AFTER, seconds);
    reply
}

/// The headers that the called tool's schema asks for.
async fn param_headers(exchange: &Exchange, named: &Named) -> Result<Vec<ParamHeader>, Error> {
    let name = named
        .name
        .as_deref()
        .filter(|_| exchange.method == "tools/call");
    let Some(name) = name else {
        return Ok(Vec::new());
    };
    let tool = exchange.find_tool(name).await?;
    let schema = tool.as_ref().map(|tool| &tool.input_schema);
    let annotated = schema.filter(|schema| schema.get().contains("x-mcp-header"));
    let schema = annotated.and_then(|schema| schema.parse().ok());
    // Clients do not offer a tool whose annotations are invalid.
    let headers = schema.and_then(|schema| model::param_headers(&schema).ok());
    Ok(headers.unwrap_or_default())
}

/// JSON if the response is the first thing to come; a stream if something else is, or nothing is
/// for a while.
async fn begin(mut working: Working, stream: Arc<EventStream>, subject: &Subject<'_>) -> HttpReply {
    let accepts = subject.accepts;
    let first = std::future::poll_fn(|cx| {
        if let Poll::Ready(reply) = working.as_mut().poll(cx) {
            let code = reply.code;
            stream.miss_scopes(reply.scopes);
            stream.finish(Some(reply.body));
            return Poll::Ready(Some(code));
        }
        match accepts.events {
            true => stream.poll_begin(cx).map(|_| None),
            false => Poll::Pending,
        }
    });
    let first = match accepts.events {
        true => tokio::time::timeout(STREAM_AFTER, first)
            .await
            .unwrap_or(None),
        false => first.await,
    };
    let Some(code) = first else {
        let reader = stream.read(None);
        return reply::events(ResponseBody::events(reader, Some((working, stream))));
    };
    if !accepts.json {
        return reply::events(ResponseBody::events(stream.read(None), None));
    }
    let begin = std::future::poll_fn(|cx| stream.poll_begin(cx)).await;
    match begin {
        Begin::Response(body) => subject.response(&stream, modern_status(code), body),
        // Notifications came together with the response.
        Begin::Stream if accepts.events => {
            reply::events(ResponseBody::events(stream.read(None), None))
        }
        Begin::Stream => match stream.last() {
            Some(body) => subject.response(&stream, modern_status(code), body),
            None => reply::refusal(StatusCode::NOT_ACCEPTABLE, "accept text/event-stream"),
        },
    }
}
