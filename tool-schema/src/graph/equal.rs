//! Equality of values as JSON Schema defines it.

use serde_json::{Map, Value};

/// A text that is the same for values that JSON Schema considers equal: `1` and `1.0`.
pub(crate) fn canon(value: &Value) -> String {
    match value {
        Value::Number(number) if number.is_f64() => match number.as_f64() {
            Some(float) if float.fract() == 0.0 && float.abs() < 1e15 => format!("{float:.0}"),
            _ => number.to_string(),
        },
        Value::Array(list) => {
            let items: Vec<String> = list.iter().map(canon).collect();
            format!("[{}]", items.join(","))
        }
        Value::Object(map) => {
            let mut items: Vec<String> = map
                .iter()
                .map(|(key, item)| format!("{key:?}:{}", canon(item)))
                .collect();
            items.sort();
            format!("{{{}}}", items.join(","))
        }
        other => other.to_string(),
    }
}

/// Equality as defined by JSON Schema.
pub(crate) fn same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(x), Value::Number(y)) => {
            x == y || (x.as_f64() == y.as_f64() && (x.is_f64() || y.is_f64()))
        }
        (Value::Array(x), Value::Array(y)) => {
            x.len() == y.len() && x.iter().zip(y).all(|(x, y)| same(x, y))
        }
        (Value::Object(x), Value::Object(y)) => same_map(x, y),
        _ => a == b,
    }
}

fn same_map(a: &Map<String, Value>, b: &Map<String, Value>) -> bool {
    a.len() == b.len()
        && a.iter()
            .all(|(key, value)| b.get(key).is_some_and(|other| same(value, other)))
}
