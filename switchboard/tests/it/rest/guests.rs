//! Users other than the owner use nothing of the machine, unless the owner allows it.

use serde_json::{Value, json};
use switchboard::home;
use switchboard::store::{Change, Server, ServerKind, User, UserId};

use super::desk::Desk;
use crate::program::path;
use crate::servers::bench::Bench;

/// A bench where bob has a program among his servers, from before, and a key of the host.
async fn bench() -> (Bench, String) {
    let bench = Bench::new().on_tested_store();
    let bob = UserId::new("bob");
    let mut row = Server::new(bob.clone(), "old", ServerKind::Stdio);
    row.command = Some(path().to_owned());
    row.args = vec!["demo-server".to_owned()];
    let id = row.id.to_string();
    let key = json!("env:SOME_SECRET");
    let key = switchboard::store::Setting::new(bob.clone(), "providers.openai.key", key);
    let store = home::store(Some(&bench.store())).await.unwrap();
    let changes = vec![
        Change::PutUser(User::new(bob, "bob")),
        Change::PutServer(Box::new(row)),
        Change::PutSetting(key),
    ];
    store.commit(changes).await.unwrap();
    store.close().await.unwrap();
    (bench, id)
}

fn requests(old: &str, far: &str) -> Vec<(String, Option<Value>)> {
    let url = "https://example.com/mcp";
    let far_with = |name: &str, value: Value| json!({"name": "new", "baseUrl": url, name: value});
    let plain = |value: &str| json!({"headers": {"X-Key": value}, "plainValues": true});
    let program = json!({"name": "new", "command": "sh", "args": ["-c", "env"]});
    let pasted = json!({"mcpServers": {"new": {"command": "sh"}}}).to_string();
    let pasted_key = json!({"mcpServers": {"new": {"url": url, "headers": {"X": "${HOME}"}}}});
    let mut all = vec![
        ("POST mcp-servers".to_owned(), Some(program.clone())),
        (
            "POST mcp-servers".to_owned(),
            Some(far_with("headers", json!({"X": "env:HOME"}))),
        ),
        (
            "POST mcp-servers".to_owned(),
            Some(far_with("headers", json!({"X": "keyring:provider/openai"}))),
        ),
        (
            "POST mcp-servers".to_owned(),
            Some(json!({"name": "new", "baseUrl": "https://example.com/${HOME}"})),
        ),
        (
            "POST mcp-servers".to_owned(),
            Some(json!({"paste": pasted})),
        ),
        (
            "POST mcp-servers".to_owned(),
            Some(json!({"paste": pasted_key.to_string()})),
        ),
        ("POST mcp-servers/import".to_owned(), Some(json!({}))),
        (
            "POST mcp-servers/import".to_owned(),
            Some(json!({"apply": true})),
        ),
        (format!("PUT mcp-servers/{far}"), Some(program)),
        (format!("PUT mcp-servers/{far}"), Some(plain("env:HOME"))),
        (
            format!("PUT mcp-servers/{far}"),
            Some(plain("Bearer ${HOME}")),
        ),
        (
            format!("PUT mcp-servers/{far}"),
            Some(json!({"baseUrl": "https://example.com/${userHome}"})),
        ),
        (
            format!("PUT mcp-servers/{far}"),
            Some(json!({"inputs": {"a": "env:HOME"}})),
        ),
        (
            format!("PUT mcp-servers/{old}"),
            Some(json!({"args": ["demo-server", "--http"]})),
        ),
        (
            format!("POST mcp-servers/{old}/tools/add/call"),
            Some(json!({"arguments": {}})),
        ),
        (
            format!("PATCH mcp-servers/{old}/tools/add"),
            Some(json!({"enabled": false})),
        ),
        (
            format!("POST mcp-servers/{old}/prompts/greet"),
            Some(json!({})),
        ),
        (
            format!("POST mcp-servers/{old}/complete"),
            Some(json!({"prompt": "greet", "argument": "language"})),
        ),
        (
            "PUT settings".to_owned(),
            Some(json!({"providers.openai.key": "env:HOME"})),
        ),
        (
            "PUT settings".to_owned(),
            Some(json!({"providers.openai.key": "keyring:x"})),
        ),
        (
            "PUT settings".to_owned(),
            Some(json!({"providers.openai.base_url": "http://a.example/"})),
        ),
    ];
    for request in [
        "POST mcp-servers/S/connect",
        "POST mcp-servers/S/test",
        "GET mcp-servers/S/tools",
        "GET mcp-servers/S/tools?refresh=1",
        "GET mcp-servers/S/tools/add/schema?for=openai",
        "GET mcp-servers/S/resources",
        "GET mcp-servers/S/resources/read?uri=demo://note",
        "GET mcp-servers/S/prompts",
    ] {
        all.push((request.replace("/S", &format!("/{old}")), None));
    }
    all
}

#[tokio::test]
async fn nothing_of_the_machine_is_used_for_a_user_who_may_not() {
    let (bench, old) = bench().await;
    let desk = Desk::trusting(bench, &["ann", "bob"], &["ann"], &[("SOME_SECRET", "hush")]);
    // A remote server with values of its own is anybody's to have.
    let far = json!({"name": "far", "baseUrl": "http://127.0.0.1:9/mcp", "headers": {"X": "mine"}, "plainValues": true});
    let far = desk
        .send(1, "POST mcp-servers", Some(far))
        .await
        .is(201)
        .id();
    for (request, body) in requests(&old, &far) {
        let answer = desk.send(1, &request, body.clone()).await;
        assert_eq!(answer.status, 403, "{request} {body:?}: {}", answer.text);
        let error = &answer.body["error"];
        assert_eq!(error["code"], "not_permitted", "{request}: {}", answer.text);
        let hint = error["hint"].as_str().unwrap();
        assert!(
            hint.contains("owner") && hint.contains("--trust-user bob"),
            "{request}: {hint}"
        );
    }
    let list = desk.send(1, "GET mcp-servers", None).await.is(200).body;
    let names: Vec<&str> = list["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["old", "far"], "nothing was stored");
    // What was there before says why it does not start.
    let shown = desk
        .send(1, &format!("GET mcp-servers/{old}"), None)
        .await
        .is(200)
        .body;
    assert_eq!(shown["status"], "failed", "{shown}");
    assert!(
        shown.to_string().contains("user \\\"bob\\\" may not"),
        "{shown}"
    );
    assert_eq!(
        desk.send(1, "GET settings", None).await.is(200).body,
        json!({})
    );
    let models = desk.send(1, "GET models", None).await.is(200).body;
    assert_eq!(models["current"]["model"], "demo", "{models}");
    // A conversation goes on without it, and no process was started for bob.
    #[cfg(target_os = "linux")]
    assert_eq!(
        desk.bench.left().len(),
        1,
        "the program alone: {:?}",
        desk.bench.left()
    );
    // It can be removed, or made a remote one.
    desk.send(1, &format!("DELETE mcp-servers/{old}"), None)
        .await
        .is(204);

    // A user whom the owner trusts may do all of it.
    let program = json!({"name": "new", "command": path(), "args": ["demo-server"], "env": {"A": "env:SOME_SECRET"}});
    let id = desk
        .send(0, "POST mcp-servers", Some(program))
        .await
        .is(201)
        .id();
    let connected = desk
        .send(0, &format!("POST mcp-servers/{id}/connect"), None)
        .await;
    assert_eq!(connected.is(200).body["status"], "connected");
    desk.close();
}

#[tokio::test]
async fn what_can_be_used_of_a_pasted_text_is_taken_and_the_rest_is_named() {
    let desk = Desk::trusting(Bench::new().on_tested_store(), &["bob"], &[], &[]);
    let servers = json!({"mcpServers": {
        "far": {"url": "https://example.com/mcp"},
        "near": {"command": "sh"},
    }});
    let pasted = json!({"paste": servers.to_string()});
    let answer = desk
        .send(0, "POST mcp-servers", Some(pasted))
        .await
        .is(200)
        .body;
    assert_eq!(answer["items"][0]["name"], "far", "{answer}");
    assert_eq!(answer["items"].as_array().unwrap().len(), 1);
    assert_eq!(answer["problems"][0]["name"], "near");
    desk.close();
}

#[test]
fn only_a_user_who_is_served_can_be_trusted() {
    let bench = Bench::new().on_tested_store();
    let ran = bench.run(&[
        "serve",
        "--port",
        "0",
        "--user",
        "ann",
        "--trust-user",
        "amm",
    ]);
    assert_eq!(ran.exit, 1);
    assert!(
        ran.stderr.contains("\"amm\" is trusted, but not served"),
        "{}",
        ran.stderr
    );
}
