//! Replies, and their form according to a request's headers.

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Response, StatusCode, header};
use mcp_jsonrpc::{ErrorCode, ErrorObject};

use super::body::ResponseBody;
use crate::dispatch::Reply;

/// A reply on its way out.
pub(crate) type HttpReply = Response<ResponseBody>;

/// Which kinds of reply the client takes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Accepts {
    pub(crate) json: bool,
    pub(crate) events: bool,
}

impl Accepts {
    /// No `Accept` header means anything.
    pub(crate) fn of(headers: &HeaderMap) -> Self {
        let mut all = headers.get_all(header::ACCEPT).iter().peekable();
        if all.peek().is_none() {
            return Self {
                json: true,
                events: true,
            };
        }
        let (mut json, mut events) = (false, false);
        for value in all
            .filter_map(|value| value.to_str().ok())
            .flat_map(|it| it.split(','))
        {
            let kind = value.split(';').next().unwrap_or_default().trim();
            match kind.to_ascii_lowercase().as_str() {
                "*/*" => (json, events) = (true, true),
                "application/json" | "application/*" => json = true,
                "text/event-stream" | "text/*" => events = true,
                _ => {}
            }
        }
        Self { json, events }
    }
}

/// Whether the body is said to be JSON.
pub(crate) fn is_json(headers: &HeaderMap) -> bool {
    let kind = headers
        .get(header::CONTENT_TYPE)
        .and_then(|it| it.to_str().ok());
    let kind = kind.and_then(|kind| kind.split(';').next()).map(str::trim);
    kind.is_some_and(|kind| kind.eq_ignore_ascii_case("application/json"))
}

fn reply(status: StatusCode, kind: Option<&'static str>, body: ResponseBody) -> HttpReply {
    let mut reply = Response::new(body);
    *reply.status_mut() = status;
    if let Some(kind) = kind {
        reply
            .headers_mut()
            .insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    }
    reply
}

pub(crate) fn json(status: StatusCode, body: impl Into<Bytes>) -> HttpReply {
    reply(status, Some("application/json"), ResponseBody::full(body))
}

pub(crate) fn empty(status: StatusCode) -> HttpReply {
    reply(status, None, ResponseBody::empty())
}

pub(crate) fn events(body: ResponseBody) -> HttpReply {
    let mut reply = reply(StatusCode::OK, Some("text/event-stream"), body);
    let headers = reply.headers_mut();
    headers.insert(
        header::CACHE_CONTROL,
        HeaderValue::from_static("no-cache, no-transform"),
    );
    // Proxies must not hold events back.
    headers.insert("x-accel-buffering", HeaderValue::from_static("no"));
    reply
}

/// A refusal, with the reason as a JSON-RPC error that belongs to no request.
pub(crate) fn refusal(status: StatusCode, message: impl Into<String>) -> HttpReply {
    let error = ErrorObject::new(ErrorCode::INVALID_REQUEST, message);
    json(status, Reply::error(None, &error).body)
}

/// The status of a modern response.
pub(crate) fn modern_status(code: Option<ErrorCode>) -> StatusCode {
    match code {
        Some(ErrorCode::METHOD_NOT_FOUND) => StatusCode::NOT_FOUND,
        Some(
            ErrorCode::HEADER_MISMATCH
            | ErrorCode::MISSING_CLIENT_CAPABILITY
            | ErrorCode::UNSUPPORTED_PROTOCOL_VERSION
            | ErrorCode::INVALID_PARAMS
            | ErrorCode::INVALID_REQUEST
            | ErrorCode::PARSE_ERROR,
        ) => StatusCode::BAD_REQUEST,
        _ => StatusCode::OK,
    }
}
