//! Schemas of all kinds, sound and odd.

use proptest::{prelude::*, sample::select};
use serde_json::{Map, Value, json};

/// Keys that are awkward somewhere, among them the keywords themselves.
fn keys() -> impl Strategy<Value = String> {
    select(vec![
        "a",
        "b",
        "c",
        "name",
        "type",
        "properties",
        "required",
        "$ref",
        "items",
        "enum",
        "$top",
        "key with space",
        "x.y",
        "ünï",
        "1st",
        "a/b",
        "a~b",
        "_top",
        "value",
        "key",
        "default",
        "DateCreated<",
    ])
    .prop_map(str::to_owned)
}

fn scalars() -> impl Strategy<Value = Value> {
    select(vec![
        json!("x"),
        json!("y"),
        json!(""),
        json!("1"),
        json!(1),
        json!(2),
        json!(1.5),
        json!(true),
        json!(false),
        json!(null),
        json!({"k": 1}),
        json!([1]),
        json!("null"),
    ])
}

fn notes() -> impl Strategy<Value = Map<String, Value>> {
    (
        prop::option::of(Just("Words.")),
        prop::option::weighted(0.2, scalars()),
        prop::bool::weighted(0.1),
    )
        .prop_map(|(description, default, title)| {
            let mut map = Map::new();
            if let Some(text) = description {
                map.insert("description".into(), text.into());
            }
            if let Some(value) = default {
                map.insert("default".into(), value);
            }
            if title {
                map.insert("title".into(), "Title".into());
                map.insert("$comment".into(), "noise".into());
                map.insert("x-more".into(), json!({"type": "string"}));
            }
            map
        })
}

fn leaves() -> impl Strategy<Value = Value> {
    let number = (
        select(vec!["number", "integer"]),
        prop::option::of(-3..3_i64),
        prop::option::of(0..9_i64),
        0..4_u8,
    )
        .prop_map(|(kind, low, high, style)| {
            let mut map = Map::from_iter([("type".to_owned(), json!(kind))]);
            let (least, most) = if style == 1 {
                ("exclusiveMinimum", "exclusiveMaximum")
            } else {
                ("minimum", "maximum")
            };
            low.map(|n| map.insert(least.into(), n.into()));
            high.map(|n| map.insert(most.into(), n.into()));
            if style == 2 {
                map.insert("multipleOf".into(), 2.into());
            }
            Value::Object(map)
        });
    let string = (
        prop::option::of(0..3_u64),
        prop::option::of(1..6_u64),
        0..6_u8,
    )
        .prop_map(|(low, high, style)| {
            let mut map = Map::from_iter([("type".to_owned(), json!("string"))]);
            low.map(|n| map.insert("minLength".into(), n.into()));
            high.map(|n| map.insert("maxLength".into(), n.into()));
            match style {
                1 => drop(map.insert("format".into(), "date-time".into())),
                2 => drop(map.insert("pattern".into(), "^[a-z]+$".into())),
                3 => drop(map.insert("pattern".into(), "^(?!x).*$".into())),
                _ => {}
            }
            Value::Object(map)
        });
    prop_oneof![
        4 => string,
        3 => number,
        1 => Just(json!({"type": "boolean"})),
        1 => Just(json!({"type": "null"})),
        2 => select(vec![json!({"type": ["string", "null"]}), json!({"type": ["integer", "string"]}),
            json!({"type": ["object", "null"]}), json!({"type": ["array", "string", "null"], "items": {"type": "string"}})]),
        2 => prop::collection::vec(scalars(), 1..4).prop_map(|values| json!({"enum": values})),
        2 => prop::collection::vec(select(vec!["x", "y", "z", ""]), 1..4)
            .prop_map(|values| json!({"type": "string", "enum": values})),
        1 => prop::collection::vec(1..4_i64, 1..3).prop_map(|values| json!({"type": "integer", "enum": values})),
        1 => scalars().prop_map(|value| json!({"const": value})),
        1 => select(vec![json!({}), json!(true), json!({"type": "object"}), json!({"type": "array"})]),
        1 => Just(json!(false)),
        3 => select(vec![json!({"$ref": "#/$defs/a"}), json!({"$ref": "#/$defs/b"}),
            json!({"$ref": "#/$defs/a", "description": "Beside."}), json!({"$ref": "#/$defs/c", "minProperties": 1})]),
    ]
}

fn object(inner: BoxedStrategy<Value>) -> impl Strategy<Value = Value> {
    let rest = prop_oneof![
        4 => Just(None),
        4 => Just(Some(json!(false))),
        1 => Just(Some(json!(true))),
        2 => inner.clone().prop_map(Some),
    ];
    let properties = prop::collection::vec((keys(), inner.clone(), any::<bool>()), 0..5);
    (properties, rest, notes(), 0..24_u8, inner).prop_map(
        |(properties, rest, notes, style, other)| {
            let mut map = notes;
            map.insert("type".into(), "object".into());
            let mut named = Map::new();
            let mut required = Vec::new();
            for (key, schema, needed) in properties {
                if needed && !required.contains(&key) {
                    required.push(key.clone());
                }
                named.insert(key, schema);
            }
            if !named.is_empty() || style < 12 {
                map.insert("properties".into(), Value::Object(named));
            }
            if let Some(rest) = rest {
                map.insert("additionalProperties".into(), rest);
            }
            match style {
                1 => drop(map.insert("minProperties".into(), 1.into())),
                2 => drop(map.insert("maxProperties".into(), 3.into())),
                3 => drop(map.insert("patternProperties".into(), json!({"^x-": other}))),
                4 => drop(map.insert("propertyNames".into(), json!({"maxLength": 12}))),
                5 => drop(map.insert("dependentRequired".into(), json!({"a": ["b"]}))),
                6 => {
                    map.insert("if".into(), json!({"required": ["a"]}));
                    map.insert("then".into(), json!({"required": ["b"]}));
                }
                7 => drop(map.insert(
                    "anyOf".into(),
                    json!([{"required": ["a"]}, {"required": ["b"]}]),
                )),
                8 => required.push("unknown".into()),
                9 => drop(map.insert("not".into(), json!({"required": ["a", "b"]}))),
                10 => drop(map.insert("unevaluatedProperties".into(), json!(false))),
                _ => {}
            }
            map.insert("required".into(), json!(required));
            Value::Object(map)
        },
    )
}

fn array(inner: BoxedStrategy<Value>) -> impl Strategy<Value = Value> {
    (
        prop::option::of(inner.clone()),
        prop::collection::vec(inner, 0..3),
        notes(),
        0..6_u8,
        0..3_u64,
    )
        .prop_map(|(items, prefix, notes, style, count)| {
            let mut map = notes;
            map.insert("type".into(), "array".into());
            if let Some(items) = items {
                map.insert("items".into(), items);
            }
            match style {
                1 if !prefix.is_empty() => drop(map.insert("prefixItems".into(), prefix.into())),
                2 => drop(map.insert("minItems".into(), count.into())),
                3 => drop(map.insert("maxItems".into(), (count + 1).into())),
                4 => drop(map.insert("uniqueItems".into(), true.into())),
                _ => {}
            }
            Value::Object(map)
        })
}

fn subschemas() -> impl Strategy<Value = Value> {
    leaves().prop_recursive(3, 24, 4, |inner| {
        let union = (select(vec!["anyOf", "anyOf", "oneOf", "allOf"]), prop::collection::vec(inner.clone(), 1..4), notes())
            .prop_map(|(key, branches, mut notes)| {
                notes.insert(key.into(), branches.into());
                Value::Object(notes)
            });
        let nullable = (inner.clone(), notes()).prop_map(|(branch, mut notes)| {
            notes.insert("anyOf".into(), json!([branch, {"type": "null"}]));
            notes.insert("default".into(), Value::Null);
            Value::Object(notes)
        });
        let tagged = (inner.clone(), inner.clone(), any::<bool>()).prop_map(|(one, two, exact)| {
            let branch = |tag: &str, inner: Value| {
                json!({"type": "object", "properties": {"type": {"const": tag}, "of": inner}, "required": ["type"],
                    "additionalProperties": false})
            };
            let key = if exact { "oneOf" } else { "anyOf" };
            json!({key: [branch("one", one), branch("two", two)]})
        });
        prop_oneof![
            5 => object(inner.clone().boxed()),
            3 => array(inner.boxed()),
            2 => union,
            2 => nullable,
            1 => tagged,
        ]
    })
}

/// Schemas of tools: mostly objects, with definitions that may be recursive.
pub(crate) fn schemas() -> impl Strategy<Value = Value> {
    let root = prop_oneof![8 => object(subschemas().boxed()).boxed(), 1 => subschemas().boxed()];
    (root, subschemas(), subschemas(), any::<bool>()).prop_map(|(root, a, b, recursive)| {
        let Value::Object(mut map) = root else { return root };
        let c = json!({"type": "object", "properties": {"next": {"$ref": if recursive { "#/$defs/c" } else { "#/$defs/b" }},
            "name": {"type": "string"}}, "required": ["name"]});
        // `a` may use `b` and `c`, `b` may use `c`: only `c` is recursive.
        let a = point(a, &[("#/$defs/a", "#/$defs/b")]);
        let b = point(b, &[("#/$defs/a", "#/$defs/c"), ("#/$defs/b", "#/$defs/c")]);
        map.insert("$defs".into(), json!({"a": a, "b": point(b, &[]), "c": point(c, &[("#/$defs/b", "#/$defs/c")])}));
        Value::Object(map)
    })
}

/// Turns references to other definitions.
fn point(schema: Value, turns: &[(&str, &str)]) -> Value {
    match schema {
        Value::Object(map) => map
            .into_iter()
            .map(|(key, value)| match value {
                Value::String(text) if key == "$ref" => {
                    let turned = turns.iter().find(|(from, _)| *from == text);
                    (key, turned.map_or(text, |(_, to)| (*to).to_owned()).into())
                }
                value => (key, point(value, turns)),
            })
            .collect::<Map<_, _>>()
            .into(),
        Value::Array(list) => list.into_iter().map(|value| point(value, turns)).collect(),
        other => other,
    }
}
