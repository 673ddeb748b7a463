//! Encodes messages into the caller's buffer.

use std::error::Error;
use std::fmt;

use serde::Serialize;

use crate::message::error_object::ErrorObject;
use crate::message::id::RequestId;
use crate::message::{Message, Notification, Request, Response};

/// Appends a request to `out`. Params that serialize to `null`, such as `&()`, are omitted.
///
/// The output contains no line break, even if raw JSON in the message has one. On an error nothing is appended.
///
/// ```
/// let mut out = Vec::new();
/// mcp_jsonrpc::encode_request(&mut out, &1.into(), "ping", &())?;
/// assert_eq!(out, br#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#);
/// # Ok::<(), mcp_jsonrpc::EncodeError>(())
/// ```
pub fn encode_request<P: Serialize + ?Sized>(
    out: &mut Vec<u8>,
    id: &RequestId,
    method: &str,
    params: &P,
) -> Result<(), EncodeError> {
    write(out, |out| {
        out.extend_from_slice(br#"{"jsonrpc":"2.0","id":"#);
        serde_json::to_writer(&mut *out, id)?;
        out.extend_from_slice(br#","method":"#);
        method_and_params(out, method, params)
    })
}

/// Appends a notification to `out`. Params that serialize to `null`, such as `&()`, are omitted.
///
/// The output contains no line break. On an error nothing is appended.
pub fn encode_notification<P: Serialize + ?Sized>(
    out: &mut Vec<u8>,
    method: &str,
    params: &P,
) -> Result<(), EncodeError> {
    write(out, |out| {
        out.extend_from_slice(br#"{"jsonrpc":"2.0","method":"#);
        method_and_params(out, method, params)
    })
}

/// Appends the successful response to the request `id` to `out`.
///
/// The output contains no line break. On an error nothing is appended.
pub fn encode_result<R: Serialize + ?Sized>(
    out: &mut Vec<u8>,
    id: &RequestId,
    result: &R,
) -> Result<(), EncodeError> {
    write(out, |out| {
        out.extend_from_slice(br#"{"jsonrpc":"2.0","id":"#);
        serde_json::to_writer(&mut *out, id)?;
        out.extend_from_slice(br#","result":"#);
        serde_json::to_writer(&mut *out, result)?;
        out.push(b'}');
        Ok(())
    })
}

/// Appends an error response to `out`; without an id it refers to no request.
///
/// The output contains no line break. On an error nothing is appended.
pub fn encode_error(
    out: &mut Vec<u8>,
    id: Option<&RequestId>,
    error: &ErrorObject,
) -> Result<(), EncodeError> {
    write(out, |out| {
        out.extend_from_slice(br#"{"jsonrpc":"2.0""#);
        if let Some(id) = id {
            out.extend_from_slice(br#","id":"#);
            serde_json::to_writer(&mut *out, id)?;
        }
        out.extend_from_slice(br#","error":"#);
        serde_json::to_writer(&mut *out, error)?;
        out.push(b'}');
        Ok(())
    })
}

impl Message {
    /// Appends the message to `out`, like this crate's functions for each kind of message.
    ///
    /// A result without an id cannot be expressed and is rejected.
    pub fn encode(&self, out: &mut Vec<u8>) -> Result<(), EncodeError> {
        match self {
            Self::Request(Request { id, method, params }) => {
                encode_request(out, id, method, params)
            }
            Self::Notification(Notification { method, params }) => {
                encode_notification(out, method, params)
            }
            Self::Response(Response {
                id,
                outcome: Err(error),
            }) => encode_error(out, id.as_ref(), error),
            Self::Response(Response {
                id: Some(id),
                outcome: Ok(result),
            }) => encode_result(out, id, result),
            Self::Response(Response {
                id: None,
                outcome: Ok(_),
            }) => Err(EncodeError(serde::ser::Error::custom(
                "a result needs the id it answers",
            ))),
        }
    }
}

/// A value could not be written as JSON: a map with non-string keys, a number that is not finite, or an error from the
/// value's own `Serialize` implementation.
#[derive(Debug)]
pub struct EncodeError(serde_json::Error);

impl fmt::Display for EncodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the message cannot be written as JSON")
    }
}

impl Error for EncodeError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&self.0)
    }
}

fn method_and_params<P: Serialize + ?Sized>(
    out: &mut Vec<u8>,
    method: &str,
    params: &P,
) -> Result<(), serde_json::Error> {
    serde_json::to_writer(&mut *out, method)?;
    let before = out.len();
    out.extend_from_slice(br#","params":"#);
    let start = out.len();
    serde_json::to_writer(&mut *out, params)?;
    if out.get(start..) == Some(b"null") {
        out.truncate(before);
    }
    out.push(b'}');
    Ok(())
}

/// Makes JSON one line: replaces line breaks, which it has only between tokens, by spaces.
pub fn make_one_line(json: &mut [u8]) {
    let mut rest = json;
    while let Some(at) = memchr::memchr2(b'\n', b'\r', rest)
        && let Some((first, behind)) = rest.split_at_mut(at).1.split_first_mut()
    {
        *first = b' ';
        rest = behind;
    }
}

/// Lets `fill` append one line, and undoes that if it fails.
fn write(
    out: &mut Vec<u8>,
    fill: impl FnOnce(&mut Vec<u8>) -> Result<(), serde_json::Error>,
) -> Result<(), EncodeError> {
    let start = out.len();
    if let Err(error) = fill(out) {
        out.truncate(start);
        return Err(EncodeError(error));
    }
    make_one_line(out.get_mut(start..).unwrap_or_default());
    Ok(())
}
