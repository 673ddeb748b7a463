//! Responses of the wrong shape.

use serde_json::{Value, json};

use crate::Refusal;
use crate::fault::Fault;
use crate::fault::twist::Times;
use crate::protocol::{error, notification, request};

pub(super) const FAULTS: &[Fault] = &[
    Fault::call("never-call", "never answers the first call", |_| Vec::new()),
    Fault::call(
        "both-result-and-error",
        "answers the first call with a result and an error in one message",
        |asked| {
            let mut message = asked.good.clone();
            if let Some(members) = message.as_object_mut() {
                members.insert(
                    "error".to_owned(),
                    json!({"code": -32000, "message": "also an error"}),
                );
            }
            vec![(&message).into()]
        },
    ),
    Fault::call(
        "neither-result-nor-error",
        "answers the first call with an id and nothing else",
        |asked| vec![asked.raw(r#"{"jsonrpc":"2.0","id":ID}"#)],
    ),
    Fault::call(
        "jsonrpc-missing",
        "answers the first call without \"jsonrpc\"",
        |asked| {
            let mut message = asked.good.clone();
            if let Some(members) = message.as_object_mut() {
                members.shift_remove("jsonrpc");
            }
            vec![(&message).into()]
        },
    ),
    Fault::call(
        "error-malformed",
        "answers the first call with an error that is a string",
        |asked| vec![asked.raw(r#"{"jsonrpc":"2.0","id":ID,"error":"boom"}"#)],
    ),
    Fault::call(
        "error-object",
        "answers the first call with an ordinary error, with data",
        |asked| {
            let refusal =
                Refusal::new(-32000, "tool exploded").with_data(json!({"x": [1, null, {"y": 2}]}));
            vec![(&error(asked.id(), &refusal)).into()]
        },
    ),
    Fault::call(
        "error-code-huge",
        "answers the first call with an error code beyond 64 bits",
        |asked| {
            let text = r#"{"jsonrpc":"2.0","id":ID,"error":{"code":99999999999999999999,"message":"big code"}}"#;
            vec![asked.raw(text)]
        },
    ),
    Fault::call(
        "content-missing",
        "answers the first call with {}",
        |asked| vec![asked.result(json!({}))],
    ),
    Fault::call(
        "content-null",
        "answers the first call with content: null",
        |asked| vec![asked.result(json!({"content": null}))],
    ),
    Fault::call(
        "content-unknown-type",
        "answers the first call with an unknown kind of content and bad base64 beside the text",
        |asked| {
            vec![asked.result(json!({"content": [
                {"type": "hologram", "payload": {"z": 1}},
                {"type": "text", "text": asked.text(), "annotations": {"new": 1}},
                {"type": "image", "data": "!!! not base64 !!!", "mimeType": "image/png"},
            ]}))]
        },
    ),
    Fault::call(
        "iserror-no-content",
        "answers the first call with isError: true and nothing else",
        |asked| vec![asked.result(json!({"isError": true}))],
    ),
    Fault::call(
        "result-string",
        "answers the first call with a string",
        |asked| vec![asked.result("hello".into())],
    ),
    Fault::call("result-null", "answers the first call with null", |asked| {
        vec![asked.result(Value::Null)]
    }),
    Fault::call(
        "result-array",
        "answers the first call with an array",
        |asked| vec![asked.result(json!([{"type": "text", "text": "hello"}]))],
    ),
    Fault::call(
        "dup-keys",
        "answers the first call with every member twice, the first ones POISON",
        |asked| {
            vec![asked.raw(concat!(
                r#"{"jsonrpc":"2.0","id":ID,"result":{"content":[{"type":"text","text":"POISON"}]},"#,
                r#""id":ID,"result":{"content":[{"type":"text","text":"hello","text":"hello"}]}}"#
            ))]
        },
    ),
    Fault::call(
        "batch-response",
        "answers the first call in an array, beside a log message",
        |asked| vec![(&json!([log_note("in a batch"), asked.good])).into()],
    ),
    Fault::call(
        "batch-junk",
        "sends empty and junk arrays before the good answer to the first call",
        |asked| {
            let pings = json!([
                request(&"b1".into(), "ping", &json!({})),
                request(&"b2".into(), "ping", &json!({})),
            ]);
            let junk = [json!([]), json!([1, 2]), pings, json!([[]])];
            junk.iter().map(Into::into).chain([asked.good()]).collect()
        },
    ),
    Fault::call(
        "unknown-notification",
        "sends unknown and malformed notifications before the good answer to the first call",
        |asked| {
            let notes = [
                notification("notifications/vendor/thing", json!({"a": 1})),
                json!({"jsonrpc": "2.0", "method": "notifications/vendor/none"}),
                notification("notifications/vendor/array", json!([1, 2])),
                notification("notifications/vendor/null", Value::Null),
                notification(
                    "notifications/message",
                    json!({"level": "shout", "data": 1}),
                ),
                notification("notifications/progress", json!({})),
                notification(
                    "notifications/progress",
                    json!({"progressToken": "nope", "progress": 1}),
                ),
                notification("notifications/cancelled", json!({"requestId": 424_242})),
                notification("", json!({})),
            ];
            notes.iter().map(Into::into).chain([asked.good()]).collect()
        },
    ),
    Fault::call(
        "many-in-one-write",
        "writes five messages at once, the answer to the first call among them",
        |asked| {
            vec![
                (&log_note("one")).into(),
                (&request(&"early-ping".into(), "ping", &json!({}))).into(),
                (&notification("notifications/tools/list_changed", json!({}))).into(),
                asked.good(),
                (&log_note("two")).into(),
            ]
        },
    ),
    Fault::twist(
        "tools-null",
        "lists tools: null",
        &["tools/list"],
        Times::Every,
        |asked| vec![asked.with("tools", Some(Value::Null))],
    ),
    Fault::twist(
        "tools-missing",
        "lists without a list",
        &["tools/list"],
        Times::Every,
        |asked| vec![asked.with("tools", None)],
    ),
    Fault::twist(
        "tools-bad-entry",
        "lists malformed tools between the good ones",
        &["tools/list"],
        Times::Every,
        |asked| {
            let good = asked
                .good
                .pointer("/result/tools")
                .and_then(Value::as_array);
            let bad = [
                json!({"name": 5}),
                json!({"description": "no name"}),
                Value::Null,
                json!("x"),
                json!({"name": "bad-schema", "inputSchema": "string"}),
            ];
            let mut tools: Vec<Value> = good.into_iter().flatten().cloned().collect();
            let at = 1.min(tools.len());
            tools.splice(at..at, bad);
            vec![asked.with("tools", Some(tools.into()))]
        },
    ),
    Fault::twist(
        "tool-odd-schema",
        "lists tools with odd names, dangling and circular references, and echo twice",
        &["tools/list"],
        Times::Every,
        |asked| {
            let good = asked
                .good
                .pointer("/result/tools")
                .and_then(Value::as_array);
            let mut tools: Vec<Value> = good.into_iter().flatten().cloned().collect();
            tools.extend([
                json!({"name": "n".repeat(5_000), "inputSchema": {"type": "object", "$ref": "#/definitions/nope"}}),
                json!({"name": "tool with spaces \u{202e} and \u{0} nul", "inputSchema": {
                    "type": "object",
                    "properties": {"a": {"$ref": "#"}, "b": {"pattern": "(a+)+$"}},
                }}),
                json!({"name": "echo", "description": "DUPLICATE NAME", "inputSchema": {"type": "object"}}),
            ]);
            vec![asked.with("tools", Some(tools.into()))]
        },
    ),
];

pub(super) fn log_note(text: &str) -> Value {
    notification(
        "notifications/message",
        json!({"level": "info", "logger": "mcp-testkit", "data": text}),
    )
}
