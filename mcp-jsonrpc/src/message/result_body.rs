//! The result of a request, and its kinds.

use serde::Deserialize;

use crate::json::raw::{RawJson, RawRef};
use crate::json::read_error::ReadError;
use crate::message::body::Body;
use crate::model::input::InputRequiredResult;
use crate::model::task::CreateTaskResult;
use crate::wire::string_enum::string_enum;

/// The result of a request.
pub trait ResultBody: Body {
    /// The server's `resultType` (2026-07-28); absent means complete. A type without that member returns `None`;
    /// [`Reply::read`] then looks for it in the JSON.
    fn result_type(&self) -> Option<ResultType> {
        None
    }
}

impl ResultBody for RawJson {
    fn result_type(&self) -> Option<ResultType> {
        peek(self.as_ref())
    }
}

impl ResultBody for serde_json::Value {
    fn result_type(&self) -> Option<ResultType> {
        match self.get("resultType")? {
            Self::Null => None,
            Self::String(tag) => Some(ResultType::from(tag.as_str())),
            other => Some(ResultType::Other(other.to_string())),
        }
    }
}

string_enum! {
    /// The kind of a result (2026-07-28).
    pub open ResultType {
        /// The request is done.
        Complete = "complete",
        /// The server needs input from the client first.
        InputRequired = "input_required",
        /// The server continues in a task (tasks extension).
        Task = "task",
    }
}

/// A result of 2026-07-28, whose kind is its `resultType`.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Reply<T> {
    /// The result itself.
    Complete(T),
    /// The server requests input: supply it and send the request again.
    InputRequired(InputRequiredResult),
    /// The server turned the request into a task.
    Task(CreateTaskResult),
    /// A kind this version of the crate does not know.
    Unknown {
        /// The `resultType`.
        result_type: String,
        /// The whole result.
        raw: RawJson,
    },
}

impl<T: ResultBody> Reply<T> {
    /// Reads a result; its tag determines the kind, and an absent tag means complete.
    pub fn read(raw: RawRef<'_>) -> Result<Self, ReadError> {
        // Most results are complete: those cost one pass. Others are read again as their own kind.
        let body = T::read(raw);
        let kind = match &body {
            Ok(body) => body.result_type().or_else(|| peek(raw)),
            Err(_) => peek(raw),
        };
        match kind {
            None | Some(ResultType::Complete) => body.map(Self::Complete),
            Some(ResultType::InputRequired) => Body::read(raw).map(Self::InputRequired),
            Some(ResultType::Task) => Body::read(raw).map(Self::Task),
            Some(ResultType::Other(result_type)) => Ok(Self::Unknown {
                result_type,
                raw: raw.into(),
            }),
        }
    }
}

/// The kind of a result that could not be read otherwise. A tag that cannot be read is of an unknown kind: only its
/// absence means complete.
fn peek(raw: RawRef<'_>) -> Option<ResultType> {
    #[derive(Deserialize)]
    struct Tag {
        #[serde(rename = "resultType")]
        result_type: Option<serde_json::Value>,
    }
    if !raw.get().starts_with('{') {
        return None;
    }
    match raw.parse::<Tag>() {
        Ok(Tag { result_type: None }) => None,
        Ok(Tag {
            result_type: Some(serde_json::Value::String(tag)),
        }) => Some(ResultType::from(tag.as_str())),
        Ok(Tag {
            result_type: Some(other),
        }) => Some(ResultType::Other(other.to_string())),
        Err(error) => Some(ResultType::Other(error.to_string())),
    }
}

/// Declares results of this crate.
macro_rules! results {
    ($($Result:ident),* $(,)?) => {$(
        impl $crate::message::result_body::ResultBody for $Result {
            fn result_type(&self) -> Option<$crate::message::result_body::ResultType> {
                self.result_type.clone()
            }
        }
    )*};
}
pub(crate) use results;
