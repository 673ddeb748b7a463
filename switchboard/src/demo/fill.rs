//! Arguments for a tool, made up from its schema and what the user said.

use std::collections::VecDeque;

use provider_adapters::ToolSpec;
use serde_json::{Map, Number, Value, json};

/// How deep a schema is followed.
const DEPTH: usize = 8;
/// A day, in milliseconds.
const DAY: i64 = 86_400_000;

/// The arguments as JSON text: what is required, and what the words have a number or a quoted
/// text for.
pub(crate) fn arguments(tool: &ToolSpec, question: &str) -> String {
    let schema: Value = tool.input_schema.parse().unwrap_or_default();
    let mut words = Words::new(&schema, question);
    let made = words.object(&schema, DEPTH);
    Value::Object(made).to_string()
}

/// What the user said, to be used up.
struct Words<'a> {
    root: &'a Value,
    lower: String,
    numbers: VecDeque<Number>,
    quoted: VecDeque<String>,
    rest: String,
}

impl<'a> Words<'a> {
    fn new(root: &'a Value, question: &str) -> Self {
        let rest = match question.split_once([':', '\u{ff1a}']) {
            Some((_, after)) if !after.trim().is_empty() => after,
            _ => question,
        };
        Self {
            root,
            lower: question.to_lowercase(),
            numbers: numbers(question),
            quoted: quoted(question),
            rest: rest.trim().to_owned(),
        }
    }

    fn object(&mut self, schema: &Value, depth: usize) -> Map<String, Value> {
        let mut made = Map::new();
        let required: Vec<&str> = schema
            .get("required")
            .and_then(Value::as_array)
            .map(|names| names.iter().filter_map(Value::as_str).collect())
            .unwrap_or_default();
        let properties = schema.get("properties").and_then(Value::as_object);
        // What must be there is served first.
        for wanted in [true, false] {
            for (name, schema) in properties.into_iter().flatten() {
                if required.contains(&name.as_str()) != wanted {
                    continue;
                }
                let value = match wanted {
                    true => Some(self.value(name, schema, depth)),
                    false => self.optional(name, schema),
                };
                if let Some(value) = value {
                    made.insert(name.clone(), value);
                }
            }
        }
        made
    }

    /// A value only if the user gave one.
    fn optional(&mut self, name: &str, schema: &Value) -> Option<Value> {
        let schema = self.resolved(schema);
        match kind(&schema) {
            _ if schema.get("const").is_some() => None,
            _ if schema.get("enum").is_some() => self.mentioned(&schema),
            Some("number" | "integer") => self.number(name, &schema),
            Some("string") => self.quoted.pop_front().map(Value::from),
            _ => None,
        }
    }

    fn value(&mut self, name: &str, schema: &Value, depth: usize) -> Value {
        let schema = self.resolved(schema);
        if depth == 0 {
            return Value::Null;
        }
        if let Some(only) = schema.get("const") {
            return only.clone();
        }
        if let Some(choices) = schema.get("enum").and_then(Value::as_array) {
            let first = choices.first().cloned().unwrap_or_default();
            return self.mentioned(&schema).unwrap_or(first);
        }
        let default = schema.get("default").cloned();
        for key in ["anyOf", "oneOf", "allOf"] {
            let branch = schema
                .get(key)
                .and_then(|branches| branches.get(0))
                .cloned();
            if let (None, Some(branch)) = (kind(&schema), branch) {
                return self.value(name, &branch, depth - 1);
            }
        }
        match kind(&schema) {
            Some("number" | "integer") => {
                let least = schema.get("minimum").cloned();
                self.number(name, &schema)
                    .or(default)
                    .or(least)
                    .unwrap_or_else(|| json!(0))
            }
            Some("boolean") => default.unwrap_or(Value::Bool(false)),
            Some("null") => Value::Null,
            Some("array") => {
                let count = schema
                    .get("minItems")
                    .and_then(Value::as_u64)
                    .unwrap_or_default();
                let item = schema.get("items").cloned().unwrap_or(Value::Bool(true));
                (0..count.min(8))
                    .map(|_| self.value(name, &item, depth - 1))
                    .collect()
            }
            Some("object") => Value::Object(self.object(&schema, depth - 1)),
            _ if schema.get("properties").is_some() => {
                Value::Object(self.object(&schema, depth - 1))
            }
            _ => self.text(&schema).into(),
        }
    }

    /// The next number the user said; of offsets in time, what their words mean.
    fn number(&mut self, name: &str, schema: &Value) -> Option<Value> {
        if name.to_lowercase().contains("offset") {
            let day = [
                ("yesterday", -DAY),
                ("昨天", -DAY),
                ("tomorrow", DAY),
                ("明天", DAY),
            ];
            let said = day.iter().find(|(word, _)| self.lower.contains(word));
            if let Some((_, offset)) = said {
                return Some(json!(offset));
            }
        }
        let whole = kind(schema) == Some("integer");
        let fits = |number: &Number| !whole || number.is_i64() || number.is_u64();
        let at = self.numbers.iter().position(fits)?;
        self.numbers.remove(at).map(Value::Number)
    }

    /// What the user quoted, else all they said, unless only a certain form will do.
    fn text(&mut self, schema: &Value) -> String {
        let sample = match schema.get("format").and_then(Value::as_str) {
            Some("date") => Some("2026-01-01"),
            Some("date-time") => Some("2026-01-01T00:00:00Z"),
            Some("time") => Some("00:00:00Z"),
            Some("email") => Some("ada@example.com"),
            Some("uri" | "url") => Some("https://example.com/"),
            Some("uuid") => Some("00000000-0000-4000-8000-000000000000"),
            _ => None,
        };
        let given = self.quoted.pop_front();
        given
            .or(sample.map(str::to_owned))
            .unwrap_or_else(|| self.rest.clone())
    }

    /// The choice the user named.
    fn mentioned(&self, schema: &Value) -> Option<Value> {
        let choices = schema.get("enum").and_then(Value::as_array)?;
        let named = |choice: &&Value| match choice {
            Value::String(text) => !text.is_empty() && self.lower.contains(&text.to_lowercase()),
            Value::Number(number) => self.numbers.contains(number),
            _ => false,
        };
        choices.iter().find(named).cloned()
    }

    /// The schema that a reference within the document leads to.
    fn resolved(&self, schema: &Value) -> Value {
        let mut schema = schema;
        for _ in 0..DEPTH {
            let target = schema.get("$ref").and_then(Value::as_str);
            match target.and_then(|target| self.root.pointer(target.strip_prefix('#')?)) {
                Some(target) => schema = target,
                None => break,
            }
        }
        schema.clone()
    }
}

/// The type a schema names; of several, the first that is something.
fn kind(schema: &Value) -> Option<&str> {
    match schema.get("type")? {
        Value::String(kind) => Some(kind),
        Value::Array(kinds) => {
            let mut kinds = kinds.iter().filter_map(Value::as_str);
            kinds
                .clone()
                .find(|kind| *kind != "null")
                .or_else(|| kinds.next())
        }
        _ => None,
    }
}

/// The numbers in a text, in order.
fn numbers(text: &str) -> VecDeque<Number> {
    let sign = |sign: char| !(sign.is_ascii_digit() || sign == '.' || sign == '-');
    let number = |word: &str| word.trim_end_matches(['.', '-']).parse::<Number>().ok();
    text.split(sign).filter_map(number).collect()
}

/// The quoted texts, in order.
fn quoted(text: &str) -> VecDeque<String> {
    const MARKS: [(char, char); 5] = [('"', '"'), ('“', '”'), ('„', '“'), ('`', '`'), ('「', '」')];
    let mut found = VecDeque::new();
    let mut rest = text;
    while let Some(at) = rest.find(|sign| MARKS.iter().any(|(open, _)| *open == sign)) {
        let from = rest.get(at..).unwrap_or_default();
        let mut signs = from.chars();
        let open = signs.next().unwrap_or_default();
        let close = MARKS
            .iter()
            .find(|(mark, _)| *mark == open)
            .map_or(open, |(_, close)| *close);
        match signs.as_str().split_once(close) {
            Some((inside, after)) => {
                found.push_back(inside.to_owned());
                rest = after;
            }
            None => break,
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(schema: Value, question: &str, want: Value) {
        let schema = serde_json::from_value(schema).unwrap();
        let made = arguments(&ToolSpec::new("tool", schema), question);
        assert_eq!(serde_json::from_str::<Value>(&made).unwrap(), want);
    }

    #[test]
    fn numbers_and_texts_come_from_the_words() {
        let add = json!({"properties": {"a": {"type": "number"}, "b": {"type": "number"}}, "required": ["a", "b"]});
        check(add.clone(), "add 2 and -40.5.", json!({"a": 2, "b": -40.5}));
        check(add, "add", json!({"a": 0, "b": 0}));
        let note = json!({"properties": {"text": {"type": "string"}, "title": {"type": "string"}}, "required": ["text"]});
        check(
            note.clone(),
            "Write a note: buy milk",
            json!({"text": "buy milk"}),
        );
        check(
            note.clone(),
            "note “one” and \"two\"",
            json!({"text": "one", "title": "two"}),
        );
        check(note, "note it", json!({"text": "note it"}));
        let time =
            json!({"properties": {"offset_ms": {"type": "number"}}, "required": ["offset_ms"]});
        check(
            time.clone(),
            "What day was yesterday?",
            json!({"offset_ms": -86_400_000}),
        );
        check(time, "What time is it?", json!({"offset_ms": 0}));
        let big = json!({"properties": {"letters": {"type": "integer"}}});
        check(big.clone(), "big 1.5 then 300", json!({"letters": 300}));
        check(big, "big", json!({}));
    }

    #[test]
    fn odd_schemas_are_filled_with_what_they_allow() {
        let schema = json!({
            "$defs": {"node": {"type": "object", "properties": {"next": {"$ref": "#/$defs/node"}, "id": {"type": "integer", "minimum": 3}}, "required": ["id"]}},
            "properties": {
                "node": {"$ref": "#/$defs/node"},
                "level": {"enum": ["low", "high"]},
                "kind": {"const": "odd"},
                "either": {"oneOf": [{"type": "boolean"}, {"type": "string"}]},
                "maybe": {"type": ["null", "array"], "items": {"type": "string", "format": "date"}, "minItems": 1},
            },
            "required": ["node", "level", "kind", "either", "maybe"],
        });
        check(
            schema,
            "as HIGH as it goes",
            json!({
                "node": {"id": 3}, "level": "high", "kind": "odd", "either": false, "maybe": ["2026-01-01"],
            }),
        );
    }

    #[test]
    fn a_schema_without_end_is_followed_only_so_far() {
        let schema = json!({"properties": {"self": {"$ref": "#"}}, "required": ["self"]});
        let schema = serde_json::from_value(schema).unwrap();
        assert!(arguments(&ToolSpec::new("tool", schema), "x").len() < 200);
        let around = json!({"$defs": {"a": {"$ref": "#/$defs/a"}}, "properties": {"x": {"$ref": "#/$defs/a"}}, "required": ["x"]});
        check(around, "x", json!({"x": "x"}));
    }
}
