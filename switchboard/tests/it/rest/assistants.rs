//! Assistants and their servers.

use serde_json::json;

use super::desk::Desk;

#[tokio::test]
async fn assistants_choose_among_their_users_servers() {
    let desk = Desk::open();
    let one = desk.demo("one").await;
    desk.demo("two").await;
    desk.forget();
    let body = json!({
        "name": "Coder", "model": "demo", "system": "Be brief.", "maxRounds": 5, "onLimit": "summarize",
        "approvalMode": "auto-read", "modelOptions": {"temperature": 0.5}, "toolSelection": "manual", "mcpMode": "prompt", "serverIds": [one],
    });
    let id = desk.say("POST assistants", body).await.is(201).id();
    desk.say("POST assistants", json!({"name": "Writer"}))
        .await
        .is(201);
    desk.ask("GET assistants").await.is(200);
    let changed = json!({"name": "Painter", "system": null, "maxRounds": null, "onLimit": null, "approvalMode": null});
    desk.say(&format!("PUT assistants/{id}"), changed)
        .await
        .is(200);
    desk.ask(&format!("GET assistants/{id}/mcp-servers"))
        .await
        .is(200);
    let none = json!({"mode": "auto", "ids": []});
    desk.say(&format!("PUT assistants/{id}/mcp-servers"), none)
        .await
        .is(200);
    desk.ask(&format!("GET assistants/{id}")).await.is(200);
    for body in [
        json!({"name": "Writer"}),
        json!({"name": "  "}),
        json!({"approvalMode": "never"}),
        json!({"mcpMode": "some"}),
        json!({"modelOptions": {"temperature": -1}}),
        json!({"modelOptions": {"effort": "some"}}),
        json!({"onLimit": "some"}),
        json!({"mcpMode": "auto"}),
        json!({"toolSelection": "some"}),
        json!({"serverIds": ["none"]}),
    ] {
        let answer = desk.say(&format!("PUT assistants/{id}"), body).await;
        assert!((400..500).contains(&answer.status), "{}", answer.text);
    }
    let strange = json!({"mode": "manual", "ids": ["none"]});
    desk.say(&format!("PUT assistants/{id}/mcp-servers"), strange)
        .await
        .is(422);
    desk.ask(&format!("DELETE assistants/{id}")).await.is(204);
    desk.ask(&format!("GET assistants/{id}")).await.is(404);
    desk.ask(&format!("DELETE assistants/{id}")).await.is(404);
    desk.ask("GET assistants/none/mcp-servers").await.is(404);
    insta::assert_json_snapshot!("assistants", desk.reported());
    desk.close();
}
