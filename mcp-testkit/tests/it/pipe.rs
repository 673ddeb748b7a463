//! The well-behaved server over a pipe, in both eras.

use mcp_testkit::{Ask, Edit, Era, Prompt, Refusal, Resource, Script, Server, Step, Tool};
use serde_json::{Value, json};

use crate::line_client::{modern, pipe};

fn text(answer: &Value) -> &str {
    answer["result"]["content"][0]["text"]
        .as_str()
        .unwrap_or_else(|| panic!("no text: {answer}"))
}

#[tokio::test]
async fn initialize_settles_on_the_revision_asked_for() {
    let (mut client, _server) = pipe(Server::default());
    let result = client.initialize().await;
    assert_eq!(result["protocolVersion"], "2025-11-25");
    assert_eq!(result["serverInfo"]["name"], "mcp-testkit");
    assert_eq!(
        text(&client.call("echo", json!({"text": "hi"})).await),
        "hi"
    );
    assert_eq!(
        text(&client.call("add", json!({"a": 2, "b": 0.5})).await),
        "2.5"
    );
}

#[tokio::test]
async fn requests_before_initialize_are_refused_and_logged() {
    let (mut client, server) = pipe(Server::default());
    let answer = client.request("tools/list", json!({})).await;
    assert_eq!(answer["error"]["code"], -32600);
    assert!(
        server
            .log()
            .events()
            .iter()
            .any(|e| matches!(e.seen, mcp_testkit::Seen::Refused { .. }))
    );
}

#[tokio::test]
async fn pages_cover_the_list_once() {
    let script = Script::empty().with_generated_tools(25).with_page_size(10);
    let (mut client, _server) = pipe(Server::new(script));
    client.initialize().await;
    let (mut names, mut cursor, mut pages) = (Vec::new(), Value::Null, 0);
    loop {
        let params = if cursor.is_null() {
            json!({})
        } else {
            json!({"cursor": cursor})
        };
        let answer = client.request("tools/list", params).await;
        let tools = answer["result"]["tools"].as_array().unwrap();
        names.extend(
            tools
                .iter()
                .map(|tool| tool["name"].as_str().unwrap().to_owned()),
        );
        pages += 1;
        cursor = answer["result"]["nextCursor"].clone();
        if cursor.is_null() {
            break;
        }
    }
    let all: Vec<String> = (0..25).map(|n| format!("tool_{n:04}")).collect();
    assert_eq!((pages, names), (3, all));
    let bad = client
        .request("tools/list", json!({"cursor": "nonsense"}))
        .await;
    assert_eq!(bad["error"]["code"], -32602);
}

#[tokio::test]
async fn a_tool_tells_progress_and_logs_before_it_answers() {
    let (mut client, _server) = pipe(Server::default());
    client.initialize().await;
    let params = json!({"name": "progress", "arguments": {}, "_meta": {"progressToken": "p"}});
    assert_eq!(text(&client.request("tools/call", params).await), "done");
    let reported: Vec<Value> = client
        .before
        .drain(..)
        .map(|m| m["params"]["progress"].clone())
        .collect();
    assert_eq!(reported, [1.0, 2.0, 3.0]);
    client
        .request("logging/setLevel", json!({"level": "error"}))
        .await;
    client.call("log", json!({})).await;
    let levels: Vec<&Value> = client
        .before
        .iter()
        .map(|m| &m["params"]["level"])
        .collect();
    assert_eq!(levels, ["error", "critical", "alert", "emergency"]);
}

#[tokio::test]
async fn a_legacy_tool_asks_by_requests_of_its_own() {
    let (mut client, server) = pipe(Server::default());
    client.initialize().await;
    let id = client
        .start("tools/call", json!({"name": "ask_all", "arguments": {}}))
        .await;
    client
        .answer_ask("elicitation/create", json!({"action": "decline"}))
        .await;
    client
        .answer_ask("sampling/createMessage", json!({"model": "m"}))
        .await;
    client.answer_ask("roots/list", json!({"roots": []})).await;
    let answer = client.answer(id).await;
    assert_eq!(
        text(&answer),
        r#"{"name":{"action":"decline"},"sample":{"model":"m"},"roots":{"roots":[]}}"#
    );
    let answered = server
        .log()
        .wait_for(|e| matches!(e.seen, mcp_testkit::Seen::Answered { .. }))
        .await;
    assert!(format!("{answered:?}").contains("decline"));
}

#[tokio::test]
async fn a_modern_tool_asks_by_rounds_and_checks_the_state() {
    let (mut client, _server) = pipe(Server::default());
    let call = json!({"name": "ask_all", "arguments": {}});
    let first = client.request("tools/call", modern(call.clone())).await;
    assert_eq!(first["result"]["resultType"], "input_required");
    let asked: Vec<&String> = first["result"]["inputRequests"]
        .as_object()
        .unwrap()
        .keys()
        .collect();
    assert_eq!(asked, ["name", "sample", "roots"]);
    let mut retry = call.clone();
    retry["inputResponses"] =
        json!({"name": {"action": "cancel"}, "sample": {"model": "m"}, "roots": {"roots": []}});
    retry["requestState"] = first["result"]["requestState"].clone();
    let second = client.request("tools/call", modern(retry.clone())).await;
    assert_eq!(second["result"]["resultType"], "complete");
    assert!(text(&second).contains("cancel"));
    retry["requestState"] =
        format!("{} ", first["result"]["requestState"].as_str().unwrap()).into();
    let touched = client.request("tools/call", modern(retry)).await;
    assert_eq!(touched["error"]["code"], -32602);
}

#[tokio::test]
async fn modern_requests_must_say_who_they_are() {
    let (mut client, _server) = pipe(Server::default());
    let bare = client.request("server/discover", json!({})).await;
    assert_eq!(bare["error"]["code"], -32602);
    let mut future = modern(json!({}));
    future["_meta"]["io.modelcontextprotocol/protocolVersion"] = "2099-01-01".into();
    let refused = client.request("tools/list", future).await;
    assert_eq!(refused["error"]["code"], -32022);
    assert_eq!(refused["error"]["data"]["requested"], "2099-01-01");
    let found = client.request("server/discover", modern(json!({}))).await;
    assert_eq!(
        found["result"]["supportedVersions"]
            .as_array()
            .unwrap()
            .len(),
        5
    );
    assert_eq!(found["result"]["cacheScope"], "private");
}

#[tokio::test]
async fn each_era_can_be_the_only_one() {
    let (mut client, _server) = pipe(Server::new(Script::standard().only(Era::Modern)));
    let refused = client
        .request("initialize", json!({"protocolVersion": "2025-11-25"}))
        .await;
    assert_eq!(refused["error"]["data"]["supported"], json!(["2026-07-28"]));
    let (mut client, _server) = pipe(Server::new(Script::standard().only(Era::Legacy)));
    let refused = client.request("server/discover", modern(json!({}))).await;
    assert_eq!(refused["error"]["code"], -32601);
}

#[tokio::test]
async fn cancelling_ends_a_call_without_an_answer() {
    let (mut client, server) = pipe(Server::default());
    client.initialize().await;
    let slow = client
        .start(
            "tools/call",
            json!({"name": "slow", "arguments": {"text": "x"}}),
        )
        .await;
    server.log().wait_for_method("tools/call").await;
    client
        .notify("notifications/cancelled", json!({"requestId": slow}))
        .await;
    assert_eq!(
        text(&client.call("echo", json!({"text": "next"})).await),
        "next"
    );
    assert!(client.before.is_empty(), "{:?}", client.before);
    assert!(
        server
            .log()
            .events()
            .iter()
            .any(|e| matches!(e.seen, mcp_testkit::Seen::Cancelled { .. }))
    );
}

#[tokio::test]
async fn changes_reach_legacy_subscribers_and_modern_listeners() {
    let (mut client, server) = pipe(Server::default());
    client.initialize().await;
    client
        .request("resources/subscribe", json!({"uri": "test://notes/first"}))
        .await;
    let listen = json!({"notifications": {"toolsListChanged": true, "resourceSubscriptions": ["test://pixel"]}});
    let id = client.start("subscriptions/listen", modern(listen)).await;
    let acknowledged = client.receive().await;
    assert_eq!(
        acknowledged["method"],
        "notifications/subscriptions/acknowledged"
    );
    assert_eq!(
        acknowledged["params"]["notifications"]["toolsListChanged"],
        true
    );
    client.request("ping", json!({})).await;
    server.list_changed("tools");
    server.resource_updated("test://notes/first");
    server.resource_updated("test://pixel");
    let mut reported: Vec<String> = Vec::new();
    for _ in 0..4 {
        let message = client.receive().await;
        let meta = &message["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"];
        reported.push(format!(
            "{} {} {meta}",
            message["method"], message["params"]["uri"]
        ));
    }
    reported.sort();
    assert_eq!(
        reported,
        [
            "\"notifications/resources/updated\" \"test://notes/first\" null".to_owned(),
            format!("\"notifications/resources/updated\" \"test://pixel\" {id}"),
            format!("\"notifications/tools/list_changed\" null {id}"),
            "\"notifications/tools/list_changed\" null null".to_owned(),
        ]
    );
}

#[tokio::test]
async fn a_task_of_2025_11_25_is_polled_and_collected() {
    let (mut client, _server) = pipe(Server::default());
    client.initialize().await;
    let call = json!({"name": "job", "arguments": {"text": "later"}, "task": {"ttl": 60000}});
    let task = client.request("tools/call", call).await["result"]["task"].clone();
    assert_eq!(
        (&task["status"], &task["ttl"]),
        (&json!("working"), &json!(60000))
    );
    let result = client
        .request("tasks/result", json!({"taskId": task["taskId"]}))
        .await;
    assert_eq!(text(&result), "later");
    let ended = client
        .request("tasks/get", json!({"taskId": task["taskId"]}))
        .await;
    assert_eq!(ended["result"]["status"], "completed");
    let again = client
        .request("tasks/cancel", json!({"taskId": task["taskId"]}))
        .await;
    assert_eq!(again["error"]["code"], -32602);
}

#[tokio::test]
async fn a_task_of_2025_11_25_asks_through_its_result() {
    let (mut client, _server) = pipe(Server::default());
    client.initialize().await;
    let call = json!({"name": "asking_job", "arguments": {}, "task": {}});
    let task = client.request("tools/call", call).await["result"]["task"]["taskId"].clone();
    let id = client.start("tasks/result", json!({"taskId": task})).await;
    let ask = client
        .answer_ask("elicitation/create", json!({"action": "accept"}))
        .await;
    let related = &ask["params"]["_meta"]["io.modelcontextprotocol/related-task"]["taskId"];
    assert_eq!(related, &task);
    assert_eq!(text(&client.answer(id).await), r#"{"action":"accept"}"#);
}

#[tokio::test]
async fn a_task_of_the_extension_asks_and_answers_inline() {
    let (mut client, _server) = pipe(Server::default());
    let call = modern(json!({"name": "asking_job", "arguments": {}}));
    let task = client.request("tools/call", call).await["result"].clone();
    assert_eq!(task["resultType"], "task");
    let poll = modern(json!({"taskId": task["taskId"]}));
    let asking = loop {
        let state = client.request("tasks/get", poll.clone()).await["result"].clone();
        if state["status"] != "working" {
            break state;
        }
        tokio::task::yield_now().await;
    };
    assert_eq!(
        asking["inputRequests"]["name"]["method"],
        "elicitation/create"
    );
    let update =
        modern(json!({"taskId": task["taskId"], "inputResponses": {"name": {"action": "accept"}}}));
    client.request("tasks/update", update).await;
    let done = loop {
        let state = client.request("tasks/get", poll.clone()).await["result"].clone();
        if state["status"] == "completed" {
            break state;
        }
        tokio::task::yield_now().await;
    };
    assert_eq!(
        done["result"]["content"][0]["text"],
        r#"{"action":"accept"}"#
    );
}

#[tokio::test]
async fn prompts_and_resources_can_ask_too() {
    let ask = || Ask::form("sure", "Sure?", json!({"type": "object"}));
    let script = Script::empty()
        .with_prompt(Prompt::new("p", &["who"], "Hello {who}.").asking(ask()))
        .with_resource(Resource::text("test://r", "secret").asking(ask()));
    let (mut client, _server) = pipe(Server::new(script));
    client.initialize().await;
    let id = client
        .start(
            "prompts/get",
            json!({"name": "p", "arguments": {"who": "you"}}),
        )
        .await;
    client
        .answer_ask("elicitation/create", json!({"action": "accept"}))
        .await;
    let answer = client.answer(id).await;
    assert_eq!(
        answer["result"]["messages"][0]["content"]["text"],
        "Hello you."
    );
    let read = json!({"uri": "test://r"});
    let first = client.request("resources/read", modern(read.clone())).await["result"].clone();
    assert_eq!(first["resultType"], "input_required");
    let mut retry = read;
    retry["requestState"] = first["requestState"].clone();
    retry["inputResponses"] = json!({"sure": {"action": "accept"}});
    let second = client.request("resources/read", modern(retry)).await["result"].clone();
    assert_eq!(second["contents"][0]["text"], "secret");
    assert_eq!(second["cacheScope"], "private");
}

#[tokio::test]
async fn a_script_can_answer_methods_of_extensions() {
    let script = Script::empty().with_method("skills/list", |params| match params.get("cursor") {
        None => Ok(json!({"skills": []})),
        Some(_) => Err(Refusal::new(-32602, "no such page")),
    });
    let (mut client, _server) = pipe(Server::new(script));
    let listed = client.request("skills/list", modern(json!({}))).await;
    assert_eq!(listed["result"]["skills"], json!([]));
    let refused = client
        .request("skills/list", modern(json!({"cursor": "x"})))
        .await;
    assert_eq!(refused["error"]["message"], "no such page");
}

#[tokio::test]
async fn a_call_can_change_what_the_server_offers() {
    let write = |script: Script, arguments: &Value| {
        let text = arguments["text"].as_str().unwrap_or_default();
        let new = Tool::new(text).declaring("title", text.into());
        script
            .with_resource(Resource::text("test://r", text))
            .with_tool(new)
    };
    let tool = Tool::new("write")
        .with_step(Step::Edit(Edit::new(write)))
        .with_step(Step::ToolsChanged);
    let script = Script::empty()
        .with_info("notes", "Notes", "1")
        .with_resource(Resource::text("test://r", "before"))
        .with_tool(tool);
    let (mut client, server) = pipe(Server::new(script));
    assert_eq!(
        client.initialize().await["serverInfo"],
        json!({"name": "notes", "title": "Notes", "version": "1"})
    );
    client.call("write", json!({"text": "after"})).await;
    let read = client
        .request("resources/read", json!({"uri": "test://r"}))
        .await;
    assert_eq!(read["result"]["contents"][0]["text"], "after");
    let listed = client.request("tools/list", json!({})).await;
    assert_eq!(listed["result"]["tools"][1]["name"], "after");
    let resources = client.request("resources/list", json!({})).await;
    assert_eq!(
        resources["result"]["resources"].as_array().unwrap().len(),
        1
    );
    drop(server);
}
