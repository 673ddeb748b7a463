//! Digests of definitions and questions.

use std::collections::BTreeSet;

use mcp_jsonrpc::RawObject;
use mcp_jsonrpc::model::{Tool, ToolAnnotations};
use proptest::prelude::*;
use serde_json::{Map, Value, json};
use tool_policy::{Definition, Fingerprint, consent_digest};

fn tool(name: &str, description: &str, schema: &str) -> Tool {
    let mut tool = Tool::new(name, serde_json::from_str::<RawObject>(schema).unwrap());
    tool.description = Some(description.to_owned());
    tool
}

fn fingerprint(tool: &Tool) -> Fingerprint {
    Fingerprint::of(tool)
}

/// Hosts store fingerprints.
#[test]
fn the_same_definition_has_the_same_fingerprint_for_ever() {
    let print = fingerprint(&tool("a", "", "{}"));
    let text = "sha256:ba996eb9a99bddc7d942ce2493ee431cfcd9129ab9bfb782da64b8284c6c920f";
    assert_eq!(print.to_string(), text);
    assert_eq!(text.parse::<Fingerprint>(), Ok(print));
    for bad in ["sha256:12", "", "sha256:zz", "md5:00"] {
        assert!(bad.parse::<Fingerprint>().is_err(), "{bad}");
    }
}

#[test]
fn every_part_of_a_question_counts() {
    let definition = |fingerprint| Definition::new("s", "i", "t", fingerprint);
    let digests = [
        consent_digest(&["1", "id"], &definition("f"), "{}"),
        consent_digest(&["2", "id"], &definition("f"), "{}"),
        consent_digest(&["1i", "d"], &definition("f"), "{}"),
        consent_digest(&["1", "id"], &definition("g"), "{}"),
        consent_digest(&["1", "id"], &definition("f"), "{ }"),
    ];
    let different: BTreeSet<&String> = digests.iter().collect();
    assert_eq!(different.len(), digests.len());
}

/// Whatever a model or a person would see counts.
#[test]
fn every_part_of_a_definition_counts() {
    let base = || {
        tool(
            "a",
            "d",
            r#"{"type":"object","properties":{"x":{"default":1}}}"#,
        )
    };
    let with = |change: fn(&mut Tool)| {
        let mut tool = base();
        change(&mut tool);
        fingerprint(&tool)
    };
    let changes: [fn(&mut Tool); 7] = [
        |tool| tool.name = "b".to_owned(),
        |tool| tool.description = None,
        |tool| tool.description = Some(String::new()),
        |tool| tool.title = Some("A".to_owned()),
        |tool| tool.input_schema = RawObject::empty(),
        |tool| tool.output_schema = Some(RawObject::empty()),
        |tool| {
            let mut hints = ToolAnnotations::default();
            hints.destructive_hint = Some(false);
            tool.annotations = Some(hints);
        },
    ];
    let mut seen = vec![fingerprint(&base())];
    for change in changes {
        let changed = with(change);
        assert!(!seen.contains(&changed));
        seen.push(changed);
    }
    assert_eq!(fingerprint(&base()), seen[0]);
}

fn values() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(json!(null)),
        any::<bool>().prop_map(Value::from),
        "[a-z\"]{0,4}".prop_map(Value::from),
        any::<i32>().prop_map(Value::from)
    ];
    leaf.prop_recursive(3, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map("[a-z,:]{0,4}", inner, 0..4)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

/// The same value, every object's members backwards.
fn backwards(value: &Value) -> Value {
    match value {
        Value::Array(items) => items.iter().map(backwards).collect(),
        Value::Object(members) => {
            let members: Map<String, Value> = members
                .iter()
                .rev()
                .map(|(name, value)| (name.clone(), backwards(value)))
                .collect();
            Value::Object(members)
        }
        scalar => scalar.clone(),
    }
}

proptest! {
    #[test]
    fn the_order_of_members_and_spaces_make_no_difference(schema in values(), other in values()) {
        let of = |text: String| fingerprint(&tool("t", "", &text));
        let object = json!({"x": schema, "y": 1});
        let print = of(object.to_string());
        prop_assert_eq!(print, of(serde_json::to_string_pretty(&backwards(&object)).unwrap()));
        prop_assert_eq!(print == of(json!({"x": other, "y": 1}).to_string()), schema == other);
        prop_assert_eq!(print.to_string().parse::<Fingerprint>().unwrap(), print);
    }
}
