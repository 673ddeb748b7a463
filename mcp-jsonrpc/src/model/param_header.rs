//! Tool arguments that modern clients repeat as `Mcp-Param-*` headers: those with `x-mcp-header` in
//! the tool's input schema.

use std::collections::BTreeSet;
use std::fmt;

use serde_json::{Map, Value};

/// A tool argument that is repeated as an HTTP header.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct ParamHeader {
    /// The part of the header's name after `Mcp-Param-`.
    pub suffix: String,
    /// The property names that lead from the arguments to the value.
    path: Vec<String>,
}

/// An `x-mcp-header` annotation that violates the rules.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum InvalidParamHeader {
    /// Not a non-empty token as HTTP defines it.
    NotAToken(String),
    /// Two properties name the same header.
    Twice(String),
    /// The property is not a string, an integer or a boolean.
    NotPrimitive(String),
    /// The property is not reached through properties alone.
    Misplaced(String),
}

impl fmt::Display for InvalidParamHeader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotAToken(name) => write!(f, "x-mcp-header {name:?} is not a header token"),
            Self::Twice(name) => write!(f, "x-mcp-header {name:?} is used twice"),
            Self::NotPrimitive(name) => write!(
                f,
                "x-mcp-header {name:?} is on a property that is no string, integer or boolean"
            ),
            Self::Misplaced(name) => {
                write!(f, "x-mcp-header {name:?} is not on a plain property")
            }
        }
    }
}

impl std::error::Error for InvalidParamHeader {}

/// The key of the annotation.
const KEY: &str = "x-mcp-header";

/// Keywords whose value is data, not a schema: the annotation has no meaning there.
const DATA: [&str; 5] = ["default", "enum", "const", "examples", "example"];

/// Keywords whose value maps names to schemas.
const NAMED: [&str; 5] = [
    "properties",
    "patternProperties",
    "$defs",
    "definitions",
    "dependentSchemas",
];

/// Reads the `x-mcp-header` annotations of a tool's input schema, in order of appearance.
///
/// # Errors
///
/// If an annotation violates the rules: a client must not offer the tool then.
pub fn param_headers(schema: &Value) -> Result<Vec<ParamHeader>, InvalidParamHeader> {
    let (mut found, mut taken) = (Vec::new(), BTreeSet::new());
    // A schema and its path; `None` once it is not reached through properties alone.
    let mut open: Vec<(&Value, Option<Vec<String>>)> = vec![(schema, Some(Vec::new()))];
    while let Some((node, path)) = open.pop() {
        match node {
            Value::Object(schema) => {
                if let Some(name) = schema.get(KEY) {
                    found.push(annotation(name, schema, path.as_deref(), &mut taken)?);
                }
                // Reversed, because the stack reverses it again.
                for (keyword, value) in schema.iter().rev() {
                    descend(keyword, value, path.as_deref(), &mut open);
                }
            }
            Value::Array(schemas) => open.extend(schemas.iter().rev().map(|schema| (schema, None))),
            _ => {}
        }
    }
    Ok(found)
}

fn descend<'a>(
    keyword: &str,
    value: &'a Value,
    path: Option<&[String]>,
    open: &mut Vec<(&'a Value, Option<Vec<String>>)>,
) {
    match value {
        _ if keyword == KEY || DATA.contains(&keyword) => {}
        Value::Object(named) if NAMED.contains(&keyword) => {
            open.extend(named.iter().rev().map(|(name, schema)| {
                let path = path.filter(|_| keyword == "properties").map(|path| {
                    let mut path = path.to_vec();
                    path.push(name.clone());
                    path
                });
                (schema, path)
            }));
        }
        _ => open.push((value, None)),
    }
}

fn annotation(
    name: &Value,
    schema: &Map<String, Value>,
    path: Option<&[String]>,
    taken: &mut BTreeSet<String>,
) -> Result<ParamHeader, InvalidParamHeader> {
    let shown = || {
        name.as_str()
            .map_or_else(|| name.to_string(), str::to_owned)
    };
    let Some(suffix) = name.as_str().filter(|name| is_token(name)) else {
        return Err(InvalidParamHeader::NotAToken(shown()));
    };
    let Some(path) = path.filter(|path| !path.is_empty()) else {
        return Err(InvalidParamHeader::Misplaced(shown()));
    };
    match schema.get("type").and_then(Value::as_str) {
        Some("string" | "integer" | "boolean") => {}
        _ => return Err(InvalidParamHeader::NotPrimitive(shown())),
    }
    if !taken.insert(suffix.to_ascii_lowercase()) {
        return Err(InvalidParamHeader::Twice(shown()));
    }
    Ok(ParamHeader {
        suffix: suffix.to_owned(),
        path: path.to_vec(),
    })
}

/// A token of RFC 9110.
fn is_token(text: &str) -> bool {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    !text.is_empty() && text.bytes().all(allowed)
}

/// The largest integer that every JSON parser represents exactly.
const SAFE_INTEGER: i64 = (1 << 53) - 1;

impl ParamHeader {
    /// The header's value for these arguments, before escaping; `None` if the header must be absent.
    pub fn value(&self, arguments: &Value) -> Option<String> {
        let value = self
            .path
            .iter()
            .try_fold(arguments, |value, name| value.get(name))?;
        match value {
            Value::String(text) => Some(text.clone()),
            Value::Bool(flag) => Some(flag.to_string()),
            Value::Number(number) => whole(number)
                .filter(|n| (-SAFE_INTEGER..=SAFE_INTEGER).contains(n))
                .map(|n| n.to_string()),
            Value::Null | Value::Array(_) | Value::Object(_) => None,
        }
    }
}

fn whole(number: &serde_json::Number) -> Option<i64> {
    const BOUND: f64 = SAFE_INTEGER as f64;
    number.as_i64().or_else(|| {
        let float = number
            .as_f64()
            .filter(|f| f.fract() == 0.0 && f.abs() <= BOUND)?;
        #[expect(clippy::cast_possible_truncation, reason = "whole and in range")]
        Some(float as i64)
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(schema: Value, want: Result<&[&str], InvalidParamHeader>) {
        let got = param_headers(&schema).map(|found| {
            found
                .into_iter()
                .map(|header| header.suffix)
                .collect::<Vec<_>>()
        });
        assert_eq!(
            got,
            want.map(|names| names.iter().map(|&name| name.to_owned()).collect())
        );
    }

    fn property(annotated: Value) -> Value {
        json!({"type": "object", "properties": {"a": annotated}})
    }

    #[test]
    fn plain_and_nested_properties_are_mirrored() {
        check(json!({"type": "object"}), Ok(&[]));
        check(
            property(json!({"type": "string", "x-mcp-header": "Zone"})),
            Ok(&["Zone"]),
        );
        check(
            json!({"properties": {
                "b": {"properties": {"c": {"type": "boolean", "x-mcp-header": "C"}}},
                "a": {"type": "integer", "x-mcp-header": "A"},
            }}),
            Ok(&["C", "A"]),
        );
    }

    #[test]
    fn names_must_be_tokens_and_unique_whatever_their_case() {
        for bad in [json!(""), json!("a b"), json!("é"), json!("a:b"), json!(7)] {
            let shown = bad.as_str().map_or_else(|| bad.to_string(), str::to_owned);
            check(
                property(json!({"type": "string", "x-mcp-header": bad})),
                Err(InvalidParamHeader::NotAToken(shown)),
            );
        }
        check(
            json!({"properties": {
                "a": {"type": "string", "x-mcp-header": "Zone"},
                "b": {"type": "string", "x-mcp-header": "zone"},
            }}),
            Err(InvalidParamHeader::Twice("zone".to_owned())),
        );
    }

    #[test]
    fn only_strings_integers_and_booleans_are_mirrored() {
        for bad in [
            json!("number"),
            json!("object"),
            json!("array"),
            json!(["string", "null"]),
        ] {
            check(
                property(json!({"type": bad, "x-mcp-header": "A"})),
                Err(InvalidParamHeader::NotPrimitive("A".to_owned())),
            );
        }
        check(
            property(json!({"x-mcp-header": "A"})),
            Err(InvalidParamHeader::NotPrimitive("A".into())),
        );
    }

    #[test]
    fn annotations_off_the_path_of_properties_are_refused() {
        let annotated = json!({"type": "string", "x-mcp-header": "A"});
        for schema in [
            annotated.clone(),
            property(json!({"type": "array", "items": annotated})),
            json!({"anyOf": [{"properties": {"a": annotated}}]}),
            json!({"not": {"properties": {"a": annotated}}}),
            json!({"then": {"properties": {"a": annotated}}}),
            json!({"$defs": {"x": annotated}}),
            json!({"additionalProperties": annotated}),
        ] {
            check(schema, Err(InvalidParamHeader::Misplaced("A".to_owned())));
        }
    }

    #[test]
    fn the_key_in_data_or_as_a_property_name_is_no_annotation() {
        check(
            property(json!({"type": "object", "default": {"x-mcp-header": ""}})),
            Ok(&[]),
        );
        check(property(json!({"enum": [{"x-mcp-header": ""}]})), Ok(&[]));
        check(
            json!({"properties": {"x-mcp-header": {"type": "string"}}}),
            Ok(&[]),
        );
    }

    #[test]
    fn values_are_taken_from_the_exact_path() {
        let header = ParamHeader {
            suffix: "A".to_owned(),
            path: vec!["a".into(), "b".into()],
        };
        let value = |arguments: Value| header.value(&arguments);
        assert_eq!(value(json!({"a": {"b": ""}})), Some(String::new()));
        assert_eq!(value(json!({"a": {"b": true}})), Some("true".to_owned()));
        assert_eq!(value(json!({"a": {"b": -7}})), Some("-7".to_owned()));
        assert_eq!(value(json!({"a": {"b": 42.0}})), Some("42".to_owned()));
        assert_eq!(value(json!({"a": {"b": 9_007_199_254_740_992_i64}})), None);
        assert_eq!(value(json!({"a": {"b": 1.5}})), None);
        assert_eq!(value(json!({"a": {"b": null}})), None);
        assert_eq!(value(json!({"a": {}})), None);
        assert_eq!(value(json!({"b": 1})), None);
    }
}
