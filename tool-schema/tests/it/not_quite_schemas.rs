//! Input that is hardly a schema still describes an object.

use serde_json::{Value, json};
use tool_schema::{Target, compile};

#[track_caller]
fn openai(schema: &Value) -> Value {
    compile(schema, &Target::OPENAI).unwrap().schema.unwrap()
}

#[test]
fn null_and_other_values_stand_for_a_tool_without_parameters() {
    let nothing = json!({"type": "object", "properties": {}, "required": []});
    for schema in [
        json!(null),
        json!(true),
        json!(false),
        json!(7),
        json!("object"),
        json!([1]),
    ] {
        assert_eq!(openai(&schema), nothing, "{schema}");
        for target in Target::ALL {
            assert!(
                compile(&schema, target).is_ok(),
                "{schema} for {}",
                target.name()
            );
        }
    }
}

#[test]
fn an_empty_schema_is_an_object() {
    assert_eq!(
        openai(&json!({})),
        json!({"type": "object", "properties": {}, "required": []})
    );
}

#[test]
fn an_object_keeps_properties_required_and_description() {
    let schema = json!({"type": "object", "description": "D.", "properties": {"a": {"type": "string"}}, "required": ["a"]});
    assert_eq!(openai(&schema), schema);
}

#[test]
fn required_is_always_a_list() {
    for target in Target::ALL {
        let compiled = compile(
            &json!({"type": "object", "properties": {"a": {"type": "string"}}}),
            target,
        )
        .unwrap();
        assert!(
            compiled.schema.unwrap()["required"].is_array(),
            "{}",
            target.name()
        );
    }
}

#[test]
fn properties_without_a_type_are_an_object_and_other_types_are_wrapped() {
    let bare = json!({"properties": {"a": {"type": "string"}}, "required": ["a"]});
    assert_eq!(openai(&bare)["type"], "object");
    assert_eq!(openai(&bare)["properties"], bare["properties"]);
    assert_eq!(
        openai(&json!({"type": "string"}))["properties"],
        json!({"value": {"type": "string"}})
    );
}

/// Leaving unions and defaults out would break the check for required arguments.
#[test]
fn unions_and_defaults_survive() {
    let schema = json!({"type": "object", "properties": {"a": {"oneOf": [{"type": "string"}, {"type": "integer"}]},
        "b": {"anyOf": [{"type": "string"}, {"type": "null"}], "default": null}}, "required": ["a"]});
    let compiled = openai(&schema);
    assert_eq!(compiled["properties"], schema["properties"]);
    assert_eq!(compiled["required"], json!(["a"]));
}
