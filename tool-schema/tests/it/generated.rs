//! The laws, on generated schemas.

use proptest::prelude::*;
use serde_json::{Value, json};
use tool_schema::{Target, compile};

use crate::{
    generate::{as_draft_7, schemas},
    laws::{Original, check_laws},
};

/// The cases of each law: `PROPTEST_CASES`, which a fixed number would override, or a few.
fn cases() -> u32 {
    let asked = std::env::var("PROPTEST_CASES").ok();
    asked.and_then(|count| count.parse().ok()).unwrap_or(64)
}

/// The targets, each dialect once.
fn targets() -> impl Iterator<Item = &'static Target> {
    let twins = ["deepseek", "groq", "xai"];
    let all = Target::ALL.iter().chain(Target::OUTPUTS);
    all.filter(move |target| !twins.contains(&target.name()))
}

#[test]
fn the_targets_left_out_are_openai_by_another_name() {
    let dialect = |target: &Target| format!("{:?}", target.with_name(""));
    let used: Vec<String> = targets().map(dialect).collect();
    let mut all = Target::ALL.iter().map(dialect);
    assert!(all.all(|dialect| used.contains(&dialect)));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases()))]

    #[test]
    fn the_laws_hold_for_generated_schemas(schema in schemas(), seed in any::<u64>()) {
        let original = Original::new(&schema);
        for target in targets() {
            if let Err(failure) = check_laws(&original, target, seed, 6) {
                prop_assert!(false, "{failure}");
            }
        }
    }

    #[test]
    fn the_laws_hold_for_generated_schemas_of_draft_7(schema in schemas(), seed in any::<u64>()) {
        let schema = as_draft_7(&schema);
        let original = Original::new(&schema);
        for target in targets() {
            if let Err(failure) = check_laws(&original, target, seed, 3) {
                prop_assert!(false, "{failure}");
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases()))]

    #[test]
    fn an_enforced_reply_is_in_the_strict_dialect(schema in schemas()) {
        for (target, dialect) in [
            (Target::OPENAI_OUTPUT, "openai-strict"),
            (Target::ANTHROPIC_OUTPUT, "anthropic-strict"),
        ] {
            if let Ok(compiled) = compile(&schema, &target)
                && compiled.strict
            {
                let found = crate::checker::check(dialect, true, "reply", compiled.schema.as_ref());
                prop_assert!(found.is_empty(), "{found:?} in {:?}", compiled.schema);
            }
        }
    }
}

#[test]
fn a_reply_is_enforced_even_if_it_had_to_be_weakened() {
    let schema = json!({"type": "object", "required": ["name"], "properties": {
        "name": {"type": "string", "minLength": 1},
        "nick": {"type": ["string", "null"]},
        "tags": {"type": "object", "additionalProperties": {"type": "string"}},
        "any": {},
    }});
    for target in [Target::OPENAI_OUTPUT, Target::ANTHROPIC_OUTPUT] {
        let compiled = compile(&schema, &target).unwrap();
        assert!(compiled.strict && compiled.is_lossy(), "{}", target.name());
        let value = json!({"name": "", "tags": {"a": "b"}, "any": [1]});
        let written = compiled.restore.project(value.clone());
        assert_eq!(compiled.restore.apply(written), value, "{}", target.name());
    }
    // Keys of its own beside listed ones cannot be written, so that is not enforced.
    let mixed = json!({"type": "object", "properties": {"a": {"type": "string"}},
        "additionalProperties": {"type": "integer"}});
    assert!(!compile(&mixed, &Target::OPENAI_OUTPUT).unwrap().strict);
}

#[test]
fn a_reply_may_be_of_any_type() {
    for (schema, value) in [
        (
            json!({"type": ["object", "null"], "properties": {"a": {"type": "string"}}}),
            json!(null),
        ),
        (
            json!({"type": "array", "items": {"type": "integer"}}),
            json!([1]),
        ),
        (
            json!({"anyOf": [{"type": "string"}, {"type": "object", "properties": {}}]}),
            json!("x"),
        ),
        (
            json!({"type": "object", "additionalProperties": {"type": "integer"}}),
            json!({"value": 1}),
        ),
    ] {
        for target in Target::OUTPUTS {
            let compiled = compile(&schema, target).unwrap();
            let written = compiled.restore.project(value.clone());
            assert!(written.is_object(), "{}: {written}", target.name());
            assert_eq!(compiled.restore.apply(written), value, "{}", target.name());
        }
    }
}

#[test]
fn what_refers_to_a_schema_that_nothing_fits_is_closed_in_the_strict_dialect() {
    let never = json!({"allOf": [{"type": "object"}, {"type": ["string", "null"]}]});
    for (child, defs) in [
        (never.clone(), json!({})),
        (json!({"$ref": "#/$defs/b"}), json!({"b": never})),
        (
            json!({"$ref": "#/$defs/b"}),
            json!({"b": {"$ref": "#/$defs/c"}, "c": false}),
        ),
    ] {
        let schema = json!({"type": "object", "$defs": defs, "properties": {
            "list": {"type": "array", "items": child},
            "object": {"type": "object", "properties": {"a": {"type": "string"}}, "additionalProperties": child},
        }});
        for (target, dialect) in [
            (Target::OPENAI_OUTPUT, "openai-strict"),
            (Target::ANTHROPIC_OUTPUT, "anthropic-strict"),
        ] {
            let compiled = compile(&schema, &target).unwrap();
            let sent = compiled.schema.as_ref();
            let found = crate::checker::check(dialect, true, "reply", sent);
            assert!(compiled.strict && found.is_empty(), "{found:?} in {sent:?}");
        }
    }
}

/// Schemas that proptest found once, with the seed of the values that broke a law.
#[test]
fn the_laws_hold_for_schemas_that_once_broke_them() {
    let found: Vec<Value> = serde_json::from_str(include_str!("inputs/regressions.json")).unwrap();
    for case in found {
        let seed = case["seed"].as_u64().unwrap();
        let original = Original::new(&case["schema"]);
        for target in targets() {
            check_laws(&original, target, seed, 12).unwrap();
        }
    }
}

#[test]
fn a_map_with_a_rule_between_its_keys_is_a_loss_where_maps_become_lists() {
    let schema = json!({"type": "object", "properties": {"a": {
        "type": "object",
        "additionalProperties": {"type": "string"},
        "dependentRequired": {"a": ["b"]},
    }}});
    let compiled = compile(&schema, &Target::GEMINI_OPENAPI).unwrap();
    let lost: Vec<String> = compiled.losses.iter().map(ToString::to_string).collect();
    assert!(compiled.is_lossy(), "{lost:?}");
    assert!(
        lost.contains(&"#/properties/a: `dependentRequired` described (lossy)".to_owned()),
        "{lost:?}"
    );
}

#[test]
fn a_loss_inside_the_names_of_a_map_is_reported_there_where_maps_become_lists() {
    let schema = json!({"type": "object", "properties": {"a": {
        "type": "object",
        "additionalProperties": {"type": "string"},
        "propertyNames": {"format": "hostname", "not": {"const": "b"}},
    }}});
    let target = Target::GEMINI_OPENAPI.with_formats(&["date"]);
    let compiled = compile(&schema, &target).unwrap();
    let lost = compiled.losses.iter().filter(|loss| loss.lossy);
    let places: Vec<&str> = lost.map(|loss| loss.pointer.as_str()).collect();
    let names = "/properties/a/propertyNames";
    assert_eq!(places, [names, names], "{:?}", compiled.losses);
}

#[test]
fn an_if_alone_goes_once_nothing_counts_what_it_sees() {
    let schema = json!({"type": "object",
        "properties": {"key with space": {"type": "string"}, "a": {"type": "string", "if": {"minLength": 1}}},
        "not": {"required": ["b"], "unevaluatedProperties": false},
    });
    let compiled = compile(&schema, &Target::ANTHROPIC).unwrap();
    let sent = compiled.schema.unwrap();
    assert!(sent.get("not").is_none(), "{sent}");
    assert_eq!(sent.pointer("/properties/a/if"), None, "{sent}");
}

#[test]
fn a_second_condition_leaves_the_branches_of_the_first_alone() {
    let schema = json!({"type": "object", "allOf": [
        {"if": {"required": ["a"]}, "then": {"required": ["b"]}},
        {"if": {"required": ["c"]}, "else": {"required": ["d"]}},
    ]});
    let compiled = compile(&schema, &Target::OPENAI).unwrap();
    let lost = compiled.losses.iter().filter(|loss| loss.lossy);
    let lost: Vec<String> = lost.map(ToString::to_string).collect();
    assert_eq!(
        lost,
        [
            "#/allOf/1: `else` dropped (lossy)",
            "#/allOf/1: `if` described (lossy)"
        ]
    );
    let sent = compiled.schema.unwrap();
    assert_eq!(sent["then"], json!({"required": ["b"]}), "{sent}");
    assert_eq!(sent.get("else"), None, "{sent}");
}

#[test]
fn a_key_that_another_member_admits_by_a_pattern_is_a_loss_where_members_are_merged() {
    let patterns = json!({"^a": {"minLength": 1}});
    let schema = json!({"type": "object", "allOf": [
        {"properties": {"ab": {"type": "string"}}, "patternProperties": patterns},
        {"patternProperties": patterns, "additionalProperties": false},
    ]});
    let compiled = compile(&schema, &Target::OPENAI).unwrap();
    assert!(compiled.is_lossy(), "{:?}", compiled.schema);
}

#[test]
fn a_loss_inside_an_if_explains_its_branches_only_where_it_decides() {
    let schema = json!({"type": "object",
        "if": {"required": ["k"], "properties": {"a": {"type": "array",
            "prefixItems": [{"type": "string"}], "contains": {"type": "number"}, "unevaluatedItems": false}}},
        "then": {"required": ["b"]},
        "else": {"required": ["c"]},
    });
    let losses = compile(&schema, &Target::OPENAI).unwrap().losses;
    assert!(losses.iter().any(|loss| loss.lossy), "{losses:?}");
    let validator = crate::oracle::validator(&schema).unwrap();
    let unexplained =
        |arguments: Value| crate::explained::unexplained(&schema, &validator, &arguments, &losses);
    assert_eq!(
        unexplained(json!({"k": 1})).as_deref(),
        Some("/then/required")
    );
    assert_eq!(
        unexplained(json!({"a": ["x", 1]})).as_deref(),
        Some("/else/required")
    );
    assert_eq!(unexplained(json!({"k": 1, "a": ["x", 1, true]})), None);
}
