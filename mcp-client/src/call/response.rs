//! A response, still in the bytes it was received in.
//!
//! Most responses have one of a few layouts, so that their id can be found without parsing them. The reader does only
//! that; the caller parses the response, once.

use mcp_jsonrpc::{
    DecodeLimits, Incoming, MessageRef, RawRef, RequestId, ResultBody, decode, peek_response,
};

use crate::call::exchange::RequestFailure;
use crate::connection::reader::chain;

/// A result, still in the bytes it was received in.
#[derive(Debug)]
pub(crate) struct ResponseBody {
    bytes: Vec<u8>,
    start: usize,
    end: usize,
    seen: Seen,
}

/// The content of a [`ResponseBody`].
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Seen {
    /// A result only.
    Result,
    /// A message that is, or looks like, the response to this request.
    Message(i64),
}

impl ResponseBody {
    /// Takes a result from a batch.
    pub(crate) fn result_of_batch(result: RawRef<'_>) -> Self {
        let bytes = result.get().as_bytes().to_vec();
        Self {
            start: 0,
            end: bytes.len(),
            bytes,
            seen: Seen::Result,
        }
    }

    /// The result in `bytes`, the response to request `id`, as located by the decoder.
    pub(crate) fn new(bytes: Vec<u8>, start: usize, end: usize, id: i64) -> Self {
        Self {
            bytes,
            start,
            end,
            seen: Seen::Message(id),
        }
    }

    /// The apparent response, and the id of its request.
    pub(crate) fn peek(bytes: Vec<u8>) -> Result<(i64, Self), Vec<u8>> {
        let Some((id, result)) = peek_response(&bytes) else {
            return Err(bytes);
        };
        let body = Self {
            bytes,
            start: result.start,
            end: result.end,
            seen: Seen::Message(id),
        };
        Ok((id, body))
    }

    /// The size of the result in bytes.
    pub(crate) fn len(&self) -> usize {
        self.end - self.start
    }

    /// The result's text. If it parses as one JSON value, it is the result; otherwise [`result`](Self::result) returns
    /// the reason.
    pub(crate) fn text(&self) -> &str {
        let text = self
            .bytes
            .get(self.start..self.end)
            .map(std::str::from_utf8);
        text.and_then(Result::ok).unwrap_or_default()
    }

    /// Reads the result.
    pub(crate) fn read<T: ResultBody>(&self) -> Option<T> {
        T::read_text(self.text()).ok()
    }

    /// The result, obtained by decoding the whole message.
    pub(crate) fn result(&self) -> Result<RawRef<'_>, RequestFailure> {
        let Seen::Message(asked) = self.seen else {
            return RawRef::from_text(self.text())
                .map_err(|error| RequestFailure::Invalid(chain(&error)));
        };
        match decode(&self.bytes, &limits()) {
            Ok(Incoming::Single(MessageRef::Response {
                id: Some(id),
                outcome,
            })) => match outcome {
                _ if own_id(&id) != Some(asked) => Err(RequestFailure::Invalid(format!(
                    "an answer to a request with the id {id}"
                ))),
                Ok(result) => Ok(result),
                Err(error) => Err(RequestFailure::Peer(error)),
            },
            Ok(_) => Err(RequestFailure::Invalid(
                "a message that is not a response".to_owned(),
            )),
            Err(error) => Err(RequestFailure::Invalid(chain(&error))),
        }
    }
}

/// The maximum nesting depth of a whole result. Its items are bounded separately, so that one list item that nests too
/// deep does not hide the others.
const MAX_RESULT_DEPTH: usize = 1 << 20;

/// The transport limits the size of a message.
pub(crate) fn limits() -> DecodeLimits {
    DecodeLimits::default()
        .with_message_bytes(usize::MAX)
        .with_result_depth(MAX_RESULT_DEPTH)
}

/// The id in the form of our requests: a number. Some servers return it as a string.
pub(crate) fn own_id(id: &RequestId) -> Option<i64> {
    id.as_i64().or_else(|| id.as_str()?.parse().ok())
}
