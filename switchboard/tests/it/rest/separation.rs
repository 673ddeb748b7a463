//! What is one user's is no one else's.

use serde_json::{Value, json};

use super::desk::Desk;
use crate::program::path;
use crate::servers::bench::Bench;

#[tokio::test]
async fn everything_of_another_user_is_not_there() {
    let desk = Desk::with(Bench::new().on_tested_store(), &["ann", "bob"], &[]);
    let demo = json!({"name": "demo", "command": path(), "args": ["demo-server"]});
    let server = desk
        .send(0, "POST mcp-servers", Some(demo.clone()))
        .await
        .is(201)
        .id();
    let connect = format!("POST mcp-servers/{server}/connect");
    desk.send(0, &connect, None).await.is(200);
    let assistant = json!({"name": "Coder", "serverIds": [server], "toolSelection": "manual"});
    let assistant = desk
        .send(0, "POST assistants", Some(assistant))
        .await
        .is(201)
        .id();
    let deny = json!({"approval": "deny"});
    let patch = format!("PATCH mcp-servers/{server}/tools/add");
    desk.send(0, &patch, Some(deny.clone())).await.is(200);
    desk.send(0, "PUT settings", Some(json!({"max_rounds": 3})))
        .await
        .is(200);
    let rules = desk.send(0, "GET approvals", None).await.body;
    let rule = rules["items"][0]["id"].as_str().unwrap().to_owned();

    assert_eq!(desk.stored_servers(1).await, 0);
    for list in ["GET assistants", "GET approvals"] {
        assert_eq!(
            desk.send(1, list, None).await.is(200).body["items"],
            json!([])
        );
    }
    assert_eq!(desk.send(1, "GET settings", None).await.body, json!({}));
    let some: Option<Value> = Some(json!({}));
    let requests = [
        ("GET mcp-servers/S", None),
        ("PUT mcp-servers/S", some.clone()),
        ("DELETE mcp-servers/S", None),
        ("POST mcp-servers/S/connect", None),
        ("POST mcp-servers/S/disconnect", None),
        ("POST mcp-servers/S/test", None),
        ("POST mcp-servers/S/login", None),
        ("POST mcp-servers/S/logout", None),
        ("GET mcp-servers/S/logs", None),
        ("GET mcp-servers/S/tools", None),
        ("PATCH mcp-servers/S/tools/add", Some(deny)),
        ("POST mcp-servers/S/tools/add/call", some.clone()),
        ("GET mcp-servers/S/tools/add/schema?for=openai", None),
        ("GET mcp-servers/S/resources", None),
        ("GET mcp-servers/S/resources/read?uri=demo://note", None),
        ("GET mcp-servers/S/prompts", None),
        ("POST mcp-servers/S/prompts/greet", some.clone()),
        ("GET assistants/A", None),
        ("PUT assistants/A", some.clone()),
        ("DELETE assistants/A", None),
        ("GET assistants/A/mcp-servers", None),
        ("PUT assistants/A/mcp-servers", some.clone()),
        ("DELETE approvals/R", None),
    ];
    for (request, body) in requests {
        let request = request.replace("/S", &format!("/{server}"));
        let request = request.replace("/A", &format!("/{assistant}"));
        let request = request.replace("/R", &format!("/{rule}"));
        let answer = desk.send(1, &request, body).await;
        assert_eq!(answer.status, 404, "{request}: {}", answer.text);
    }
    let theirs = json!({"name": "Thief", "serverIds": [server], "toolSelection": "manual"});
    desk.send(1, "POST assistants", Some(theirs)).await.is(422);

    // The same name is free for another user, whose server is another process.
    let second = desk
        .send(1, "POST mcp-servers", Some(demo))
        .await
        .is(201)
        .id();
    let connect = format!("POST mcp-servers/{second}/connect");
    desk.send(1, &connect, None).await.is(200);
    let call = format!("POST mcp-servers/{second}/tools/add/call");
    let sum = json!({"arguments": {"a": 1, "b": 1}});
    desk.send(1, &call, Some(sum)).await.is(200);
    #[cfg(target_os = "linux")]
    assert_eq!(
        desk.bench.left().len(),
        3,
        "the program and a server for each"
    );
    let logs = format!("data/user-bob/logs/{second}.log");
    let logs = desk.bench.path().join(logs);
    assert!(logs.exists());
    let shown = desk
        .send(0, &format!("GET mcp-servers/{server}"), None)
        .await
        .is(200);
    assert_eq!(shown.body["status"], "connected");
    desk.close();
}
