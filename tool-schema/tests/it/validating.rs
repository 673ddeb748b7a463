//! Arguments against the original schema, and what a model learns.

use serde_json::{Value, json};
use tool_schema::{Target, Validator, compile};

#[track_caller]
fn describe(schema: &Value, arguments: &Value) -> String {
    Validator::new(schema)
        .unwrap()
        .check(arguments)
        .unwrap_err()
        .to_string()
}

#[test]
fn a_model_learns_what_to_correct() {
    let schema = json!({
        "type": "object",
        "properties": {
            "path": {"type": "string", "minLength": 1},
            "limit": {"type": "integer", "minimum": 1, "maximum": 100},
            "mode": {"enum": ["fast", "safe"]},
            "when": {"type": "string", "pattern": "^\\d{4}$"},
            "tags": {"type": "array", "items": {"type": "string"}, "maxItems": 2},
            "to": {"anyOf": [{"type": "string"}, {"type": "object", "properties": {"id": {"type": "integer"}}, "required": ["id"]}]},
        },
        "required": ["path", "mode"],
        "additionalProperties": false,
    });
    let arguments = json!({"limit": 500, "mode": "slow", "when": "now", "tags": ["a", 1, "c"], "to": 3, "pth": "/"});
    insta::assert_snapshot!(describe(&schema, &arguments), @r#"
    The arguments do not fit the tool's schema. Correct this and call again:
    - the arguments: the key "path" is missing
    - `/limit`: must be at most 100, but is 500
    - `/mode`: must be one of "fast", "safe", but is "slow"
    - `/when`: must match the regular expression ^\d{4}$, but is "now"
    - `/tags`: must have at most 2 items
    - `/tags/1`: must be string, but is 1
    - `/to`: fits none of the alternatives: must be string, but is 3; or must be object, but is 3
    - the arguments: there is no key `pth`; known keys are `path`, `limit`, `mode`, `when`, `tags`, `to`
    "#);
}

#[test]
fn a_model_learns_the_same_through_references_and_inside_alternatives() {
    let schema = json!({
        "type": "object",
        "properties": {"a": {"$ref": "#/$defs/point"}, "b": {"anyOf": [{"$ref": "#/$defs/point"}, {"type": ["string", "null"]}]}},
        "$defs": {"point": {"type": "object", "properties": {"x": {"type": "integer"}}, "additionalProperties": false}},
    });
    insta::assert_snapshot!(describe(&schema, &json!({"a": {"x": "1"}, "b": {"x": 1, "y": 2}})), @r#"
    The arguments do not fit the tool's schema. Correct this and call again:
    - `/a/x`: must be integer, but is "1"
    - `/b`: fits none of the alternatives: there is no key `y`; known keys are `x`; or must be null or string, but is {"x":1,"y":2}
    "#);
}

#[test]
fn arguments_that_fit_pass() {
    let validator =
        Validator::new(&json!({"type": "object", "properties": {"a": {"type": "string"}}}))
            .unwrap();
    assert!(validator.check(&json!({"a": "b", "more": 1})).is_ok());
}

#[test]
fn an_answer_is_never_endless() {
    let schema = json!({"type": "object", "additionalProperties": {"type": "integer"}});
    let arguments: Value = (0..5_000)
        .map(|n| (format!("key{n}"), json!("x".repeat(1_000))))
        .collect::<serde_json::Map<_, _>>()
        .into();
    assert!(describe(&schema, &arguments).len() < 4_000);
}

#[test]
fn patterns_no_engine_understands_are_left_out() {
    let schema = json!({"type": "object", "properties": {"a": {"type": "string", "pattern": "("}, "b": {"type": "string", "pattern": "^(?!x)\\w+$"}}});
    let validator = Validator::new(&schema).unwrap();
    assert!(validator.check(&json!({"a": "anything", "b": "y"})).is_ok());
    assert!(validator.check(&json!({"b": "x"})).is_err());
}

#[test]
fn references_elsewhere_are_never_followed_and_accept_anything() {
    let schema = json!({"type": "object", "properties": {"a": {"$ref": "https://elsewhere.example/a.json"}, "b": {"type": "integer"}}});
    let validator = Validator::new(&schema).unwrap();
    assert!(validator.check(&json!({"a": [1]})).is_ok());
    assert!(validator.check(&json!({"b": "x"})).is_err());
}

#[test]
fn old_dialects_are_understood_without_being_named() {
    let schema = json!({"type": "object", "properties": {"a": {"type": "number", "minimum": 0, "exclusiveMinimum": true},
        "pair": {"type": "array", "items": [{"type": "string"}, {"type": "integer"}]}}});
    let validator = Validator::new(&schema).unwrap();
    assert!(validator.check(&json!({"a": 1, "pair": ["x", 1]})).is_ok());
    assert!(validator.check(&json!({"a": 0})).is_err());
    assert!(validator.check(&json!({"pair": [1]})).is_err());
}

#[test]
fn openapis_nullable_admits_null() {
    let schema = json!({"type": "object", "properties": {"a": {"type": "string", "nullable": true, "enum": ["x"]}}});
    assert!(
        Validator::new(&schema)
            .unwrap()
            .check(&json!({"a": null}))
            .is_ok()
    );
}

#[test]
fn what_is_no_schema_cannot_be_checked_and_says_why() {
    let reason = Validator::new(&json!({"type": 7})).unwrap_err().to_string();
    assert!(
        reason.starts_with("arguments cannot be checked against this schema: "),
        "{reason}"
    );
    let mut deep = json!({"type": "string"});
    for _ in 0..400 {
        deep = json!({"properties": {"a": deep}});
    }
    assert!(Validator::new(&deep).is_err());
}

#[test]
fn a_model_learns_how_to_write_a_key_that_the_server_spells_otherwise() {
    let schema = json!({"type": "object", "properties": {"$top": {"type": "integer"}}, "required": ["$top"]});
    let target = Target::named("anthropic").unwrap();
    let compiled = compile(&schema, &target).unwrap();
    let arguments = compiled.restore.apply(json!({"_top": "ten"}));
    let mismatch = Validator::new(&schema)
        .unwrap()
        .check(&arguments)
        .unwrap_err();
    insta::assert_snapshot!(mismatch.seen_through(&compiled.restore), @r#"
    The arguments do not fit the tool's schema. Correct this and call again:
    - `/$top`: must be integer, but is "ten"
    - the key `$top` is written `_top` here
    "#);
}
