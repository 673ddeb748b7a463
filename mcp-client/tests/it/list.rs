//! Lists are followed to their end, within caps, and say what is missing.

use std::time::Duration;

use mcp_client::{CallError, Client, ClientLimits, Truncated};
use mcp_jsonrpc::model::{
    CacheScope, CompleteParams, CompletionArgument, CompletionReference, PromptReference,
};
use mcp_transport::TransportKind;
use serde_json::{Value, json};

use crate::fake::{Fake, FakeConnect, legacy, modern};

fn tools(names: &[&str], next: Option<&str>) -> Value {
    let tools: Vec<_> = names
        .iter()
        .map(|name| json!({"name": name, "inputSchema": {"type": "object"}}))
        .collect();
    json!({"tools": tools, "nextCursor": next})
}

async fn client(connect: FakeConnect) -> Client {
    let limits = ClientLimits::default()
        .with_list_pages(5)
        .with_list_items(10);
    Client::builder(connect)
        .limits(limits)
        .connect()
        .await
        .unwrap()
}

fn names(listed: &mcp_client::Listed<mcp_jsonrpc::model::Tool>) -> Vec<&str> {
    listed.items.iter().map(|tool| tool.name.as_str()).collect()
}

#[tokio::test]
async fn pages_are_followed_by_their_cursors() {
    let connect = legacy(|server, message| {
        let page = match message["params"].get("cursor").and_then(Value::as_str) {
            None => tools(&["a", "b"], Some("")),
            Some("") => tools(&["c"], Some("opaque ü")),
            Some("opaque ü") => tools(&["d"], None),
            Some(other) => panic!("{other}"),
        };
        server.reply(message, page);
    });
    let listed = client(connect).await.list_tools().await.unwrap();
    assert_eq!(names(&listed), ["a", "b", "c", "d"]);
    assert_eq!((listed.truncated, listed.skipped), (None, vec![]));
}

#[tokio::test]
async fn endless_lists_are_cut_and_say_so() {
    let page = |names: &'static [&'static str], next: fn(usize) -> String| {
        legacy(move |server: &Fake, message: &Value| {
            server.reply(message, tools(names, Some(&next(server.seen().len()))));
        })
    };
    let listed = client(page(&["a"], |_| "same".to_owned()))
        .await
        .list_tools()
        .await
        .unwrap();
    assert_eq!(
        (listed.items.len(), listed.truncated),
        (2, Some(Truncated::RepeatedCursor))
    );
    let listed = client(page(&["a"], |n| n.to_string()))
        .await
        .list_tools()
        .await
        .unwrap();
    assert_eq!(
        (listed.items.len(), listed.truncated),
        (5, Some(Truncated::Pages { limit: 5 }))
    );
    let listed = client(page(&["a", "b", "c", "d"], |n| n.to_string()))
        .await
        .list_tools()
        .await
        .unwrap();
    assert_eq!(
        (listed.items.len(), listed.truncated),
        (10, Some(Truncated::Items { limit: 10 }))
    );
    let listed = client(page(&["a"], |_| "x".repeat(100_000)))
        .await
        .list_tools()
        .await
        .unwrap();
    assert_eq!(
        (listed.items.len(), listed.truncated),
        (1, Some(Truncated::HugeCursor))
    );
}

#[tokio::test(start_paused = true)]
async fn further_pages_have_a_deadline_of_their_own() {
    let connect = legacy(|server, message| {
        if message["params"].get("cursor").is_none() {
            server.reply(message, tools(&["a"], Some("2")));
        }
    });
    let begun = tokio::time::Instant::now();
    let listed = client(connect).await.list_tools().await.unwrap();
    assert_eq!(
        (names(&listed), listed.truncated.clone()),
        (vec!["a"], Some(Truncated::Time))
    );
    assert_eq!(begun.elapsed(), Duration::from_secs(30));
}

#[tokio::test]
async fn one_bad_tool_never_hides_the_rest() {
    let connect = legacy(|server, message| {
        let mut page = tools(&["a", "b"], None);
        page["tools"]
            .as_array_mut()
            .unwrap()
            .insert(1, json!({"name": "bad", "inputSchema": 7}));
        page["tools"]
            .as_array_mut()
            .unwrap()
            .push(json!("nonsense"));
        server.reply(message, page);
    });
    let listed = client(connect).await.list_tools().await.unwrap();
    assert_eq!(names(&listed), ["a", "b"]);
    let skipped: Vec<_> = listed
        .skipped
        .iter()
        .map(|skipped| skipped.name.as_deref())
        .collect();
    assert_eq!(skipped, [Some("bad"), None]);
}

#[tokio::test]
async fn a_cursor_that_went_bad_restarts_the_list_once() {
    let connect =
        legacy(
            |server, message| match (message["params"].get("cursor"), server.seen().len()) {
                (None, _) => server.reply(message, tools(&["a"], Some("2"))),
                (Some(_), ..5) => server.error(message, -32602, "unknown cursor"),
                _ => server.reply(message, tools(&["b"], None)),
            },
        );
    let listed = client(connect.clone()).await.list_tools().await.unwrap();
    assert_eq!(names(&listed), ["a", "b"]);
    assert_eq!(connect.last().seen().len(), 6);

    let never = legacy(|server, message| match message["params"].get("cursor") {
        None => server.reply(message, tools(&["a"], Some("2"))),
        Some(_) => server.error(message, -32602, "unknown cursor"),
    });
    let error = client(never).await.list_tools().await.unwrap_err();
    assert!(matches!(error, CallError::Peer { .. }), "{error}");
}

#[tokio::test]
async fn a_list_stays_fresh_as_long_as_its_shortest_page() {
    let connect = modern(TransportKind::Http, |server, message| {
        let first = message["params"].get("cursor").is_none();
        let mut page = tools(&["a"], first.then_some("2"));
        page["ttlMs"] = json!(if first { 9000 } else { 5000 });
        page["cacheScope"] = json!(if first { "public" } else { "private" });
        server.reply(message, page);
    });
    let listed = client(connect).await.list_tools().await.unwrap();
    assert_eq!(
        (listed.ttl, listed.scope),
        (Some(Duration::from_secs(5)), CacheScope::Private)
    );
}

/// Everything a client can ask has its method.
#[tokio::test]
async fn resources_prompts_and_completion_are_asked_by_name() {
    let connect = legacy(|server, message| {
        let result = match message["method"].as_str().unwrap() {
            "resources/list" => json!({"resources": [{"uri": "a:b", "name": "b"}]}),
            "resources/templates/list" => {
                json!({"resourceTemplates": [{"uriTemplate": "a:{x}", "name": "x"}]})
            }
            "resources/read" => {
                json!({"contents": [{"uri": message["params"]["uri"], "text": "t"}]})
            }
            "prompts/list" => {
                json!({"prompts": [{"name": "p", "arguments": [{"name": "x", "required": true}]}]})
            }
            "prompts/get" => {
                let said = message["params"]["arguments"]["x"].clone();
                json!({"messages": [{"role": "user", "content": {"type": "text", "text": said}}]})
            }
            "completion/complete" => json!({"completion": {"values": ["abc"]}}),
            other => panic!("{other}"),
        };
        server.reply(message, result);
    });
    let client = client(connect).await;
    assert_eq!(client.list_resources().await.unwrap().items[0].uri, "a:b");
    assert_eq!(
        client.list_resource_templates().await.unwrap().items[0].uri_template,
        "a:{x}"
    );
    assert_eq!(
        client.read_resource("a:b").await.unwrap().contents[0]
            .text
            .as_deref(),
        Some("t")
    );
    assert_eq!(client.list_prompts().await.unwrap().items[0].name, "p");
    let prompt = client.get_prompt("p", [("x", "said")]).await.unwrap();
    assert_eq!(prompt.messages[0].content.as_text(), Some("said"));
    let reference = CompletionReference::Prompt(PromptReference::new("p"));
    let params = CompleteParams::new(reference, CompletionArgument::new("x", "a"));
    assert_eq!(
        client.complete(&params).await.unwrap().completion.values,
        ["abc"]
    );
}

#[tokio::test]
async fn a_bad_cache_hint_costs_no_tool() {
    for hint in [
        json!({"ttlMs": "soon"}),
        json!({"ttlMs": []}),
        json!({"cacheScope": "galaxy"}),
        json!({"ttlMs": 60_000, "cacheScope": 7}),
    ] {
        let mut page = tools(&["a"], None);
        let members = page.as_object_mut().unwrap();
        members.extend(hint.as_object().unwrap().clone());
        let connect = modern(TransportKind::Http, move |server, message| {
            server.reply(message, page.clone());
        });
        let listed = client(connect).await.list_tools().await.unwrap();
        assert_eq!(names(&listed), ["a"], "{hint}");
        assert_eq!(listed.scope, CacheScope::Private, "{hint}");
    }
}

#[tokio::test]
async fn a_schema_that_nests_too_deep_costs_its_own_tool_only() {
    for levels in [130, 5000] {
        for spaced in [false, true] {
            let answer = move |server: &Fake, message: &Value| {
                let (open, close) = (r#"{"not":"#.repeat(levels), "}".repeat(levels));
                let deep = format!(r#"{{"name":"deep","inputSchema":{open}{{}}{close}}}"#);
                let good = r#"{"name":"good","inputSchema":{"type":"object"}}"#;
                let space = if spaced { " " } else { "" };
                let answer = format!(
                    r#"{{"jsonrpc":{space}"2.0","id":{},"result":{{"tools":[{deep},{good}]}}}}"#,
                    message["id"]
                );
                server.say_bytes(answer.as_bytes(), None);
            };
            for connect in [legacy(answer), modern(TransportKind::Http, answer)] {
                let listed = client(connect).await.list_tools().await.unwrap();
                assert_eq!(names(&listed), ["good"], "{levels} {spaced}");
                assert_eq!(listed.skipped[0].name.as_deref(), Some("deep"));
                assert!(listed.skipped[0].reason.contains("too deep"));
            }
        }
    }
}
