//! What an answer carries, and how to read it without losing more than must be.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::model::input::InputRequiredResult;
use crate::model::task::CreateTaskResult;
use crate::ordered_map::RawMap;
use crate::raw::RawJson;
use crate::wire::string_enum::string_enum;

/// The result of a request.
pub trait ResultBody: Serialize + DeserializeOwned {
    /// Reads the result. Lists keep their good items when some are bad.
    fn read(raw: &RawValue) -> Result<Self, serde_json::Error> {
        serde_json::from_str(raw.get())
    }

    /// What kind of result the server says this is (2026-07-28); absent means complete.
    fn result_type(&self) -> Option<ResultType> {
        None
    }
}

impl ResultBody for RawJson {
    fn result_type(&self) -> Option<ResultType> {
        peek(self.as_raw_value())
    }
}

impl ResultBody for serde_json::Value {
    fn result_type(&self) -> Option<ResultType> {
        self.get("resultType")?.as_str().map(ResultType::from)
    }
}

string_enum! {
    /// What kind of result an answer is (2026-07-28).
    pub open ResultType {
        /// The request is done.
        Complete = "complete",
        /// The server needs something from the client first.
        InputRequired = "input_required",
        /// The server goes on in a task (tasks extension).
        Task = "task",
    }
}

/// An answer of 2026-07-28, told apart by its `resultType`.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Reply<T> {
    /// The result itself.
    Complete(T),
    /// The server asks for input: fulfil it and send the request again.
    InputRequired(InputRequiredResult),
    /// The server made a task of the request.
    Task(CreateTaskResult),
    /// A kind this version of the crate does not know.
    Unknown {
        /// What the server calls it.
        result_type: String,
        /// The whole result.
        raw: RawJson,
    },
}

impl<T: ResultBody> Reply<T> {
    /// Reads an answer; the tag decides what it is, and its absence means complete.
    pub fn read(raw: &RawValue) -> Result<Self, serde_json::Error> {
        // Most answers are complete: those cost one pass. Others are read again as what they are.
        let body = T::read(raw);
        let kind = match &body {
            Ok(body) => body.result_type(),
            Err(_) => peek(raw),
        };
        match kind {
            None | Some(ResultType::Complete) => body.map(Self::Complete),
            Some(ResultType::InputRequired) => {
                serde_json::from_str(raw.get()).map(Self::InputRequired)
            }
            Some(ResultType::Task) => serde_json::from_str(raw.get()).map(Self::Task),
            Some(ResultType::Other(result_type)) => Ok(Self::Unknown {
                result_type,
                raw: RawJson::from(raw),
            }),
        }
    }
}

/// The kind of a result that is not read otherwise.
fn peek(raw: &RawValue) -> Option<ResultType> {
    #[derive(Deserialize)]
    struct Tag {
        #[serde(rename = "resultType")]
        result_type: Option<ResultType>,
    }
    serde_json::from_str::<Tag>(raw.get()).ok()?.result_type
}

/// An item of a list that could not be read, so that it never hides the others.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Rejected {
    /// Its place in the list.
    pub index: usize,
    /// Its name, or else its URI, if that much could be read.
    pub name: Option<String>,
    /// Why it could not be read.
    pub reason: String,
    /// The item itself.
    pub raw: RawJson,
}

/// Reads each item of a JSON array by itself.
///
/// # Errors
///
/// Only if `list` is no array.
pub fn read_items<T: DeserializeOwned>(
    list: &RawValue,
) -> Result<(Vec<T>, Vec<Rejected>), serde_json::Error> {
    let (mut good, mut rejected) = (Vec::new(), Vec::new());
    for (index, item) in serde_json::from_str::<Vec<&RawValue>>(list.get())?
        .into_iter()
        .enumerate()
    {
        match serde_json::from_str(item.get()) {
            Ok(read) => good.push(read),
            Err(error) => rejected.push(Rejected {
                index,
                name: name_of(item),
                reason: error.to_string(),
                raw: RawJson::from(item),
            }),
        }
    }
    Ok((good, rejected))
}

fn name_of(item: &RawValue) -> Option<String> {
    let members: RawMap = serde_json::from_str(item.get()).ok()?;
    members.read("name").or_else(|| members.read("uri"))
}

/// Reads a result; if that fails, reads it again without its list `key`, which it returns apart.
///
/// The list is `None` if the first read was good.
pub(crate) fn read_apart<R: DeserializeOwned>(
    raw: &RawValue,
    key: &str,
) -> Result<(R, Option<RawJson>), serde_json::Error> {
    let strict = match serde_json::from_str::<R>(raw.get()) {
        Ok(result) => return Ok((result, None)),
        Err(strict) => strict,
    };
    let mut members = RawMap::deserialize(raw)?;
    let Some(list) = members
        .get(key)
        .cloned()
        .filter(|list| list.get().starts_with('['))
    else {
        return Err(strict);
    };
    members.set(key, &[(); 0])?;
    let rest = RawJson::from_serialize(&members)?;
    Ok((rest.parse()?, Some(list)))
}

/// Declares the result of a list request: `ListToolsResult.tools`.
macro_rules! list_results {
    ($($Result:ident.$items:ident = $key:literal),* $(,)?) => {$(
        impl $crate::result_body::ResultBody for $Result {
            fn read(raw: &::serde_json::value::RawValue) -> Result<Self, ::serde_json::Error> {
                let (mut result, list) = $crate::result_body::read_apart::<Self>(raw, $key)?;
                if let Some(list) = list {
                    (result.$items, result.rejected) =
                        $crate::result_body::read_items(list.as_raw_value())?;
                }
                Ok(result)
            }

            fn result_type(&self) -> Option<$crate::result_body::ResultType> {
                self.result_type.clone()
            }
        }
    )*};
}
pub(crate) use list_results;

/// Declares results that are read whole.
macro_rules! results {
    ($($Result:ident),* $(,)?) => {$(
        impl $crate::result_body::ResultBody for $Result {
            fn result_type(&self) -> Option<$crate::result_body::ResultType> {
                self.result_type.clone()
            }
        }
    )*};
}
pub(crate) use results;
