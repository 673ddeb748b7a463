//! Installing servers by the API.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use super::desk::Desk;
use crate::program::path;
use crate::servers::bench::{Bench, data};
use crate::servers::mirror::{Mirror, server};
use crate::servers::zip::{bundle, manifest};

fn encoded(bench: &Bench, manifest: &Value) -> String {
    STANDARD.encode(std::fs::read(bundle(bench, "x.mcpb", manifest, &[])).unwrap())
}

#[tokio::test]
async fn a_bundle_that_is_sent_is_shown_asked_for_and_installed() {
    let desk = Desk::open();
    let asks = json!({
        "server": {"type": "binary", "entry_point": "server/run.sh", "mcp_config": {
            "command": "sh", "args": ["${__dirname}/server/run.sh"],
            "env": {"LEVEL": "${user_config.level}"}}},
        "user_config": {"level": {
            "type": "number", "title": "L", "description": "Level", "required": true, "min": 1}},
    });
    let bytes = encoded(&desk.bench, &manifest("1.0.0", &asks));
    let install = "POST mcp-servers/install";
    let seen = desk
        .say(install, json!({"bundle": bytes}))
        .await
        .is(200)
        .body;
    assert_eq!(seen["plan"], Value::Null);
    assert!(
        seen["problem"].as_str().unwrap().contains("needs values"),
        "{seen}"
    );
    assert_eq!(seen["asks"][0]["kind"], "number");
    let with = |level: &str, apply: bool| {
        json!({"bundle": bytes, "inputs": {"level": [level]}, "apply": apply,
            "sandbox": {"read": [path()], "mayBeWeaker": true}})
    };
    let wrong = desk.say(install, with("0", false)).await.is(422);
    assert_eq!(wrong.body["error"]["details"]["field"], "inputs.level");
    let seen = desk.say(install, with("3", false)).await.is(200).body;
    assert_eq!(seen["plan"]["values"], json!({"LEVEL": "3"}));
    assert_eq!(seen["server"], Value::Null);
    let bundles = data(&desk.bench, "bundles");
    assert!(!bundles.exists(), "nothing is done before a yes");
    let suggested = desk
        .say(
            install,
            json!({"bundle": bytes, "inputs": {"level": ["3"]}}),
        )
        .await
        .is(200)
        .body;
    assert_eq!(suggested["plan"]["sandbox"]["network"], "none");

    let done = desk.say(install, with("3", true)).await.is(201).body;
    assert_eq!(done["state"], "installed");
    assert_eq!(done["server"]["installed"]["version"], "1.0.0");
    let id = done["server"]["id"].as_str().unwrap();
    assert!(bundles.join(id).exists());
    desk.ask(&format!("DELETE mcp-servers/{id}")).await.is(204);
    assert!(!bundles.join(id).exists());
    // What is no bundle, and a file of the machine.
    for (body, status) in [
        (json!({"bundle": STANDARD.encode("no zip")}), 400),
        (json!({"bundle": "%"}), 422),
        (json!({"what": "/etc/passwd.mcpb"}), 422),
        (json!({"what": "server.json"}), 422),
        (json!({"what": "a/b", "bundle": ""}), 422),
        (json!({}), 422),
    ] {
        desk.say(install, body).await.is(status);
    }
    desk.close();
}

#[tokio::test]
async fn a_server_of_the_registry_is_installed_and_updated() {
    let mirror = Mirror::open();
    let package = |version: &str| {
        server(
            "com.example/weather",
            version,
            json!([{
            "registryType": "npm", "identifier": "weather", "version": version,
            "transport": {"type": "stdio"}}]),
        )
    };
    mirror.publish(&package("1.0.0"));
    let variables = [("SWITCHBOARD_REGISTRY", mirror.base.as_str())];
    let desk = Desk::with(Bench::new(), &[], &variables);
    let wanted = json!({"what": "com.example/weather", "apply": true});
    let done = desk
        .say("POST mcp-servers/install", wanted)
        .await
        .is(201)
        .body;
    let id = done["server"]["id"].as_str().unwrap().to_owned();
    assert_eq!(done["server"]["args"], json!(["-y", "weather@1.0.0"]));
    let update = format!("POST mcp-servers/{id}/update");
    let same = desk.say(&update, json!({})).await.is(200).body;
    assert_eq!(same["state"], "current");

    mirror.publish(&package("1.1.0"));
    let listed = desk.ask("GET mcp-servers/outdated").await.is(200).body;
    assert_eq!(listed["items"][0]["state"], "outdated");
    assert_eq!(listed["items"][0]["latest"], "1.1.0");
    let seen = desk.say(&update, json!({})).await.is(200).body;
    assert_eq!(seen["state"], "outdated");
    assert_eq!(seen["changes"][1]["after"], "npx -y weather@1.1.0");
    let shown = desk
        .ask(&format!("GET mcp-servers/{id}"))
        .await
        .is(200)
        .body;
    assert_eq!(
        shown["installed"]["version"], "1.0.0",
        "nothing is done before a yes"
    );
    let done = desk.say(&update, json!({"apply": true})).await.is(200).body;
    assert_eq!(done["state"], "updated");
    assert_eq!(done["server"]["installed"]["version"], "1.1.0");
    // What was not installed has nowhere to update from.
    let own = desk
        .say("POST mcp-servers", json!({"name": "own", "command": "x"}))
        .await
        .is(201);
    desk.say(&format!("POST mcp-servers/{}/update", own.id()), json!({}))
        .await
        .is(409);
    desk.close();
}

#[tokio::test]
async fn who_may_not_use_the_machine_installs_remote_servers_only() {
    let mirror = Mirror::open();
    let desk = Desk::trusting(Bench::new(), &["ann", "bob"], &["ann"], &[]);
    let text = bundle(&desk.bench, "x.mcpb", &manifest("1.0.0", &json!({})), &[]);
    let bytes = STANDARD.encode(std::fs::read(text).unwrap());
    let install = "POST mcp-servers/install";
    let refused = desk
        .send(1, install, Some(json!({"bundle": bytes, "apply": true})))
        .await
        .is(403);
    assert_eq!(refused.body["error"]["code"], "not_permitted");
    let mut described = server(
        "com.example/x",
        "1.0.0",
        json!([{
        "registryType": "npm", "identifier": "x", "version": "1.0.0", "transport": {"type": "stdio"}}]),
    );
    let both = |described: &Value| json!({"serverJson": described.to_string(), "apply": true});
    desk.send(1, install, Some(both(&described))).await.is(400);
    described["remotes"] = json!([{"type": "streamable-http", "url": "https://example.com/mcp"}]);
    let done = desk
        .send(1, install, Some(both(&described)))
        .await
        .is(201)
        .body;
    assert_eq!(done["server"]["baseUrl"], "https://example.com/mcp");
    assert_eq!(mirror.asked(), [""; 0]);
    desk.close();
}
