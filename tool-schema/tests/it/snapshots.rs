//! Whole outputs, for schemas that show one rule each and for real tools.

use serde_json::{Map, Value, json};
use tool_schema::{Target, compile};

fn read(path: &std::path::Path) -> Value {
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

/// What each target makes of a schema; targets that agree stand together.
fn outcomes(schema: &Value) -> Value {
    let mut groups: Vec<(Vec<&str>, Value)> = Vec::new();
    for target in Target::ALL {
        let outcome = match compile(schema, target) {
            Ok(compiled) => {
                let losses: Vec<String> = compiled.losses.iter().map(ToString::to_string).collect();
                let why: Vec<String> = compiled
                    .why_not_strict()
                    .iter()
                    .map(ToString::to_string)
                    .collect();
                let mut outcome = json!({
                    "schema": compiled.schema.map(|schema| schema.to_string()),
                    "strict": compiled.strict,
                    "losses": losses,
                });
                if !why.is_empty() {
                    outcome["not strict"] = json!(why);
                }
                outcome
            }
            Err(reason) => json!({"quarantined": reason.to_string()}),
        };
        match groups.iter_mut().find(|(_, known)| *known == outcome) {
            Some((names, _)) => names.push(target.name()),
            None => groups.push((vec![target.name()], outcome)),
        }
    }
    groups
        .into_iter()
        .map(|(names, outcome)| (names.join(" "), outcome))
        .collect::<Map<_, _>>()
        .into()
}

#[test]
fn every_rule_is_rewritten_as_written_here() {
    insta::glob!("inputs/rules/*.json", |path| {
        let Value::Object(cases) = read(path) else {
            panic!("a map of schemas")
        };
        let outcomes: Map<String, Value> = cases
            .iter()
            .map(|(name, schema)| (name.clone(), outcomes(schema)))
            .collect();
        insta::assert_json_snapshot!(Value::Object(outcomes));
    });
}

#[test]
fn every_real_schema_is_rewritten_as_written_here() {
    insta::glob!("inputs/real/*.json", |path| {
        let tool = read(path);
        insta::assert_json_snapshot!(outcomes(&tool["schema"]));
    });
}
