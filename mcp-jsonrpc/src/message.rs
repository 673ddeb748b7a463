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

/// One message, borrowed from the bytes it came in; bodies stay raw until asked for.
///
/// The kind is determined by `method` and `id`, never by trial.
#[derive(Clone, Debug)]
#[allow(
    clippy::exhaustive_enums,
    reason = "JSON-RPC 2.0 is closed: every message is one of these"
)]
pub enum MessageRef<'a> {
    /// The peer wants something done and waits for the answer.
    Request {
        /// Goes back with the answer.
        id: RequestId,
        /// What is asked for.
        method: Cow<'a, str>,
        /// With what.
        params: Option<RawRef<'a>>,
    },
    /// The peer tells something and waits for nothing.
    Notification {
        /// What it is about.
        method: Cow<'a, str>,
        /// The details.
        params: Option<RawRef<'a>>,
    },
    /// The response to one of our requests.
    Response {
        /// Which request; `None` for an error the peer could not tie to one.
        id: Option<RequestId>,
        /// The result, or what went wrong.
        outcome: Result<RawRef<'a>, ErrorObject>,
    },
}

impl MessageRef<'_> {
    /// Copies the message out of the bytes it was read from.
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

/// What arrived: one message, or, from a peer of 2025-03-26, several at once.
#[derive(Debug)]
#[allow(
    clippy::exhaustive_enums,
    reason = "JSON-RPC 2.0 has these two forms and no other"
)]
pub enum Incoming<'a> {
    /// A message by itself.
    Single(MessageRef<'a>),
    /// A batch; a bad message in it does not spoil the others.
    Batch(Vec<Result<MessageRef<'a>, crate::DecodeError>>),
}

/// One message that owns its parts.
#[derive(Clone, Debug, PartialEq)]
#[allow(
    clippy::exhaustive_enums,
    reason = "JSON-RPC 2.0 is closed: every message is one of these"
)]
pub enum Message {
    /// Wants an answer.
    Request(Request),
    /// Wants none.
    Notification(Notification),
    /// Is one.
    Response(Response),
}

/// A call that waits for its answer.
#[derive(Clone, Debug, PartialEq)]
#[allow(clippy::exhaustive_structs, reason = "JSON-RPC 2.0 is closed")]
pub struct Request {
    /// Goes back with the answer.
    pub id: RequestId,
    /// What is asked for.
    pub method: String,
    /// With what.
    pub params: Option<RawJson>,
}

/// A message that no one answers.
#[derive(Clone, Debug, PartialEq)]
#[allow(clippy::exhaustive_structs, reason = "JSON-RPC 2.0 is closed")]
pub struct Notification {
    /// What it is about.
    pub method: String,
    /// The details.
    pub params: Option<RawJson>,
}

/// The answer to a request.
#[derive(Clone, Debug, PartialEq)]
#[allow(clippy::exhaustive_structs, reason = "JSON-RPC 2.0 is closed")]
pub struct Response {
    /// Which request; `None` for an error that could not be tied to one.
    pub id: Option<RequestId>,
    /// The result, or what went wrong.
    pub outcome: Result<RawJson, ErrorObject>,
}

/// Reads the params of a request or notification; absent ones are read as `{}`.
pub fn parse_params<T: Body>(params: Option<RawRef<'_>>) -> Result<T, ReadError> {
    T::read(params.unwrap_or(RawRef::checked("{}")))
}
