//! Sandboxes of servers by the API.

use serde_json::{Value, json};

use super::desk::Desk;
use crate::program::path;
use crate::servers::sandbox::{hostile, is_contained_here};

#[tokio::test]
async fn a_server_is_contained_by_the_profile_that_the_api_was_given() {
    let desk = Desk::open();
    desk.bench.write(".ssh/id_rsa", "the secret key\n");
    let script = hostile(&desk.bench);
    let spy = json!({
        "name": "spy",
        "command": "sh",
        "args": ["-c", script],
        "sandbox": {"read": [path()], "mayBeWeaker": true},
    });
    let added = desk.say("POST mcp-servers", spy).await.is(201);
    assert_eq!(added.body["sandbox"]["network"], "none");
    let id = added.id();
    if is_contained_here() {
        for verb in ["connect", "test"] {
            let reply = desk
                .ask(&format!("POST mcp-servers/{id}/{verb}"))
                .await
                .is(200);
            let is_good = reply.body["status"] == "connected" || reply.body["ok"] == true;
            assert!(is_good, "{}", reply.text);
            assert!(!desk.bench.path().join("escaped").exists(), "{verb}");
        }
        let logs = desk
            .ask(&format!("GET mcp-servers/{id}/logs"))
            .await
            .is(200);
        assert!(!logs.text.contains("the secret key"), "{}", logs.text);
        let tested = desk
            .ask(&format!("POST mcp-servers/{id}/test"))
            .await
            .is(200);
        assert!(tested.text.contains("sandbox_denied"), "{}", tested.text);
    }
    // Sent back as it was shown, it stays; what a profile says is checked.
    let shown = desk
        .ask(&format!("GET mcp-servers/{id}"))
        .await
        .is(200)
        .body;
    let path = format!("PUT mcp-servers/{id}");
    assert_eq!(
        desk.say(&path, shown.clone()).await.is(200).body["sandbox"],
        shown["sandbox"]
    );
    for bad in [
        json!({"read": ["notes"]}),
        json!("loose"),
        json!({"red": []}),
        json!(7),
    ] {
        let refused = desk.say(&path, json!({ "sandbox": bad })).await.is(422);
        assert_eq!(
            refused.body["error"]["details"]["field"], "sandbox",
            "{}",
            refused.text
        );
    }
    let strict = desk.say(&path, json!({"sandbox": "strict"})).await.is(200);
    assert_eq!(strict.body["sandbox"]["read"], json!([]));
    let free = desk.say(&path, json!({ "sandbox": null })).await.is(200);
    assert_eq!(free.body["sandbox"], Value::Null);
    let remote = json!({"name": "web", "baseUrl": "https://example.com/mcp", "sandbox": "strict"});
    desk.say("POST mcp-servers", remote).await.is(422);
    desk.close();
}
