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
        tool["hash"] = json!("HASH");
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
    for mut said in [
        json!({"enabled": false}),
        json!({"approval": "auto", "hash": hash}),
        json!({"enabled": true, "approval": "deny"}),
        json!({"approval": "ask"}),
        json!({}),
    ] {
        let answer = desk.say(&tool("add"), said.clone()).await.is(200).body;
        let approvals = desk.ask("GET approvals").await.body;
        let rules = approvals["items"].as_array().unwrap().iter();
        if said.get("hash").is_some() {
            said["hash"] = json!("HASH");
        }
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
    // A name alone approves nothing.
    let listed = json!({"autoApproveTools": ["echo"]});
    let put = format!("PUT mcp-servers/{id}");
    let refused = desk.say(&put, listed).await.is(422).body;
    assert_eq!(refused["error"]["details"]["field"], "autoApproveTools");
    desk.say(&put, json!({"autoApproveTools": []}))
        .await
        .is(200);
    desk.say(&tool("none"), json!({"enabled": false}))
        .await
        .is(404);
    desk.say(&tool("add"), json!({"approval": "perhaps"}))
        .await
        .is(400);
    desk.close();
}

/// What one of them changes is not what another one has read.
#[tokio::test]
async fn changes_of_one_server_made_at_once_are_all_kept() {
    let desk = Desk::open();
    let id = desk.demo("demo").await;
    let tools = desk.ask(&format!("GET mcp-servers/{id}/tools")).await.body;
    let items = tools["items"].as_array().unwrap().iter();
    let mut names: Vec<&str> = items.map(|tool| tool["name"].as_str().unwrap()).collect();
    names.sort_unstable();
    let (put, off) = (format!("PUT mcp-servers/{id}"), json!({"enabled": false}));
    let switches = names.iter().map(|name| {
        let request = format!("PATCH mcp-servers/{id}/tools/{name}");
        (request, off.clone())
    });
    let settings = [
        json!({"timeout": 41}),
        json!({"alwaysLoad": true}),
        json!({"parallel": true}),
        json!({"trust": "trusted"}),
        json!({"toolTimeouts": {"add": 7}}),
        json!({"name": "renamed"}),
    ];
    let settings = settings.into_iter().map(|body| (put.clone(), body));
    let requests: Vec<(String, Value)> = switches.chain(settings).collect();
    assert_eq!(requests.len(), 20);
    let said = requests.iter();
    let said = said.map(|(request, body)| desk.say(request, body.clone()));
    for answer in futures_util::future::join_all(said).await {
        answer.is(200);
    }
    let server = desk.ask(&format!("GET mcp-servers/{id}")).await.body;
    assert_eq!(server["disabledTools"], json!(names));
    assert_eq!(server["timeout"], 41);
    assert_eq!(server["alwaysLoad"], true);
    assert_eq!(server["parallel"], true);
    assert_eq!(server["trust"], "trusted");
    assert_eq!(server["toolTimeouts"], json!({"add": 7}));
    assert_eq!(server["name"], "renamed");
    desk.close();
}

#[tokio::test]
async fn many_tools_are_switched_in_one_change() {
    let desk = Desk::open();
    let id = desk.demo("demo").await;
    let tools = format!("PATCH mcp-servers/{id}/tools");
    let of = |names: Value, enabled: bool| json!({"names": names, "enabled": enabled});
    let off = desk.say(&tools, of(json!(["echo", "add"]), false)).await;
    let items = off.is(200).body["items"].clone();
    let items = items.as_array().unwrap().iter();
    assert!(items.map(|it| it["enabled"].clone()).eq([false, false]));
    let server = async || desk.ask(&format!("GET mcp-servers/{id}")).await.body;
    assert_eq!(server().await["disabledTools"], json!(["add", "echo"]));
    let unknown = of(json!(["add", "none"]), true);
    desk.say(&tools, unknown).await.is(404);
    assert_eq!(server().await["disabledTools"], json!(["add", "echo"]));
    desk.say(&tools, of(json!(["add"]), true)).await.is(200);
    assert_eq!(server().await["disabledTools"], json!(["echo"]));
    desk.close();
}

/// Its definition may be the same there.
#[tokio::test]
async fn a_yes_to_a_tool_counts_only_at_the_endpoint_that_was_shown() {
    let desk = Desk::open();
    let id = desk.demo("demo").await;
    let tools = format!("GET mcp-servers/{id}/tools");
    let shown = desk.ask(&tools).await.body;
    let before = &named(&shown, "add")["hash"];
    let elsewhere = json!({"args": ["demo-server", "--clock", "1"]});
    desk.say(&format!("PUT mcp-servers/{id}"), elsewhere)
        .await
        .is(200);
    let tool = format!("PATCH mcp-servers/{id}/tools/add");
    let yes = |hash: &Value| json!({"approval": "auto", "hash": hash});
    let refused = desk.say(&tool, yes(before)).await.is(409).body;
    let now = &refused["error"]["details"]["tool"];
    assert_eq!(now["approval"], "ask");
    assert_ne!(now["hash"], *before);
    let agreed = desk.say(&tool, yes(&now["hash"])).await.is(200).body;
    assert_eq!(agreed["approval"], "auto");
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

#[tokio::test]
async fn arguments_of_prompts_are_completed_and_who_cannot_complete_proposes_nothing() {
    let desk = Desk::open();
    let id = desk.demo("one").await;
    let path = format!("POST mcp-servers/{id}/complete");
    let typed = json!({"prompt": "greet", "argument": "language", "value": "F", "arguments": {"name": "Ada"}});
    let values = desk.say(&path, typed).await.is(200).body["values"].clone();
    assert!(
        values.as_array().unwrap().contains(&json!("French")),
        "{values}"
    );
    let unknown = json!({"template": "demo://{none}", "argument": "none"});
    assert_eq!(
        desk.say(&path, unknown).await.is(200).body["values"],
        json!([])
    );
    desk.say(&path, json!({"argument": "language"}))
        .await
        .is(422);
    desk.close();
}
