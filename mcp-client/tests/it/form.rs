//! What a user filled in is completed, typed and checked, for every kind of field.

use mcp_client::check_form;
use mcp_jsonrpc::model::FormSchema;
use proptest::prelude::*;
use serde_json::{Map, Value, json};

fn form(properties: Value, required: &[&str]) -> FormSchema {
    serde_json::from_value(
        json!({"type": "object", "properties": properties, "required": required}),
    )
    .unwrap()
}

fn map(value: Value) -> Map<String, Value> {
    value.as_object().unwrap().clone()
}

/// Checks one field.
#[track_caller]
fn check(field: Value, given: Value, want: Result<Value, &str>) {
    let answer = map(json!({"f": given}));
    let got = check_form(&form(json!({"f": field}), &["f"]), &answer);
    let got = got
        .map(|content| content["f"].clone())
        .map_err(|problems| problems[0].to_string());
    assert_eq!(got, want.map_err(|reason| format!("f: {reason}")));
}

#[test]
fn texts_have_lengths_patterns_and_choices() {
    let text = json!({"type": "string", "minLength": 2, "maxLength": 3});
    check(text.clone(), json!("äöü"), Ok(json!("äöü")));
    check(
        text.clone(),
        json!("ä"),
        Err("must have at least 2 characters"),
    );
    check(
        text.clone(),
        json!("äöüß"),
        Err("must have at most 3 characters"),
    );
    check(text, json!(42), Err("must be a text"));
    let pattern = json!({"type": "string", "pattern": "^[a-z]+$"});
    check(pattern.clone(), json!("abc"), Ok(json!("abc")));
    check(pattern, json!("ABC"), Err("must match ^[a-z]+$"));
    check(
        json!({"type": "string", "pattern": "(?<!x)y"}),
        json!("y"),
        Ok(json!("y")),
    );
    for choice in [
        json!({"type": "string", "enum": ["a", "b"]}),
        json!({"type": "string", "enum": ["a", "b"], "enumNames": ["A", "B"]}),
        json!({"type": "string", "oneOf": [{"const": "a", "title": "A"}, {"const": "b", "title": "B"}]}),
    ] {
        check(choice.clone(), json!("b"), Ok(json!("b")));
        check(choice, json!("B"), Err("must be one of a, b"));
    }
}

#[test]
fn formats_are_checked() {
    let good = [
        ("email", vec!["a@b.c", "o'dd+one@example.org"]),
        (
            "uri",
            vec!["https://a.example/x?y#z", "mailto:a@b.c", "urn:isbn:1"],
        ),
        ("date", vec!["2024-02-29", "2000-12-31"]),
        (
            "date-time",
            vec!["2024-02-29T23:59:60Z", "2024-01-01t00:00:00.5+02:00"],
        ),
    ];
    let bad = [
        ("email", vec!["a", "@b", "a@", "a b@c", "a@.b"]),
        ("uri", vec!["/relative", "a b:c", ":x", "https:", "1x:y"]),
        (
            "date",
            vec![
                "2023-02-29",
                "2024-13-01",
                "2024-1-1",
                "2024-04-31",
                "20240101",
            ],
        ),
        (
            "date-time",
            vec![
                "2024-01-01",
                "2024-01-01T00:00:00",
                "2024-01-01T24:00:00Z",
                "2024-01-01T00:00Z",
            ],
        ),
    ];
    let accepts = |format: &str, text: &str| {
        let form = form(json!({"f": {"type": "string", "format": format}}), &[]);
        check_form(&form, &map(json!({"f": text}))).is_ok()
    };
    for (format, texts) in good {
        for text in texts {
            assert!(accepts(format, text), "{format} {text}");
        }
    }
    for (format, texts) in bad {
        for text in texts {
            assert!(!accepts(format, text), "{format} {text}");
        }
    }
    assert!(accepts("unheard-of", "anything"));
}

#[test]
fn numbers_are_numbers_even_if_typed_as_text() {
    let number = json!({"type": "number", "minimum": 0.5, "maximum": 2});
    check(number.clone(), json!(1.5), Ok(json!(1.5)));
    check(number.clone(), json!("1.5"), Ok(json!(1.5)));
    check(number.clone(), json!(0), Err("must be at least 0.5"));
    check(number.clone(), json!(3), Err("must be at most 2"));
    check(number, json!("NaN"), Err("must be a number"));
    let integer = json!({"type": "integer"});
    check(integer.clone(), json!(" 42 "), Ok(json!(42)));
    check(integer.clone(), json!(42.0), Ok(json!(42)));
    check(integer.clone(), json!(u64::MAX), Ok(json!(u64::MAX)));
    check(integer.clone(), json!(1.5), Err("must be a whole number"));
    check(integer, json!(true), Err("must be a whole number"));
    check(json!({"type": "boolean"}), json!("true"), Ok(json!(true)));
    check(
        json!({"type": "boolean"}),
        json!("yes"),
        Err("must be true or false"),
    );
}

#[test]
fn several_choices_are_counted() {
    for items in [
        json!({"type": "string", "enum": ["a", "b", "c"]}),
        json!({"anyOf": [{"const": "a", "title": "A"}, {"const": "b", "title": "B"}, {"const": "c", "title": "C"}]}),
    ] {
        let field = json!({"type": "array", "items": items, "minItems": 1, "maxItems": 2});
        check(field.clone(), json!(["a", "c"]), Ok(json!(["a", "c"])));
        check(
            field.clone(),
            json!([]),
            Err("must have at least 1 choices"),
        );
        check(
            field.clone(),
            json!(["a", "b", "c"]),
            Err("must have at most 2 choices"),
        );
        check(field.clone(), json!(["d"]), Err("must only have a, b, c"));
        check(field, json!("a"), Err("must be a list of choices"));
    }
}

#[test]
fn what_is_left_out_is_filled_in_by_default() {
    let form = form(
        json!({
            "text": {"type": "string", "default": "x"},
            "float": {"type": "number", "default": 0.5},
            "whole": {"type": "integer", "default": 7},
            "flag": {"type": "boolean", "default": false},
            "many": {"type": "array", "items": {"enum": ["a"]}, "default": ["a"]},
            "absurd": {"type": "integer", "minimum": 5, "default": 1},
            "plain": {"type": "string"},
            "needed": {"type": "string"},
        }),
        &["needed", "text"],
    );
    let content = check_form(&form, &map(json!({"needed": "y", "flag": null}))).unwrap();
    let want = r#"{"text":"x","float":0.5,"whole":7,"flag":false,"many":["a"],"needed":"y"}"#;
    assert_eq!(Value::from(content).to_string(), want);
    let problems = check_form(&form, &map(json!({"surprise": 1}))).unwrap_err();
    let problems: Vec<_> = problems.iter().map(ToString::to_string).collect();
    assert_eq!(
        problems,
        ["needed: must be filled in", "surprise: is not in the form"]
    );
}

fn fields() -> impl Strategy<Value = Value> {
    let choices = || prop::sample::subsequence(vec!["a", "b", "ab"], 1..3);
    prop_oneof![
        (0..4i64, 0..4i64).prop_map(|(least, more)| {
            json!({"type": "string", "minLength": least, "maxLength": least + more})
        }),
        choices().prop_map(|choices| json!({"type": "string", "enum": choices})),
        (-5.0..5.0f64, 0.0..5.0f64).prop_map(|(least, more)| {
            json!({"type": "number", "minimum": least, "maximum": least + more})
        }),
        (-5..5i64, 0..5i64).prop_map(|(least, more)| {
            json!({"type": "integer", "minimum": least, "maximum": least + more})
        }),
        Just(json!({"type": "boolean"})),
        (choices(), 0..2i64).prop_map(|(choices, least)| {
            json!({"type": "array", "items": {"type": "string", "enum": choices}, "minItems": least, "maxItems": 2})
        }),
    ]
}

fn values() -> impl Strategy<Value = Value> {
    prop_oneof![
        "[abü]{0,5}".prop_map(Value::from),
        (-6..6i64).prop_map(Value::from),
        (-6.0..6.0f64).prop_map(Value::from),
        any::<bool>().prop_map(Value::from),
        prop::collection::vec(prop::sample::select(vec!["a", "b", "ab", "c"]), 0..4)
            .prop_map(Value::from),
    ]
}

proptest! {
    /// A real validator agrees: whatever passes fits the schema, and whatever fits passes.
    #[test]
    fn a_form_accepts_what_its_json_schema_accepts(
        properties in prop::collection::btree_map("[xyz]", fields(), 1..4),
        answer in prop::collection::btree_map("[xyz]", values(), 0..4),
        required in prop::sample::subsequence(vec!["x", "y", "z"], 0..3),
    ) {
        let required: Vec<_> = required.into_iter().filter(|name| properties.contains_key(*name)).collect();
        let schema = json!({
            "type": "object", "properties": properties, "required": required, "additionalProperties": false,
        });
        let form = form(json!(properties), &required);
        let validator = jsonschema::validator_for(&schema).unwrap();
        let answer = map(json!(answer));
        let checked = check_form(&form, &answer);
        if validator.is_valid(&Value::from(answer.clone())) {
            prop_assert!(checked.is_ok(), "{checked:?}");
        }
        if let Ok(content) = checked {
            prop_assert!(validator.is_valid(&Value::from(content.clone())), "{content:?}");
            prop_assert_eq!(check_form(&form, &content), Ok(content.clone()), "checking is idempotent");
        }
    }
}
