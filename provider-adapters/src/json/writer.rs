//! A JSON writer: ordered, with support for text that is already JSON.

use std::borrow::Cow;

use mcp_jsonrpc::{RawJson, RawMap, RawObject};

/// A JSON value that is only ever written. Borrows what it can: a picture in base64 is copied once,
/// into the body.
#[derive(Clone, Debug)]
pub(crate) enum Json<'a> {
    Null,
    Bool(bool),
    Integer(u64),
    Float(f64),
    Text(Cow<'a, str>),
    /// JSON text, written unchanged.
    Raw(Cow<'a, str>),
    List(Vec<Json<'a>>),
    Object(Object<'a>),
}

/// A JSON object in the order its members were set.
#[derive(Clone, Debug, Default)]
pub(crate) struct Object<'a>(Vec<(Cow<'a, str>, Json<'a>)>);

/// An object with a `type`.
pub(crate) fn typed<'a>(kind: &'static str) -> Object<'a> {
    Object::default().set("type", kind)
}

impl<'a> Object<'a> {
    /// With one more member.
    #[must_use]
    pub(crate) fn set(mut self, key: impl Into<Cow<'a, str>>, value: impl Into<Json<'a>>) -> Self {
        self.0.push((key.into(), value.into()));
        self
    }

    /// With one more member, if there is a value for it.
    #[must_use]
    pub(crate) fn maybe<T: Into<Json<'a>>>(self, key: &'static str, value: Option<T>) -> Self {
        match value {
            Some(value) => self.set(key, value),
            None => self,
        }
    }

    /// With one more member, unless it is an empty list or object.
    #[must_use]
    pub(crate) fn filled(self, key: &'static str, value: impl Into<Json<'a>>) -> Self {
        match value.into() {
            Json::List(items) if items.is_empty() => self,
            Json::Object(object) if object.is_empty() => self,
            value => self.set(key, value),
        }
    }

    /// With a member set: in its old place if there was one. Of two objects, the members are
    /// joined.
    #[must_use]
    pub(crate) fn merge(mut self, key: String, value: &RawJson) -> Self {
        let old = self
            .0
            .iter_mut()
            .find(|(name, _)| *name == key)
            .map(|(_, old)| old);
        match (old, value.parse::<RawMap>()) {
            (Some(Json::Object(old)), Ok(members)) => {
                for (key, value) in members {
                    *old = std::mem::take(old).merge(key, &value);
                }
            }
            (Some(old), _) => *old = value.clone().into(),
            (None, _) => self.0.push((Cow::Owned(key), value.clone().into())),
        }
        self
    }

    /// Whether there is such a member.
    pub(crate) fn has(&self, key: &str) -> bool {
        self.0.iter().any(|(name, _)| name == key)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The object as JSON text, in bytes.
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        let mut out = Vec::new();
        self.write(&mut out);
        out
    }

    fn write(&self, out: &mut Vec<u8>) {
        out.push(b'{');
        for (at, (key, value)) in self.0.iter().enumerate() {
            if at > 0 {
                out.push(b',');
            }
            write_text(key, out);
            out.push(b':');
            value.write(out);
        }
        out.push(b'}');
    }
}

impl Json<'_> {
    /// The value as JSON text.
    pub(crate) fn to_raw(&self) -> RawJson {
        let mut out = Vec::new();
        self.write(&mut out);
        let text = String::from_utf8(out).unwrap_or_default();
        RawJson::from_text(text).unwrap_or_else(|_| RawJson::null())
    }

    fn write(&self, out: &mut Vec<u8>) {
        match self {
            Self::Null => out.extend_from_slice(b"null"),
            Self::Bool(value) => out.extend_from_slice(if *value { b"true" } else { b"false" }),
            Self::Integer(number) => out.extend_from_slice(number.to_string().as_bytes()),
            Self::Float(number) => match serde_json::Number::from_f64(*number) {
                Some(number) => out.extend_from_slice(number.to_string().as_bytes()),
                None => out.extend_from_slice(b"null"),
            },
            Self::Text(text) => write_text(text, out),
            Self::Raw(json) => out.extend_from_slice(json.as_bytes()),
            Self::List(items) => {
                out.push(b'[');
                for (at, item) in items.iter().enumerate() {
                    if at > 0 {
                        out.push(b',');
                    }
                    item.write(out);
                }
                out.push(b']');
            }
            Self::Object(object) => object.write(out),
        }
    }
}

fn write_text(text: &str, out: &mut Vec<u8>) {
    // Writing a string into a vector cannot fail.
    let _ = serde_json::to_writer(out, text);
}

impl<'a> From<&'a str> for Json<'a> {
    fn from(text: &'a str) -> Self {
        Self::Text(Cow::Borrowed(text))
    }
}

impl From<String> for Json<'_> {
    fn from(text: String) -> Self {
        Self::Text(Cow::Owned(text))
    }
}

impl<'a> From<Cow<'a, str>> for Json<'a> {
    fn from(text: Cow<'a, str>) -> Self {
        Self::Text(text)
    }
}

impl From<bool> for Json<'_> {
    fn from(value: bool) -> Self {
        Self::Bool(value)
    }
}

impl From<u64> for Json<'_> {
    fn from(number: u64) -> Self {
        Self::Integer(number)
    }
}

impl From<f64> for Json<'_> {
    fn from(number: f64) -> Self {
        Self::Float(number)
    }
}

impl<'a> From<&'a RawJson> for Json<'a> {
    fn from(raw: &'a RawJson) -> Self {
        Self::Raw(Cow::Borrowed(raw.get()))
    }
}

impl From<RawJson> for Json<'_> {
    fn from(raw: RawJson) -> Self {
        Self::Raw(Cow::Owned(raw.get().to_owned()))
    }
}

impl<'a> From<&'a RawObject> for Json<'a> {
    fn from(raw: &'a RawObject) -> Self {
        Self::Raw(Cow::Borrowed(raw.get()))
    }
}

impl<'a> From<Object<'a>> for Json<'a> {
    fn from(object: Object<'a>) -> Self {
        Self::Object(object)
    }
}

impl<'a> From<&'a [String]> for Json<'a> {
    fn from(texts: &'a [String]) -> Self {
        Self::List(texts.iter().map(|text| text.as_str().into()).collect())
    }
}

impl<'a, T: Into<Json<'a>>> From<Vec<T>> for Json<'a> {
    fn from(items: Vec<T>) -> Self {
        Self::List(items.into_iter().map(Into::into).collect())
    }
}
