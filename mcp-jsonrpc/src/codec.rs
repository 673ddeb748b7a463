//! Encoding and decoding of messages.

pub(crate) mod decode;
pub(crate) mod decode_error;
pub(crate) mod encode;
pub(crate) mod limits;
pub(crate) mod peek_response;
