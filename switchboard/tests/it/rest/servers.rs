//! Servers: added, pasted, shown, changed, removed, imported and exported.

use serde_json::{Value, json};

use switchboard::home;
use switchboard::store::{Server, ServerId, UserId};

use super::desk::Desk;
use crate::servers::bench::Bench;

/// Every column of a server, and its endpoints.
#[tokio::test]
async fn servers_are_added_listed_shown_changed_and_removed() {
    let desk = Desk::open();
    let files = json!({
        "name": "files",
        "type": "stdio",
        "command": "npx",
        "args": ["-y", "some-server", "--api-key", "hush"],
        "env": {"ROOT": "env:HOME", "KEY": "${SOME_KEY}", "LOG": "debug"},
        "plainValues": true,
        "timeout": 90,
        "disabledTools": ["rm"],
        "cwd": "/srv",
        "toolTimeouts": {"slow": 600},
        "parallel": true,
        "alwaysLoad": true,
        "envPolicy": "none",
    });
    let id = desk.say("POST mcp-servers", files).await.is(201).id();
    let web = json!({
        "name": "web",
        "baseUrl": "https://user:hush@example.com/mcp?key=hush",
        "headers": {"X-Team": "env:TEAM"},
        "plainValues": true,
    });
    let web = desk.say("POST mcp-servers", web).await.is(201).id();
    desk.ask("GET mcp-servers").await.is(200);
    let changed = json!({"name": "docs", "isActive": false, "timeout": null, "cwd": null});
    desk.say(&format!("PUT mcp-servers/{id}"), changed)
        .await
        .is(200);
    desk.ask(&format!("GET mcp-servers/{id}")).await.is(200);
    let program = json!({"command": "run", "args": ["fast"]});
    desk.say(&format!("PUT mcp-servers/{web}"), program)
        .await
        .is(200);
    desk.ask(&format!("DELETE mcp-servers/{web}")).await.is(204);
    desk.ask(&format!("GET mcp-servers/{web}")).await.is(404);
    insta::assert_json_snapshot!("servers", desk.reported());
    desk.close();
}

#[tokio::test]
async fn what_is_sent_back_as_it_was_shown_stays() {
    let desk = Desk::open();
    let web = json!({
        "name": "web",
        "baseUrl": "https://example.com/mcp?key=hush",
        "headers": {"Authorization": "hush", "X-Other": "Bearer ${KEY}"},
        "plainValues": true,
    });
    let id = desk.say("POST mcp-servers", web).await.is(201).id();
    let shown = desk.ask(&format!("GET mcp-servers/{id}")).await.body;
    assert_eq!(
        shown["headers"],
        json!({"Authorization": "…", "X-Other": "Bearer ${KEY}"})
    );
    assert_eq!(shown["baseUrl"], "https://example.com/mcp?…");
    let mut back = shown.clone();
    back["plainValues"] = json!(false);
    back["headers"]["X-New"] = json!("env:NEW");
    let back = desk
        .say(&format!("PUT mcp-servers/{id}"), back)
        .await
        .is(200);
    assert_eq!(back.body["headers"]["Authorization"], "…");
    let kept = stored(&desk, &id).await.base_url;
    assert_eq!(kept.as_deref(), Some("https://example.com/mcp?key=hush"));
    let run = json!({"name": "run", "command": "run", "args": ["--token", "hush", "a"], "plainValues": true});
    let id = desk.say("POST mcp-servers", run).await.is(201).id();
    let shown = desk.ask(&format!("GET mcp-servers/{id}")).await.body;
    assert_eq!(shown["args"], json!(["--token", "…", "a"]));
    let args = json!({"args": ["-v", "--token", "…", "b"]});
    let changed = desk.say(&format!("PUT mcp-servers/{id}"), args).await;
    assert_eq!(changed.body["args"], json!(["-v", "--token", "…", "b"]));
    assert_eq!(
        stored(&desk, &id).await.args,
        ["-v", "--token", "hush", "b"]
    );
    desk.close();
}

#[tokio::test]
async fn what_makes_no_sense_is_refused_and_says_why() {
    let desk = Desk::open();
    let id = desk.demo("demo").await;
    desk.forget();
    for body in [
        json!({"name": "demo", "command": "run"}),
        json!({"command": "run"}),
        json!({"name": "a\nb", "command": "run"}),
        json!({"name": "nothing"}),
        json!({"name": "odd", "type": "carrier-pigeon"}),
        json!({"name": "odd", "baseUrl": "file:///etc/passwd"}),
        json!({"name": "open", "command": "run", "env": {"KEY": "hush"}}),
        json!({"paste": 5}),
        json!([]),
    ] {
        let answer = desk.say("POST mcp-servers", body).await;
        assert!((400..500).contains(&answer.status), "{}", answer.text);
        assert!(!answer.text.contains("hush"));
    }
    desk.say(&format!("PUT mcp-servers/{id}"), json!({"command": null}))
        .await
        .is(422);
    desk.say("PUT mcp-servers/none", json!({"name": "x"}))
        .await
        .is(404);
    desk.ask("DELETE mcp-servers/none").await.is(404);
    insta::assert_json_snapshot!("refused", desk.reported());
    let listed = desk.ask("GET mcp-servers").await.body;
    assert_eq!(listed["items"].as_array().unwrap().len(), 1);
    desk.close();
}

#[tokio::test]
async fn a_broken_entry_of_a_pasted_text_hides_no_other() {
    let desk = Desk::open();
    desk.demo("demo").await;
    desk.forget();
    let text = r#"{
        // from the internet
        "mcpServers": {
            "good": {"command": "run", "env": {"KEY": "hush"}, "autoApprove": ["wipe"]},
            "broken": {"args": ["x"]},
            "asks": {"command": "run", "args": ["${input:key}"]},
            "demo": {"command": "something else"},
            "web": {"type": "http", "url": "https://example.com/mcp"}
        }
    }"#;
    desk.say("POST mcp-servers", json!({"paste": text}))
        .await
        .is(200);
    let kept = json!({
        "paste": r#"{"mcpServers": {"keyed": {"command": "run", "env": {"KEY": "hush"}}}}"#,
        "plainValues": true,
    });
    desk.say("POST mcp-servers", kept).await.is(200);
    desk.say("POST mcp-servers", json!({"paste": "no JSON"}))
        .await
        .is(200);
    let reported = Value::from(desk.reported());
    for reported in reported.as_array().unwrap() {
        assert!(!reported["answer"].to_string().contains("hush"));
    }
    insta::assert_json_snapshot!("pasted", reported);
    desk.close();
}

#[tokio::test]
async fn a_server_to_import_is_chosen_by_its_file_and_its_name() {
    let bench = Bench::new();
    bench.write(
        ".config/Claude/claude_desktop_config.json",
        r#"{"mcpServers": {"files": {"command": "one"}}}"#,
    );
    bench.write(
        ".cursor/mcp.json",
        r#"{"mcpServers": {"files": {"command": "two", "args": ["a b"]}}}"#,
    );
    let desk = Desk::with(bench, &[], &[]);
    let preview = desk.say("POST mcp-servers/import", json!({})).await.is(200);
    let items = preview.body["items"].as_array().unwrap().clone();
    let chosen = |at: usize| json!({"name": items[at]["name"], "source": items[at]["source"]});
    assert_eq!(items[1]["what"], r#"two "a b""#);
    let second = json!({"apply": true, "servers": [chosen(1)]});
    let taken = desk.say("POST mcp-servers/import", second).await.is(200);
    assert_eq!(taken.body["imported"][0]["command"], "two");
    assert_eq!(taken.body["imported"][0]["endpoint"], r#"two "a b""#);
    let gone = json!({"name": "files", "source": "/gone"});
    let both = json!({"apply": true, "servers": [chosen(0), chosen(1), gone]});
    let taken = desk.say("POST mcp-servers/import", both).await.is(200);
    assert_eq!(taken.body["imported"][0]["command"], "one");
    let problems = taken.body["problems"].to_string();
    assert!(problems.contains("no server files any more"), "{problems}");
}

#[tokio::test]
async fn servers_of_other_programs_are_shown_and_taken_over() {
    let bench = Bench::new().on_tested_store();
    bench.write(
        ".config/Claude/claude_desktop_config.json",
        r#"{"mcpServers": {"files": {"command": "run", "env": {"K": "hush"}}, "odd": {"args": []}}}"#,
    );
    bench.write(
        ".mcp.json",
        r#"{"mcpServers": {"shared": {"command": "theirs"}}}"#,
    );
    let desk = Desk::with(bench, &[], &[]);
    desk.say("POST mcp-servers/import", json!({})).await.is(200);
    assert_eq!(desk.stored_servers(0).await, 0, "a preview changes nothing");
    desk.forget();
    desk.say("POST mcp-servers/import", json!({"apply": true}))
        .await
        .is(200);
    // A project's server waits for a yes, and is not started before.
    let listed = desk.ask("GET mcp-servers").await.body;
    let shared = &listed["items"][1];
    assert_eq!(
        (&shared["name"], &shared["status"]),
        (&json!("shared"), &json!("pending_trust"))
    );
    let id = shared["id"].as_str().unwrap();
    desk.ask(&format!("POST mcp-servers/{id}/connect"))
        .await
        .is(409);
    desk.ask(&format!("POST mcp-servers/{id}/test"))
        .await
        .is(409);
    desk.ask(&format!("GET mcp-servers/{id}/tools"))
        .await
        .is(409);
    let trusted = json!({"trust": "trusted"});
    let agreed = desk
        .say(&format!("PUT mcp-servers/{id}"), trusted)
        .await
        .is(200);
    assert_eq!(agreed.body["status"], "idle");
    desk.ask("GET mcp-servers/export?to=claude-desktop")
        .await
        .is(200);
    desk.ask("GET mcp-servers/export?to=no one").await.is(400);
    let reported = Value::from(desk.reported());
    assert!(!reported.to_string().contains("hush"), "{reported:#}");
    insta::assert_json_snapshot!("import", reported);
    let toml = desk.ask("GET mcp-servers/export?to=codex").await.is(200);
    let text = toml.body["text"].as_str().unwrap();
    assert!(text.contains("[mcp_servers.files]"), "{text}");
    // What the file cannot express is not left out silently.
    let more = json!({"envPolicy": "inherit"});
    desk.say(&format!("PUT mcp-servers/{id}"), more)
        .await
        .is(200);
    let codex = desk.ask("GET mcp-servers/export?to=codex").await.is(200);
    let notices = codex.body["notices"].to_string();
    assert!(notices.contains("shared"), "{notices}");
    desk.close();
}

/// A server as it is stored.
async fn stored(desk: &Desk, id: &str) -> Server {
    let store = home::store(Some(&desk.bench.store())).await.unwrap();
    let row = store.server(&UserId::local(), &ServerId::new(id)).await;
    store.close().await.unwrap();
    row.unwrap().unwrap()
}
