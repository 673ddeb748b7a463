//! Servers brought up and down, tried out and lost.

use serde_json::{Value, json};

use super::desk::Desk;
use crate::program::path;

/// One connection a user and server; no one waits for it twice, and it closes on request.
#[tokio::test]
async fn a_server_is_connected_once_tested_beside_and_closed() {
    let desk = Desk::open();
    let id = desk.demo("demo").await;
    let started = |desk: &Desk| {
        let left = desk.bench.left();
        left.iter()
            .filter(|line| line.contains("demo-server"))
            .count()
    };
    desk.forget();
    desk.ask(&format!("POST mcp-servers/{id}/connect"))
        .await
        .is(200);
    desk.ask(&format!("POST mcp-servers/{id}/test"))
        .await
        .is(200);
    let resources = desk
        .ask(&format!("GET mcp-servers/{id}/resources"))
        .await
        .is(200);
    let prompts = desk
        .ask(&format!("GET mcp-servers/{id}/prompts"))
        .await
        .is(200);
    assert_eq!(resources.body["items"][0]["uri"], "demo://note");
    assert!(!prompts.body["items"].as_array().unwrap().is_empty());
    #[cfg(target_os = "linux")]
    assert_eq!(started(&desk), 1);
    desk.ask(&format!("POST mcp-servers/{id}/disconnect"))
        .await
        .is(200);
    #[cfg(target_os = "linux")]
    assert_eq!(started(&desk), 0);
    desk.ask(&format!("GET mcp-servers/{id}/logs?lines=1"))
        .await
        .is(200);
    let mut reported = desk.reported();
    for reported in &mut reported {
        // They are long, and the demo server's own tests have them.
        if reported["request"].as_str().unwrap().ends_with("resources") {
            reported["answer"] = json!("…");
        }
    }
    insta::assert_json_snapshot!("connection", reported);
    // The next use brings it back.
    let called = desk
        .say(
            &format!("POST mcp-servers/{id}/tools/echo/call"),
            json!({"arguments": {"text": "hi"}}),
        )
        .await;
    assert_eq!(called.is(200).body["result"]["content"][0]["text"], "hi");
    desk.close();
}

#[tokio::test]
async fn a_server_that_does_not_come_up_says_why_and_what_to_do() {
    let desk = Desk::open();
    let body = json!({"name": "gone", "command": "no-such-program-7"});
    let gone = desk.say("POST mcp-servers", body).await.id();
    let body = json!({"name": "wants", "command": "run", "args": ["${env:NO_SUCH_VARIABLE_7}"]});
    let wants = desk.say("POST mcp-servers", body).await.id();
    let body = json!({"name": "off", "command": "run", "isActive": false});
    let off = desk.say("POST mcp-servers", body).await.id();
    desk.forget();
    for id in [&gone, &wants] {
        desk.ask(&format!("POST mcp-servers/{id}/connect"))
            .await
            .is(200);
        desk.ask(&format!("POST mcp-servers/{id}/test"))
            .await
            .is(200);
        desk.ask(&format!("GET mcp-servers/{id}/tools")).await;
        desk.ask(&format!("GET mcp-servers/{id}/resources")).await;
    }
    desk.ask(&format!("POST mcp-servers/{off}/connect"))
        .await
        .is(409);
    desk.ask("POST mcp-servers/none/connect").await.is(404);
    desk.ask("POST mcp-servers/none/test").await.is(404);
    desk.ask("GET mcp-servers/none/logs").await.is(404);
    insta::assert_json_snapshot!("trouble", desk.reported());
    let logs = desk.ask(&format!("GET mcp-servers/{gone}/logs")).await.body;
    let logs = logs["lines"].to_string();
    assert!(logs.contains("no-such-program-7"), "{logs}");
    // A mended server works at once.
    let mended = json!({"command": path(), "args": ["demo-server"]});
    desk.say(&format!("PUT mcp-servers/{gone}"), mended)
        .await
        .is(200);
    let connected = desk
        .ask(&format!("POST mcp-servers/{gone}/connect"))
        .await
        .body;
    assert_eq!(connected["status"], "connected");
    assert_eq!(connected["lastError"], Value::Null);
    desk.close();
}

#[tokio::test]
async fn a_server_that_dies_is_reconnected_and_every_change_is_an_event() {
    let desk = Desk::open();
    let id = desk.demo("demo").await;
    desk.ask(&format!("POST mcp-servers/{id}/connect"))
        .await
        .is(200);
    let grow = desk
        .say(&format!("POST mcp-servers/{id}/tools/grow/call"), json!({}))
        .await;
    grow.is(200);
    desk.events_until("server.tools.changed", json!({"serverId": id}))
        .await;
    let crash = desk
        .say(
            &format!("POST mcp-servers/{id}/tools/crash/call"),
            json!({}),
        )
        .await;
    assert_eq!(crash.status, 502);
    let events = desk
        .events_until("mcp_reconnected", json!({"serverId": id}))
        .await;
    let named = events.iter().map(|(kind, _)| kind.as_str());
    let named: Vec<&str> = named.filter(|kind| kind.starts_with("mcp_")).collect();
    assert_eq!(named, ["mcp_reconnecting", "mcp_reconnected"]);
    // An event shows the state at the time it is built: of fast changes, only the last is certain.
    let reported = events.iter().filter(|(kind, _)| kind == "server.status");
    let reported: Vec<&Value> = reported
        .map(|(_, data)| &data["server"]["status"])
        .collect();
    assert_eq!(reported.first().unwrap(), &"idle");
    assert_eq!(reported.last().unwrap(), &"connected");
    assert!(reported.contains(&&json!("connecting")), "{reported:?}");
    desk.close();
}

#[tokio::test]
async fn a_server_that_is_switched_off_or_renamed_is_so_at_once() {
    let desk = Desk::open();
    let id = desk.demo("demo").await;
    desk.ask(&format!("POST mcp-servers/{id}/connect"))
        .await
        .is(200);
    let renamed = desk
        .say(&format!("PUT mcp-servers/{id}"), json!({"name": "other"}))
        .await;
    renamed.is(200);
    let tools = desk
        .ask(&format!("GET mcp-servers/{id}/tools?refresh=1"))
        .await
        .body;
    assert_eq!(tools["items"][0]["displayName"], "mcp__other__add");
    let off = desk
        .say(&format!("PUT mcp-servers/{id}"), json!({"isActive": false}))
        .await;
    assert_eq!(off.body["status"], "disabled");
    #[cfg(target_os = "linux")]
    assert_eq!(desk.bench.left().len(), 1, "the program itself");
    let call = desk
        .say(&format!("POST mcp-servers/{id}/tools/add/call"), json!({}))
        .await;
    assert_eq!(call.is(409).body["error"]["code"], "disabled");
    // Its tools are still shown, as they were last seen.
    let tools = desk
        .ask(&format!("GET mcp-servers/{id}/tools"))
        .await
        .is(200)
        .body;
    assert_eq!(tools["live"], false);
    assert!(tools["items"].as_array().unwrap().len() > 5);
    desk.close();
}
