//! The laws, on generated schemas.

use proptest::prelude::*;
use serde_json::{Value, json};
use tool_schema::{Target, compile};

use crate::{
    generate::{as_draft_7, schemas},
    laws::check_laws,
};

proptest! {
    #![proptest_config(ProptestConfig::with_cases(250))]

    #[test]
    fn the_laws_hold_for_generated_schemas(schema in schemas(), seed in any::<u64>()) {
        for target in Target::ALL {
            if let Err(failure) = check_laws(&schema, target, seed, 6) {
                prop_assert!(false, "{failure}");
            }
        }
    }

    #[test]
    fn the_laws_hold_for_generated_schemas_of_draft_7(schema in schemas(), seed in any::<u64>()) {
        let schema = as_draft_7(&schema);
        for target in Target::ALL {
            if let Err(failure) = check_laws(&schema, target, seed, 3) {
                prop_assert!(false, "{failure}");
            }
        }
    }
}

/// Schemas that proptest found once, with the seed of the values that broke a law.
#[test]
fn the_laws_hold_for_schemas_that_once_broke_them() {
    let found: Vec<Value> = serde_json::from_str(include_str!("inputs/regressions.json")).unwrap();
    for case in found {
        let seed = case["seed"].as_u64().unwrap();
        for target in Target::ALL {
            check_laws(&case["schema"], target, seed, 12).unwrap();
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
