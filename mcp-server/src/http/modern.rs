//! Requests of the modern era: each is self-contained, and closing the connection cancels it.

use std::sync::Arc;
use std::task::Poll;

use mcp_jsonrpc::model::{self, ParamHeader};
use mcp_jsonrpc::{RawRef, RequestId};

use super::body::{ResponseBody, Working};
use super::event_stream::{Begin, EventStream};
use super::headers::{self, Named};
use super::reply::{self, Accepts, HttpReply, modern_status};
use super::service::{STREAM_AFTER, Subject};
use crate::dispatch::era;
use crate::dispatch::{Exchange, Reply, owned};

/// Answers one request.
pub(crate) async fn request(
    subject: &Subject<'_>,
    id: RequestId,
    method: &str,
    params: Option<RawRef<'_>>,
) -> HttpReply {
    match start(subject, &id, method, params).await {
        Ok((working, stream)) => begin(working, stream, subject.accepts).await,
        Err(error) => {
            let refusal = Reply::error(Some(&id), &error);
            reply::json(modern_status(refusal.code), refusal.body)
        }
    }
}

/// Checks the request and sets its handler to work.
async fn start(
    subject: &Subject<'_>,
    id: &RequestId,
    method: &str,
    params: Option<RawRef<'_>>,
) -> Result<(Working, Arc<EventStream>), mcp_jsonrpc::ErrorObject> {
    let meta = era::meta_of(params);
    // A contradiction between header and body comes before everything but a missing `_meta`.
    if let Some(version) = meta.as_ref().and_then(|meta| meta.protocol_version()) {
        headers::check_request(subject.headers, &version, method)?;
    }
    let client = Arc::new(era::modern_client(meta.as_ref())?);
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
    let wanted = param_headers(&exchange, &named).await;
    headers::check_params(subject.headers, method, named, &wanted)?;
    Ok((Box::pin(exchange.respond()), stream))
}

/// The headers that the called tool's schema asks for.
async fn param_headers(exchange: &Exchange, named: &Named) -> Vec<ParamHeader> {
    let name = named
        .name
        .as_deref()
        .filter(|_| exchange.method == "tools/call");
    let Some(name) = name else {
        return Vec::new();
    };
    let cx = exchange.context(None);
    let tool = exchange.shared.handler.find_tool(name, &cx).await;
    let schema = tool.map(|tool| tool.input_schema);
    let annotated = schema.filter(|schema| schema.get().contains("x-mcp-header"));
    let schema = annotated.and_then(|schema| schema.parse().ok());
    // Clients do not offer a tool whose annotations are invalid.
    schema
        .and_then(|schema| model::param_headers(&schema).ok())
        .unwrap_or_default()
}

/// JSON if the response is the first thing to come; a stream if something else is, or nothing is
/// for a while.
async fn begin(mut working: Working, stream: Arc<EventStream>, accepts: Accepts) -> HttpReply {
    let first = std::future::poll_fn(|cx| {
        if let Poll::Ready(reply) = working.as_mut().poll(cx) {
            let code = reply.code;
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
        Begin::Response(body) => reply::json(modern_status(code), body),
        // Notifications came together with the response.
        Begin::Stream if accepts.events => {
            reply::events(ResponseBody::events(stream.read(None), None))
        }
        Begin::Stream => match stream.last() {
            Some(body) => reply::json(modern_status(code), body),
            None => reply::refusal(http::StatusCode::NOT_ACCEPTABLE, "accept text/event-stream"),
        },
    }
}
