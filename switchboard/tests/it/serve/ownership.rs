//! What is one user's is no one else's: every route with an id, with the owner's real ids and requests
//! that are good when the owner makes them.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::House;
use crate::program::path;

/// The routes whose ids belong to no user: users themselves, the team's servers, and what the gateway of
/// the machine asks.
const OF_ALL: [&str; 3] = ["/api/users/", "/api/shared-servers/", "/api/gateway/"];

/// What belongs to ann.
struct Things {
    server: String,
    assistant: String,
    rule: String,
    token: String,
    /// A conversation in which a call waits for approval.
    chat: String,
    said: String,
    answer: String,
    call: Value,
    question: String,
}

fn things(house: &House) -> Things {
    let post = |at: &str, body: Value| {
        let (status, value) = house.ask_as("ann", "POST", at, Some(&body));
        assert!(status < 300, "{at}: {status} {value}");
        value
    };
    let id = |value: &Value| value["id"].as_str().unwrap().to_owned();
    let demo =
        json!({"name": "asks", "command": path(), "args": ["demo-server", "--era", "legacy"]});
    let server = id(&post("/api/mcp-servers", demo));
    post(&format!("/api/mcp-servers/{server}/connect"), json!({}));
    let deny = json!({"approval": "deny"});
    let tool = format!("/api/mcp-servers/{server}/tools/add");
    house.ask_as("ann", "PATCH", &tool, Some(&deny));
    let (_, rules) = house.ask_as("ann", "GET", "/api/approvals", None);
    let token = post("/api/tokens", json!({"name": "t", "scope": "read"}));
    let (_, tokens) = house.ask_as("ann", "GET", "/api/tokens", None);
    assert!(token["token"].is_string());
    let talk = |mode: &str, words: &str, until: &dyn Fn(&super::live::Live) -> bool| {
        let mut events = house.events_as("ann", "", &[]);
        let chat = id(&post("/api/conversations", json!({"approvalMode": mode})));
        let said = post(
            &format!("/api/conversations/{chat}/messages"),
            json!({ "content": words }),
        );
        let event = events.until_that(until).pop().unwrap();
        (chat, said, event.data)
    };
    let (_, _, asked) = talk("auto", "ask my name", &|it| {
        it.kind == "elicitation.requested"
    });
    let waits = |it: &super::live::Live| it.data["approval"].is_object();
    let (chat, said, call) = talk("ask", "write a note", &waits);
    Things {
        server,
        assistant: id(&post("/api/assistants", json!({"name": "a"}))),
        rule: id(&rules["items"][0]),
        token: id(&tokens["items"][0]),
        chat,
        said: id(&said["userMessage"]),
        answer: id(&said["assistantMessage"]),
        call,
        question: id(&asked),
    }
}

/// Every such route, in an order in which the owner can use them all.
fn requests(of: &Things) -> Vec<(&'static str, &'static str, String, Value)> {
    let (call, digest) = (&of.call["position"], &of.call["approval"]["digest"]);
    let confirm = json!({"position": call, "decision": "deny", "digest": digest});
    let all = [
        // While it is open, the server's calls of others wait.
        (
            "POST",
            "/api/elicitations/{id}",
            &of.question,
            json!({"action": "decline"}),
        ),
        ("GET", "/api/mcp-servers/{id}", &of.server, Value::Null),
        (
            "PUT",
            "/api/mcp-servers/{id}",
            &of.server,
            json!({"timeout": 30}),
        ),
        (
            "POST",
            "/api/mcp-servers/{id}/connect",
            &of.server,
            Value::Null,
        ),
        (
            "POST",
            "/api/mcp-servers/{id}/test",
            &of.server,
            Value::Null,
        ),
        ("GET", "/api/mcp-servers/{id}/logs", &of.server, Value::Null),
        (
            "GET",
            "/api/mcp-servers/{id}/tools",
            &of.server,
            Value::Null,
        ),
        (
            "PATCH",
            "/api/mcp-servers/{id}/tools",
            &of.server,
            json!({"names": ["echo"], "enabled": true}),
        ),
        (
            "PATCH",
            "/api/mcp-servers/{id}/tools/{name}",
            &of.server,
            json!({"approval": "ask"}),
        ),
        (
            "POST",
            "/api/mcp-servers/{id}/tools/{name}/call",
            &of.server,
            json!({"arguments": {"text": "hi"}}),
        ),
        (
            "GET",
            "/api/mcp-servers/{id}/tools/{name}/schema",
            &of.server,
            Value::Null,
        ),
        (
            "GET",
            "/api/mcp-servers/{id}/resources",
            &of.server,
            Value::Null,
        ),
        (
            "GET",
            "/api/mcp-servers/{id}/resources/read",
            &of.server,
            Value::Null,
        ),
        (
            "GET",
            "/api/mcp-servers/{id}/prompts",
            &of.server,
            Value::Null,
        ),
        (
            "GET",
            "/api/mcp-servers/{id}/skills",
            &of.server,
            Value::Null,
        ),
        (
            "GET",
            "/api/mcp-servers/{id}/skills/read",
            &of.server,
            Value::Null,
        ),
        (
            "POST",
            "/api/mcp-servers/{id}/complete",
            &of.server,
            json!({"prompt": "greet", "argument": "name", "value": "A"}),
        ),
        (
            "POST",
            "/api/mcp-servers/{id}/update",
            &of.server,
            json!({}),
        ),
        (
            "POST",
            "/api/mcp-servers/{id}/prompts/{name}",
            &of.server,
            json!({"arguments": {"name": "Ada"}}),
        ),
        (
            "POST",
            "/api/mcp-servers/{id}/disconnect",
            &of.server,
            Value::Null,
        ),
        ("GET", "/api/assistants/{id}", &of.assistant, Value::Null),
        (
            "PUT",
            "/api/assistants/{id}",
            &of.assistant,
            json!({"name": "b"}),
        ),
        (
            "GET",
            "/api/assistants/{id}/mcp-servers",
            &of.assistant,
            Value::Null,
        ),
        (
            "PUT",
            "/api/assistants/{id}/mcp-servers",
            &of.assistant,
            json!({"ids": []}),
        ),
        ("GET", "/api/conversations/{id}", &of.chat, Value::Null),
        (
            "PATCH",
            "/api/conversations/{id}",
            &of.chat,
            json!({"title": "t"}),
        ),
        (
            "GET",
            "/api/conversations/{id}/export",
            &of.chat,
            Value::Null,
        ),
        (
            "GET",
            "/api/conversations/{id}/questions",
            &of.chat,
            Value::Null,
        ),
        (
            "GET",
            "/api/conversations/{id}/blobs/{blob}",
            &of.chat,
            Value::Null,
        ),
        (
            "GET",
            "/api/conversations/{id}/messages",
            &of.chat,
            Value::Null,
        ),
        ("POST", "/api/conversations/{id}/fork", &of.chat, json!({})),
        (
            "POST",
            "/api/messages/{id}/tool-confirm",
            &of.answer,
            confirm,
        ),
        (
            "POST",
            "/api/conversations/{id}/cancel",
            &of.chat,
            Value::Null,
        ),
        (
            "POST",
            "/api/conversations/{id}/continue",
            &of.chat,
            Value::Null,
        ),
        (
            "POST",
            "/api/conversations/{id}/compact",
            &of.chat,
            Value::Null,
        ),
        (
            "POST",
            "/api/conversations/{id}/messages",
            &of.chat,
            json!({"content": "hello"}),
        ),
        (
            "POST",
            "/api/conversations/{id}/regenerate",
            &of.chat,
            json!({"message": of.answer}),
        ),
        (
            "POST",
            "/api/conversations/{id}/show",
            &of.chat,
            json!({"message": of.said}),
        ),
        ("DELETE", "/api/conversations/{id}", &of.chat, Value::Null),
        ("DELETE", "/api/assistants/{id}", &of.assistant, Value::Null),
        ("DELETE", "/api/approvals/{id}", &of.rule, Value::Null),
        ("DELETE", "/api/tokens/{id}", &of.token, Value::Null),
        (
            "POST",
            "/api/mcp-servers/{id}/login",
            &of.server,
            Value::Null,
        ),
        (
            "POST",
            "/api/mcp-servers/{id}/logout",
            &of.server,
            Value::Null,
        ),
        ("DELETE", "/api/mcp-servers/{id}", &of.server, Value::Null),
    ];
    let filled = |(method, template, id, body): (&'static str, &'static str, &String, Value)| {
        let name = if template.contains("/prompts/") {
            "greet"
        } else {
            "echo"
        };
        let path = template.replace("{id}", id).replace("{name}", name);
        let path = path.replace("{blob}", "none");
        let path = match template.rsplit('/').next() {
            Some("schema") => path + "?for=openai",
            Some("read") => path + "?uri=demo://note",
            _ => path,
        };
        (method, template, path, body)
    };
    all.into_iter().map(filled).collect()
}

#[test]
fn what_is_one_users_is_not_there_for_another_one_on_any_route() {
    let house = House::with(&[
        "--user",
        "ann",
        "--user",
        "bob",
        "--trust-user",
        "ann",
        "--trust-user",
        "bob",
    ]);
    let things = things(&house);
    let requests = requests(&things);
    let (_, document) = house.ask_as("ann", "GET", "/api/openapi.json", None);
    let mut missing = BTreeSet::new();
    for (path, methods) in document["paths"].as_object().unwrap() {
        for method in methods.as_object().unwrap().keys() {
            let method = method.to_uppercase();
            let tried = |it: &(&str, &str, String, Value)| it.0 == method && it.1 == path;
            if path.contains('{')
                && !OF_ALL.iter().any(|it| path.starts_with(it))
                && !requests.iter().any(tried)
            {
                missing.insert(format!("{method} {path}"));
            }
        }
    }
    assert!(missing.is_empty(), "never tried: {missing:?}");
    let ask = |user: &str, (method, _, path, body): &(&str, &str, String, Value)| {
        let body = Some(body).filter(|body| !body.is_null());
        let reply = house.fetch(user, method, path, body);
        let text = String::from_utf8_lossy(&reply.body).into_owned();
        (reply.status, text)
    };
    for request in &requests {
        let (status, text) = ask("bob", request);
        let at = format!("{} {}", request.0, request.1);
        assert_eq!(status, 404, "{at}: {text}");
        assert!(
            !text.contains("asks") && !text.contains("note"),
            "{at}: {text}"
        );
    }
    for request in &requests {
        let (status, text) = ask("ann", request);
        let at = format!("{} {}", request.0, request.1);
        let is_blob = request.1.ends_with("{blob}");
        // The server has neither a login nor skills.
        let has_none = request.1.ends_with("/login") || request.1.ends_with("/skills/read");
        let is_good = ![400, 403, 404, 405, 422].contains(&status) && status < 500;
        assert!(is_good || is_blob || has_none, "{at}: {status} {text}");
    }
}
