//! The params and results of messages.

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::json::ordered_map::RawMap;
use crate::json::raw::{RawJson, RawRef};
use crate::json::read_error::ReadError;

/// The params or the result of a message.
///
/// The types of this crate read themselves in one pass. For your own type, serde suffices: `impl Body for Mine {}`.
pub trait Body: Serialize + DeserializeOwned {
    /// Reads it from JSON. Lists set invalid items aside instead of failing.
    fn read(raw: RawRef<'_>) -> Result<Self, ReadError> {
        Ok(raw.parse()?)
    }

    /// Reads it from unparsed text, to its end. The types of this crate check the text in the same pass.
    fn read_text(text: &str) -> Result<Self, ReadError> {
        Self::read(RawRef::from_text(text)?)
    }
}

impl Body for serde_json::Value {}

impl Body for RawJson {
    fn read(raw: RawRef<'_>) -> Result<Self, ReadError> {
        Ok(raw.into())
    }
}

/// Implements [`Body`] for types that read themselves like fields.
macro_rules! bodies {
    ($($Type:ty),* $(,)?) => {$(
        impl $crate::message::body::Body for $Type {
            fn read(
                raw: $crate::json::raw::RawRef<'_>,
            ) -> Result<Self, $crate::json::read_error::ReadError> {
                $crate::wire::field::Field::read(&mut $crate::json::reader::Reader::new(raw.get()))
            }

            fn read_text(text: &str) -> Result<Self, $crate::json::read_error::ReadError> {
                let mut reader = $crate::json::reader::Reader::new(text);
                let read = $crate::wire::field::Field::read(&mut reader)?;
                reader.end().map(|()| read)
            }
        }
    )*};
}
pub(crate) use bodies;

bodies!(RawMap);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::ListToolsResult;

    #[test]
    fn text_is_read_to_its_very_end() {
        let list = r#" {"tools":[{"name":"a","inputSchema":{}},7]} "#;
        let read = ListToolsResult::read_text(list).unwrap();
        assert_eq!((read.tools.len(), read.rejected.len()), (1, 1));
        assert_eq!(
            Ok(read),
            RawRef::from_text(list).and_then(ListToolsResult::read)
        );
        for bad in [
            r#"{"tools":[]},"x":1"#,
            r#"{"tools":[]}}"#,
            r#"{"tools":[{"name":}]}"#,
            r#"{"tools":["#,
            "",
        ] {
            assert!(ListToolsResult::read_text(bad).is_err(), "{bad}");
        }
    }
}
