//! Decode errors.

use std::error::Error;
use std::fmt;

use crate::json::read_error::ReadError;
use crate::message::id::RequestId;

/// The reason why bytes could not be decoded as a message.
///
/// [`id`](Self::id) is the message's id, if it could be read. With it the caller can fail the call, or answer the
/// invalid request.
#[derive(Debug)]
#[non_exhaustive]
pub enum DecodeError {
    /// The message is larger than allowed; none of it was read.
    TooLarge {
        /// Its size in bytes.
        bytes: usize,
        /// The size allowed.
        limit: usize,
    },
    /// Invalid or truncated JSON.
    Syntax {
        /// The position where the text stops being JSON.
        source: ReadError,
        /// What could be read before that.
        sender: Sender,
    },
    /// JSON, but nested deeper than allowed.
    TooDeep {
        /// The depth allowed.
        limit: usize,
        /// What could be read.
        sender: Sender,
    },
    /// JSON, but not a JSON-RPC 2.0 message.
    Invalid {
        /// The fault.
        fault: Fault,
        /// What could be read.
        sender: Sender,
    },
    /// A batch without messages, or with more messages than allowed.
    BatchLength {
        /// The number of messages, or one more than the limit where counting stopped.
        messages: usize,
        /// The number allowed.
        limit: usize,
    },
}

/// What is known about a message that could not be read.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub struct Sender {
    /// The message's id, if it could be read.
    pub id: Option<RequestId>,
    /// Whether it is a request or a response.
    pub side: Side,
}

/// Whether a message that could not be read is a request or a response.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub enum Side {
    /// It has a method: with an id it is a request, which expects a response.
    Asks,
    /// It has a result or an error: it is the response to our request with that id.
    Answers,
    /// It has neither.
    #[default]
    Unclear,
}

/// The reason why JSON is not a JSON-RPC 2.0 message.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Fault {
    /// Neither an object nor an array.
    NotAnObject,
    /// `jsonrpc` is absent or not `"2.0"`.
    Version,
    /// `id` is absent although required, or neither an integer nor a string.
    Id,
    /// `method` is not a string.
    Method,
    /// `params` is not an object.
    Params,
    /// `method`, `result` and `error` are all absent.
    NothingToSay,
    /// Both `result` and `error` are present.
    ResultAndError,
    /// `method` is present together with `result` or `error`.
    AsksAndAnswers,
    /// `error` is not an error object; the text says why.
    ErrorObject(ReadError),
}

impl DecodeError {
    /// The id of the message, if it could be read.
    pub fn id(&self) -> Option<&RequestId> {
        self.sender()?.id.as_ref()
    }

    /// Whether the message is a request or a response, as far as could be read.
    pub fn side(&self) -> Side {
        self.sender().map_or(Side::Unclear, |sender| sender.side)
    }

    fn sender(&self) -> Option<&Sender> {
        match self {
            Self::Syntax { sender, .. }
            | Self::TooDeep { sender, .. }
            | Self::Invalid { sender, .. } => Some(sender),
            Self::TooLarge { .. } | Self::BatchLength { .. } => None,
        }
    }
}

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLarge { bytes, limit } => {
                write!(f, "a message of {bytes} bytes is over the limit of {limit}")?;
            }
            Self::Syntax { .. } => f.write_str("the message is not JSON")?,
            Self::TooDeep { limit, .. } => {
                write!(f, "the message is nested deeper than {limit} levels")?;
            }
            Self::Invalid { fault, .. } => write!(f, "the message is not JSON-RPC 2.0: {fault}")?,
            Self::BatchLength { messages: 0, .. } => f.write_str("the batch holds no message")?,
            Self::BatchLength { limit, .. } => {
                write!(f, "the batch holds more than {limit} messages")?;
            }
        }
        match self.id() {
            Some(id) => write!(f, " (id {id})"),
            None => Ok(()),
        }
    }
}

impl Error for DecodeError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Syntax { source, .. } => Some(source),
            _ => None,
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NotAnObject => "neither an object nor an array",
            Self::Version => "`jsonrpc` is not \"2.0\"",
            Self::Id => "`id` is neither an integer nor a string",
            Self::Method => "`method` is not a string",
            Self::Params => "`params` is not an object",
            Self::NothingToSay => "none of `method`, `result` and `error` is there",
            Self::ResultAndError => "both `result` and `error` are there",
            Self::AsksAndAnswers => "`method` stands beside `result` or `error`",
            Self::ErrorObject(why) => return write!(f, "`error` is no error object: {why}"),
        })
    }
}
