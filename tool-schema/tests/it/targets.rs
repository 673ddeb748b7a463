//! Targets are data: one a user writes works like ours.

use serde_json::json;
use tool_schema::{
    Alphabet, Enums, KeyRule, KeyScope, NameRule, Nulls, OpenObjects, Recursion, Target, TypeLists,
    Unions, Untyped, compile,
};

use crate::{
    corpus::hard,
    laws::{Original, check_laws},
    oracle::validator,
};

const KEYWORDS: &[&str] = &[
    "type",
    "description",
    "properties",
    "required",
    "items",
    "anyOf",
    "enum",
];

/// As narrow as it gets: nothing but types, and names of letters.
const NARROW: Target = Target::json_schema("narrow")
    .with_keywords(KEYWORDS)
    .with_tool_names(NameRule::new(Alphabet::letters_and(""), Alphabet::NAME, 32))
    .with_keys(KeyRule::new(
        Alphabet::letters_and(""),
        Alphabet::NAME,
        24,
        KeyScope::Everywhere,
    ))
    .with_unions(Unions::Described)
    .with_enums(Enums::Strings)
    .with_type_lists(TypeLists::None)
    .with_nulls(Nulls::Type)
    .with_untyped(Untyped::Text)
    .with_open_objects(OpenObjects::Entries)
    .without_empty_objects()
    .with_recursion(Recursion::None)
    .with_items_needed()
    .with_known_required()
    .with_max_tools(3);

#[test]
fn a_target_of_ones_own_keeps_the_laws() {
    for (index, entry) in hard().iter().enumerate().step_by(2) {
        if let Err(failure) = check_laws(&Original::new(&entry.schema), &NARROW, index as u64, 3) {
            panic!("{}: {failure}", entry.name);
        }
    }
}

#[test]
fn a_target_of_ones_own_gets_only_its_keywords() {
    for entry in hard() {
        let schema = compile(&entry.schema, &NARROW).unwrap().schema.unwrap();
        assert!(validator(&schema).is_some());
        let mut stack = vec![&schema];
        while let Some(schema) = stack.pop() {
            for (key, value) in schema.as_object().unwrap() {
                assert!(KEYWORDS.contains(&key.as_str()), "{}: {key}", entry.name);
                match key.as_str() {
                    "properties" => stack.extend(value.as_object().unwrap().values()),
                    "items" => stack.push(value),
                    "anyOf" => stack.extend(value.as_array().unwrap()),
                    _ => {}
                }
            }
        }
    }
}

#[test]
fn targets_are_found_by_name_and_by_no_other() {
    for name in "openai openai-strict anthropic anthropic-strict gemini gemini-openapi deepseek-strict bedrock mistral groq xai ollama".split(' ') {
        assert_eq!(Target::named(name).map(|target| target.name()), Some(name));
    }
    assert!(Target::named("OpenAI").is_none());
}

#[test]
fn the_words_of_a_root_without_a_place_for_them_are_handed_over() {
    let schema = json!({"type": "object", "description": "Either.", "properties": {"a": {"type": "string"}, "b": {"type": "string"}},
        "anyOf": [{"required": ["a"]}, {"required": ["b"]}]});
    let compiled = compile(&schema, &Target::BEDROCK).unwrap();
    assert_eq!(
        compiled.description.as_deref(),
        Some("Either. At least one of these must be given: `a`; or `b`.")
    );
    assert_eq!(compile(&schema, &Target::OPENAI).unwrap().description, None);
}
