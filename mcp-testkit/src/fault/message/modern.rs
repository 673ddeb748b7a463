//! Mistakes of servers of 2026-07-28, and rare but legal behaviour.

use serde_json::{Value, json};

use crate::Refusal;
use crate::fault::Fault;
use crate::fault::twist::Times;
use crate::protocol::{Piece, error, notification};

const LIST: &[&str] = &["tools/list"];

pub(super) const FAULTS: &[Fault] = &[
    Fault::twist(
        "init-refused-oddly",
        "refuses initialize with -32000, and names the versions it speaks (no fault)",
        &["initialize"],
        Times::Every,
        |asked| {
            let refusal = Refusal::new(-32000, "speak 2026-07-28 with me")
                .with_data(json!({"supported": ["2026-07-28"], "requested": "?"}));
            vec![(&error(asked.id(), &refusal)).into()]
        },
    ),
    Fault::twist(
        "bad-cache-hint",
        "lists tools with a ttlMs that is a text and a cacheScope that is a number",
        LIST,
        Times::Every,
        |asked| {
            let mut message = asked.good.clone();
            if let Some(result) = message.get_mut("result").and_then(Value::as_object_mut) {
                result.insert("ttlMs".to_owned(), "soon".into());
                result.insert("cacheScope".to_owned(), 7.into());
            }
            vec![(&message).into()]
        },
    ),
    Fault::twist(
        "deep-schema",
        "lists one tool more, whose schema nests 5000 levels deep",
        LIST,
        Times::Every,
        |asked| {
            let (open, close) = (r#"{"not":"#.repeat(5_000), "}".repeat(5_000));
            let tool = format!(r#"{{"name":"deep","inputSchema":{open}{{}}{close}}}"#);
            let good = asked.good.to_string();
            let more = good.replacen(r#""tools":["#, &format!(r#""tools":[{tool},"#), 1);
            vec![Piece::Message(more.into_bytes())]
        },
    ),
    Fault::twist(
        "header-hint-stale",
        "lists tools as fresh for an hour, then refuses the first call for its headers",
        &["tools/list", "tools/call"],
        Times::Every,
        |asked| {
            let is_list = asked
                .request
                .get("method")
                .is_some_and(|m| m == "tools/list");
            match (is_list, asked.nth) {
                (true, _) => vec![asked.with("ttlMs", Some(3_600_000.into()))],
                (false, 1) => {
                    let refusal = Refusal::new(-32020, "Header mismatch");
                    vec![(&error(asked.id(), &refusal)).into()]
                }
                (false, _) => vec![asked.good()],
            }
        },
    ),
    Fault::call(
        "foreign-subscription",
        "announces changes on unknown subscriptions, then answers the first call",
        |asked| {
            let changed = |id: Value| {
                let meta = json!({"io.modelcontextprotocol/subscriptionId": id});
                let method = "notifications/tools/list_changed";
                (&notification(method, json!({"_meta": meta}))).into()
            };
            vec![
                changed(json!(9_999)),
                changed(json!("other")),
                changed(asked.id().clone()),
                asked.good(),
            ]
        },
    ),
    Fault::twist(
        "version-escaped",
        "writes the 2.0 of JSON-RPC with an escape (no fault)",
        &["tools/list", "tools/call"],
        Times::Every,
        |asked| {
            let good = asked.good.to_string();
            let escaped = good.replacen(r#""jsonrpc":"2.0""#, r#""jsonrpc":"\u0032.0""#, 1);
            vec![Piece::Message(escaped.into_bytes())]
        },
    ),
];
