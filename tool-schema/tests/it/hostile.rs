//! Schemas made to hurt: every target answers within its budgets.

use serde_json::{Map, Value, json};
use tool_schema::{CompileLimits, Quarantine, Target, compile, compile_within};

/// Compiles for every target on a small stack. The answers keep within the
/// budgets, and hold a schema or a reason.
#[track_caller]
fn answers(schema: Value) -> Vec<(&'static str, Result<Value, Quarantine>)> {
    let arguments = deep_arguments();
    let compile_all = move || {
        let mut answers = Vec::new();
        for target in Target::ALL {
            let answer = compile(&schema, target).map(|compiled| {
                // Whatever arguments come, they come back.
                let _ = compiled.restore.apply(arguments.clone());
                let _ = compiled.restore.project(arguments.clone());
                compiled.schema.unwrap_or_default()
            });
            answers.push((target.name(), answer));
        }
        // Some of these would overflow any stack when they are dropped.
        std::mem::forget(schema);
        answers
    };
    let thread = std::thread::Builder::new().stack_size(512 << 10);
    let answers = thread.spawn(compile_all).unwrap().join().unwrap();
    for (target, answer) in &answers {
        let size = answer.as_ref().map_or(0, |schema| schema.to_string().len());
        assert!(size <= 1 << 20, "{target}: {size} bytes");
    }
    answers
}

fn deep_arguments() -> Value {
    let list = || Value::Array(vec![Value::Null]);
    (0..120).fold(Value::Null, |inner, _| {
        Map::from_iter([("a".to_owned(), inner), ("list".to_owned(), list())]).into()
    })
}

/// Every target gets a schema.
#[track_caller]
fn survives(schema: Value) -> Vec<(&'static str, Value)> {
    let mut compiled = Vec::new();
    for (target, answer) in answers(schema) {
        match answer {
            Ok(schema) => compiled.push((target, schema)),
            Err(reason) => panic!("{target}: {reason}"),
        }
    }
    compiled
}

/// Every target refuses for the same reason.
#[track_caller]
fn is_quarantined(schema: Value, reason: &Quarantine) {
    for (target, answer) in answers(schema) {
        assert_eq!(answer.as_ref().err(), Some(reason), "{target}");
    }
}

fn object(properties: impl IntoIterator<Item = (String, Value)>) -> Value {
    json!({"type": "object", "properties": properties.into_iter().collect::<Map<_, _>>()})
}

fn nested(depth: usize) -> Value {
    (0..depth).fold(json!({"type": "string"}), |inner, _| {
        object([("a".to_owned(), inner)])
    })
}

#[test]
fn ten_thousand_nodes_compile() {
    let mut wide = object((0..10_000).map(|n| {
        (
            format!("p{n}"),
            json!({"type": ["string", "null"], "minLength": 1}),
        )
    }));
    wide["required"] = (0..5_000).map(|n| Value::from(format!("p{n}"))).collect();
    survives(wide);
}

#[test]
fn a_hundred_levels_compile_and_more_than_the_limit_are_quarantined() {
    survives(nested(100));
    is_quarantined(nested(200), &Quarantine::TooDeep { limit: 128 });
    for key in ["allOf", "anyOf", "oneOf", "items", "not", "contains"] {
        let deep = |depth: usize| {
            (0..depth).fold(json!({"type": "string"}), |inner, _| match key {
                "items" | "not" | "contains" => json!({ key: inner }),
                _ => json!({ key: [inner, {"description": "Or so."}] }),
            })
        };
        answers(object([("a".to_owned(), deep(100))]));
        is_quarantined(
            object([("a".to_owned(), deep(300))]),
            &Quarantine::TooDeep { limit: 128 },
        );
    }
}

#[test]
fn no_depth_overflows_the_stack() {
    for key in ["default", "enum", "x-unknown"] {
        let mut value = json!("x");
        for _ in 0..100_000 {
            value = Value::Array(vec![value]);
        }
        let mut schema = json!({"type": "object", "properties": {"a": {"type": "string"}}});
        schema["properties"]["a"][key] = value;
        is_quarantined(schema, &Quarantine::TooDeep { limit: 128 });
    }
}

#[test]
fn recursion_of_every_kind_compiles() {
    survives(json!({"$ref": "#"}));
    survives(
        json!({"type": "object", "properties": {"self": {"$ref": "#"}}, "required": ["self"]}),
    );
    survives(
        json!({"type": "object", "properties": {"a": {"$ref": "#/$defs/a"}},
        "$defs": {"a": {"anyOf": [{"$ref": "#/$defs/a"}, {"type": "null"}]}}}),
    );
    survives(
        json!({"type": "object", "properties": {"a": {"$ref": "#/$defs/a"}}, "required": ["a"],
        "$defs": {"a": {"type": "array", "items": {"$ref": "#/$defs/a"}}}}),
    );
    answers(
        json!({"type": "object", "properties": {"a": {"$ref": "#/$defs/a"}},
        "$defs": {"a": {"allOf": [{"$ref": "#/$defs/a"}, {"$ref": "#/$defs/b"}]}, "b": {"allOf": [{"$ref": "#/$defs/a"}]}}}),
    );
    answers(
        json!({"type": "object", "properties": {"a": {"$ref": "#/$defs/a"}},
        "$defs": {"a": {"not": {"$ref": "#/$defs/a"}, "oneOf": [{"$ref": "#/$defs/a"}, true]}}}),
    );
    answers(
        json!({"type": "object", "properties": {"a": {"$ref": "#/$defs/a"}},
        "$defs": {"a": {"type": "object", "properties": {"x": {"$ref": "#/$defs/a"}},
            "anyOf": [{"$ref": "#/$defs/a"}, {"properties": {"y": {"$ref": "#/$defs/a"}}}]}}}),
    );
}

#[test]
fn exponential_fan_out_of_references_stays_small() {
    let mut definitions = Map::new();
    for level in 0..40 {
        let next = json!({"$ref": format!("#/$defs/d{}", level + 1)});
        definitions.insert(
            format!("d{level}"),
            object([("a".to_owned(), next.clone()), ("b".to_owned(), next)]),
        );
    }
    definitions.insert("d40".to_owned(), json!({"type": "string"}));
    survives(
        json!({"type": "object", "properties": {"x": {"$ref": "#/$defs/d0"}}, "$defs": definitions}),
    );
}

#[test]
fn exponential_fan_out_of_unions_is_answered() {
    for key in ["anyOf", "oneOf", "allOf"] {
        let mut definitions = Map::new();
        for level in 0..24 {
            let next = json!({"$ref": format!("#/$defs/d{}", level + 1)});
            definitions.insert(
                format!("d{level}"),
                json!({"type": "object", "properties": {format!("p{level}"): {"type": "string"}}, key: [next, next]}),
            );
        }
        definitions.insert(
            "d24".to_owned(),
            json!({"type": "object", "required": ["p0"]}),
        );
        answers(
            json!({"type": "object", "properties": {"x": {"$ref": "#/$defs/d0"}}, "$defs": definitions}),
        );
    }
    let members: Vec<Value> = (0..12)
        .map(|n| json!({"anyOf": [{"required": [format!("a{n}")]}, {"required": [format!("b{n}")]}]}))
        .collect();
    answers(json!({"type": "object", "properties": {"x": {"type": "object", "allOf": members}}}));
    answers(json!({"type": "object", "allOf": members}));
}

#[test]
fn a_long_intersection_is_one_object() {
    let members: Vec<Value> = (0..1_000)
        .map(|n| json!({"type": "object", "properties": {format!("p{n}"): {"type": "string", "minLength": 1}}}))
        .collect();
    for (target, schema) in survives(json!({"type": "object", "allOf": members})) {
        let count = schema["properties"].as_object().unwrap().len();
        assert_eq!(count, 1_000, "{target}");
    }
}

#[test]
fn recursion_through_anchors_and_dynamic_references_compiles() {
    survives(
        json!({"type": "object", "properties": {"a": {"$ref": "#node"}},
        "$defs": {"x": {"$anchor": "node", "type": "object", "properties": {"next": {"$ref": "#node"}}}}}),
    );
    survives(
        json!({"$dynamicAnchor": "meta", "type": "object", "properties": {
        "child": {"$dynamicRef": "#meta"}, "list": {"type": "array", "items": {"$dynamicRef": "#meta"}}}}),
    );
    survives(
        json!({"$recursiveAnchor": true, "type": "object", "properties": {"child": {"$recursiveRef": "#"}}}),
    );
    // Two anchors that are each other.
    survives(
        json!({"type": "object", "properties": {"a": {"$ref": "#one"}},
        "$defs": {"one": {"$anchor": "one", "$ref": "#two"}, "two": {"$anchor": "two", "$ref": "#one"}}}),
    );
    survives(
        json!({"$id": "https://a.example/s", "type": "object", "properties": {"a": {"$ref": "https://a.example/s"},
        "b": {"$ref": "part#x"}}, "$defs": {"p": {"$id": "part", "$defs": {"x": {"$anchor": "x", "type": "string"}}}}}),
    );
}

/// What naive walkers corrupt: the words of the schema language as keys.
#[test]
fn properties_named_like_keywords_survive() {
    let names = [
        "type",
        "properties",
        "$ref",
        "required",
        "__proto__",
        "constructor",
        "items",
        "enum",
        "anyOf",
        "$defs",
        "default",
        "description",
        "nullable",
        "const",
        "additionalProperties",
    ];
    let schema = json!({"type": "object",
        "properties": names.iter().map(|name| ((*name).to_owned(), json!({"type": "string"}))).collect::<Map<_, _>>(),
        "required": names, "additionalProperties": false});
    for target in Target::ALL {
        let compiled = compile(&schema, target).unwrap();
        let written: Map<String, Value> = compiled.schema.as_ref().unwrap()["properties"]
            .as_object()
            .unwrap()
            .iter()
            .map(|(name, schema)| {
                assert_eq!(*schema, json!({"type": "string"}), "{}", target.name());
                (name.clone(), json!("x"))
            })
            .collect();
        assert_eq!(
            compiled.schema.unwrap()["required"]
                .as_array()
                .unwrap()
                .len(),
            names.len()
        );
        let restored = compiled.restore.apply(Value::Object(written));
        let keys: Vec<&str> = restored
            .as_object()
            .unwrap()
            .keys()
            .map(String::as_str)
            .collect();
        assert_eq!(keys, names, "{}", target.name());
    }
}

#[test]
fn huge_numbers_compile() {
    let schema = r#"{"type": "object", "properties": {
        "a": {"type": "integer", "minimum": -1e400, "maximum": 18446744073709551615, "exclusiveMinimum": -9223372036854775808},
        "b": {"type": "number", "minimum": 1e308, "multipleOf": 1e-300},
        "c": {"type": "string", "minLength": 18446744073709551615, "maxLength": 1e300},
        "d": {"type": "array", "minItems": 9007199254740993, "maxItems": -1},
        "e": {"type": "integer", "enum": [18446744073709551615, -9223372036854775808, 0.0]},
        "f": {"type": "integer", "exclusiveMaximum": -9223372036854775808}}}"#
        .replace("1e400", "1e300");
    survives(serde_json::from_str(&schema).unwrap());
}

#[test]
fn odd_schemas_are_answered() {
    for odd in [
        json!(true),
        json!(false),
        json!(null),
        json!(7),
        json!("x"),
        json!([]),
        json!({"type": []}),
        json!({"type": {"type": "string"}}),
        json!({"properties": []}),
        json!({"required": "a"}),
        json!({"items": 7}),
        json!({"anyOf": {}}),
        json!({"anyOf": []}),
        json!({"enum": []}),
        json!({"enum": {}}),
        json!({"$ref": 7}),
        json!({"$ref": ""}),
        json!({"$ref": "#/%zz/~2"}),
        json!({"$defs": 7, "$ref": "#/$defs/a"}),
        json!({"pattern": "("}),
        json!({"minimum": "1"}),
        json!({"additionalProperties": "no"}),
        json!({"dependencies": {"a": 7}}),
        json!({"if": true}),
        json!({"nullable": "yes"}),
        json!({"exclusiveMinimum": true}),
    ] {
        answers(odd.clone());
        survives(json!({"type": "object", "properties": {"a": odd, "b": {"type": "string"}}}));
    }
}

#[test]
fn long_chains_of_references_are_answered() {
    let mut definitions = Map::new();
    for link in 0..2_000 {
        definitions.insert(
            format!("d{link}"),
            json!({"$ref": format!("#/$defs/d{}", link + 1), "description": "On."}),
        );
    }
    definitions.insert("d2000".to_owned(), json!({"type": "string"}));
    answers(
        json!({"type": "object", "properties": {"x": {"$ref": "#/$defs/d0"}}, "$defs": definitions}),
    );
}

#[test]
fn large_lists_of_values_compile() {
    let values: Vec<Value> = (0..5_000).map(Value::from).collect();
    let names: Vec<Value> = (0..5_000).map(|n| Value::from(format!("n{n}"))).collect();
    survives(json!({"type": "object", "properties": {
        "numbers": {"enum": values}, "names": {"type": "string", "enum": names},
        "both": {"allOf": [{"enum": names}, {"enum": names}]},
    }}));
}

#[test]
fn the_same_hostile_schema_gives_the_same_bytes() {
    let mut definitions = Map::new();
    for level in 0..12 {
        let next = json!({"$ref": format!("#/$defs/d{}", (level + 1) % 12)});
        definitions.insert(
            format!("d{level}"),
            json!({"type": "object", "properties": {"a b": next, "$c": {"enum": [1, "1", null]}},
                "anyOf": [next, {"required": ["a b"]}], "allOf": [{"minProperties": 1}, next]}),
        );
    }
    let schema = json!({"type": "object", "properties": {"x": {"$ref": "#/$defs/d0"}}, "$defs": definitions});
    let bytes = |target: &Target| {
        let answer = compile(&schema, target);
        format!(
            "{:?}",
            answer.map(|compiled| (compiled.schema, compiled.losses))
        )
    };
    for target in Target::ALL {
        assert_eq!(bytes(target), bytes(target), "{}", target.name());
    }
}

#[test]
fn a_list_of_a_hundred_thousand_values_is_answered() {
    let names: Vec<Value> = (0..100_000).map(|n| Value::from(format!("n{n}"))).collect();
    answers(json!({"type": "object", "properties": {"a": {"type": "string", "enum": names}}}));
}

#[test]
fn a_megabyte_of_text_is_quarantined_and_half_of_one_is_not() {
    let text = |size: usize| {
        json!({"type": "object", "description": "d".repeat(size), "properties": {
        "a": {"type": "string", "pattern": "p".repeat(size / 2)}}})
    };
    is_quarantined(text(1 << 20), &Quarantine::TooLarge { limit: 1 << 20 });
    survives(text(300_000));
}

#[test]
fn long_keys_do_not_multiply() {
    let key = "k".repeat(200_000);
    let inner =
        object((0..500).map(|n| (format!("p{n}"), json!({"type": "string", "x-noise": 1}))));
    let schema = object([(key, inner)]);
    // The report would hold the key five hundred times.
    is_quarantined(schema, &Quarantine::TooManyLosses { limit: 1 << 20 });
}

#[test]
fn every_budget_can_be_set() {
    let schema =
        object((0..50).map(|n| (format!("p{n}"), json!({"type": "string", "x-noise": 1}))));
    let check = |limits: CompileLimits| compile_within(&schema, &Target::OPENAI, &limits).err();
    assert_eq!(check(CompileLimits::default()), None);
    assert_eq!(
        check(CompileLimits::default().with_nodes(20)),
        Some(Quarantine::TooManyNodes { limit: 20 })
    );
    assert_eq!(
        check(CompileLimits::default().with_depth(0)),
        Some(Quarantine::TooDeep { limit: 0 })
    );
    assert_eq!(
        check(CompileLimits::default().with_bytes(200)),
        Some(Quarantine::TooLarge { limit: 200 })
    );
    assert_eq!(
        check(CompileLimits::default().with_report_bytes(99)),
        Some(Quarantine::TooManyLosses { limit: 99 })
    );
}

#[test]
fn references_never_leave_the_document() {
    for reference in [
        "https://a.example/x.json",
        "file:///etc/passwd",
        "other.json#/a",
        "#/$defs/none",
        "#nowhere",
    ] {
        let schema = json!({"type": "object", "properties": {"a": {"$ref": reference}}});
        for target in Target::ALL {
            let compiled = compile(&schema, target).unwrap();
            assert!(compiled.is_lossy());
            assert!(
                !compiled.schema.unwrap().to_string().contains("$ref"),
                "{reference} for {}",
                target.name()
            );
        }
    }
}

#[test]
fn impossible_schemas_are_quarantined_by_name() {
    let schema = json!({"allOf": [{"type": "object"}, {"type": "string"}]});
    let reason = compile(&schema, &Target::OPENAI).unwrap_err();
    assert_eq!(
        reason,
        Quarantine::Impossible {
            pointer: String::new()
        }
    );
    assert!(reason.to_string().contains("contradicts itself"));
}

#[test]
fn values_that_ever_more_schemas_judge_together_lose_their_rules() {
    // What judges a value depends on the last 40 keys on the way to it.
    let to = |index: usize| json!({"$ref": format!("#/$defs/d{index}")});
    let mut defs = serde_json::Map::new();
    for index in 1..40 {
        let next = to(index + 1);
        let node = json!({"type": "object", "properties": {"a": next, "b": next}});
        defs.insert(format!("d{index}"), node);
    }
    defs.insert("d40".to_owned(), json!({"enum": [true, "x"]}));
    defs.insert(
        "d0".to_owned(),
        json!({"type": "object", "properties": {"a": to(0), "b": to(0)}, "anyOf": [{"properties": {"a": to(1)}}]}),
    );
    let schema = json!({"type": "object", "properties": {"t": to(0)}, "$defs": defs});
    let compiled = compile(&schema, &Target::GEMINI).unwrap();
    assert!(compiled.restore.is_identity());
    let reported = |loss: &tool_schema::Loss| loss.lossy && loss.pointer == "/$defs/d40";
    assert!(
        compiled.losses.iter().any(reported),
        "{:?}",
        compiled.losses
    );
}
