//! What a server that keeps the protocol answers.

use serde_json::{Value, json};

/// Whether a request is of 2026-07-28.
pub(crate) fn is_modern(request: &Value) -> bool {
    let version = "/params/_meta/io.modelcontextprotocol~1protocolVersion";
    request.pointer(version).is_some()
}

/// Whether the answer to a request is a task.
pub(crate) fn is_about_tasks(request: &Value) -> bool {
    request["method"] == "tasks/get" || request["params"]["name"] == "chore"
}

/// The right result of a request, with `mark` in it; `None` if there is no such method.
pub(crate) fn good(request: &Value, mark: &str) -> Option<Value> {
    let params = &request["params"];
    let modern = is_modern(request);
    let mut result = match request["method"].as_str()? {
        "initialize" if !modern => json!({
            "protocolVersion": "2025-11-25", "capabilities": capabilities(),
            "serverInfo": {"name": mark, "version": "1"},
        }),
        "server/discover" if modern => json!({
            "supportedVersions": ["2026-07-28"], "capabilities": capabilities(),
            "instructions": mark,
        }),
        "ping" if !modern => json!({}),
        "logging/setLevel" | "resources/subscribe" | "resources/unsubscribe" => json!({}),
        "tools/list" => page(params, "tools", json!({"name": mark, "inputSchema": {}})),
        "prompts/list" => page(params, "prompts", json!({"name": mark})),
        "resources/list" => page(params, "resources", json!({"uri": "a:b", "name": mark})),
        "resources/templates/list" => page(
            params,
            "resourceTemplates",
            json!({"uriTemplate": "a:{b}", "name": mark}),
        ),
        "tasks/list" => page(params, "tasks", task("working", mark)),
        "skills/list" => page(params, "skills", skill(mark)),
        "skills/get" => json!({"skill": skill(mark)}),
        "tools/call" if params["name"] == "chore" && modern => {
            let mut created = task("working", mark);
            created["resultType"] = json!("task");
            created
        }
        "tools/call" if params.get("task").is_some() => json!({"task": task("working", mark)}),
        "tools/call" => call_result(mark),
        "prompts/get" => json!({
            "messages": [{"role": "user", "content": {"type": "text", "text": mark}}],
        }),
        "resources/read" => {
            let text = format!("---\nname: x\n---\n{mark}");
            json!({"contents": [{"uri": params["uri"], "text": text}]})
        }
        "completion/complete" => json!({"completion": {"values": [mark]}}),
        "tasks/get" => {
            let mut done = task("completed", mark);
            if modern {
                done["result"] = call_result(mark);
            }
            done
        }
        "tasks/result" => call_result(mark),
        "tasks/cancel" | "tasks/update" if modern => json!({}),
        "tasks/cancel" => task("cancelled", mark),
        "vendor/anything" => json!({"anything": mark}),
        _ => return None,
    };
    if modern {
        let members = result.as_object_mut()?;
        members
            .entry("resultType")
            .or_insert_with(|| "complete".into());
    }
    Some(result)
}

fn capabilities() -> Value {
    json!({
        "tools": {"listChanged": true}, "prompts": {}, "logging": {}, "completions": {},
        "resources": {"subscribe": true},
        "tasks": {"list": {}, "requests": {"tools": {"call": {}}}},
        "extensions": {"io.modelcontextprotocol/skills": {}},
    })
}

fn call_result(mark: &str) -> Value {
    json!({"content": [{"type": "text", "text": mark}]})
}

/// A list of two pages.
fn page(params: &Value, list: &str, item: Value) -> Value {
    let mut page = json!({list: [item]});
    if params.get("cursor").is_none() {
        page["nextCursor"] = json!("second");
    }
    page
}

fn skill(mark: &str) -> Value {
    json!({
        "uri": "skill://x/SKILL.md", "frontmatter": {"name": "x"}, "resources": "dynamic",
        "_meta": {"mark": mark},
    })
}

fn task(status: &str, mark: &str) -> Value {
    json!({
        "taskId": format!("task-{mark}"), "status": status, "statusMessage": mark,
        "ttl": null, "ttlMs": null, "pollInterval": 1000, "pollIntervalMs": 1000,
        "createdAt": "2026-07-28T00:00:00Z", "lastUpdatedAt": "2026-07-28T00:00:00Z",
    })
}
