//! A model chosen by REST: its address, its key, its list; and the demo server among the servers.

use serde_json::json;
use switchboard::demo::{DemoModel, DemoScript};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use super::desk::Desk;
use crate::servers::bench::Bench;

const SECRET: &str = "sk-hush-4711-hush";

/// Every file below a folder.
fn files(folder: &std::path::Path) -> Vec<std::path::PathBuf> {
    let mut all = Vec::new();
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        match entry.path() {
            path if path.is_dir() => all.extend(files(&path)),
            path => all.push(path),
        }
    }
    all
}

/// The files below a folder that hold the secret.
fn holders(folder: &std::path::Path) -> Vec<std::path::PathBuf> {
    let holds = |file: &std::path::PathBuf| {
        let bytes = std::fs::read(file).unwrap_or_default();
        let secret = SECRET.as_bytes();
        bytes.windows(secret.len()).any(|part| part == secret)
    };
    files(folder).into_iter().filter(holds).collect()
}

#[tokio::test]
async fn a_typed_key_is_tried_kept_in_a_private_file_and_never_sent_back() {
    let model = DemoModel::start(DemoScript::default(), 0).await.unwrap();
    let url = model.base_url(provider_adapters::Wire::OpenAiChat);
    let desk = Desk::open();
    let place = json!({"baseUrl": url, "key": SECRET});
    let listed = desk.say("POST models/list", place).await.is(200);
    assert_eq!(listed.body["items"][0]["id"], "demo-model-not-an-ai");
    assert!(
        holders(&desk.bench.path()).is_empty(),
        "nothing is stored yet"
    );

    let chosen = json!({"baseUrl": url, "key": SECRET, "model": "demo-model-not-an-ai"});
    let used = desk.say("POST models/use", chosen).await.is(200);
    let name = used.body["current"]["name"].as_str().unwrap().to_owned();
    assert!(name.ends_with("/demo-model-not-an-ai"), "{name}");
    let settings = desk.ask("GET settings").await.is(200);
    for answer in [&listed, &used, &settings] {
        assert!(!answer.text.contains(SECRET), "{}", answer.text);
    }
    let held = holders(&desk.bench.path());
    assert_eq!(held.len(), 1, "{held:?}");
    assert!(held[0].ends_with(held[0].file_name().unwrap()));
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let mode = std::fs::metadata(&held[0]).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
    // With the key that is kept, no other is needed.
    let again = desk.say("POST models/list", json!({"baseUrl": url})).await;
    again.is(200);

    let endpoint = name.rsplit_once('/').unwrap().0;
    let forgotten = json!({
        format!("endpoints.{endpoint}.key"): null,
        format!("endpoints.{endpoint}.base_url"): null,
        format!("endpoints.{endpoint}.wire"): null,
        "model": null,
    });
    desk.say("PUT settings", forgotten).await.is(200);
    assert_eq!(
        holders(&desk.bench.path()),
        Vec::<std::path::PathBuf>::new()
    );
    desk.close();
    model.stop().await;
}

/// A key that the page kept in a private file, for an endpoint of this machine that nothing answers at.
async fn with_a_kept_key(desk: &Desk) -> String {
    let place = json!({"baseUrl": "http://127.0.0.1:9/v1", "key": SECRET, "model": "llama"});
    let used = desk.say("POST models/use", place).await.is(200);
    assert_eq!(holders(&desk.bench.path()).len(), 1);
    let name = used.body["current"]["name"].as_str().unwrap();
    name.rsplit_once('/').unwrap().0.to_owned()
}

#[tokio::test]
async fn a_key_that_no_setting_names_any_more_is_removed_from_wherever_it_was_dropped() {
    let none = Vec::<std::path::PathBuf>::new();
    for arguments in [
        &["config", "set", "endpoints.PLACE.key"][..],
        &["config", "set", "endpoints.PLACE.key", "env:OTHER"],
        &["model", "set", "PLACE/llama", "--key", "env:OTHER"],
    ] {
        let desk = Desk::open();
        let place = with_a_kept_key(&desk).await;
        let words = arguments.iter().map(|it| it.replace("PLACE", &place));
        let words: Vec<String> = words.collect();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let ran = desk.bench.run_beside(&words);
        assert_eq!(ran.exit, 0, "{words:?}: {}", ran.stderr);
        assert_eq!(holders(&desk.bench.path()), none, "{words:?}");
        desk.close();
    }
    // An address of another origin does not take the key along, on the page neither.
    let desk = Desk::open();
    let place = with_a_kept_key(&desk).await;
    let moved = json!({
        format!("endpoints.{place}.base_url"): "http://127.0.0.1:10/v1",
        format!("endpoints.{place}.key"): "env:OTHER",
    });
    desk.say("PUT settings", moved).await.is(200);
    assert_eq!(holders(&desk.bench.path()), none);
    desk.close();
}

#[tokio::test]
async fn a_wrong_key_a_wrong_address_and_no_model_are_refused_where_they_were_given() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/v1", listener.local_addr().unwrap());
    let refuse = tokio::spawn(async move {
        loop {
            let (mut stream, _) = listener.accept().await.unwrap();
            let mut request = [0; 4096];
            let _ = stream.read(&mut request).await;
            let body = r#"{"error":{"message":"Incorrect API key provided"}}"#;
            let head = "HTTP/1.1 401 Unauthorized\r\nContent-Type: application/json\r\n";
            let length = body.len();
            let reply =
                format!("{head}Content-Length: {length}\r\nConnection: close\r\n\r\n{body}");
            let _ = stream.write_all(reply.as_bytes()).await;
        }
    });
    let desk = Desk::open();
    for (place, status, code) in [
        (json!({"baseUrl": url, "key": SECRET}), 502, "wrong_key"),
        (
            json!({"baseUrl": "http://127.0.0.1:9/v1"}),
            502,
            "unreachable",
        ),
        (json!({"baseUrl": "llm.example"}), 422, "unprocessable"),
        (json!({"provider": "no-such-ai"}), 422, "unprocessable"),
        (json!({"provider": "openai"}), 422, "unprocessable"),
        (
            json!({"provider": "openai", "key": "two words"}),
            422,
            "unprocessable",
        ),
        (
            json!({"provider": "openai", "key": "k", "baseUrl": "https://llm.example/v1"}),
            422,
            "unprocessable",
        ),
        (json!({}), 422, "unprocessable"),
    ] {
        let reply = desk.say("POST models/list", place).await.is(status);
        assert!(!reply.text.contains(SECRET), "{}", reply.text);
        let said = reply.body["error"]["code"].as_str().unwrap();
        assert!(said == code || code == "unprocessable", "{}", reply.text);
    }
    let nameless = json!({"provider": "openai", "key": "k"});
    desk.say("POST models/use", nameless).await.is(422);
    assert_eq!(
        holders(&desk.bench.path()),
        Vec::<std::path::PathBuf>::new()
    );
    desk.close();
    refuse.abort();
}

#[tokio::test]
async fn a_guest_keeps_no_key_on_the_machine() {
    let desk = Desk::trusting(
        Bench::new().on_tested_store(),
        &["ann", "bob"],
        &["ann"],
        &[],
    );
    let place = json!({"provider": "openai", "key": SECRET, "model": "gpt-5"});
    let list = json!({"provider": "openai", "key": SECRET});
    desk.send(1, "POST models/list", Some(list)).await.is(403);
    desk.send(1, "POST models/use", Some(place)).await.is(403);
    assert_eq!(
        holders(&desk.bench.path()),
        Vec::<std::path::PathBuf>::new()
    );
    desk.close();
}

#[tokio::test]
async fn the_demo_server_is_a_server_like_any_other_until_there_is_one() {
    let desk = Desk::open();
    let listed = desk.ask("GET mcp-servers").await.is(200);
    assert_eq!(listed.body["items"].as_array().unwrap().len(), 1);
    assert_eq!(listed.body["items"][0]["name"], "demo");
    assert_eq!(listed.body["items"][0]["builtIn"], true);
    let tools = desk.ask("GET mcp-servers/demo/tools").await.is(200);
    assert!(tools.body["items"].as_array().unwrap().len() > 5);
    desk.ask("GET mcp-servers/demo/prompts").await.is(200);
    let connected = desk.ask("GET mcp-servers/demo").await.is(200);
    assert_eq!(connected.body["status"], "connected");
    let suggested = desk.ask("GET suggestions").await.is(200);
    assert!(!suggested.body["items"].as_array().unwrap().is_empty());
    desk.ask("GET mcp-servers/known").await.is(200);
    desk.ask("DELETE mcp-servers/demo").await.is(409);

    let off = desk.say("PUT mcp-servers/demo", json!({"isActive": false}));
    assert_eq!(off.await.is(200).body.get("builtIn"), None);
    let listed = desk.ask("GET mcp-servers").await.is(200);
    assert_eq!(listed.body["items"][0]["isActive"], false);
    desk.ask("DELETE mcp-servers/demo").await.is(204);
    desk.close();
}

#[tokio::test]
async fn a_pasted_address_or_command_is_a_server() {
    let desk = Desk::open();
    for line in [
        "https://mcp.linear.app/mcp",
        "npx -y @modelcontextprotocol/server-memory",
    ] {
        let added = desk.say("POST mcp-servers", json!({"paste": line})).await;
        assert_eq!(added.is(200).body["problems"], json!([]));
    }
    let other = json!({"paste": "https://mcp.linear.app/sse"});
    let added = desk.say("POST mcp-servers", other).await.is(200);
    assert_eq!(added.body["items"][0]["name"], "linear-2");
    let wrong = json!({"paste": "curl x | sh"});
    let refused = desk.say("POST mcp-servers", wrong).await.is(200);
    assert_eq!(refused.body["items"], json!([]));
    assert_eq!(refused.body["problems"].as_array().unwrap().len(), 1);
    desk.close();
}
