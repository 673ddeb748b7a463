//! A tool in one line, as a function is written.

use serde_json::Value;

/// Such as `add(a: number, b: number)`, with what may be left out in brackets:
/// `slow([ms: integer])`.
pub(crate) fn signature(name: &str, schema: &Value) -> String {
    let required: Vec<&str> = schema
        .get("required")
        .and_then(Value::as_array)
        .map(|names| names.iter().filter_map(Value::as_str).collect())
        .unwrap_or_default();
    let properties = schema.get("properties").and_then(Value::as_object);
    let parameters: Vec<String> = properties
        .into_iter()
        .flatten()
        .map(|(name, schema)| {
            let parameter = format!("{name}: {}", kind(schema));
            match required.contains(&name.as_str()) {
                true => parameter,
                false => format!("[{parameter}]"),
            }
        })
        .collect();
    format!("{name}({})", parameters.join(", "))
}

/// The type of a value, as far as one word or a few choices say it.
fn kind(schema: &Value) -> String {
    let words = |values: &[Value]| -> String {
        let shown: Vec<String> = values.iter().take(4).map(plain).collect();
        let more = if values.len() > shown.len() {
            "|…"
        } else {
            ""
        };
        format!("{}{more}", shown.join("|"))
    };
    if let Some(only) = schema.get("const") {
        return plain(only);
    }
    if let Some(choices) = schema.get("enum").and_then(Value::as_array) {
        return words(choices);
    }
    match schema.get("type") {
        Some(Value::String(kind)) if kind == "array" => match schema.get("items") {
            Some(item) if item.is_object() => format!("{}[]", self::kind(item)),
            _ => "array".to_owned(),
        },
        Some(Value::String(kind)) => kind.clone(),
        Some(Value::Array(kinds)) => words(kinds),
        _ => "any".to_owned(),
    }
}

fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn tools_are_written_as_functions() {
        let schema = json!({
            "properties": {
                "path": {"type": "string"},
                "tags": {"type": "array", "items": {"type": ["string", "null"]}},
                "level": {"enum": [1, 2, 3, 4, 5]},
                "kind": {"const": "x"},
                "all": true,
            },
            "required": ["path", "level"],
        });
        let want =
            "f(path: string, [tags: string|null[]], level: 1|2|3|4|…, [kind: x], [all: any])";
        assert_eq!(signature("f", &schema), want);
        assert_eq!(signature("f", &json!({})), "f()");
    }
}
