//! Fields of untrusted JSON objects: a field of the wrong type counts as missing.

use serde_json::{Map, Value};

/// An untrusted JSON object.
pub(crate) type Document = Map<String, Value>;

/// A string field.
pub(crate) fn text(document: &Document, field: &str) -> Option<String> {
    document.get(field)?.as_str().map(str::to_owned)
}

/// A list of strings; entries of other types are skipped. `None` if there is no list.
pub(crate) fn texts(document: &Document, field: &str) -> Option<Vec<String>> {
    let list = document.get(field)?.as_array()?;
    Some(
        list.iter()
            .filter_map(|entry| entry.as_str().map(str::to_owned))
            .collect(),
    )
}

/// A flag; missing means `false`.
pub(crate) fn flag(document: &Document, field: &str) -> bool {
    document
        .get(field)
        .and_then(Value::as_bool)
        .unwrap_or_default()
}

/// A number of seconds, also if it is written as a string or with a fraction.
pub(crate) fn seconds(document: &Document, field: &str) -> Option<u64> {
    match document.get(field)? {
        Value::String(text) => text.trim().parse().ok(),
        Value::Number(number) => number.as_u64().or_else(|| {
            let float = number
                .as_f64()
                .filter(|float| float.is_finite() && *float >= 0.0)?;
            Some(float as u64)
        }),
        _ => None,
    }
}
