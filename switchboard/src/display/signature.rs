//! One-line tool signatures in the style of manuals: `read_file(path:str,[limit:int])`.

use serde_json::Value;

/// Maximum length of a list of choices that is written out.
const CHOICES: usize = 32;
/// How deep references and alternatives are followed.
const DEPTH: u32 = 8;

/// A tool's signature: required arguments, then optional ones in brackets.
pub(crate) fn signature(name: &str, schema: &Value) -> String {
    let properties = schema.get("properties").and_then(Value::as_object);
    let required = required(schema);
    let mut parts = [Vec::new(), Vec::new()];
    for (argument, about) in properties.into_iter().flatten() {
        let kind = kind(about, schema, DEPTH);
        let [must, may] = &mut parts;
        match required.contains(&argument.as_str()) {
            true => must.push(format!("{argument}:{kind}")),
            false => may.push(format!("[{argument}:{kind}]")),
        }
    }
    format!("{name}({})", parts.concat().join(","))
}

/// The names of the required arguments.
pub(crate) fn required(schema: &Value) -> Vec<&str> {
    let names = schema.get("required").and_then(Value::as_array);
    names
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect()
}

/// What a `$ref` within the same schema leads to; any other schema itself.
pub(crate) fn follow<'a>(schema: &'a Value, root: &'a Value, depth: u32) -> &'a Value {
    let target = schema.get("$ref").and_then(Value::as_str);
    let target = target.and_then(|target| root.pointer(target.strip_prefix('#')?));
    match (target, depth) {
        (Some(target), 1..) => follow(target, root, depth - 1),
        _ => schema,
    }
}

fn kind(schema: &Value, root: &Value, depth: u32) -> String {
    let schema = follow(schema, root, depth);
    if let Some(choices) = choices(schema) {
        return choices;
    }
    let deeper = depth.saturating_sub(1);
    match schema.get("type") {
        Some(Value::String(name)) => match name.as_str() {
            "array" => match schema.get("items") {
                Some(items) if depth > 0 => format!("{}[]", kind(items, root, deeper)),
                _ => "any[]".to_owned(),
            },
            name => short(name).to_owned(),
        },
        Some(Value::Array(names)) => {
            let names = names.iter().filter_map(Value::as_str);
            join(
                names
                    .filter(|name| *name != "null")
                    .map(|name| short(name).to_owned()),
            )
        }
        _ => {
            let ways = ["anyOf", "oneOf"].into_iter();
            let mut ways = ways.filter_map(|key| schema.get(key)?.as_array());
            match ways.next() {
                Some(ways) if depth > 0 => {
                    let ways = ways.iter().map(|way| kind(way, root, deeper));
                    join(ways.filter(|way| way != "null"))
                }
                _ => "any".to_owned(),
            }
        }
    }
}

/// Removes duplicates, keeping the order.
fn join(kinds: impl Iterator<Item = String>) -> String {
    let mut once: Vec<String> = Vec::new();
    for kind in kinds {
        if !once.contains(&kind) {
            once.push(kind);
        }
    }
    match once.is_empty() {
        true => "any".to_owned(),
        false => once.join("|"),
    }
}

/// `a|b|c`, if that is short.
fn choices(schema: &Value) -> Option<String> {
    let values = schema.get("enum")?.as_array()?;
    let texts = values.iter().map(|value| match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    });
    let text = texts.collect::<Vec<_>>().join("|");
    let plain = !text.is_empty() && !text.contains(char::is_whitespace);
    (plain && text.chars().count() <= CHOICES).then_some(text)
}

fn short(name: &str) -> &str {
    match name {
        "string" => "str",
        "integer" => "int",
        "number" => "num",
        "boolean" => "bool",
        "object" => "obj",
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(properties: Value, required: Value, want: &str) {
        let schema = json!({
            "type": "object", "properties": properties, "required": required,
            "$defs": {"id": {"type": "integer"}, "loop": {"$ref": "#/$defs/loop"}},
        });
        assert_eq!(signature("f", &schema), want);
    }

    #[test]
    fn what_may_be_left_out_stands_in_brackets_and_last() {
        check(
            json!({"limit": {"type": "integer"}, "path": {"type": "string"}}),
            json!(["path"]),
            "f(path:str,[limit:int])",
        );
        assert_eq!(signature("now", &json!({"type": "object"})), "now()");
        assert_eq!(signature("odd", &json!(true)), "odd()");
    }

    #[test]
    fn types_are_abbreviated() {
        check(
            json!({
                "a": {"type": ["string", "null"]},
                "b": {"anyOf": [{"type": "number"}, {"type": "null"}]},
                "c": {"type": "array", "items": {"type": "boolean"}},
                "d": {"enum": ["up", "down"]},
                "e": {"$ref": "#/$defs/id"},
                "g": {"type": "object"},
                "h": {},
                "i": {"$ref": "#/$defs/loop"},
            }),
            json!(["a", "b", "c", "d", "e", "g", "h", "i"]),
            "f(a:str,b:num,c:bool[],d:up|down,e:int,g:obj,h:any,i:any)",
        );
    }
}
