//! An answer, still in the bytes it came in.
//!
//! Most answers are written in one of a few ways, so that their id can be told without looking
//! through them. The reader does no more than that; whoever waits for the answer reads it, once.

use std::string::FromUtf8Error;

use ascii::AsciiString;
use mcp_jsonrpc::{
    Incoming, Limits, MessageRef, RawRef, RequestId, ResultBody, decode, likely_answer,
};

use crate::call::Miss;
use crate::reader::chain;

/// A result, still in the bytes it came in.
#[derive(Debug)]
pub(crate) struct Body {
    bytes: Vec<u8>,
    start: usize,
    end: usize,
    seen: Seen,
}

/// What the bytes of a [`Body`] are.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Seen {
    /// A result, and nothing else.
    Result,
    /// A message that is, or looks like, the answer to this request.
    Message(i64),
}

impl Body {
    /// A result out of a batch.
    pub(crate) fn result_of_batch(result: RawRef<'_>) -> Self {
        let bytes = result.get().as_bytes().to_vec();
        Self {
            start: 0,
            end: bytes.len(),
            bytes,
            seen: Seen::Result,
        }
    }

    /// The part of `bytes`, the answer to request `id`, that is the result, as the decoder says.
    pub(crate) fn new(bytes: Vec<u8>, start: usize, end: usize, id: i64) -> Self {
        Self {
            bytes,
            start,
            end,
            seen: Seen::Message(id),
        }
    }

    /// What looks like an answer, and which request it answers.
    pub(crate) fn guess(bytes: Vec<u8>) -> Result<(i64, Self), Vec<u8>> {
        let Some((id, result)) = likely_answer(&bytes) else {
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

    /// How many bytes the result has.
    pub(crate) fn len(&self) -> usize {
        self.end - self.start
    }

    /// The result's text. If it reads as one JSON value to its end, then it is the result; if it
    /// does not, [`result`](Self::result) tells why.
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

    /// Whether [`take`](Self::take) took the bytes along.
    pub(crate) fn is_taken(&self) -> bool {
        self.bytes.is_empty()
    }

    /// Reads the result. If that is complete, then this may have taken the bytes along.
    pub(crate) fn take<T: ResultBody>(&mut self) -> Option<T> {
        let (read, bytes) = match into_text(std::mem::take(&mut self.bytes)) {
            Ok(mut text) => {
                let read = T::take_text(&mut text, self.start..self.end);
                (read.ok(), text.into_bytes())
            }
            Err(bytes) => (None, bytes),
        };
        self.bytes = bytes;
        read
    }

    /// The result, by a careful look at the whole message.
    pub(crate) fn result(&self) -> Result<RawRef<'_>, Miss> {
        let Seen::Message(asked) = self.seen else {
            return RawRef::from_text(self.text()).map_err(|error| Miss::Invalid(chain(&error)));
        };
        match decode(&self.bytes, &limits()) {
            Ok(Incoming::Single(MessageRef::Response {
                id: Some(id),
                outcome,
            })) => match outcome {
                _ if ours(&id) != Some(asked) => Err(Miss::Invalid(format!(
                    "an answer to a request with the id {id}"
                ))),
                Ok(result) => Ok(result),
                Err(error) => Err(Miss::Peer(error)),
            },
            Ok(_) => Err(Miss::Invalid("a message that is no answer".to_owned())),
            Err(error) => Err(Miss::Invalid(chain(&error))),
        }
    }
}

/// As [`String::from_utf8`], in a third of the time where all is ASCII.
fn into_text(bytes: Vec<u8>) -> Result<String, Vec<u8>> {
    AsciiString::from_ascii(bytes)
        .map(String::from)
        .or_else(|error| String::from_utf8(error.into_source()).map_err(FromUtf8Error::into_bytes))
}

/// How deep a result may nest as a whole. What is read of it is bounded by itself, so that one
/// item of a list that nests too deep does not hide the others.
const RESULT_DEPTH: usize = 1 << 20;

/// The transport bounds how large a message may be.
pub(crate) fn limits() -> Limits {
    Limits::default()
        .with_message_bytes(usize::MAX)
        .with_result_depth(RESULT_DEPTH)
}

/// The number of a request of ours. Some servers return it as text.
pub(crate) fn ours(id: &RequestId) -> Option<i64> {
    id.as_i64().or_else(|| id.as_str()?.parse().ok())
}
