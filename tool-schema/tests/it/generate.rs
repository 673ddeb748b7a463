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

/// Any of `all`, each with the same chance, so that each comes beside each other.
fn some(
    all: Vec<(&'static str, BoxedStrategy<Value>)>,
    chance: f64,
) -> impl Strategy<Value = Map<String, Value>> {
    let each: Vec<_> = all
        .into_iter()
        .map(|(key, value)| {
            prop::option::weighted(chance, value.prop_map(move |value| (key.to_owned(), value)))
        })
        .collect();
    each.prop_map(|each| each.into_iter().flatten().collect())
}

/// Rules for the keys of objects, apart from those that name properties.
fn key_rules(inner: &BoxedStrategy<Value>) -> impl Strategy<Value = Map<String, Value>> + use<> {
    let one = |values: Vec<Value>| select(values).boxed();
    let named = |name: &'static str| {
        inner
            .clone()
            .prop_map(move |inner| json!({name: inner}))
            .boxed()
    };
    some(
        vec![
            ("minProperties", one(vec![json!(1), json!(2)])),
            ("maxProperties", one(vec![json!(2), json!(3)])),
            ("patternProperties", named("^x-")),
            (
                "propertyNames",
                one(vec![
                    json!({"maxLength": 12}),
                    json!({"pattern": "^[a-z]"}),
                    json!({"not": {"const": "b"}}),
                    json!({"enum": ["a", "b", "x-1"]}),
                    json!(true),
                ]),
            ),
            (
                "dependentRequired",
                one(vec![json!({"a": ["b"]}), json!({"b": ["a", "name"]})]),
            ),
            (
                "dependentSchemas",
                prop_oneof![
                    Just(json!({"a": {"required": ["b"]}})),
                    Just(json!({"b": {"maxProperties": 2}})),
                    named("a")
                ]
                .boxed(),
            ),
            (
                "unevaluatedProperties",
                prop_oneof![2 => Just(json!(false)), 1 => inner.clone()].boxed(),
            ),
        ],
        0.08,
    )
}

/// Rules for values of any type.
fn logic(inner: &BoxedStrategy<Value>) -> impl Strategy<Value = Map<String, Value>> + use<> {
    let many = || {
        prop::collection::vec(inner.clone(), 1..3)
            .prop_map(Value::from)
            .boxed()
    };
    let needs = |keys: Value| json!({"required": keys});
    some(
        vec![
            (
                "anyOf",
                prop_oneof![
                    many(),
                    Just(json!([{"required": ["a"]}, {"required": ["b"]}])).boxed()
                ]
                .boxed(),
            ),
            ("oneOf", many()),
            ("allOf", many()),
            (
                "not",
                prop_oneof![Just(needs(json!(["a", "b"]))).boxed(), inner.clone()].boxed(),
            ),
            (
                "if",
                prop_oneof![Just(needs(json!(["a"]))).boxed(), inner.clone()].boxed(),
            ),
            (
                "then",
                prop_oneof![Just(needs(json!(["b"]))).boxed(), inner.clone()].boxed(),
            ),
            ("else", inner.clone()),
            (
                "enum",
                prop::collection::vec(scalars(), 1..4)
                    .prop_map(Value::from)
                    .boxed(),
            ),
            ("const", scalars().boxed()),
        ],
        0.03,
    )
}

fn object(inner: BoxedStrategy<Value>) -> impl Strategy<Value = Value> {
    let rest = prop_oneof![
        4 => Just(None),
        3 => Just(Some(json!(false))),
        1 => Just(Some(json!(true))),
        3 => inner.clone().prop_map(Some),
    ];
    let properties = prop_oneof![
        3 => prop::collection::vec((keys(), inner.clone(), any::<bool>()), 0..5).boxed(),
        1 => Just(Vec::new()).boxed(),
    ];
    let (keys, logic) = (key_rules(&inner), logic(&inner));
    (properties, rest, notes(), keys, logic, 0..16_u8).prop_map(
        |(properties, rest, notes, keys, logic, style)| {
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
            if !named.is_empty() || style < 4 {
                map.insert("properties".into(), Value::Object(named));
            }
            if let Some(rest) = rest {
                map.insert("additionalProperties".into(), rest);
            }
            if style == 0 {
                required.push("unknown".into());
            }
            map.insert("required".into(), json!(required));
            map.extend(keys);
            map.extend(logic);
            Value::Object(map)
        },
    )
}

fn array(inner: BoxedStrategy<Value>) -> impl Strategy<Value = Value> {
    let counts = |low: u64| (low..low + 3).prop_map(Value::from).boxed();
    let rules = some(
        vec![
            (
                "prefixItems",
                prop::collection::vec(inner.clone(), 1..3)
                    .prop_map(Value::from)
                    .boxed(),
            ),
            ("minItems", counts(0)),
            ("maxItems", counts(1)),
            ("uniqueItems", any::<bool>().prop_map(Value::from).boxed()),
            ("contains", inner.clone()),
            ("minContains", counts(0)),
            ("maxContains", counts(1)),
            (
                "unevaluatedItems",
                prop_oneof![2 => Just(json!(false)), 1 => inner.clone()].boxed(),
            ),
        ],
        0.15,
    );
    (
        prop::option::of(inner.clone()),
        notes(),
        rules,
        logic(&inner),
    )
        .prop_map(|(items, notes, rules, logic)| {
            let mut map = notes;
            map.insert("type".into(), "array".into());
            map.extend(items.map(|items| ("items".to_owned(), items)));
            map.extend(rules);
            map.extend(logic);
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

/// The schema in the words of draft 7, without what that has no words for.
pub(crate) fn as_draft_7(schema: &Value) -> Value {
    let Value::Object(mut map) = in_draft_7(schema) else {
        return schema.clone();
    };
    let draft = "http://json-schema.org/draft-07/schema#";
    map.insert("$schema".to_owned(), draft.into());
    map.into()
}

fn in_draft_7(schema: &Value) -> Value {
    let Value::Object(map) = schema else {
        return schema.clone();
    };
    let named = |value: &Value| -> Map<String, Value> {
        let pairs = value.as_object().into_iter().flatten();
        pairs
            .map(|(name, schema)| (name.clone(), in_draft_7(schema)))
            .collect()
    };
    let list = |value: &Value| -> Value {
        let schemas = value.as_array().into_iter().flatten();
        schemas.map(in_draft_7).collect()
    };
    let mut out = Map::new();
    let mut dependencies = Map::new();
    for (key, value) in map {
        let (key, value) = match key.as_str() {
            "$defs" => ("definitions", named(value).into()),
            "properties" | "patternProperties" => (key.as_str(), named(value).into()),
            "$ref" => {
                let text = value.as_str().unwrap_or_default();
                ("$ref", text.replace("$defs", "definitions").into())
            }
            "prefixItems" => ("items", list(value)),
            "items" if map.contains_key("prefixItems") => ("additionalItems", in_draft_7(value)),
            "anyOf" | "oneOf" | "allOf" => (key.as_str(), list(value)),
            "dependentSchemas" => {
                dependencies.extend(named(value));
                continue;
            }
            "dependentRequired" => {
                dependencies.extend(value.as_object().cloned().into_iter().flatten());
                continue;
            }
            "unevaluatedProperties" | "unevaluatedItems" | "minContains" | "maxContains" => {
                continue;
            }
            "items"
            | "additionalProperties"
            | "propertyNames"
            | "contains"
            | "not"
            | "if"
            | "then"
            | "else" => (key.as_str(), in_draft_7(value)),
            key => (key, value.clone()),
        };
        out.insert(key.to_owned(), value);
    }
    if !dependencies.is_empty() {
        out.insert("dependencies".to_owned(), dependencies.into());
    }
    out.into()
}
