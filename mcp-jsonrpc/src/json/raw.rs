//! Raw JSON: text that is preserved as its author wrote it.

use std::fmt;

use serde::de::{self, Deserialize, DeserializeOwned, Deserializer};
use serde::ser::{self, Serialize, Serializer};
use serde_json::value::RawValue;

use crate::json::read_error::ReadError;
use crate::json::reader::{MAX_DEPTH, Reader};

/// A borrowed JSON value as its author wrote it. [`RawJson`] is the owned form.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct RawRef<'a>(&'a str);

impl<'a> RawRef<'a> {
    /// Wraps JSON text after checking that it is one JSON value.
    pub fn from_text(text: &'a str) -> Result<Self, ReadError> {
        let mut reader = Reader::new(text);
        let value = reader.raw(MAX_DEPTH)?;
        reader.end()?;
        Ok(Self(value))
    }

    /// The text must be one JSON value, without whitespace around it.
    pub(crate) fn checked(text: &'a str) -> Self {
        Self(text)
    }

    /// The text, without whitespace around it.
    pub fn get(self) -> &'a str {
        self.0
    }

    /// Deserializes the text as a `T` with serde. For types of this crate, [`Body::read`](crate::Body::read) is faster.
    pub fn parse<T: de::Deserialize<'a>>(self) -> Result<T, serde_json::Error> {
        serde_json::from_str(self.0)
    }

    /// Whether this is the JSON value `null`.
    pub fn is_null(self) -> bool {
        self.0 == "null"
    }

    /// Whether this is a JSON object.
    pub fn is_object(self) -> bool {
        self.0.starts_with('{')
    }
}

/// Any JSON value, preserved byte for byte until it is parsed.
///
/// Two values are equal if their texts are.
///
/// ```
/// use mcp_jsonrpc::RawJson;
///
/// let raw: RawJson = serde_json::from_str("[1,  2.50]")?;
/// assert_eq!(raw.get(), "[1,  2.50]");
/// assert_eq!(raw.parse::<Vec<f64>>()?, [1.0, 2.5]);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct RawJson(Box<str>);

impl RawJson {
    /// The JSON value `null`.
    pub fn null() -> Self {
        Self("null".into())
    }

    /// Serializes `value` as JSON.
    pub fn from_serialize<T: Serialize + ?Sized>(value: &T) -> Result<Self, serde_json::Error> {
        serde_json::to_string(value).map(|text| Self(text.into()))
    }

    /// Wraps JSON text after checking that it is one JSON value.
    pub fn from_text(text: String) -> Result<Self, ReadError> {
        let value = RawRef::from_text(&text)?;
        if value.get().len() < text.len() {
            return Ok(value.into());
        }
        Ok(Self(text.into()))
    }

    /// Borrows the value.
    #[allow(
        clippy::should_implement_trait,
        reason = "the borrowed form is a value, no reference"
    )]
    pub fn as_ref(&self) -> RawRef<'_> {
        RawRef(&self.0)
    }

    /// The text, without whitespace around it.
    pub fn get(&self) -> &str {
        &self.0
    }

    /// Deserializes the text as a `T` with serde. For types of this crate, [`Body::read`](crate::Body::read) is faster.
    pub fn parse<T: DeserializeOwned>(&self) -> Result<T, serde_json::Error> {
        self.as_ref().parse()
    }

    /// Whether this is the JSON value `null`.
    pub fn is_null(&self) -> bool {
        self.as_ref().is_null()
    }

    /// Whether this is a JSON object.
    pub fn is_object(&self) -> bool {
        self.as_ref().is_object()
    }
}

impl From<RawRef<'_>> for RawJson {
    fn from(raw: RawRef<'_>) -> Self {
        Self(raw.0.into())
    }
}

impl From<Box<RawValue>> for RawJson {
    fn from(raw: Box<RawValue>) -> Self {
        Self(raw.into())
    }
}

/// A JSON object, preserved byte for byte: a tool's schema, a call's arguments.
#[derive(Clone, PartialEq, Eq)]
pub struct RawObject(RawJson);

impl RawObject {
    /// The empty object, `{}`.
    pub fn empty() -> Self {
        Self(RawJson("{}".into()))
    }

    /// Serializes `value` as JSON; the result must be an object.
    pub fn from_serialize<T: Serialize + ?Sized>(value: &T) -> Result<Self, ReadError> {
        RawJson::from_serialize(value)?.try_into()
    }

    /// The text, without whitespace around it.
    pub fn get(&self) -> &str {
        self.0.get()
    }

    /// The same text as a [`RawJson`].
    pub fn as_json(&self) -> &RawJson {
        &self.0
    }

    /// Deserializes the text as a `T` with serde.
    pub fn parse<T: DeserializeOwned>(&self) -> Result<T, serde_json::Error> {
        self.0.parse()
    }
}

impl TryFrom<RawJson> for RawObject {
    type Error = ReadError;

    fn try_from(raw: RawJson) -> Result<Self, ReadError> {
        if raw.is_object() {
            Ok(Self(raw))
        } else {
            Err(Reader::new(raw.get()).mismatch("an object"))
        }
    }
}

impl From<RawObject> for RawJson {
    fn from(object: RawObject) -> Self {
        object.0
    }
}

macro_rules! raw_traits {
    ($($Name:ty),*) => {$(
        impl fmt::Debug for $Name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.get())
            }
        }

        impl fmt::Display for $Name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.get())
            }
        }

        impl Serialize for $Name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                let raw: &RawValue = serde_json::from_str(self.get()).map_err(ser::Error::custom)?;
                raw.serialize(serializer)
            }
        }
    )*};
}

raw_traits!(RawRef<'_>, RawJson, RawObject);

impl<'de> Deserialize<'de> for RawJson {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Box::<RawValue>::deserialize(deserializer).map(Self::from)
    }
}

impl<'de> Deserialize<'de> for RawObject {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        RawJson::deserialize(deserializer)?
            .try_into()
            .map_err(de::Error::custom)
    }
}
