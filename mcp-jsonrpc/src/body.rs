//! What messages carry.

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::ordered_map::RawMap;
use crate::raw::{RawJson, RawRef};
use crate::read_error::ReadError;

/// The params or the result of a message.
///
/// The types of this crate read themselves in one pass. A type of your own gets by with serde:
/// `impl Body for Mine {}`.
pub trait Body: Serialize + DeserializeOwned {
    /// Reads it from JSON. Lists set bad items aside rather than fail.
    fn read(raw: RawRef<'_>) -> Result<Self, ReadError> {
        Ok(raw.parse()?)
    }
}

impl Body for serde_json::Value {}

impl Body for RawJson {
    fn read(raw: RawRef<'_>) -> Result<Self, ReadError> {
        Ok(raw.into())
    }
}

/// Types that read themselves as fields do.
macro_rules! bodies {
    ($($Type:ty),* $(,)?) => {$(
        impl $crate::body::Body for $Type {
            fn read(
                raw: $crate::raw::RawRef<'_>,
            ) -> Result<Self, $crate::read_error::ReadError> {
                $crate::wire::field::Field::read(&mut $crate::reader::Reader::new(raw.get()))
            }
        }
    )*};
}
pub(crate) use bodies;

bodies!(RawMap);
