//! JSON kept as the text its author wrote.

use std::fmt;

use serde::de::{self, Deserialize, DeserializeOwned, Deserializer};
use serde::ser::{Serialize, Serializer};
use serde_json::value::RawValue;

/// Any JSON value, kept byte for byte until somebody asks for it.
///
/// Two are equal when their texts are.
///
/// ```
/// use mcp_jsonrpc::RawJson;
///
/// let raw: RawJson = serde_json::from_str("[1,  2.50]")?;
/// assert_eq!(raw.get(), "[1,  2.50]");
/// assert_eq!(raw.parse::<Vec<f64>>()?, [1.0, 2.5]);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone)]
pub struct RawJson(Box<RawValue>);

impl RawJson {
    /// The JSON value `null`.
    pub fn null() -> Self {
        Self(Box::default())
    }

    /// Writes `value` as JSON.
    pub fn from_serialize<T: Serialize + ?Sized>(value: &T) -> Result<Self, serde_json::Error> {
        serde_json::value::to_raw_value(value).map(Self)
    }

    /// Takes JSON text over, checking that it is JSON.
    pub fn from_text(text: String) -> Result<Self, serde_json::Error> {
        RawValue::from_string(text).map(Self)
    }

    /// The text, without whitespace around it.
    pub fn get(&self) -> &str {
        self.0.get()
    }

    /// The same text as serde_json's own type.
    pub fn as_raw_value(&self) -> &RawValue {
        &self.0
    }

    /// Reads the text as a `T`.
    pub fn parse<T: DeserializeOwned>(&self) -> Result<T, serde_json::Error> {
        serde_json::from_str(self.get())
    }

    /// Whether this is the JSON value `null`.
    pub fn is_null(&self) -> bool {
        self.get() == "null"
    }

    /// Whether this is a JSON object.
    pub fn is_object(&self) -> bool {
        self.get().starts_with('{')
    }
}

impl From<Box<RawValue>> for RawJson {
    fn from(raw: Box<RawValue>) -> Self {
        Self(raw)
    }
}

impl From<&RawValue> for RawJson {
    fn from(raw: &RawValue) -> Self {
        Self(raw.to_owned())
    }
}

impl PartialEq for RawJson {
    fn eq(&self, other: &Self) -> bool {
        self.get() == other.get()
    }
}

impl Eq for RawJson {}

impl fmt::Debug for RawJson {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.get())
    }
}

impl fmt::Display for RawJson {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.get())
    }
}

impl Serialize for RawJson {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for RawJson {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Box::<RawValue>::deserialize(deserializer).map(Self)
    }
}

/// A JSON object, kept byte for byte: a tool's schema, a call's arguments.
#[derive(Clone, PartialEq, Eq)]
pub struct RawObject(RawJson);

impl RawObject {
    /// The object without members, `{}`.
    pub fn empty() -> Self {
        Self(RawJson::from_text("{}".to_owned()).unwrap_or_else(|_| RawJson::null()))
    }

    /// Writes `value` as JSON; it must come out as an object.
    pub fn from_serialize<T: Serialize + ?Sized>(value: &T) -> Result<Self, serde_json::Error> {
        RawJson::from_serialize(value).and_then(Self::try_from)
    }

    /// The text, without whitespace around it.
    pub fn get(&self) -> &str {
        self.0.get()
    }

    /// The same text as [`RawJson`].
    pub fn as_json(&self) -> &RawJson {
        &self.0
    }

    /// Reads the text as a `T`.
    pub fn parse<T: DeserializeOwned>(&self) -> Result<T, serde_json::Error> {
        self.0.parse()
    }
}

impl TryFrom<RawJson> for RawObject {
    type Error = serde_json::Error;

    fn try_from(raw: RawJson) -> Result<Self, serde_json::Error> {
        if raw.is_object() {
            Ok(Self(raw))
        } else {
            Err(de::Error::custom("expected a JSON object"))
        }
    }
}

impl From<RawObject> for RawJson {
    fn from(object: RawObject) -> Self {
        object.0
    }
}

impl fmt::Debug for RawObject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Display for RawObject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

impl Serialize for RawObject {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for RawObject {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = RawJson::deserialize(deserializer)?;
        if raw.is_object() {
            Ok(Self(raw))
        } else {
            Err(de::Error::custom("expected a JSON object"))
        }
    }
}
