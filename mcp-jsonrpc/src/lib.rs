#![doc = include_str!("../README.md")]

mod body;
mod carve;
mod decode;
mod decode_error;
mod encode;
mod error_object;
mod id;
mod likely_answer;
mod limits;
mod message;
mod method;
pub mod model;
mod ordered_map;
mod raw;
mod read_error;
mod reader;
mod rejected;
mod result_body;
mod revision;
mod wire;

pub use body::Body;
pub use decode::decode;
pub use decode_error::{DecodeError, Fault, Sender, Side};
pub use encode::{EncodeError, encode_error, encode_notification, encode_request, encode_result};
pub use error_object::{ErrorCode, ErrorObject};
pub use id::{ProgressToken, RequestId};
pub use likely_answer::likely_answer;
pub use limits::Limits;
pub use message::{Incoming, Message, MessageRef, Notification, Request, Response, parse_params};
pub use method::{Method, NotificationMethod};
pub use ordered_map::{OrderedMap, RawMap};
pub use raw::{RawJson, RawObject, RawRef};
pub use read_error::ReadError;
pub use rejected::Rejected;
pub use result_body::{Reply, ResultBody, ResultType};
pub use revision::{Revision, TaskForm, UnknownRevision};
