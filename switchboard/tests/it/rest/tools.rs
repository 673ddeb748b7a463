//! Tools: listed, governed, tried, and as providers see them.

use serde_json::{Value, json};

use super::desk::Desk;

/// A tool by its name.
fn named<'a>(tools: &'a Value, name: &str) -> &'a Value {
    let mut tools = tools["items"].as_array().unwrap().iter();
    tools.find(|tool| tool["name"] == name).unwrap()
}

/// A tool comes with its server, and says whether it is on and whether it runs unasked.
#[tokio::test]
async fn tools_are_listed_with_their_server_and_what_they_cost() {
    let desk = Desk::open();
    let id = desk.demo("demo").await;
    let tools = desk
        .ask(&format!("GET mcp-servers/{id}/tools"))
        .await
        .is(200)
        .body;
    let mut shown = json!([
        named(&tools, "add"),
        named(&tools, "odd"),
        named(&tools, "odd.names")
    ]);
    for tool in shown.as_array_mut().unwrap() {
        assert_eq!(tool["serverId"], json!(id));
        tool["serverId"] = json!("ID");
        if tool["name"] != "add" {
            tool["inputSchema"] = json!("…");
        }
    }
    insta::assert_json_snapshot!("tools", shown);
    let server = desk.ask(&format!("GET mcp-servers/{id}")).await.body;
    let items = tools["items"].as_array().unwrap();
    assert_eq!(server["toolCount"], items.len());
    let tokens: u64 = items
        .iter()
        .map(|tool| tool["tokens"].as_u64().unwrap())
        .sum();
    assert_eq!(server["tokens"], tokens);
    desk.close();
}

/// Whatever is switched where, one policy decides.
#[tokio::test]
async fn a_tool_is_switched_off_asked_about_allowed_and_denied() {
    let desk = Desk::open();
    let id = desk.demo("demo").await;
    let tool = |name: &str| format!("PATCH mcp-servers/{id}/tools/{name}");
    let mut reported = Vec::new();
    let tools = desk.ask(&format!("GET mcp-servers/{id}/tools")).await.body;
    let hash = named(&tools, "add")["hash"].clone();
    for said in [
        json!({"enabled": false}),
        json!({"approval": "auto", "hash": hash}),
        json!({"enabled": true, "approval": "deny"}),
        json!({"approval": "ask"}),
        json!({}),
    ] {
        let answer = desk.say(&tool("add"), said.clone()).await.is(200).body;
        let approvals = desk.ask("GET approvals").await.body;
        let rules = approvals["items"].as_array().unwrap().iter();
        let rules = rules.map(|rule| {
            json!([
                rule["decision"],
                rule["server"],
                rule["tool"],
                rule["scope"]
            ])
        });
        reported.push(json!({
            "said": said,
            "enabled": answer["enabled"], "isEnabled": answer["isEnabled"],
            "approval": answer["approval"], "isAutoApprove": answer["isAutoApprove"],
            "rules": rules.collect::<Vec<_>>(),
        }));
    }
    insta::assert_json_snapshot!("governed", reported);
    // The server's own list says the same thing to the same judge.
    let listed = json!({"autoApproveTools": ["echo"]});
    desk.say(&format!("PUT mcp-servers/{id}"), listed)
        .await
        .is(200);
    let tools = desk.ask(&format!("GET mcp-servers/{id}/tools")).await.body;
    assert_eq!(named(&tools, "echo")["approval"], "auto");
    desk.say(&tool("echo"), json!({"approval": "deny"}))
        .await
        .is(200);
    let server = desk.ask(&format!("GET mcp-servers/{id}")).await.body;
    assert_eq!(server["autoApproveTools"], json!([]));
    desk.say(&tool("none"), json!({"enabled": false}))
        .await
        .is(404);
    desk.say(&tool("add"), json!({"approval": "perhaps"}))
        .await
        .is(400);
    desk.close();
}

#[tokio::test]
async fn a_tool_is_tried_and_its_failures_are_distinguished() {
    let desk = Desk::open();
    let id = desk.demo("demo").await;
    let call = |name: &str| format!("POST mcp-servers/{id}/tools/{name}/call");
    desk.forget();
    let sum = json!({"arguments": {"a": 1, "b": 2}});
    desk.say(&call("add"), sum.clone()).await.is(200);
    desk.say(&call("fail"), json!({})).await.is(200);
    desk.say(&call("none"), json!({})).await.is(404);
    desk.say(&call("add"), json!({"arguments": [1, 2]}))
        .await
        .is(400);
    let patch = format!("PATCH mcp-servers/{id}/tools/add");
    desk.say(&patch, json!({"enabled": false})).await.is(200);
    desk.say(&call("add"), sum.clone()).await.is(409);
    let deny = json!({"enabled": true, "approval": "deny"});
    desk.say(&patch, deny).await.is(200);
    desk.say(&call("add"), sum).await.is(403);
    let mut reported = desk.reported();
    reported.retain(|reported| !reported["request"].as_str().unwrap().starts_with("PATCH"));
    insta::assert_json_snapshot!("calls", reported);
    desk.close();
}

#[tokio::test]
async fn every_provider_sees_a_tool_its_own_way_and_what_is_lost_is_reported() {
    let desk = Desk::open();
    let id = desk.demo("demo").await;
    desk.ask(&format!("POST mcp-servers/{id}/connect"))
        .await
        .is(200);
    desk.forget();
    for provider in ["openai", "gemini"] {
        let path = format!("GET mcp-servers/{id}/tools/odd/schema?for={provider}");
        desk.ask(&path).await.is(200);
    }
    for odd in [
        "add/schema",
        "add/schema?for=no one",
        "none/schema?for=openai",
    ] {
        let answer = desk.ask(&format!("GET mcp-servers/{id}/tools/{odd}")).await;
        assert!(matches!(answer.status, 400 | 404), "{}", answer.text);
    }
    insta::assert_json_snapshot!("schema", desk.reported());
    desk.close();
}

#[tokio::test]
async fn resources_are_read_and_prompts_filled_in() {
    let desk = Desk::open();
    let id = desk.demo("demo").await;
    desk.forget();
    desk.ask(&format!(
        "GET mcp-servers/{id}/resources/read?uri=demo://note"
    ))
    .await
    .is(200);
    desk.ask(&format!(
        "GET mcp-servers/{id}/resources/read?uri=demo://none"
    ))
    .await;
    desk.ask(&format!("GET mcp-servers/{id}/resources/read"))
        .await
        .is(400);
    let prompts = desk
        .ask(&format!("GET mcp-servers/{id}/prompts"))
        .await
        .body;
    let prompt = prompts["items"][0]["name"].as_str().unwrap();
    let fill = format!("POST mcp-servers/{id}/prompts/{prompt}");
    desk.say(&fill, json!({"arguments": {"name": "Ada"}}))
        .await
        .is(200);
    desk.say(&format!("POST mcp-servers/{id}/prompts/none"), json!({}))
        .await;
    insta::assert_json_snapshot!("resources", desk.reported());
    desk.close();
}

#[tokio::test]
async fn the_list_is_fetched_again_when_it_changed_or_on_request() {
    let desk = Desk::open();
    let id = desk.demo("demo").await;
    let tools = format!("GET mcp-servers/{id}/tools");
    let before = desk.ask(&tools).await.body["items"]
        .as_array()
        .unwrap()
        .len();
    let grow = desk
        .say(&format!("POST mcp-servers/{id}/tools/grow/call"), json!({}))
        .await;
    grow.is(200);
    let after = desk.ask(&format!("{tools}?refresh=1")).await.body;
    assert_eq!(after["items"].as_array().unwrap().len(), before + 1);
    assert_eq!(after["live"], true);
    desk.close();
}
