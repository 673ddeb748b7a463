//! Logging in to a server from the page.

use serde_json::json;

use super::desk::Desk;
use crate::servers::{login, realm};

#[tokio::test(flavor = "multi_thread")]
async fn a_login_opens_a_server_until_the_logout() {
    let desk = Desk::open();
    let url = format!("{}/mcp", realm::start().await);
    let body = json!({"name": "closed", "baseUrl": url});
    let id = desk.say("POST mcp-servers", body).await.is(201).id();
    let refused = desk
        .ask(&format!("POST mcp-servers/{id}/connect"))
        .await
        .is(200)
        .body;
    assert_eq!(
        (&refused["status"], &refused["coarseStatus"]),
        (&json!("needs_auth"), &json!("error"))
    );
    assert_eq!(refused["problem"], "auth_needed");
    let page = desk
        .ask(&format!("POST mcp-servers/{id}/login"))
        .await
        .is(200)
        .body;
    let page = page["url"].as_str().unwrap().to_owned();
    tokio::task::spawn_blocking(move || login::visit(&page))
        .await
        .unwrap();
    let connected = json!({"server": {"id": id, "status": "connected"}});
    let events = desk.events_until("server.status", connected).await;
    assert!(
        events
            .iter()
            .all(|(_, data)| !data.to_string().contains("geheim-7"))
    );
    // A second login is not needed.
    let again = desk
        .ask(&format!("POST mcp-servers/{id}/login"))
        .await
        .is(200);
    assert_eq!(again.body, json!({"url": null}));
    let out = desk
        .ask(&format!("POST mcp-servers/{id}/logout"))
        .await
        .is(200)
        .body;
    assert_eq!(out["status"], "idle");
    let refused = desk
        .ask(&format!("POST mcp-servers/{id}/connect"))
        .await
        .body;
    assert_eq!(refused["status"], "needs_auth");
    let program = desk.demo("demo").await;
    desk.ask(&format!("POST mcp-servers/{program}/login"))
        .await
        .is(422);
    desk.close();
}
