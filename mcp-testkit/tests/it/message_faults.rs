//! What each fault of messages puts on the wire, in both eras.

use mcp_testkit::{Era, Fault, Script, Server, TransportKind};
use serde_json::{Value, json};

use crate::line_client::{LineClient, initialize_params, modern, pipe};
use crate::wire_text::show;

/// Faults that fit every shape are faults of messages.
fn message_faults() -> impl Iterator<Item = Fault> {
    Fault::all().filter(|fault| {
        [
            TransportKind::Stdio,
            TransportKind::Http,
            TransportKind::Sse,
        ]
        .iter()
        .all(|s| fault.fits(*s))
    })
}

/// All that a client sees of a fault, up to the answer to a ping that follows its call.
async fn transcript(fault: Fault, era: Era) -> String {
    let server = Server::new(Script::minimal().only(era)).with_fault(fault);
    let (mut client, server) = pipe(server);
    let mut text = String::new();
    match era {
        Era::Legacy => client.start("initialize", initialize_params()).await,
        _ => client.start("server/discover", modern(json!({}))).await,
    };
    note(&mut text, &mut client, &server, "greeting", era).await;
    let suit = |params: Value| {
        if era == Era::Legacy {
            params
        } else {
            modern(params)
        }
    };
    client.start("tools/list", suit(json!({}))).await;
    note(&mut text, &mut client, &server, "list", era).await;
    let call = json!({"name": "echo", "arguments": {"text": "hello"}});
    client.start("tools/call", suit(call)).await;
    note(&mut text, &mut client, &server, "call", era).await;
    text
}

/// Everything up to the answer to a question that no fault touches.
async fn note(
    text: &mut String,
    client: &mut LineClient,
    server: &mcp_testkit::Running,
    what: &str,
    era: Era,
) {
    let end = format!("after the {what}");
    let params = if era == Era::Legacy {
        json!({})
    } else {
        modern(json!({}))
    };
    client
        .send(&json!({"jsonrpc": "2.0", "id": end, "method": "prompts/list", "params": params}))
        .await;
    let mut lines = 0;
    loop {
        let line = client.bytes().await;
        let message: Option<Value> = serde_json::from_slice(&line).ok();
        if message
            .as_ref()
            .is_some_and(|m| m["id"] == end.as_str() && m.get("method").is_none())
        {
            break;
        }
        // The server's own requests wait for an answer.
        if let Some(asked) = message.filter(|m| m.get("id").is_some() && m.get("method").is_some())
        {
            client
                .send(&json!({"jsonrpc": "2.0", "id": asked["id"], "result": {}}))
                .await;
        }
        lines += 1;
        if lines <= 5 {
            text.push_str(&format!(
                "{what}: {}\n",
                show(line.trim_ascii_end(), server)
            ));
        }
    }
    if lines > 5 {
        text.push_str(&format!("{what}: … {} lines\n", lines));
    }
}

/// Faults that take long, or for ever, to be seen to their end.
const LONG: [&str; 4] = [
    "line-64m",
    "log-flood",
    "progress-flood",
    "progress-keeps-alive",
];

async fn all(era: Era) -> String {
    let plain = transcript(Fault::named("stateless").unwrap(), era).await;
    let mut text = String::new();
    for fault in message_faults().filter(|fault| !LONG.contains(&fault.name())) {
        text.push_str(&format!("## {fault}: {}\n", fault.about()));
        let transcript = transcript(fault, era).await;
        for line in transcript
            .lines()
            .filter(|line| !plain.lines().any(|plain| plain == *line))
        {
            text.push_str(&format!("{line}\n"));
        }
        if !transcript.contains("\ncall:") {
            text.push_str("call: (no answer)\n");
        }
    }
    text
}

#[tokio::test]
async fn every_legacy_fault_does_what_it_says() {
    insta::assert_snapshot!(all(Era::Legacy).await);
}

#[tokio::test]
async fn every_modern_fault_does_what_it_says() {
    insta::assert_snapshot!(all(Era::Modern).await);
}

#[tokio::test]
async fn floods_begin_as_they_say() {
    for (name, beginning) in [
        (
            "line-64m",
            r#"{"jsonrpc":"2.0","id":2,"result":{"content":[{"type":"text","text":"xxx"#,
        ),
        (
            "log-flood",
            r#"{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info""#,
        ),
        (
            "progress-flood",
            r#"{"jsonrpc":"2.0","method":"notifications/progress""#,
        ),
    ] {
        let fault = Fault::named(name).unwrap();
        let (mut client, _server) = pipe(Server::new(Script::minimal()).with_fault(fault));
        client.initialize().await;
        client
            .start("tools/call", json!({"name": "echo", "arguments": {}}))
            .await;
        let begun = client.beginning(beginning.len()).await;
        assert_eq!(String::from_utf8_lossy(&begun), beginning, "{name}");
    }
}

#[tokio::test]
async fn progress_can_go_on_for_ever() {
    let fault = Fault::named("progress-keeps-alive").unwrap();
    let (mut client, _server) = pipe(Server::new(Script::minimal()).with_fault(fault));
    client.initialize().await;
    let params = json!({"name": "echo", "arguments": {}, "_meta": {"progressToken": 5}});
    client.start("tools/call", params).await;
    for progress in 1..=3 {
        let message = client.receive().await;
        assert_eq!(
            message["params"],
            json!({"progressToken": 5, "progress": progress})
        );
    }
}

#[tokio::test]
async fn a_fault_of_messages_is_the_same_over_http() {
    use crate::http_client::{HttpClient, json_body};
    let fault = Fault::named("error-malformed").unwrap();
    let server = Server::new(Script::minimal())
        .with_fault(fault)
        .start_http()
        .await
        .unwrap();
    let mut client = HttpClient::new(server.url());
    client.initialize().await;
    let first = json_body(client.call("echo", json!({"text": "a"})).await).await;
    assert_eq!(first["error"], "boom");
    let second = json_body(client.call("echo", json!({"text": "b"})).await).await;
    assert_eq!(second["result"]["content"][0]["text"], "b");
}

#[tokio::test]
async fn several_messages_make_an_event_stream_over_http() {
    use crate::http_client::HttpClient;
    let fault = Fault::named("answers-twice").unwrap();
    let server = Server::new(Script::minimal())
        .with_fault(fault)
        .start_http()
        .await
        .unwrap();
    let mut client = HttpClient::new(server.url());
    client.initialize().await;
    let mut exchange = client.call("echo", json!({"text": "a"})).await;
    assert_eq!(
        exchange.message().await.unwrap()["result"]["content"][0]["text"],
        "a"
    );
    assert_eq!(
        exchange.message().await.unwrap()["result"]["content"][0]["text"],
        "DUPLICATE"
    );
    assert_eq!(exchange.event().await, None);
}
