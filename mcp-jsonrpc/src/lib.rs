#![doc = include_str!("../README.md")]

mod decode;
mod decode_error;
mod depth;
mod encode;
mod error_object;
mod id;
mod limits;
mod message;
mod method;
pub mod model;
mod ordered_map;
mod raw;
mod result_body;
mod revision;
mod wire;

pub use decode::decode;
pub use decode_error::{DecodeError, Fault, Sender, Side};
pub use encode::{EncodeError, encode_error, encode_notification, encode_request, encode_result};
pub use error_object::{ErrorCode, ErrorObject};
pub use id::{ProgressToken, RequestId};
pub use limits::Limits;
pub use message::{Incoming, Message, MessageRef, Notification, Request, Response, parse_params};
pub use method::{Method, NotificationMethod};
pub use ordered_map::{OrderedMap, RawMap};
pub use raw::{RawJson, RawObject};
pub use result_body::{Rejected, Reply, ResultBody, ResultType, read_items};
pub use revision::{Revision, TaskForm, UnknownRevision};
