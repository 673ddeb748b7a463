//! The values of keywords without schemas: kept if they are valid for the keyword, in one spelling.

use serde_json::Value;

/// The valid form of `value` for the keyword `key`, if there is one.
pub(super) fn sound(key: &str, value: &Value) -> Option<Value> {
    match key {
        "title" | "description" | "format" | "pattern" | "contentEncoding" | "contentMediaType" => {
            value.is_string().then(|| value.clone())
        }
        "minLength" | "maxLength" | "minItems" | "maxItems" | "minProperties" | "maxProperties"
        | "minContains" | "maxContains" => count(value).map(Value::from),
        "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" => {
            value.is_number().then(|| value.clone())
        }
        "multipleOf" => value
            .as_f64()
            .filter(|step| *step > 0.0)
            .map(|_| value.clone()),
        "uniqueItems" | "deprecated" | "readOnly" | "writeOnly" => {
            value.is_boolean().then(|| value.clone())
        }
        // An empty list is treated as a mistake, not as "no value".
        "enum" => value
            .as_array()
            .filter(|values| !values.is_empty())
            .map(|values| Value::Array(distinct(values))),
        "examples" => value.is_array().then(|| value.clone()),
        "required" => value.as_array().map(|names| {
            Value::Array(
                distinct(names)
                    .into_iter()
                    .filter(Value::is_string)
                    .collect(),
            )
        }),
        "dependentRequired" => value.is_object().then(|| value.clone()),
        _ => Some(value.clone()),
    }
}

/// Whether a valid value has no effect.
pub(super) fn says_nothing(key: &str, value: &Value) -> bool {
    match key {
        "minLength" | "minItems" | "minProperties" => *value == 0,
        "uniqueItems" | "deprecated" | "readOnly" | "writeOnly" => *value == false,
        "required" => value.as_array().is_some_and(Vec::is_empty),
        _ => false,
    }
}

fn count(value: &Value) -> Option<u64> {
    value.as_u64().or_else(|| {
        let float = value.as_f64()?;
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "checked to be a whole number in range"
        )]
        (float.fract() == 0.0 && (0.0..=9.0e15).contains(&float)).then_some(float as u64)
    })
}

/// Whether lists and maps in `value` nest deeper than `limit`.
pub(crate) fn is_deeper(value: &Value, limit: usize) -> bool {
    let mut stack = vec![(value, 0)];
    while let Some((value, depth)) = stack.pop() {
        if depth > limit {
            return true;
        }
        match value {
            Value::Array(list) => stack.extend(list.iter().map(|item| (item, depth + 1))),
            Value::Object(map) => stack.extend(map.values().map(|item| (item, depth + 1))),
            _ => {}
        }
    }
    false
}

fn distinct(values: &[Value]) -> Vec<Value> {
    let mut seen = std::collections::HashSet::new();
    values
        .iter()
        .filter(|value| seen.insert(value.to_string()))
        .cloned()
        .collect()
}
