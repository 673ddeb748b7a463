//! Modern results that request more input, or are of unknown kinds.

use serde_json::{Value, json};

use crate::Refusal;
use crate::fault::Fault;
use crate::fault::twist::Times;
use crate::protocol::{error, notification};

const CALL: &[&str] = &["tools/call"];

pub(super) const FAULTS: &[Fault] = &[
    Fault::twist(
        "modern-rounds",
        "wants one more round for ever, without asking anything",
        CALL,
        Times::Every,
        |asked| {
            let state = "x".repeat(100);
            vec![asked.result(json!({"resultType": "input_required", "requestState": state}))]
        },
    ),
    Fault::twist(
        "modern-rounds-asking",
        "asks the same form for ever",
        CALL,
        Times::Every,
        |asked| {
            let form = json!({"message": "Again?", "requestedSchema": {"type": "object", "properties": {}}});
            vec![asked.result(json!({
                "resultType": "input_required",
                "inputRequests": {"again": {"method": "elicitation/create", "params": form}},
                "requestState": format!("round {}", asked.nth),
            }))]
        },
    ),
    Fault::twist(
        "input-required-empty",
        "answers calls with input_required and nothing else",
        CALL,
        Times::Every,
        |asked| vec![asked.result(json!({"resultType": "input_required"}))],
    ),
    Fault::twist(
        "input-required-unknown",
        "asks for input by a method that does not exist",
        CALL,
        Times::Every,
        |asked| {
            vec![asked.result(json!({
                "resultType": "input_required",
                "inputRequests": {"odd": {"method": "vendor/doStuff", "params": {}}},
            }))]
        },
    ),
    Fault::twist(
        "input-required-for-list",
        "answers lists with input_required, which only calls may",
        &["tools/list"],
        Times::Every,
        |asked| vec![asked.result(json!({"resultType": "input_required", "requestState": "s"}))],
    ),
    Fault::call(
        "modern-result-type",
        "answers the first call with an unknown resultType",
        |asked| vec![asked.with("resultType", Some("quantum".into()))],
    ),
    Fault::call(
        "result-type-missing",
        "answers the first call without a resultType",
        |asked| vec![asked.with("resultType", None)],
    ),
    Fault::twist(
        "task-never-ends",
        "answers calls with a task that works for ever",
        &["tools/call", "tasks/get"],
        Times::Every,
        |asked| {
            let kind = match asked.request.get("method").and_then(Value::as_str) {
                Some("tools/call") => "task",
                _ => "complete",
            };
            vec![asked.result(json!({
                "resultType": kind, "taskId": "endless", "status": "working", "ttlMs": null,
                "createdAt": "2026-07-28T00:00:00Z", "lastUpdatedAt": "2026-07-28T00:00:00Z",
                "pollIntervalMs": 100,
            }))]
        },
    ),
    Fault::call(
        "cancels-our-call",
        "cancels the client's own first call, then answers it",
        |asked| {
            let params = json!({"requestId": asked.id(), "reason": "not yours to cancel"});
            let cancelled = notification("notifications/cancelled", params);
            vec![(&cancelled).into(), asked.good()]
        },
    ),
    Fault::twist(
        "task-result-not-complete",
        "answers calls with a task that is completed by a result that asks for input",
        &["tools/call", "tasks/get"],
        Times::Every,
        |asked| {
            let (kind, status) = match asked.request.get("method").and_then(Value::as_str) {
                Some("tools/call") => ("task", "working"),
                _ => ("complete", "completed"),
            };
            vec![asked.result(json!({
                "resultType": kind, "taskId": "odd", "status": status, "ttlMs": null,
                "createdAt": "2026-07-28T00:00:00Z", "lastUpdatedAt": "2026-07-28T00:00:00Z",
                "pollIntervalMs": 50,
                "result": {"resultType": "input_required", "requestState": "s"},
            }))]
        },
    ),
    Fault::twist(
        "header-mismatch-loop",
        "says of every call that its headers do not agree with its body",
        CALL,
        Times::Every,
        |asked| vec![(&error(asked.id(), &Refusal::new(-32020, "Header mismatch"))).into()],
    ),
];
