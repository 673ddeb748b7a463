//! Every keyword at every place, alone and beside every other: what is not reported still holds.

use serde_json::{Map, Value, json};
use tool_schema::{Loss, Target, compile};

use crate::{
    laws::sent,
    oracle::{as_json_schema, validator},
};

/// A part of a schema, and values some of which break it.
struct Sample {
    kind: &'static str,
    schema: Value,
    values: Vec<Value>,
}

fn samples() -> Vec<Sample> {
    let objects = [
        json!({}),
        json!({"a": "x"}),
        json!({"b": 1}),
        json!({"a": "x", "b": "y"}),
        json!({"x-1": 1, "c": "z", "d": 2}),
    ];
    let arrays = [
        json!([]),
        json!(["x"]),
        json!([1]),
        json!(["x", "x"]),
        json!(["x", 1, 2]),
        json!([1, 2, 3, 4]),
    ];
    let strings = [
        json!(""),
        json!("ab"),
        json!("A1"),
        json!("abcdef"),
        json!("2024-05-01"),
    ];
    let numbers = [json!(-1), json!(2), json!(3), json!(2.5), json!(9)];
    let mixed = [
        json!(null),
        json!(true),
        json!("ab"),
        json!(2),
        json!(2.5),
        json!(["x"]),
        json!({}),
        json!({"a": "x"}),
    ];
    let text = || json!({"type": "string"});
    let mut all = Vec::new();
    let mut add = |kind: &'static str, values: &[Value], schemas: Vec<Value>| {
        all.extend(schemas.into_iter().map(|schema| Sample {
            kind,
            schema,
            values: values.to_vec(),
        }));
    };
    add(
        "object",
        &objects,
        vec![
            json!({"properties": {"a": text()}}),
            json!({"required": ["a"]}),
            json!({"additionalProperties": text()}),
            json!({"additionalProperties": false}),
            json!({"patternProperties": {"^x-": text()}}),
            json!({"propertyNames": {"maxLength": 1}}),
            json!({"propertyNames": {"not": {"const": "b"}}}),
            json!({"minProperties": 1}),
            json!({"minProperties": 2}),
            json!({"maxProperties": 1}),
            json!({"dependentRequired": {"a": ["b"]}}),
            json!({"dependentSchemas": {"a": {"required": ["b"]}}}),
            json!({"unevaluatedProperties": false}),
            json!({"unevaluatedProperties": text()}),
        ],
    );
    add(
        "array",
        &arrays,
        vec![
            json!({"items": text()}),
            json!({"prefixItems": [text()]}),
            json!({"prefixItems": [text(), {"type": "integer"}]}),
            json!({"contains": text()}),
            json!({"contains": text(), "minContains": 2}),
            json!({"contains": text(), "maxContains": 1}),
            json!({"minItems": 1}),
            json!({"maxItems": 2}),
            json!({"uniqueItems": true}),
            json!({"unevaluatedItems": false}),
            json!({"unevaluatedItems": text()}),
        ],
    );
    add(
        "string",
        &strings,
        vec![
            json!({"minLength": 2}),
            json!({"maxLength": 3}),
            json!({"pattern": "^[a-z]*$"}),
            json!({"format": "date"}),
            json!({"contentEncoding": "base64"}),
        ],
    );
    for kind in ["number", "integer"] {
        add(
            kind,
            &numbers,
            vec![
                json!({"minimum": 2}),
                json!({"maximum": 2}),
                json!({"exclusiveMinimum": 2}),
                json!({"exclusiveMaximum": 3}),
                json!({"multipleOf": 3}),
            ],
        );
    }
    add(
        "any",
        &mixed,
        vec![
            json!({"enum": ["ab", 2, null, {"a": "x"}, ["x"]]}),
            json!({"const": "ab"}),
            json!({"const": {}}),
            json!({"anyOf": [{"maxLength": 1}, {"maximum": 2}]}),
            json!({"anyOf": [text(), {"type": "null"}]}),
            json!({"oneOf": [{"type": "integer"}, {"type": "number", "minimum": 2}, text()]}),
            json!({"allOf": [{"minLength": 2}, {"minProperties": 1}]}),
            json!({"allOf": [{"properties": {"a": true}, "unevaluatedProperties": false}]}),
            json!({"not": {"const": "ab"}}),
            json!({"not": {"required": ["a"]}}),
            json!({"if": {"required": ["a"]}, "then": {"required": ["b"]}}),
            json!({"if": {"type": "string"}, "else": {"minProperties": 1}}),
            json!({"if": {"properties": {"a": true}}}),
            json!({"$ref": "#/$defs/text"}),
            json!({"type": ["object", "null"]}),
            json!({"type": ["string", "array"]}),
        ],
    );
    all
}

/// Puts a schema, or a value for it, into place.
type Wrap = fn(Value) -> Value;

/// The places a schema may stand at: its name, the arguments' schema, and arguments for it.
const PLACES: &[(&str, Wrap, Wrap)] = &[
    ("root", |s| s, |v| v),
    (
        "property",
        |s| json!({"type": "object", "properties": {"p": s}}),
        |v| json!({"p": v}),
    ),
    (
        "map",
        |s| below(json!({"type": "object", "additionalProperties": s})),
        |v| json!({"p": {"k": v}}),
    ),
    (
        "nullable",
        |s| below(json!({"anyOf": [s, {"type": "null"}]})),
        |v| json!({"p": v}),
    ),
    (
        "items",
        |s| below(json!({"type": "array", "items": s})),
        |v| json!({"p": [v]}),
    ),
    (
        "prefixItems",
        |s| below(json!({"type": "array", "prefixItems": [s], "items": false})),
        |v| json!({"p": [v]}),
    ),
    (
        "patternProperties",
        |s| below(json!({"type": "object", "patternProperties": {"^k": s}})),
        |v| json!({"p": {"k": v}}),
    ),
    (
        "patterns alone",
        |s| {
            below(
                json!({"type": "object", "patternProperties": {"^k": s}, "additionalProperties": false}),
            )
        },
        |v| json!({"p": {"k": v}}),
    ),
    (
        "anyOf",
        |s| below(json!({"anyOf": [s, {"type": "boolean"}]})),
        |v| json!({"p": v}),
    ),
    (
        "oneOf",
        |s| below(json!({"oneOf": [s, {"const": 77}]})),
        |v| json!({"p": v}),
    ),
    (
        "allOf",
        |s| below(json!({"allOf": [s, {"description": "More."}]})),
        |v| json!({"p": v}),
    ),
    (
        "allOf of many",
        |s| below(json!({"allOf": [{"minLength": 1}, s, {"minProperties": 1}]})),
        |v| json!({"p": v}),
    ),
    (
        "$ref",
        |s| json!({"type": "object", "properties": {"p": {"$ref": "#/$defs/it"}}, "$defs": {"it": s}}),
        |v| json!({"p": v}),
    ),
    (
        "beside $ref",
        |s| {
            let mut s = s;
            s["$ref"] = json!("#/$defs/it");
            json!({"type": "object", "properties": {"p": s}, "$defs": {"it": {"minProperties": 1}}})
        },
        |v| json!({"p": v}),
    ),
    (
        "two references",
        |s| json!({"type": "object", "properties": {"p": {"$ref": "#/$defs/it", "$dynamicRef": "#/$defs/more"}}, "$defs": {"more": s, "it": {"minProperties": 1}}}),
        |v| json!({"p": v}),
    ),
    (
        "then",
        |s| below(json!({"if": true, "then": s})),
        |v| json!({"p": v}),
    ),
    (
        "else",
        |s| below(json!({"if": false, "else": s})),
        |v| json!({"p": v}),
    ),
    (
        "if",
        |s| below(json!({"if": s, "then": {"type": "string"}})),
        |v| json!({"p": v}),
    ),
    (
        "dependentSchemas",
        |s| json!({"type": "object", "properties": {"p": {"type": "object", "dependentSchemas": {"a": s}}}}),
        |v| json!({"p": v}),
    ),
    (
        "contains",
        |s| below(json!({"type": "array", "contains": s})),
        |v| json!({"p": [v]}),
    ),
    ("not", |s| below(json!({"not": s})), |v| json!({"p": v})),
    (
        "propertyNames",
        |s| {
            below(
                json!({"type": "object", "propertyNames": s, "additionalProperties": {"type": "integer"}}),
            )
        },
        |v| match v {
            Value::String(name) => json!({"p": {name: 1}}),
            _ => json!({"p": {"k": 1}}),
        },
    ),
    (
        "unevaluatedProperties",
        |s| below(json!({"type": "object", "unevaluatedProperties": s})),
        |v| json!({"p": {"k": v}}),
    ),
    (
        "unevaluatedItems",
        |s| below(json!({"type": "array", "unevaluatedItems": s})),
        |v| json!({"p": [v]}),
    ),
];

/// A property that must be given.
fn below(schema: Value) -> Value {
    json!({"type": "object", "properties": {"p": schema}, "required": ["p"]})
}

/// Targets with rules of their own; strict ones fall back to the others.
const TARGETS: &[Target] = &[
    Target::OPENAI_STRICT,
    Target::ANTHROPIC_STRICT,
    Target::GEMINI,
    Target::GEMINI_OPENAPI,
    Target::DEEPSEEK_STRICT,
    Target::BEDROCK,
    Target::OLLAMA,
];

/// A value, and whether it has keys that its schema lists no properties for: objects may be closed.
type Candidate = (Value, bool);

/// What is wrong with a schema for a target, if anything.
fn fault(schema: &Value, values: &[Candidate], keys: &[&String]) -> Option<String> {
    let before = validator(schema)?;
    let fitting: Vec<bool> = values
        .iter()
        .map(|(value, _)| before.is_valid(value))
        .collect();
    for target in TARGETS {
        let Ok(compiled) = compile(schema, target) else {
            continue;
        };
        let out = sent(&compiled);
        let tell = |what: String| {
            let losses: Vec<String> = compiled.losses.iter().map(ToString::to_string).collect();
            let losses = losses.join("; ");
            let name = target.name();
            Some(format!(
                "{name}: {what}\n  original {schema}\n  compiled {out}\n  losses {losses}"
            ))
        };
        // What is gone was reported.
        let text = out.to_string();
        for key in keys {
            let gone = !text.contains(&format!("\"{key}\":"));
            if gone && !compiled.losses.iter().any(|loss| covers(loss, schema, key)) {
                return tell(format!("`{key}` is gone"));
            }
        }
        if compiled.is_lossy() {
            continue;
        }
        let after = validator(&as_json_schema(&out))?;
        for ((value, beyond), fits) in values.iter().zip(&fitting) {
            let written = compiled.restore.project(value.clone());
            let restored = compiled.restore.apply(written.clone());
            let taken = after.is_valid(&written);
            if taken && !before.is_valid(&restored) {
                return tell(format!("takes {written}, which becomes {restored}"));
            }
            if *fits && !taken && !beyond {
                return tell(format!("does not take {value}, written {written}"));
            }
        }
    }
    None
}

/// Whether a loss is about the keyword, or about one that holds it.
fn covers(loss: &Loss, schema: &Value, key: &str) -> bool {
    let place = schema.pointer(&loss.pointer);
    let holder = place.and_then(|place| place.get(&loss.keyword));
    loss.keyword == key
        || holder.is_some_and(|holder| holder.to_string().contains(&format!("\"{key}\":")))
}

/// Checks a schema at a place. Where nothing fits it, its keywords may go: they all say that.
fn check(schema: &Value, place: &(&str, Wrap, Wrap), values: &[Value]) -> Option<String> {
    let (name, wrap, fill) = place;
    if *name == "root" && schema["type"] != "object" {
        return None;
    }
    let mut keys: Vec<&String> = schema
        .as_object()?
        .keys()
        .filter(|key| *key != "type")
        .collect();
    let text = json!({"type": "string", "minLength": 2});
    let mut alone = schema.clone();
    alone["$defs"]["text"] = text.clone();
    let alone = validator(&alone)?;
    if !values.iter().any(|value| alone.is_valid(value)) {
        keys.clear();
    }
    let mut whole = wrap(schema.clone());
    whole["$defs"]["text"] = text;
    let closes = schema.to_string().contains("\"properties\"");
    let beyond = |value: &Value| {
        let object = value.as_object();
        closes && object.is_some_and(|object| object.keys().any(|key| key != "a"))
    };
    let values: Vec<Candidate> = values
        .iter()
        .map(|value| (fill(value.clone()), beyond(value)))
        .collect();
    fault(&whole, &values, &keys).map(|fault| format!("{name}: {fault}"))
}

/// With its type, where it has one.
fn typed(kind: &str, schema: &Value) -> Value {
    let mut schema = schema.clone();
    if kind != "any" && schema.get("type").is_none() {
        schema["type"] = json!(kind);
    }
    schema
}

#[track_caller]
fn report(faults: Vec<String>) {
    let shown: Vec<&str> = faults.iter().take(12).map(String::as_str).collect();
    assert!(
        faults.is_empty(),
        "{} faults\n{}",
        faults.len(),
        shown.join("\n")
    );
}

#[test]
fn every_keyword_at_every_place_is_kept_or_reported() {
    let mut faults = Vec::new();
    for sample in samples() {
        for place in PLACES {
            let typed = typed(sample.kind, &sample.schema);
            faults.extend(check(&typed, place, &sample.values));
            if typed != sample.schema {
                faults.extend(check(&sample.schema, place, &sample.values));
            }
        }
    }
    report(faults);
}

/// Two keywords side by side, at the places where passes have most to do.
fn pairs(place: usize) {
    let samples = samples();
    let mut faults = Vec::new();
    for (index, one) in samples.iter().enumerate() {
        for two in &samples[index + 1..] {
            let kind = if one.kind == "any" {
                two.kind
            } else {
                one.kind
            };
            if two.kind != kind && two.kind != "any" {
                continue;
            }
            let mut both: Map<String, Value> =
                typed(kind, &one.schema).as_object().unwrap().clone();
            let clash = two
                .schema
                .as_object()
                .unwrap()
                .keys()
                .any(|key| key != "type" && both.contains_key(key));
            if clash {
                continue;
            }
            both.extend(two.schema.as_object().unwrap().clone());
            let values: Vec<Value> = one.values.iter().chain(&two.values).cloned().collect();
            faults.extend(check(&Value::Object(both), &PLACES[place], &values));
        }
    }
    report(faults);
}

#[test]
fn two_keywords_at_the_root_are_kept_or_reported() {
    pairs(0);
}

#[test]
fn two_keywords_of_a_property_are_kept_or_reported() {
    pairs(1);
}

#[test]
fn two_keywords_of_the_values_of_a_map_are_kept_or_reported() {
    pairs(2);
}

#[test]
fn two_keywords_of_a_nullable_property_are_kept_or_reported() {
    pairs(3);
}
