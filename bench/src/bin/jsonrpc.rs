//! From bytes to typed results: `mcp-jsonrpc` against `serde_json::Value` and the official SDK's
//! types, on the same bytes in one run; and the cost of routing alone.

use bench::allocations::Counted;
use bench::contest::{Contest, Plan};
use mcp_jsonrpc::model::{CallToolResult, ListToolsResult};
use mcp_jsonrpc::{Body, Incoming, DecodeLimits, MessageRef, decode};
use rmcp::model::{JsonRpcMessage, JsonRpcResponse, ServerJsonRpcMessage, ServerResult};
use serde_json::{Value, json};

#[global_allocator]
static HEAP: Counted = Counted;

fn main() {
    let plan = Plan::default();
    let small = call_reply(&prose(900), None);
    let text = call_reply(&prose(100 << 10), None);
    let structured = call_reply("see structuredContent", Some(rows(100 << 10)));
    // As the specification advises: the structure, and the same as text.
    let both = rows(45 << 10);
    let both = call_reply(&both.to_string(), Some(both.clone()));
    let list = tool_list(1000);

    for (title, bytes) in [
        ("tools/call reply of 1 KiB", &small),
        ("tools/call reply of 100 KiB, text", &text),
        ("tools/call reply of 100 KiB, structured", &structured),
        (
            "tools/call reply of 100 KiB, structured and the same as text",
            &both,
        ),
    ] {
        Contest::new(format!(
            "{title} ({} bytes), bytes to typed result",
            bytes.len()
        ))
        .entrant("mcp-jsonrpc", || ours::<CallToolResult>(bytes))
        .entrant("serde_json::Value", || value(bytes))
        .entrant("rmcp, as its client reads", || match theirs(bytes) {
            ServerResult::CallToolResult(result) => result,
            other => unexpected(&other),
        })
        .entrant("rmcp, type known beforehand", || {
            known::<rmcp::model::CallToolResult>(bytes)
        })
        .run(plan);
    }

    Contest::new(format!(
        "list of 1,000 tools ({} bytes), bytes to typed result",
        list.len()
    ))
    .entrant("mcp-jsonrpc", || ours::<ListToolsResult>(&list))
    .entrant("mcp-jsonrpc, schemas parsed too", || {
        let result = ours::<ListToolsResult>(&list);
        let schemas: Vec<Value> = result
            .tools
            .iter()
            .map(|tool| tool.input_schema.parse().unwrap())
            .collect();
        (result, schemas)
    })
    .entrant("serde_json::Value", || value(&list))
    .entrant("rmcp, as its client reads", || match theirs(&list) {
        ServerResult::ListToolsResult(result) => result,
        other => unexpected(&other),
    })
    .entrant("rmcp, type known beforehand", || {
        known::<rmcp::model::ListToolsResult>(&list)
    })
    .run(plan);

    for (title, bytes) in [
        ("1 KiB reply", &small),
        ("100 KiB reply, text", &text),
        ("100 KiB reply, structured", &structured),
        ("list of 1,000 tools", &list),
    ] {
        Contest::new(format!("routing alone: whose answer is this? {title}"))
            .entrant("mcp-jsonrpc", || {
                matches!(route(bytes), MessageRef::Response { .. })
            })
            .entrant("serde_json::Value", || value(bytes)["id"].is_number())
            .run(plan);
    }
}

fn route(bytes: &[u8]) -> MessageRef<'_> {
    match decode(bytes, &DecodeLimits::default()) {
        Ok(Incoming::Single(message)) => message,
        other => unexpected(&other),
    }
}

fn ours<T: Body>(bytes: &[u8]) -> T {
    match route(bytes) {
        MessageRef::Response {
            outcome: Ok(result),
            ..
        } => T::read(result).unwrap(),
        other => unexpected(&other),
    }
}

fn value(bytes: &[u8]) -> Value {
    serde_json::from_slice(bytes).unwrap()
}

fn theirs(bytes: &[u8]) -> ServerResult {
    match serde_json::from_slice::<ServerJsonRpcMessage>(bytes).unwrap() {
        JsonRpcMessage::Response(response) => response.result,
        other => unexpected(&other),
    }
}

fn known<T: serde::de::DeserializeOwned>(bytes: &[u8]) -> T {
    serde_json::from_slice::<JsonRpcResponse<T>>(bytes)
        .unwrap()
        .result
}

fn unexpected(what: &dyn std::fmt::Debug) -> ! {
    panic!("not what was expected: {what:?}")
}

/// Lines of text with the escapes real output has: line breaks, quotes, a letter beyond ASCII.
fn prose(bytes: usize) -> String {
    "12:04:31 INFO  \"worker-7\" finished the job in 182 ms, queue length 14 (søndag)\n"
        .chars()
        .cycle()
        .take(bytes)
        .collect()
}

/// A table as a tool would return it.
fn rows(bytes: usize) -> Value {
    let row = |n: usize| {
        json!({
            "id": n, "name": format!("customer {n}"), "email": format!("c{n}@example.com"),
            "balance": n as f64 * 1.25, "active": n % 3 == 0, "tags": ["a", "b"],
        })
    };
    let size = row(500).to_string().len() + 1;
    json!({ "rows": (0..bytes / size).map(row).collect::<Vec<_>>() })
}

fn call_reply(text: &str, structured: Option<Value>) -> Vec<u8> {
    let mut result = json!({ "content": [{ "type": "text", "text": text }], "isError": false });
    if let Some(structured) = structured {
        result["structuredContent"] = structured;
    }
    reply(&result)
}

fn tool_list(tools: usize) -> Vec<u8> {
    let tool = |n: usize| {
        json!({
            "name": format!("search_items_{n}"),
            "title": format!("Search items {n}"),
            "description": "Searches the items of a project by text, state and labels.\nReturns \
                at most `limit` of them, the newest first. Use a short query.",
            "inputSchema": {
                "$schema": "http://json-schema.org/draft-07/schema#",
                "type": "object",
                "properties": {
                    "query": { "type": "string", "description": "Words to look for" },
                    "state": { "type": "string", "enum": ["open", "closed", "all"], "default": "open" },
                    "labels": { "type": "array", "items": { "type": "string" }, "maxItems": 10 },
                    "limit": { "type": "integer", "minimum": 1, "maximum": 100, "default": 30 },
                },
                "required": ["query"],
                "additionalProperties": false,
            },
            "annotations": { "readOnlyHint": true, "openWorldHint": false },
        })
    };
    reply(&json!({ "tools": (0..tools).map(tool).collect::<Vec<_>>() }))
}

fn reply(result: &Value) -> Vec<u8> {
    json!({ "jsonrpc": "2.0", "id": 7, "result": result })
        .to_string()
        .into_bytes()
}
