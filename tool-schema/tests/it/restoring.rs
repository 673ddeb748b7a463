//! Arguments find their way back.

use serde_json::{Value, json};
use tool_schema::{Target, compile};

/// What the model wrote becomes what the server expects; and, projected, back.
#[track_caller]
fn check(schema: Value, target: &Target, written: Value, expected: Value) {
    let compiled = compile(&schema, target).unwrap();
    assert_eq!(
        compiled.restore.apply(written.clone()),
        expected,
        "restored; the schema was {}",
        compiled.schema.unwrap_or_default()
    );
    assert_eq!(compiled.restore.project(expected), written, "projected");
}

/// The same, where there is more than one way to write it.
#[track_caller]
fn check_back(schema: Value, target: &Target, written: Value, expected: Value) {
    let compiled = compile(&schema, target).unwrap();
    assert_eq!(compiled.restore.apply(written), expected);
}

#[test]
fn nulls_the_original_forbids_are_taken_out_at_every_depth() {
    let inner = json!({"type": "object", "properties": {"x": {"type": "integer"}, "y": {"type": "string"}},
        "required": ["x"], "additionalProperties": false});
    check(
        json!({"type": "object", "properties": {"list": {"type": "array", "items": inner}, "one": inner, "s": {"type": "string"}},
            "required": ["list", "one"]}),
        &Target::OPENAI_STRICT,
        json!({"list": [{"x": 1, "y": null}, {"x": 2, "y": "b"}], "one": {"x": 3, "y": null}, "s": null}),
        json!({"list": [{"x": 1}, {"x": 2, "y": "b"}], "one": {"x": 3}}),
    );
}

#[test]
fn nulls_the_original_allows_stay() {
    let schema = json!({"type": "object", "properties": {"a": {"type": ["string", "null"], "default": null}}});
    check(
        schema,
        &Target::OPENAI_STRICT,
        json!({"a": null}),
        json!({"a": null}),
    );
}

#[test]
fn nulls_are_taken_out_inside_recursive_definitions() {
    let schema = json!({"type": "object", "properties": {"tree": {"$ref": "#/$defs/Node"}}, "required": ["tree"],
        "$defs": {"Node": {"type": "object", "properties": {"name": {"type": "string"}, "next": {"$ref": "#/$defs/Node"}},
            "required": ["name"]}}});
    check(
        schema,
        &Target::OPENAI_STRICT,
        json!({"tree": {"name": "a", "next": {"name": "b", "next": {"name": "c", "next": null}}}}),
        json!({"tree": {"name": "a", "next": {"name": "b", "next": {"name": "c"}}}}),
    );
}

#[test]
fn the_branch_that_fits_decides_what_is_undone() {
    let branch = |tag: &str, extra: Value| {
        json!({"type": "object", "properties": {"type": {"type": "string", "const": tag}, "extra": extra},
            "required": ["type"], "additionalProperties": false})
    };
    let schema = json!({"type": "object", "required": ["x"], "properties": {"x": {"oneOf": [
        branch("a", json!({"type": "string"})), branch("b", json!({"type": ["integer", "null"], "default": 1}))]}}});
    check(
        schema.clone(),
        &Target::OPENAI_STRICT,
        json!({"x": {"type": "a", "extra": null}}),
        json!({"x": {"type": "a"}}),
    );
    check(
        schema,
        &Target::OPENAI_STRICT,
        json!({"x": {"type": "b", "extra": null}}),
        json!({"x": {"type": "b", "extra": null}}),
    );
}

#[test]
fn enum_values_get_their_type_back() {
    let schema = json!({"type": "object", "properties": {
        "n": {"type": "integer", "enum": [1, 2]}, "mixed": {"enum": ["1", 1, true, ""]}, "o": {"enum": [{"a": 1}]}},
        "required": ["n", "mixed", "o"]});
    for (written, expected) in [
        ("1", json!("1")),
        ("1 (number)", json!(1)),
        ("true", json!(true)),
        ("(empty)", json!("")),
    ] {
        check(
            schema.clone(),
            &Target::GEMINI_OPENAPI,
            json!({"n": "2", "mixed": written, "o": "{\"a\":1}"}),
            json!({"n": 2, "mixed": expected, "o": {"a": 1}}),
        );
    }
}

#[test]
fn lists_of_entries_become_maps_and_their_values_are_restored() {
    let schema = json!({"type": "object", "properties": {"labels": {"type": "object",
        "additionalProperties": {"type": "object", "additionalProperties": {"type": "integer", "enum": [1, 2]}}}},
        "required": ["labels"]});
    check(
        schema,
        &Target::GEMINI_OPENAPI,
        json!({"labels": [{"key": "a b", "value": [{"key": "$c", "value": "2"}]}]}),
        json!({"labels": {"a b": {"$c": 2}}}),
    );
}

#[test]
fn json_in_strings_is_parsed_and_other_text_is_left() {
    let schema = json!({"type": "object", "properties": {"any": {}, "free": {"type": "object"}}, "required": ["any", "free"]});
    check(
        schema.clone(),
        &Target::GEMINI_OPENAPI,
        json!({"any": "[1,null]", "free": "{\"a\":{\"b\":2}}"}),
        json!({"any": [1, null], "free": {"a": {"b": 2}}}),
    );
    check_back(
        schema,
        &Target::GEMINI_OPENAPI,
        json!({"any": "not JSON", "free": {"already": "an object"}}),
        json!({"any": "not JSON", "free": {"already": "an object"}}),
    );
}

#[test]
fn renamed_keys_get_their_names_back_where_they_were_renamed() {
    let schema = json!({"type": "object", "properties": {"$top": {"type": "integer"}, "_top": {"type": "integer"},
        "filter": {"type": "object", "properties": {"$and": {"type": "array", "items": {"type": "object",
            "properties": {"@id": {"type": "string"}}}}}}}, "required": ["$top"]});
    check(
        schema.clone(),
        &Target::GEMINI_OPENAPI,
        json!({"_top_2": 1, "_top": 2, "filter": {"_and": [{"_id": "x"}]}}),
        json!({"$top": 1, "_top": 2, "filter": {"$and": [{"@id": "x"}]}}),
    );
    // Only the root's keys are bound by this rule.
    check(
        schema,
        &Target::ANTHROPIC,
        json!({"_top_2": 1, "filter": {"$and": [{"@id": "x"}]}}),
        json!({"$top": 1, "filter": {"$and": [{"@id": "x"}]}}),
    );
}

#[test]
fn keys_of_maps_are_data_and_never_renamed() {
    let schema = json!({"type": "object", "properties": {"$top": {"type": "integer"},
        "map": {"type": "object", "additionalProperties": {"type": "integer"}}}});
    check(
        schema,
        &Target::ANTHROPIC,
        json!({"_top": 1, "map": {"_top": 2}}),
        json!({"$top": 1, "map": {"_top": 2}}),
    );
}

#[test]
fn a_wrapped_root_is_unwrapped() {
    let schema = json!({"type": "array", "items": {"type": "string"}});
    check(
        schema,
        &Target::OPENAI,
        json!({"value": ["a"]}),
        json!(["a"]),
    );
}

#[test]
fn an_untouched_schema_restores_by_identity() {
    let schema = json!({"type": "object", "properties": {"a": {"type": "string"}}});
    let compiled = compile(&schema, &Target::OPENAI).unwrap();
    assert!(compiled.restore.is_identity());
    let odd = json!({"a": null, "b": [{"value": 1}], "value": {}});
    assert_eq!(compiled.restore.apply(odd.clone()), odd);
}

#[test]
fn arguments_already_in_the_servers_form_come_back_as_they_are() {
    let schema = json!({"type": "object", "properties": {"$top": {"type": "integer", "enum": [1, 2]},
        "m": {"type": "object", "additionalProperties": {"type": "integer"}}, "s": {"type": "string"}}});
    let arguments = json!({"$top": 2, "m": {"x": 1}});
    for target in Target::ALL {
        let compiled = compile(&schema, target).unwrap();
        assert_eq!(
            compiled.restore.apply(arguments.clone()),
            arguments,
            "{}",
            target.name()
        );
    }
}

#[test]
fn arguments_that_fit_nothing_are_left_for_validation() {
    let schema = json!({"type": "object", "properties": {"m": {"type": "object", "additionalProperties": {"type": "integer"}},
        "u": {"anyOf": [{"type": "integer", "enum": [1]}, {"type": "boolean"}]}}});
    let compiled = compile(&schema, &Target::GEMINI_OPENAPI).unwrap();
    for arguments in [
        json!({"m": [{"key": 1}]}),
        json!({"u": []}),
        json!([]),
        json!("x"),
        json!(null),
    ] {
        assert_eq!(compiled.restore.apply(arguments.clone()), arguments);
    }
}

#[test]
fn a_value_that_two_schemas_judge_keeps_its_form() {
    let flags = || json!({"enum": [true, {"k": 1}]});
    let beside = |own: Value, branch: Value| {
        let mut schema = own;
        schema["anyOf"] = json!([branch, {"minItems": 9, "required": ["never"]}]);
        schema
    };
    let texts = || json!({"type": ["string", "boolean"]});
    let cases = [
        beside(
            json!({"type": "object", "properties": {"a": texts()}}),
            json!({"properties": {"a": flags()}}),
        ),
        beside(
            json!({"type": "object", "additionalProperties": texts()}),
            json!({"properties": {"a": flags()}}),
        ),
        beside(
            json!({"type": "object", "properties": {"a": flags()}}),
            json!({"additionalProperties": texts()}),
        ),
        beside(
            json!({"type": "array", "items": texts()}),
            json!({"items": flags()}),
        ),
        beside(
            json!({"type": "array", "prefixItems": [texts()]}),
            json!({"items": flags()}),
        ),
        beside(
            json!({"type": "array", "items": {"type": "object", "properties": {"a": texts()}}}),
            json!({"items": {"properties": {"a": {"anyOf": [flags(), {"type": "integer"}]}}}}),
        ),
    ];
    for case in cases {
        let schema = json!({"type": "object", "properties": {"v": case}});
        let compiled = compile(&schema, &Target::GEMINI).unwrap();
        assert!(compiled.restore.is_identity(), "{:?}", compiled.schema);
        let reported = |loss: &tool_schema::Loss| loss.lossy && loss.keyword == "enum";
        assert!(
            compiled.losses.iter().any(reported),
            "{:?}",
            compiled.losses
        );
    }
}

#[test]
fn a_value_that_one_schema_judges_is_written_as_a_label_beside_others() {
    let schema = json!({"type": "object", "properties": {"v": {"type": "object",
        "properties": {"a": {"type": "string"}, "b": {"enum": [true, "x"]}},
        "anyOf": [{"required": ["a"]}, {"properties": {"c": {"enum": [{"k": 1}]}}, "required": ["c"]}]}}});
    check(
        schema,
        &Target::GEMINI,
        json!({"v": {"b": "true", "c": "{\"k\":1}"}}),
        json!({"v": {"b": true, "c": {"k": 1}}}),
    );
}
