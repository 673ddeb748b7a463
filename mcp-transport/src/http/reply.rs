//! The body of a successful response.

use mcp_jsonrpc::{
    DecodeError, DecodeLimits, Incoming, MessageRef, RequestId, Side, decode, peek_response,
};
use reqwest::Response;
use reqwest::header::CONTENT_ENCODING;

use crate::TransportError;
use crate::http::body::{Body, ReadRate};
use crate::http::events::media_type;
use crate::http::refusal::BODY_TIME;

/// The part of an unexpected reply that is shown.
const SAMPLE: usize = 200;

/// The two forms of a reply.
#[derive(Debug)]
pub(crate) enum Reply {
    /// One JSON document.
    Json(Response),
    /// An event stream.
    Events(Response),
}

impl Reply {
    /// Distinguishes the two; any other content type is an error.
    pub(crate) async fn of(response: Response) -> Result<Self, TransportError> {
        let status = response.status().as_u16();
        if matches!(status, 202 | 204 | 205) {
            return Err(TransportError::NoResponse {
                detail: format!("HTTP {status} takes note of a request without answering it"),
            });
        }
        if let Some(encoding) = response.headers().get(CONTENT_ENCODING)
            && !encoding.as_bytes().eq_ignore_ascii_case(b"identity")
        {
            let encoding = String::from_utf8_lossy(encoding.as_bytes());
            return Err(malformed(format!(
                "its reply is encoded as {encoding}, unasked"
            )));
        }
        let media_type = media_type(&response);
        match media_type.as_str() {
            "text/event-stream" => Ok(Self::Events(response)),
            // A reply without a content type is JSON.
            "application/json" | "" => Ok(Self::Json(response)),
            other if other.ends_with("+json") => Ok(Self::Json(response)),
            other => {
                let body = Body::new(response, ReadRate::within(BODY_TIME));
                let start = Box::pin(body.start(SAMPLE)).await;
                let start = sample(&start);
                Err(malformed(format!(
                    "its reply is {other}, neither JSON nor an event stream: {start}"
                )))
            }
        }
    }
}

/// Rejects what cannot be a message. The reader validates the remainder.
pub(crate) fn check_json(body: &[u8]) -> Result<(), TransportError> {
    let text = body
        .strip_prefix(b"\xEF\xBB\xBF")
        .unwrap_or(body)
        .trim_ascii_start();
    match text.first() {
        Some(b'{' | b'[') => Ok(()),
        None => Err(TransportError::NoResponse {
            detail: "the reply is empty".to_owned(),
        }),
        Some(_) => Err(malformed(format!(
            "the reply is not a JSON-RPC message: {}",
            sample(text)
        ))),
    }
}

/// The requests that these bytes answer, even if the responses are invalid.
pub(crate) fn answered(body: &[u8], limits: &DecodeLimits) -> Vec<RequestId> {
    if let Some((id, _)) = peek_response(body) {
        return vec![id.into()];
    }
    let answer = |message: Result<MessageRef<'_>, DecodeError>| match message {
        Ok(MessageRef::Response { id, .. }) => id,
        Ok(_) => None,
        Err(error) => error
            .id()
            .filter(|_| error.side() == Side::Answers)
            .cloned(),
    };
    match decode(body, limits) {
        Ok(Incoming::Single(message)) => answer(Ok(message)).into_iter().collect(),
        Ok(Incoming::Batch(messages)) => messages.into_iter().filter_map(answer).collect(),
        Err(error) => answer(Err(error)).into_iter().collect(),
    }
}

/// Whether a response with status 400 means that the server has lost our session. The protocol prescribes 404 for that,
/// but servers modelled on a popular example respond with 400 and an error without an id.
pub(crate) fn blames_session(body: &[u8]) -> bool {
    let Ok(Incoming::Single(MessageRef::Response {
        id: None,
        outcome: Err(error),
    })) = decode(body, &DecodeLimits::default())
    else {
        return false;
    };
    let text = error.message.to_ascii_lowercase();
    text.contains("session") || text.contains("not initialized")
}

fn malformed(detail: String) -> TransportError {
    TransportError::Malformed { detail }
}

/// The first line of an unexpected text.
fn sample(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    let line = text.trim().lines().next().unwrap_or_default();
    let line = line
        .chars()
        .map(|c| if c.is_control() { '\u{FFFD}' } else { c });
    let mut sample: String = line.take(SAMPLE).collect();
    if sample.len() < text.trim().len() {
        sample.push('…');
    }
    sample
}
