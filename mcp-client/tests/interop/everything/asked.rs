//! What `server-everything` asks of the client.

use mcp_jsonrpc::model::{ElicitResult, Root};
use serde_json::{Value, json};

use super::notified::logged;
use crate::session::Session;

pub(super) async fn the_model_is_asked(session: &Session) {
    let arguments = json!({"prompt": "the answer?", "maxTokens": 7});
    let said = session.say("trigger-sampling-request", arguments).await;
    let result: Value = after(&said, "LLM sampling result: ");
    assert_eq!(
        result,
        json!({
            "role": "assistant",
            "content": {"type": "text", "text": "forty-two"},
            "model": "deep-thought",
        })
    );
    let heard = session.host.heard();
    assert_eq!(heard.len(), 1);
    assert_eq!(heard[0]["maxTokens"], 7);
    assert_eq!(heard[0]["systemPrompt"], "You are a helpful test server.");
    assert_eq!(
        heard[0]["messages"][0]["content"]["text"],
        "Resource trigger-sampling-request context: the answer?"
    );
}

/// What the user leaves out is completed with the form's defaults.
pub(super) async fn forms_are_filled_in_or_not(session: &Session) {
    let elicit = async || session.say("trigger-elicitation-request", json!({})).await;
    session.host.fill_in(json!({
        "name": "Ada",
        "check": true,
        "email": "ada@example.org",
        "homepage": "https://example.org/ada",
        "birthdate": "1815-12-10",
        "titledMultipleSelectEnum": ["fish-2", "fish-3"],
    }));
    let expected: Value = serde_json::from_str(
        r#"{"action": "accept", "content": {
            "name": "Ada",
            "check": true,
            "firstLine": "It was a dark and stormy night.",
            "email": "ada@example.org",
            "homepage": "https://example.org/ada",
            "birthdate": "1815-12-10",
            "integer": 42,
            "number": 3.14,
            "untitledSingleSelectEnum": "Monica",
            "untitledMultipleSelectEnum": ["Guitar"],
            "titledSingleSelectEnum": "hero-1",
            "titledMultipleSelectEnum": ["fish-2", "fish-3"],
            "legacyTitledEnum": "pet-1"
        }}"#,
    )
    .unwrap();
    assert_eq!(after(&elicit().await, "Raw result: "), expected);

    session.host.answer(ElicitResult::decline());
    let declined = json!({"action": "decline"});
    assert_eq!(after(&elicit().await, "Raw result: "), declined);

    session.host.answer(ElicitResult::cancel());
    let cancelled = json!({"action": "cancel"});
    assert_eq!(after(&elicit().await, "Raw result: "), cancelled);

    let form = "Please provide inputs for the following fields:";
    let asked = json!({"form": form, "of": "interop"});
    assert_eq!(session.host.heard(), vec![asked; 3]);
}

/// By request; and by refusal of the call, which is then made again.
pub(super) async fn urls_are_visited(session: &Session) {
    let url = "https://example.org/consent";
    for (refuses, visited) in [
        (false, vec![url]),
        (true, vec!["https://modelcontextprotocol.io", url]),
    ] {
        let arguments = json!({"url": url, "elicitationId": "one", "errorPath": refuses});
        let said = session.say("trigger-url-elicitation", arguments).await;
        assert_eq!(after(&said, "Raw result: "), json!({"action": "accept"}));
        let visited = visited.into_iter().map(|url| json!({"url": url}));
        assert_eq!(session.host.heard(), visited.collect::<Vec<_>>());
    }
}

/// The tool only runs as a task; its question comes with the wait for its result.
pub(super) async fn a_task_asks_for_input(session: &Session) {
    let client = &session.client;
    let ask = async |method: &str, params: Value| {
        let result = client.request_raw(method, &params).await.unwrap();
        result.parse::<Value>().unwrap()
    };
    session.host.fill_in(json!({"interpretation": "technical"}));
    let call = json!({
        "name": "simulate-research-query",
        "arguments": {"topic": "rust", "ambiguous": true},
        "task": {"ttl": 300_000},
    });
    let created = ask("tools/call", call).await;
    let id = json!({"taskId": created["task"]["taskId"]});
    let result = ask("tasks/result", id.clone()).await;
    let report = result["content"][0]["text"].as_str().unwrap();
    assert!(
        report.starts_with("# Research Report: rust (technical)\n"),
        "{report}"
    );
    assert_eq!(ask("tasks/get", id).await["status"], "completed");
    let heard = session.host.heard();
    assert_eq!(heard.len(), 1);
    let form = heard[0]["form"].as_str().unwrap();
    assert!(form.starts_with("The research query \"rust\""), "{form}");
}

pub(super) async fn roots_are_listed_and_listed_again(session: &mut Session) {
    let root = |name: &str| {
        let mut root = Root::new(format!("file:///interop/{name}"));
        root.name = Some(name.to_owned());
        root
    };
    session.host.set_roots([root("one"), root("two")]);
    session.client.roots_changed().await.unwrap();
    let reported = "Roots updated: 2 root(s) received from client";
    session.event(|event| logged(event, reported)).await;
    let said = session.say("get-roots-list", json!({})).await;
    let both = "Current MCP Roots (2 total):\n\n\
        1. one\n   URI: file:///interop/one\n\n\
        2. two\n   URI: file:///interop/two\n";
    assert!(said.starts_with(both), "{said}");
}

/// The JSON behind a label.
fn after(said: &str, label: &str) -> Value {
    let (_, json) = said.split_once(label).unwrap();
    serde_json::from_str(json).unwrap()
}
