//! Nothing the schemas define is missing, and nothing is sent that a revision does not have.

use std::collections::BTreeSet;

use mcp_jsonrpc::Revision;
use serde_json::{Value, json};

use crate::arbitrary::Gen;
use crate::official_schema::{
    Entry, core, definitions, schema_of, tasks_extension, tasks_schema, validator,
};

/// Definitions that are no message and no object of their own: unions of others, bases others
/// extend, words and numbers.
const NOT_OURS: &[&str] = &[
    "Annotated",
    "BaseMetadata",
    "CacheableResult",
    "ClientNotification",
    "ClientRequest",
    "ClientResult",
    "Cursor",
    "HeaderMismatchError",
    "Icons",
    "InputResponse",
    "InputResponseRequestParams",
    "InternalError",
    "InvalidParamsError",
    "InvalidRequestError",
    "JSONArray",
    "JSONObject",
    "JSONRPCBatchRequest",
    "JSONRPCBatchResponse",
    "JSONValue",
    "LoggingLevel",
    "MetaObject",
    "MethodNotFoundError",
    "MissingRequiredClientCapabilityError",
    "Notification",
    "NotificationMetaObject",
    "PaginatedRequest",
    "PaginatedResult",
    "ParseError",
    "ProgressToken",
    "Request",
    "RequestId",
    "RequestMetaObject",
    "ResourceContents",
    "ResourceRequestParams",
    "Result",
    "ResultMetaObject",
    "ResultType",
    "Role",
    "ServerNotification",
    "ServerRequest",
    "ServerResult",
    "SubscriptionsListenResultMetaObject",
    "TaskAugmentedRequestParams",
    "TaskStatus",
    "TasksExtensionCapability",
    "UnsupportedProtocolVersionError",
];

#[test]
fn every_definition_of_every_revision_has_its_type() {
    let made: BTreeSet<&str> = core().iter().map(|(name, _)| *name).collect();
    for revision in Revision::ALL {
        for name in definitions(&schema_of(revision)).keys() {
            assert!(
                made.contains(name.as_str()) || NOT_OURS.contains(&name.as_str()),
                "{revision} defines {name}, and no test makes one"
            );
        }
    }
    let both: BTreeSet<&str> = core()
        .iter()
        .chain(&tasks_extension())
        .map(|(name, _)| *name)
        .collect();
    for name in definitions(&tasks_schema()).keys() {
        assert!(
            both.contains(name.as_str()) || NOT_OURS.contains(&name.as_str()),
            "{name}"
        );
    }
}

#[test]
fn every_member_a_revision_defines_is_known_and_no_other_is_written() {
    let mut compared = 0;
    for revision in Revision::ALL {
        let schema = schema_of(revision);
        for entry in core() {
            if definitions(&schema).contains_key(entry.0) {
                compared += compare(&schema, entry, revision);
            }
        }
    }
    for entry in tasks_extension() {
        compared += compare(&tasks_schema(), entry, Revision::LATEST);
    }
    assert_eq!(compared, 517, "objects and params compared");
}

/// Compares the members a definition has with those written over many values; counts how many
/// objects that were.
fn compare(schema: &Value, (name, make): Entry, revision: Revision) -> usize {
    let node = &definitions(schema)[name];
    let Some(defined) = members(schema, node) else {
        return 0;
    };
    let values: Vec<Value> = (0..40)
        .map(|seed| {
            let mut g = Gen::new(seed, revision);
            g.strange = false;
            make(&mut g)
        })
        .collect();
    let written = |part: &str| -> BTreeSet<String> {
        let objects = values
            .iter()
            .filter_map(|value| value.pointer(part)?.as_object());
        objects.flat_map(|object| object.keys().cloned()).collect()
    };
    // The envelope is of every message, though some definitions leave it to a base; so is `_meta`.
    let without = |names: BTreeSet<String>, left: &[&str]| -> BTreeSet<String> {
        names
            .into_iter()
            .filter(|name| !left.contains(&name.as_str()))
            .collect()
    };
    let envelope = ["jsonrpc", "id", "_meta"];
    assert_eq!(
        without(written(""), &envelope),
        without(defined, &envelope),
        "{revision} {name}"
    );
    let params = node
        .pointer("/properties/params")
        .and_then(|params| members(schema, params));
    if let Some(defined) = params {
        let written = written("/params");
        assert_eq!(
            without(written, &["_meta"]),
            without(defined, &["_meta"]),
            "params of {revision} {name}"
        );
        return 2;
    }
    1
}

/// The members an object may have by its definition; `None` for unions and open objects.
fn members(schema: &Value, node: &Value) -> Option<BTreeSet<String>> {
    if let Some(reference) = node.get("$ref").and_then(Value::as_str) {
        return members(schema, schema.pointer(reference.trim_start_matches('#'))?);
    }
    if let Some(parts) = node.get("allOf").and_then(Value::as_array) {
        let parts: Option<Vec<_>> = parts.iter().map(|part| members(schema, part)).collect();
        return Some(parts?.into_iter().flatten().collect());
    }
    let open = node
        .get("additionalProperties")
        .is_some_and(|open| open != &Value::Bool(false));
    if open || node.get("anyOf").is_some() {
        return None;
    }
    Some(
        node.get("properties")?
            .as_object()?
            .keys()
            .cloned()
            .collect(),
    )
}

#[test]
fn the_validator_does_refuse() {
    let validator = validator(&schema_of(Revision::V2026_07_28));
    for (tool, fine) in [
        (
            json!({"name": "t", "inputSchema": {"type": "object"}}),
            true,
        ),
        (json!({"name": "t"}), false),
        (json!({"name": 7, "inputSchema": {"type": "object"}}), false),
    ] {
        assert_eq!(validator.is_valid(&json!({ "Tool": tool })), fine);
    }
}
