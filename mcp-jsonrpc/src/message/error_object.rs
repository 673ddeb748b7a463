//! The error of a JSON-RPC response.

use std::error::Error;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::json::raw::RawJson;
use crate::json::read_error::ReadError;
use crate::json::reader::Reader;
use crate::wire::field::{Field, serialize_plainly};
use crate::wire::object::object;

object! {
    /// A peer's description of an error.
    ///
    /// It implements [`Error`], so that it can be returned and can be another error's source.
    pub struct ErrorObject {
        required {
            /// The kind of error.
            code: ErrorCode = "code",
        }
        defaulted {
            /// A sentence for display; empty if the peer omitted it.
            message: String = "message",
        }
        optional {
            /// Any further details.
            data: RawJson = "data",
        }
    }
}

impl ErrorObject {
    /// Sets `data`, serialized as JSON.
    pub fn with_data<T: Serialize + ?Sized>(mut self, data: &T) -> Result<Self, serde_json::Error> {
        self.data = Some(RawJson::from_serialize(data)?);
        Ok(self)
    }

    /// Reads `data` as a `T`: `None` if it is absent or has another type.
    pub fn data_as<T: serde::de::DeserializeOwned>(&self) -> Option<T> {
        self.data.as_ref()?.parse().ok()
    }
}

impl fmt::Display for ErrorObject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.message, self.code)
    }
}

impl Error for ErrorObject {}

/// The number that identifies the kind of error.
///
/// Any integer is a valid code; the named ones have a meaning in JSON-RPC 2.0 or in MCP.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(transparent)]
pub struct ErrorCode(i64);

impl ErrorCode {
    /// The message was not JSON.
    pub const PARSE_ERROR: Self = Self(-32700);
    /// The message was JSON, but not a valid request.
    pub const INVALID_REQUEST: Self = Self(-32600);
    /// The peer does not support the method.
    pub const METHOD_NOT_FOUND: Self = Self(-32601);
    /// Invalid parameters: unknown tool, unknown resource (2026-07-28), invalid cursor …
    pub const INVALID_PARAMS: Self = Self(-32602);
    /// The peer failed internally.
    pub const INTERNAL_ERROR: Self = Self(-32603);
    /// No such resource, up to 2025-11-25; later [`INVALID_PARAMS`](Self::INVALID_PARAMS).
    pub const RESOURCE_NOT_FOUND: Self = Self(-32002);
    /// HTTP headers and body contradict each other (2026-07-28).
    pub const HEADER_MISMATCH: Self = Self(-32020);
    /// The request requires a client capability that was not declared (2026-07-28).
    pub const MISSING_CLIENT_CAPABILITY: Self = Self(-32021);
    /// The server does not support the requested revision (2026-07-28).
    pub const UNSUPPORTED_PROTOCOL_VERSION: Self = Self(-32022);
    /// The user must visit a URL first (2025-11-25).
    pub const URL_ELICITATION_REQUIRED: Self = Self(-32042);
    /// The user declined a sampling request.
    pub const USER_REJECTED: Self = Self(-1);

    /// A code with this number.
    pub const fn new(code: i64) -> Self {
        Self(code)
    }

    /// The number.
    pub const fn get(self) -> i64 {
        self.0
    }

    /// The meaning that JSON-RPC or MCP defines for the code.
    pub const fn meaning(self) -> Option<&'static str> {
        Some(match self {
            Self::PARSE_ERROR => "parse error",
            Self::INVALID_REQUEST => "invalid request",
            Self::METHOD_NOT_FOUND => "method not found",
            Self::INVALID_PARAMS => "invalid params",
            Self::INTERNAL_ERROR => "internal error",
            Self::RESOURCE_NOT_FOUND => "resource not found",
            Self::HEADER_MISMATCH => "header mismatch",
            Self::MISSING_CLIENT_CAPABILITY => "missing client capability",
            Self::UNSUPPORTED_PROTOCOL_VERSION => "unsupported protocol version",
            Self::URL_ELICITATION_REQUIRED => "URL elicitation required",
            Self::USER_REJECTED => "rejected by the user",
            _ => return None,
        })
    }
}

impl From<i64> for ErrorCode {
    fn from(code: i64) -> Self {
        Self(code)
    }
}

/// The number, and its meaning where it has one: `-32601, method not found`.
impl fmt::Display for ErrorCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.meaning() {
            Some(meaning) => write!(f, "{}, {meaning}", self.0),
            None => self.0.fmt(f),
        }
    }
}

impl Field for ErrorCode {
    fn read(reader: &mut Reader<'_>) -> Result<Self, ReadError> {
        reader.integer().map(Self)
    }

    serialize_plainly!();
}
