//! The headers of a message.

use reqwest::header::{ACCEPT, ACCEPT_ENCODING, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};

use mcp_jsonrpc::Revision;

use crate::http::escape::escape;
use crate::http::session::SessionId;
use crate::{Outgoing, TransportError};

pub(crate) const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");
pub(crate) const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");
const VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");
const METHOD: HeaderName = HeaderName::from_static("mcp-method");
const NAME: HeaderName = HeaderName::from_static("mcp-name");

const JSON: HeaderValue = HeaderValue::from_static("application/json");
const EVENTS: HeaderValue = HeaderValue::from_static("text/event-stream");
const BOTH: HeaderValue = HeaderValue::from_static("application/json, text/event-stream");
const IDENTITY: HeaderValue = HeaderValue::from_static("identity");

/// Headers that only this crate or HTTP may set, besides all that begin with `mcp-`.
const RESERVED: [&str; 14] = [
    "accept",
    "accept-encoding",
    "connection",
    "content-encoding",
    "content-length",
    "content-type",
    "expect",
    "host",
    "keep-alive",
    "last-event-id",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

/// Whether users and credential providers must not set this header.
pub(crate) fn is_reserved(name: &HeaderName) -> bool {
    name.as_str().starts_with("mcp-") || RESERVED.contains(&name.as_str())
}

/// The headers of a POST.
pub(crate) fn of_message(
    message: &Outgoing,
    session: Option<&SessionId>,
) -> Result<HeaderMap, TransportError> {
    let mut headers = of_connection(message.revision, session);
    headers.insert(ACCEPT, BOTH);
    headers.insert(CONTENT_TYPE, JSON);
    if !is_modern(message.revision) {
        return Ok(headers);
    }
    if let Some(method) = message.method() {
        headers.insert(METHOD, value(method)?);
    }
    if let Some(name) = &message.name {
        headers.insert(NAME, value(name)?);
    }
    for (suffix, param) in &message.params {
        let name = format!("mcp-param-{suffix}").to_ascii_lowercase();
        let name =
            HeaderName::from_bytes(name.as_bytes()).map_err(|_| TransportError::Malformed {
                detail: format!(
                    "it asks for a header 'Mcp-Param-{suffix}', which HTTP does not allow"
                ),
            })?;
        headers.insert(name, value(param)?);
    }
    Ok(headers)
}

/// The headers of a GET for an event stream.
pub(crate) fn of_stream(
    revision: Option<Revision>,
    session: Option<&SessionId>,
    last_event_id: Option<&str>,
) -> HeaderMap {
    let mut headers = of_connection(revision, session);
    headers.insert(ACCEPT, EVENTS);
    if let Some(id) = last_event_id.and_then(|id| HeaderValue::from_bytes(id.as_bytes()).ok()) {
        headers.insert(LAST_EVENT_ID, id);
    }
    headers
}

/// The headers that every request has.
pub(crate) fn of_connection(revision: Option<Revision>, session: Option<&SessionId>) -> HeaderMap {
    let mut headers = HeaderMap::with_capacity(12);
    headers.insert(ACCEPT_ENCODING, IDENTITY);
    if let Some(revision) = revision.filter(|revision| revision.wants_version_header()) {
        headers.insert(VERSION, HeaderValue::from_static(revision.as_str()));
    }
    if let Some(session) = session {
        headers.insert(SESSION, session.header());
    }
    headers
}

/// Whether a message of this revision is self-contained.
pub(crate) fn is_modern(revision: Option<Revision>) -> bool {
    revision.is_some_and(Revision::is_modern)
}

fn value(text: &str) -> Result<HeaderValue, TransportError> {
    HeaderValue::from_str(&escape(text)).map_err(|_| TransportError::Malformed {
        detail: "it asks for a header value that HTTP does not allow".to_owned(),
    })
}
