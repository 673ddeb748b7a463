//! The messages of JSON-RPC 2.0.

pub(crate) mod body;
pub(crate) mod error_object;
pub(crate) mod id;
pub(crate) mod method;
pub(crate) mod result_body;

use std::borrow::Cow;

use crate::json::raw::{RawJson, RawRef};
use crate::json::read_error::ReadError;
use crate::message::body::Body;
use crate::message::error_object::ErrorObject;
use crate::message::id::RequestId;

/// A message, borrowed from the bytes it was read from; bodies stay raw until they are read.
///
/// The kind is determined by `method` and `id`, never by trial.
#[derive(Clone, Debug)]
#[allow(
    clippy::exhaustive_enums,
    reason = "JSON-RPC 2.0 is closed: every message is one of these"
)]
pub enum MessageRef<'a> {
    /// The peer requests something and waits for the response.
    Request {
        /// The id, which the response repeats.
        id: RequestId,
        /// The method.
        method: Cow<'a, str>,
        /// The parameters.
        params: Option<RawRef<'a>>,
    },
    /// The peer reports something and expects no response.
    Notification {
        /// The method.
        method: Cow<'a, str>,
        /// The parameters.
        params: Option<RawRef<'a>>,
    },
    /// The response to one of our requests.
    Response {
        /// The id of the request; `None` for an error that the peer could not attribute to one.
        id: Option<RequestId>,
        /// The result or the error.
        outcome: Result<RawRef<'a>, ErrorObject>,
    },
}

impl MessageRef<'_> {
    /// Copies the message from the bytes it was read from.
    pub fn to_message(&self) -> Message {
        let owned = |params: &Option<RawRef<'_>>| params.map(RawJson::from);
        match self {
            Self::Request { id, method, params } => Message::Request(Request {
                id: id.clone(),
                method: method.as_ref().to_owned(),
                params: owned(params),
            }),
            Self::Notification { method, params } => Message::Notification(Notification {
                method: method.as_ref().to_owned(),
                params: owned(params),
            }),
            Self::Response { id, outcome } => Message::Response(Response {
                id: id.clone(),
                outcome: match outcome {
                    Ok(result) => Ok(RawJson::from(*result)),
                    Err(error) => Err(error.clone()),
                },
            }),
        }
    }
}

/// The content of one read: a single message or, from a peer of 2025-03-26, a batch.
#[derive(Debug)]
#[allow(
    clippy::exhaustive_enums,
    reason = "JSON-RPC 2.0 has these two forms and no other"
)]
pub enum Incoming<'a> {
    /// A single message.
    Single(MessageRef<'a>),
    /// A batch; an invalid message in it does not affect the others.
    Batch(Vec<Result<MessageRef<'a>, crate::DecodeError>>),
}

/// An owned message.
#[derive(Clone, Debug, PartialEq)]
#[allow(
    clippy::exhaustive_enums,
    reason = "JSON-RPC 2.0 is closed: every message is one of these"
)]
pub enum Message {
    /// A request.
    Request(Request),
    /// A notification.
    Notification(Notification),
    /// A response.
    Response(Response),
}

/// A message that expects a response.
#[derive(Clone, Debug, PartialEq)]
#[allow(clippy::exhaustive_structs, reason = "JSON-RPC 2.0 is closed")]
pub struct Request {
    /// The id, which the response repeats.
    pub id: RequestId,
    /// The method.
    pub method: String,
    /// The parameters.
    pub params: Option<RawJson>,
}

/// A message that expects no response.
#[derive(Clone, Debug, PartialEq)]
#[allow(clippy::exhaustive_structs, reason = "JSON-RPC 2.0 is closed")]
pub struct Notification {
    /// The method.
    pub method: String,
    /// The parameters.
    pub params: Option<RawJson>,
}

/// The response to a request.
#[derive(Clone, Debug, PartialEq)]
#[allow(clippy::exhaustive_structs, reason = "JSON-RPC 2.0 is closed")]
pub struct Response {
    /// The id of the request; `None` for an error that could not be attributed to one.
    pub id: Option<RequestId>,
    /// The result or the error.
    pub outcome: Result<RawJson, ErrorObject>,
}

/// Reads the params of a request or notification; absent params are read as `{}`.
pub fn parse_params<T: Body>(params: Option<RawRef<'_>>) -> Result<T, ReadError> {
    T::read(params.unwrap_or(RawRef::checked("{}")))
}
