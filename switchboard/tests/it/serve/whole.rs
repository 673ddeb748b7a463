//! Results that are too long for the model: shown in part, kept whole.

use mcp_testkit::{Script, Server, Tool};
use serde_json::{Value, json};

use super::House;

/// The first call of a conversation's answer, once it is over, and the conversation's path.
fn called(house: &House, words: &str) -> (Value, String) {
    let mut events = house.events("");
    let chat = house.say(&json!({"approvalMode": "auto"}), words);
    events.until("run.finished");
    let call = house.latest(&chat)["toolCalls"][0].clone();
    assert_eq!(call["status"], "done", "{call}");
    (call, format!("/api/conversations/{}", chat.id))
}

/// What the whole result of a call is, and its type.
#[track_caller]
fn whole(house: &House, path: &str, call: &Value) -> (Vec<u8>, String) {
    let blob = call["resultBlob"]
        .as_str()
        .expect("a result that is kept whole");
    let reply = house.fetch("local", "GET", &format!("{path}/blobs/{blob}"), None);
    assert_eq!(reply.status, 200);
    let kind = reply.header("content-type").unwrap().to_owned();
    (reply.body, kind)
}

/// 3 KB of a big result were all that could be had.
#[test]
fn a_megabyte_of_text_is_kept_to_the_byte() {
    let mut house = House::open();
    let (call, path) = called(&house, "give me a big text of 1000000 letters");
    assert_eq!(call["toolName"], "big", "{}", call["arguments"]);
    let shown = call["response"]["content"][0]["text"].as_str().unwrap();
    assert!(shown.len() < 10_000, "{}", shown.len());
    let line = "All work and no play makes a very long text.\n";
    let want: String = line.chars().cycle().take(1_000_000).collect();
    let (bytes, kind) = whole(&house, &path, &call);
    assert!(bytes == want.as_bytes(), "{} bytes", bytes.len());
    assert_eq!(kind, "text/plain; charset=utf-8");
    // A copy of the conversation has it as well, and so has the next run of the program.
    let copy = house.post(&format!("{path}/fork"), &json!({}));
    house.kill();
    house.start();
    let copy = format!("/api/conversations/{}", copy["id"].as_str().unwrap());
    let messages = house.get(&format!("{copy}/messages"));
    let copied = &messages["items"][1]["toolCalls"][0];
    assert!(whole(&house, &copy, copied).0 == want.as_bytes());
    assert!(whole(&house, &path, &call).0 == want.as_bytes());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_result_of_many_blocks_is_kept_whole() {
    let long = "é\n\"\u{1f600}".repeat(60_000);
    let result = json!({
        "content": [
            {"type": "text", "text": long},
            {"type": "text", "text": "and"},
            {"type": "image", "data": "AAAA", "mimeType": "image/png"},
            {"type": "resource", "resource": {"uri": "a://b", "mimeType": "text/plain", "text": long}},
        ],
        "structuredContent": {"of": "it", "all": long},
    });
    let answer = result.clone();
    let tool = Tool::new("report").answering(move |_| answer.clone());
    let server = Server::new(Script::minimal().with_tool(tool))
        .start_http()
        .await
        .unwrap();
    let url = server.url();
    let (call, bytes, kind) = tokio::task::spawn_blocking(move || {
        let house = House::open();
        house.post("/api/mcp-servers", &json!({"name": "far", "baseUrl": url}));
        let (call, path) = called(&house, "make a report");
        let (bytes, kind) = whole(&house, &path, &call);
        (call, bytes, kind)
    })
    .await
    .unwrap();
    assert_eq!(kind, "application/json");
    let got: Value = serde_json::from_slice(&bytes).unwrap();
    for part in ["content", "structuredContent"] {
        assert!(got[part] == result[part], "{part}");
    }
    // The picture is shown; the texts are one piece of them all.
    assert_eq!(call["response"]["content"].as_array().unwrap().len(), 2);
}

/// The page and the terminal save these bytes as they are.
#[tokio::test(flavor = "multi_thread")]
async fn a_result_of_text_is_kept_as_text() {
    let long = "é\n\"\u{1f600}".repeat(60_000);
    let result = json!({
        "content": [{"type": "text", "text": long}, {"type": "text", "text": "and"}],
        "structuredContent": {"content": long},
    });
    let tool = Tool::new("report").answering(move |_| result.clone());
    let server = Server::new(Script::minimal().with_tool(tool))
        .start_http()
        .await
        .unwrap();
    let url = server.url();
    let (bytes, kind) = tokio::task::spawn_blocking(move || {
        let house = House::open();
        house.post("/api/mcp-servers", &json!({"name": "far", "baseUrl": url}));
        let (call, path) = called(&house, "make a report");
        whole(&house, &path, &call)
    })
    .await
    .unwrap();
    assert_eq!(kind, "text/plain; charset=utf-8");
    assert!(
        bytes == format!("{long}\nand").as_bytes(),
        "{} bytes",
        bytes.len()
    );
}

#[test]
fn a_short_result_is_whole_as_it_is() {
    let house = House::open();
    let (call, _) = called(&house, "2 plus 3");
    assert_eq!(call["resultBlob"], Value::Null);
}
