#![doc = include_str!("../README.md")]

mod codec;
mod json;
mod message;
pub mod model;
mod revision;
mod secret;
pub mod sse;
mod tool_output;
mod wire;

pub use codec::decode::decode;
pub use codec::decode_error::{DecodeError, Fault, Sender, Side};
pub use codec::encode::{
    EncodeError, encode_error, encode_notification, encode_request, encode_result, make_one_line,
};
pub use codec::limits::DecodeLimits;
#[doc(hidden)]
pub use codec::peek_response::peek_response;
pub use json::ordered_map::{OrderedMap, RawMap};
pub use json::raw::{RawJson, RawObject, RawRef};
pub use json::read_error::ReadError;
pub use message::body::Body;
pub use message::error_object::{ErrorCode, ErrorObject};
pub use message::id::{ProgressToken, RequestId};
pub use message::method::{Method, NotificationMethod};
pub use message::result_body::{Reply, ResultBody, ResultType};
pub use message::{Incoming, Message, MessageRef, Notification, Request, Response, parse_params};
pub use revision::{Revision, TaskForm, UnknownRevision};
pub use secret::Secret;
#[cfg(feature = "schemars")]
pub use tool_output::schema_of;
pub use tool_output::{IntoToolResult, Json};
pub use wire::rejected::Rejected;
