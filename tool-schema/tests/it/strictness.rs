//! A tool that is not strict says why.

use serde_json::{Value, json};
use tool_schema::{NotStrict, Target, Tool, compile, compile_tools};

/// Why a tool with the optional property `a` is not strict.
#[track_caller]
fn reasons(a: Value, target: &Target) -> Vec<String> {
    let schema = json!({"type": "object", "properties": {"a": a}});
    let compiled = compile(&schema, target).unwrap();
    assert_eq!(compiled.strict, compiled.why_not_strict().is_empty());
    let reasons = compiled.why_not_strict().iter();
    reasons.map(ToString::to_string).collect()
}

#[test]
fn a_rule_that_cannot_be_enforced_is_named_with_its_place() {
    let at = |text: &str| vec![format!("#/properties/a: {text}")];
    let openai = |a| reasons(a, &Target::OPENAI_STRICT);
    let short = json!({"type": "string", "minLength": 1});
    assert_eq!(openai(short.clone()), at("`minLength` would be described"));
    let long = json!({"type": "string", "maxLength": 9});
    assert_eq!(openai(long), at("`maxLength` would be described"));
    let uri = json!({"type": "string", "format": "uri"});
    assert_eq!(openai(uri.clone()), at("`format` would be described"));
    // Null is a value of its own here, so that it cannot stand for a key left out.
    let nullable = json!({"type": ["string", "null"]});
    assert_eq!(openai(nullable.clone()), at("`required` would be narrowed"));
    assert_eq!(
        openai(json!({"enum": ["x", 1, null]})),
        at("`required` would be narrowed")
    );
    let inner = json!({"type": "array", "items": short});
    assert_eq!(
        openai(inner),
        ["#/properties/a/items: `minLength` would be described"]
    );
    let anthropic = |a| reasons(a, &Target::ANTHROPIC_STRICT);
    assert_eq!(
        anthropic(json!({"type": "integer", "minimum": 1})),
        at("`minimum` would be described")
    );
    assert!(anthropic(uri).is_empty());
    assert!(anthropic(nullable).is_empty());
}

#[test]
fn what_the_strict_dialect_says_in_other_words_stays_strict() {
    for a in [
        json!({"type": "string"}),
        json!({"type": ["string", "null"], "default": null}),
        json!({"enum": ["x", 1, true]}),
        json!({"type": "integer", "exclusiveMinimum": 0}),
        json!({"type": "string", "format": "date-time", "pattern": "^2"}),
        json!({"oneOf": [{"const": "x"}, {"const": "y"}]}),
    ] {
        assert_eq!(reasons(a, &Target::OPENAI_STRICT), [""; 0]);
    }
}

#[test]
fn a_target_without_a_strict_mode_owes_no_reason() {
    let schema = json!({"type": "object", "properties": {"a": {"type": "string", "minLength": 1}}});
    for target in Target::ALL.iter().filter(|target| !target.is_strict()) {
        let compiled = compile(&schema, target).unwrap();
        assert!(compiled.why_not_strict().is_empty(), "{}", target.name());
    }
}

#[test]
fn what_nothing_fits_in_the_strict_dialect_is_a_reason() {
    let schema = json!({"type": "object", "properties": {"a": false}, "required": ["a"]});
    let compiled = compile(&schema, &Target::OPENAI_STRICT).unwrap();
    assert!(
        matches!(compiled.why_not_strict(), [NotStrict::Quarantined(_)]),
        "{:?}",
        compiled.why_not_strict()
    );
}

#[test]
fn a_limit_is_named_with_its_numbers() {
    let properties: serde_json::Map<String, Value> = (0..25)
        .map(|n| (format!("p{n}"), json!({"type": "string"})))
        .collect();
    let schema = json!({"type": "object", "properties": properties});
    let compiled = compile(&schema, &Target::ANTHROPIC_STRICT).unwrap();
    let reported: Vec<String> = compiled
        .why_not_strict()
        .iter()
        .map(ToString::to_string)
        .collect();
    assert_eq!(
        reported,
        ["#: 25 optional properties, at most 24 are enforced"]
    );
}

#[test]
fn a_request_that_is_full_is_named_with_its_numbers() {
    let schema = json!({"type": "object", "properties": {}, "additionalProperties": false});
    let names: Vec<String> = (0..21).map(|n| format!("t{n}")).collect();
    let tools: Vec<Tool<'_>> = names
        .iter()
        .map(|name| Tool {
            server: "s",
            name,
            description: "",
            schema: &schema,
        })
        .collect();
    let list = compile_tools(&tools, &Target::ANTHROPIC_STRICT);
    let why = |index: usize| -> Vec<String> {
        let compiled = list.tools()[index].outcome.as_ref().unwrap();
        let reasons = compiled.why_not_strict().iter();
        reasons.map(ToString::to_string).collect()
    };
    assert_eq!(why(19), [""; 0]);
    assert_eq!(
        why(20),
        ["#: 21 strict tools in the request, at most 20 are enforced"]
    );
}
