//! The arguments of a tool call: JSON text, parsed once, strictly, at the end.

use mcp_jsonrpc::{RawJson, RawObject};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The arguments of a tool call.
///
/// The text stays as the model wrote it, so that long integers, key order and escapes are preserved. Truncated text, or
/// text that is not a JSON object, cannot be used as arguments.
///
/// ```
/// use provider_adapters::Arguments;
///
/// let whole = Arguments::read(r#"{"n": 12345678901234567890123}"#);
/// assert_eq!(whole.object().unwrap().get(), r#"{"n": 12345678901234567890123}"#);
/// assert!(Arguments::read(r#"{"n": 1234"#).object().is_none());
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Arguments {
    object: Option<RawObject>,
    /// What the model wrote, where it is not the object's own text.
    text: Option<String>,
}

impl Arguments {
    /// No arguments: `{}`.
    pub fn empty() -> Self {
        Self::from(RawObject::empty())
    }

    /// Reads the model's text. Empty text and `null` mean no arguments; an object that was encoded twice, as a string,
    /// is unwrapped once.
    pub fn read(text: impl Into<String>) -> Self {
        let text = text.into();
        match parse(&text) {
            Some(object) if object.get() == text => Self {
                object: Some(object),
                text: None,
            },
            object => Self {
                object,
                text: Some(text),
            },
        }
    }

    /// Text that must not be taken for arguments, because it was cut.
    pub(crate) fn cut(text: String) -> Self {
        Self {
            object: None,
            text: Some(text),
        }
    }

    /// The arguments, if they are a complete JSON object.
    pub fn object(&self) -> Option<&RawObject> {
        self.object.as_ref()
    }

    /// The model's own text.
    pub fn text(&self) -> &str {
        match (&self.text, &self.object) {
            (Some(text), _) => text,
            (None, Some(object)) => object.get(),
            (None, None) => "",
        }
    }

    /// Whether an object had to be unwrapped from a string.
    pub(crate) fn was_wrapped(&self) -> bool {
        self.object.is_some() && self.text().trim_start().starts_with('"')
    }
}

fn parse(text: &str) -> Option<RawObject> {
    match text.trim() {
        "" | "null" => Some(RawObject::empty()),
        quoted if quoted.starts_with('"') => {
            let inner: String = serde_json::from_str(quoted).ok()?;
            inner
                .trim_start()
                .starts_with('{')
                .then(|| object(&inner))
                .flatten()
        }
        plain => object(plain),
    }
}

fn object(text: &str) -> Option<RawObject> {
    RawObject::try_from(RawJson::from_text(text.to_owned()).ok()?).ok()
}

impl From<RawObject> for Arguments {
    fn from(object: RawObject) -> Self {
        Self {
            object: Some(object),
            text: None,
        }
    }
}

impl Serialize for Arguments {
    /// An object as an object, anything else as a string.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match &self.object {
            Some(object) => object.serialize(serializer),
            None => serializer.serialize_str(self.text()),
        }
    }
}

impl<'de> Deserialize<'de> for Arguments {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = RawJson::deserialize(deserializer)?;
        Ok(match raw.parse::<String>() {
            Ok(text) => Self::read(text),
            Err(_) => Self::read(raw.get()),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, object: Option<&str>) {
        let arguments = Arguments::read(text);
        assert_eq!(arguments.object().map(RawObject::get), object);
        assert_eq!(arguments.text(), text);
    }

    #[test]
    fn only_a_whole_object_counts_as_arguments() {
        check(
            r#"{"a": -0, "b": 1e400, "a": 2}"#,
            Some(r#"{"a": -0, "b": 1e400, "a": 2}"#),
        );
        check(" {}\n", Some("{}"));
        check("", Some("{}"));
        check("null", Some("{}"));
        for broken in [
            "{",
            r#"{"a":"#,
            r#"{"a":1}{"b":2}"#,
            "[]",
            "1",
            "true",
            r#""x""#,
            "{'a':1}",
        ] {
            check(broken, None);
        }
    }

    #[test]
    fn an_object_encoded_twice_is_unwrapped_once() {
        check(r#""{\"a\":1}""#, Some(r#"{"a":1}"#));
        assert!(Arguments::read(r#""{\"a\":1}""#).was_wrapped());
        check(r#""\"{}\"""#, None);
    }

    #[test]
    fn arguments_nested_too_deep_are_none() {
        let deep = |depth| format!("{{\"a\":{}{}}}", "[".repeat(depth), "]".repeat(depth));
        assert!(Arguments::read(deep(100)).object().is_some());
        assert!(Arguments::read(deep(100_000)).object().is_none());
    }
}
