//! No secret ever leaves.

use serde_json::json;

use super::desk::Desk;
use crate::program::path;
use crate::servers::bench::Bench;

/// What must never be shown.
const SECRET: &str = "hush-4711-hush";

#[tokio::test]
async fn no_answer_and_no_event_holds_a_secret() {
    let desk = Desk::with(
        Bench::new().on_tested_store(),
        &[],
        &[("SOME_SECRET", SECRET)],
    );
    let program = json!({
        "name": "program", "command": path(),
        "args": ["demo-server", "--clock", "0"],
        "env": {"A": SECRET, "B": "env:SOME_SECRET"}, "plainValues": true,
    });
    let remote = json!({
        "name": "remote", "baseUrl": format!("http://u:{SECRET}@127.0.0.1:9/mcp?key={SECRET}"),
        "headers": {"Authorization": format!("Bearer {SECRET}"), "X-Key": "env:SOME_SECRET"},
        "plainValues": true,
    });
    let broken = json!({
        "name": "broken", "command": "no-such-program-7",
        "args": ["--api-key", SECRET, format!("--token={SECRET}"), format!("https://u:{SECRET}@x.org/?k={SECRET}")],
        "env": {"A": SECRET}, "plainValues": true,
    });
    let pasted =
        json!({"mcpServers": {"pasted": {"command": "no-such-program-7", "env": {"A": SECRET}}}});
    let mut answers = Vec::new();
    for body in [
        program,
        remote,
        broken,
        json!({"paste": pasted.to_string(), "plainValues": true}),
    ] {
        answers.push(desk.say("POST mcp-servers", body).await);
    }
    let listed = desk.ask("GET mcp-servers").await;
    let ids: Vec<String> = listed.body["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|server| server["id"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(ids.len(), 4);
    answers.push(listed);
    for id in &ids {
        for request in [
            "POST .../connect",
            "POST .../test",
            "GET .../tools",
            "GET .../resources",
            "GET .../logs",
            "POST .../logout",
            "GET ...",
        ] {
            let request = request.replace("...", &format!("mcp-servers/{id}"));
            answers.push(desk.ask(&request).await);
        }
        let renamed = json!({"name": format!("{}-x", &id[10..])});
        answers.push(desk.say(&format!("PUT mcp-servers/{id}"), renamed).await);
        answers.push(desk.ask(&format!("POST mcp-servers/{id}/connect")).await);
    }
    for program in [
        "claude-desktop",
        "claude-code",
        "vscode",
        "cursor",
        "cline",
        "codex",
    ] {
        answers.push(
            desk.ask(&format!("GET mcp-servers/export?to={program}"))
                .await,
        );
    }
    let key = json!({"providers.openai.key": format!("plain:{SECRET}")});
    answers.push(desk.say("PUT settings", key).await);
    answers.push(desk.ask("GET settings").await);
    answers.push(desk.ask("GET models").await);
    for answer in &answers {
        assert!(!answer.text.contains(SECRET), "{}", answer.text);
        assert!(!answer.text.contains("hush"), "{}", answer.text);
    }
    desk.ask(&format!("DELETE mcp-servers/{}", ids[3]))
        .await
        .is(204);
    let events = desk
        .events_until("server.deleted", json!({"id": ids[3]}))
        .await;
    assert!(events.len() > 10, "{}", events.len());
    for (kind, data) in events {
        assert!(!data.to_string().contains("hush"), "{kind} {data}");
    }
    desk.close();
}

/// Without a keyring a secret is refused wherever it is given, unless the user agrees to plain text.
#[tokio::test]
async fn one_rule_for_secrets_holds_at_every_door() {
    let bench = Bench::new().on_tested_store();
    let entry = json!({"command": "run", "args": ["--api-key", SECRET]});
    let file = json!({"mcpServers": {"found": entry}}).to_string();
    bench.write(".config/Claude/claude_desktop_config.json", &file);
    let desk = Desk::with(bench, &[], &[]);
    let paste = |plain: bool| json!({"paste": file, "plainValues": plain});
    for (field, body) in [
        (
            "env/TOKEN",
            json!({"name": "a", "command": "run", "env": {"TOKEN": SECRET}}),
        ),
        (
            "args",
            json!({"name": "a", "command": "run", "args": ["--api-key", SECRET]}),
        ),
        (
            "args",
            json!({"name": "a", "command": "run", "args": [format!("https://u:{SECRET}@x.org")]}),
        ),
        (
            "baseUrl",
            json!({"name": "a", "baseUrl": format!("https://u:{SECRET}@x.org/mcp")}),
        ),
        (
            "baseUrl",
            json!({"name": "a", "baseUrl": format!("https://x.org/mcp?token={SECRET}")}),
        ),
        (
            "header/Authorization",
            json!({"name": "a", "baseUrl": "https://x.org/mcp",
            "headers": {"Authorization": format!("Bearer {SECRET}")}}),
        ),
    ] {
        let refused = desk.say("POST mcp-servers", body).await.is(422);
        let error = &refused.body["error"];
        assert_eq!(error["code"], "plain_secret", "{error}");
        assert_eq!(error["details"]["field"], field, "{error}");
    }
    let pasted = desk.say("POST mcp-servers", paste(false)).await.is(200);
    assert_eq!(pasted.body["items"], json!([]), "{}", pasted.text);
    let apply = json!({"apply": true});
    let imported = desk.say("POST mcp-servers/import", apply).await.is(200);
    assert_eq!(imported.body["imported"], json!([]), "{}", imported.text);
    let problem = imported.body["problems"][0]["message"].as_str().unwrap();
    assert!(problem.contains("cannot be stored safely"), "{problem}");
    assert_eq!(desk.stored_servers(0).await, 0);

    let plain = json!({"apply": true, "plainValues": true});
    let imported = desk.say("POST mcp-servers/import", plain).await.is(200);
    let server = &imported.body["imported"][0];
    assert_eq!(server["plainValues"], true, "{server}");
    // What is stored so already is no reason to refuse another change.
    let id = server["id"].as_str().unwrap();
    let rename = json!({"name": "renamed", "args": server["args"]});
    let renamed = desk
        .say(&format!("PUT mcp-servers/{id}"), rename)
        .await
        .is(200);
    assert_eq!(renamed.body["plainValues"], true);
    let more = json!({"env": {"TOKEN": SECRET}});
    desk.say(&format!("PUT mcp-servers/{id}"), more)
        .await
        .is(422);
    desk.close();
}
