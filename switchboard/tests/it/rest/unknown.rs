//! What a request says and no one understands is refused, in every route.

use serde_json::{Value, json};

use super::desk::Desk;

/// The path of a route with real ids in it.
fn filled(path: &str, ids: &[(&str, &str)]) -> String {
    let path = path.strip_prefix("/api/").unwrap().to_owned();
    let resource = |path: &str| path.split('/').next().unwrap().to_owned();
    let id = ids.iter().find(|(name, _)| *name == resource(&path));
    let id = id.map_or("any", |(_, id)| *id);
    path.replace("{id}", id).replace("{name}", "echo")
}

#[tokio::test]
async fn every_route_refuses_members_and_parameters_that_it_does_not_know_by_name() {
    let desk = Desk::open();
    let server = desk.demo("demo").await;
    let named = json!({"name": "Coder"});
    let assistant = desk.say("POST assistants", named).await.id();
    let chat = desk.say("POST conversations", json!({})).await.id();
    let ids = [
        ("mcp-servers", server.as_str()),
        ("assistants", assistant.as_str()),
        ("conversations", chat.as_str()),
    ];
    let document = desk.ask("GET openapi.json").await.is(200).body;
    let (mut bodies, mut queries) = (0, 0);
    let paths = document["paths"].as_object().unwrap().iter();
    // Logins are for browsers, which a provider sends with whatever it likes.
    for (path, methods) in paths.filter(|(path, _)| path.starts_with("/api/")) {
        for (method, route) in methods.as_object().unwrap() {
            let method = method.to_uppercase();
            let request = format!("{method} {}", filled(path, &ids));
            if route.get("requestBody").is_some() {
                bodies += 1;
                let answer = desk.say(&request, json!({"noSuchMember": 1})).await;
                assert!(
                    matches!(answer.status, 400 | 422),
                    "{request}: {}",
                    answer.text
                );
                let message = answer.body["error"]["message"].as_str().unwrap();
                assert!(message.contains("noSuchMember"), "{request}: {message}");
                // Which there are, is said as well; settings are a list of their own.
                assert!(message.contains("expected") || path == "/api/settings");
            }
            let parameters = route["parameters"].as_array();
            let in_query = |it: &&Value| it["in"] == "query";
            if parameters.into_iter().flatten().any(|it| in_query(&it)) {
                queries += 1;
                let body = route.get("requestBody").map(|_| json!({}));
                let request = format!("{request}?noSuchParameter=1");
                let answer = desk.send(0, &request, body).await.is(400);
                let message = answer.body["error"]["message"].as_str().unwrap();
                assert!(message.contains("noSuchParameter"), "{request}: {message}");
            }
        }
    }
    assert!(
        bodies > 10 && queries > 5,
        "{bodies} bodies, {queries} queries"
    );
    desk.close();
}

#[tokio::test]
async fn what_was_read_can_be_sent_back_with_a_change_in_it() {
    let desk = Desk::open();
    let id = desk.demo("demo").await;
    let path = format!("mcp-servers/{id}");
    desk.ask(&format!("POST {path}/connect")).await.is(200);
    let mut server = desk.ask(&format!("GET {path}")).await.is(200).body;
    server["timeout"] = json!(7);
    server["status"] = json!("failed");
    let changed = desk.say(&format!("PUT {path}"), server).await.is(200).body;
    assert_eq!(changed["timeout"], 7);
    let named = json!({"name": "Coder"});
    let made = desk.say("POST assistants", named).await.is(201);
    let path = format!("assistants/{}", made.id());
    let mut assistant = made.body;
    assistant["mcpMode"] = json!("prompt");
    assistant["toolSelection"] = json!("off");
    let changed = desk.say(&format!("PUT {path}"), assistant).await.is(200);
    assert_eq!(
        (&changed.body["mcpMode"], &changed.body["toolSelection"]),
        (&json!("prompt"), &json!("off"))
    );
    let back = json!({"mcpMode": null});
    let changed = desk.say(&format!("PUT {path}"), back).await.is(200);
    assert_eq!(changed.body["mcpMode"], Value::Null);
    desk.close();
}

#[tokio::test]
async fn a_chat_with_a_model_that_cannot_be_asked_is_not_begun() {
    let desk = Desk::open();
    let wrong = json!({"model": "no-such-model"});
    let answer = desk.say("POST conversations", wrong.clone()).await.is(422);
    assert_eq!(answer.body["error"]["details"]["field"], "model");
    let listed = desk.ask("GET conversations").await.is(200).body;
    assert_eq!(listed["items"], json!([]));
    let id = desk
        .say("POST conversations", json!({"model": "demo"}))
        .await
        .is(201)
        .id();
    desk.say(&format!("PATCH conversations/{id}"), wrong)
        .await
        .is(422);
    desk.close();
}

#[tokio::test]
async fn a_trial_of_a_server_is_its_state() {
    let desk = Desk::open();
    let body = json!({"name": "gone", "command": "no-such-program-7"});
    let id = desk.say("POST mcp-servers", body).await.id();
    let status = async || desk.ask(&format!("GET mcp-servers/{id}")).await.body["status"].clone();
    assert_eq!(status().await, "idle");
    let tried = desk
        .ask(&format!("POST mcp-servers/{id}/test"))
        .await
        .is(200);
    assert_eq!(tried.body["ok"], false);
    assert_eq!(status().await, "failed");
    let failed = json!({"server": {"id": id, "status": "failed"}});
    desk.events_until("server.status", failed).await;
    desk.close();
}
