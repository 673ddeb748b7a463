//! A model behind HTTP, against a scripted provider on loopback.

mod server;

use std::time::Duration;

use provider_adapters::{
    Adapter, Anthropic, Conversation, ErrorKind, Event, HttpModel, Model, ModelError, OpenAiChat,
    Reply, Request, Retry, StopReason, Timeouts, ToolSpec,
};
use serde_json::{Value, json};

use self::server::{Answer, Server};
use crate::fixture;

fn reply(name: &str) -> Vec<u8> {
    std::fs::read(fixture::folder().join(name)).unwrap()
}

fn request(adapter: &dyn Adapter, tools: &[&str]) -> Request {
    let mut conversation = Conversation::new();
    conversation.ask("Hello?");
    let schema: mcp_jsonrpc::RawObject =
        serde_json::from_str(r#"{"type":"object","properties":{"a":{"type":"string"}}}"#).unwrap();
    let specs: Vec<ToolSpec> = tools
        .iter()
        .map(|name| ToolSpec::new(*name, schema.clone()))
        .collect();
    Request::new("model", conversation).with_tools(adapter.tools(&specs))
}

fn model(server: &Server) -> HttpModel<Anthropic> {
    HttpModel::new(Anthropic::default())
        .unwrap()
        .with_key("sk-secret")
        .with_base_url(&server.url)
        .with_retry(Retry::default().with_first_delay(Duration::ZERO))
}

async fn play(model: &dyn Model, request: &Request) -> Result<(Vec<Event>, Reply), ModelError> {
    let mut stream = model.start(request).await?;
    let mut events = Vec::new();
    while let Some(event) = stream.next().await {
        events.push(event);
    }
    Ok((events, stream.finish()))
}

fn overloaded() -> Answer {
    Answer::new(529, reply("anthropic/21-error-529.json"))
}

fn text() -> Answer {
    Answer::new(200, reply("anthropic/01-text.sse"))
}

#[tokio::test]
async fn a_reply_streams_and_the_key_is_in_its_header_alone() {
    let server = Server::start(vec![text().in_pieces(7)]).await;
    let model = model(&server).with_header("x-team", "blue");
    let (events, reply) = play(&model, &request(model.adapter(), &[])).await.unwrap();
    let whole = fixture::decode(
        provider_adapters::Wire::Anthropic,
        [text().chunks[0].as_slice()],
    );
    assert_eq!((events, reply), whole);
    let asked = &server.asked()[0];
    assert!(
        asked.head.starts_with("POST /v1/messages HTTP/1.1"),
        "{}",
        asked.head
    );
    for header in [
        "authorization: Bearer sk-secret",
        "anthropic-version: 2026-10-21",
        "x-team: blue",
    ] {
        assert!(asked.head.contains(header), "{}", asked.head);
    }
    assert_eq!(asked.body["messages"][0]["content"][0]["text"], "Hello?");
    let printed = format!("{model:?}");
    assert!(
        !printed.contains("sk-secret") && !printed.contains("blue"),
        "{printed}"
    );
}

#[tokio::test]
async fn own_headers_replace_ours() {
    let server = Server::start(vec![Answer::new(200, reply("openai-chat/01-text.sse"))]).await;
    let model = HttpModel::new(OpenAiChat::default())
        .unwrap()
        .with_key("sk-secret")
        .with_header("Authorization", "Basic abc")
        .with_base_url(format!("{}/proxy/v1/", server.url));
    play(&model, &request(model.adapter(), &[])).await.unwrap();
    let head = &server.asked()[0].head;
    assert!(
        head.starts_with("POST /proxy/v1/chat/completions "),
        "{head}"
    );
    assert!(
        head.contains("authorization: Basic abc") && !head.contains("sk-secret"),
        "{head}"
    );
}

#[tokio::test]
async fn an_overloaded_provider_is_asked_again() {
    let early = Answer::new(
        200,
        "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}}\n\n",
    );
    let server = Server::start(vec![
        overloaded().with_header("retry-after-ms", "1"),
        early,
        text(),
    ])
    .await;
    let model = model(&server);
    let (_, reply) = play(&model, &request(model.adapter(), &[])).await.unwrap();
    assert_eq!((reply.text().as_str(), server.asked().len()), ("Hello.", 3));
}

#[tokio::test]
async fn patience_ends() {
    let server = Server::start(vec![overloaded(), overloaded(), overloaded(), text()]).await;
    let model = model(&server);
    let Err(ModelError::Provider(error)) = play(&model, &request(model.adapter(), &[])).await
    else {
        panic!("it should have given up");
    };
    assert_eq!(
        (error.kind, error.status, server.asked().len()),
        (ErrorKind::Server, Some(529), 3)
    );
    assert_eq!(error.request_id.as_deref(), Some("req_1"));
}

#[tokio::test]
async fn what_cannot_get_better_is_not_tried_again() {
    let quota =
        r#"{"error":{"message":"You exceeded your current quota","code":"insufficient_quota"}}"#;
    for answer in [
        Answer::new(429, quota),
        Answer::new(
            401,
            r#"{"error":{"message":"bad key","type":"authentication_error"}}"#,
        ),
        overloaded().with_header("x-should-retry", "false"),
        Answer::new(429, "{}").with_header("retry-after", "3600"),
    ] {
        let server = Server::start(vec![answer, text()]).await;
        let model = model(&server);
        assert!(play(&model, &request(model.adapter(), &[])).await.is_err());
        assert_eq!(server.asked().len(), 1);
    }
}

#[tokio::test]
async fn a_reply_that_fails_half_way_is_told_and_not_repeated() {
    let server = Server::start(vec![
        Answer::new(200, reply("anthropic/08-error-overloaded.sse")),
        text(),
    ])
    .await;
    let model = model(&server);
    let (events, reply) = play(&model, &request(model.adapter(), &[])).await.unwrap();
    assert_eq!((reply.text().as_str(), server.asked().len()), ("part", 1));
    assert!(events.iter().any(|event| matches!(event, Event::Error(_))));
    let failed = model.ask(&request(model.adapter(), &[])).await;
    assert_eq!(failed.unwrap().stop_reason(), Some(StopReason::End));
}

#[tokio::test]
async fn a_refused_tool_is_quarantined_and_the_rest_goes_on() {
    let refusal = r#"{"type":"error","error":{"type":"invalid_request_error","message":"tools.1.custom.input_schema: JSON schema is invalid"}}"#;
    let server = Server::start(vec![Answer::new(400, refusal), text(), text()]).await;
    let model = model(&server);
    let request = request(model.adapter(), &["a", "b", "c"]);
    let (events, reply) = play(&model, &request).await.unwrap();
    let Some(Event::ToolQuarantined { tool, reason }) = events.first() else {
        panic!("{events:?}")
    };
    assert_eq!((tool.as_str(), reply.text().as_str()), ("b", "Hello."));
    assert!(reason.contains("tools.1"), "{reason}");
    play(&model, &request).await.unwrap();
    let names = |body: &Value| -> Vec<String> {
        let tools = body["tools"].as_array().unwrap().iter();
        tools
            .map(|tool| tool["name"].as_str().unwrap().to_owned())
            .collect()
    };
    let sent: Vec<Vec<String>> = server
        .asked()
        .iter()
        .map(|asked| names(&asked.body))
        .collect();
    assert_eq!(
        json!(sent),
        json!([["a", "b", "c"], ["a", "c"], ["a", "c"]]),
        "remembered"
    );
}

#[tokio::test]
async fn only_one_tool_is_quarantined_for_a_request() {
    let refusal = |place: usize| {
        let message = format!("tools.{place}.custom.input_schema: JSON schema is invalid");
        let body = json!({"error": {"type": "invalid_request_error", "message": message}});
        Answer::new(400, body.to_string())
    };
    let server = Server::start(vec![refusal(0), refusal(0), text()]).await;
    let model = model(&server);
    assert!(
        play(&model, &request(model.adapter(), &["a", "b"]))
            .await
            .is_err()
    );
    assert_eq!(server.asked().len(), 2);
}

#[tokio::test]
async fn a_silent_provider_is_not_waited_for_without_end() {
    let server = Server::start(vec![
        Answer::new(200, "event: ping\ndata: {\"type\":\"ping\"}\n\n").stalling(),
    ])
    .await;
    let timeouts = Timeouts::default().with_idle(Duration::from_millis(30));
    let model = model(&server)
        .with_timeouts(timeouts)
        .with_retry(Retry::default().with_tries(0));
    let Err(ModelError::Provider(error)) = play(&model, &request(model.adapter(), &[])).await
    else {
        panic!("it should have timed out");
    };
    assert_eq!(error.kind, ErrorKind::Truncated);
    assert!(error.message.contains("30ms"), "{error}");
}

#[tokio::test]
async fn a_total_limit_holds_across_tries() {
    let server = Server::start(vec![overloaded().with_header("retry-after", "60"), text()]).await;
    let timeouts = Timeouts::default().with_total(Duration::from_secs(5));
    let model = model(&server).with_timeouts(timeouts);
    assert!(play(&model, &request(model.adapter(), &[])).await.is_err());
    assert_eq!(server.asked().len(), 1);
}

#[tokio::test]
async fn dropping_the_stream_hangs_up() {
    let whole = String::from_utf8(reply("anthropic/08-error-overloaded.sse")).unwrap();
    let (part, _) = whole.split_once("event: error").unwrap();
    let mut server = Server::start(vec![Answer::new(200, part).stalling()]).await;
    let model = model(&server);
    let mut stream = model.start(&request(model.adapter(), &[])).await.unwrap();
    assert!(matches!(stream.next().await, Some(Event::Text { .. })));
    drop(stream);
    server.hang_ups.recv().await.unwrap();
}

#[tokio::test]
async fn an_end_mark_is_enough_even_if_the_connection_stays_open() {
    let server = Server::start(vec![text().stalling()]).await;
    let model = model(&server);
    let (_, reply) = play(&model, &request(model.adapter(), &[])).await.unwrap();
    assert_eq!(reply.stop_reason(), Some(StopReason::End));
}

#[tokio::test]
async fn nobody_there_is_an_error_without_secrets() {
    let model = HttpModel::new(OpenAiChat::default())
        .unwrap()
        .with_base_url("http://127.0.0.1:1/sk-in-path")
        .with_retry(Retry::default().with_tries(0));
    let error = model.ask(&request(model.adapter(), &[])).await.unwrap_err();
    assert!(matches!(error, ModelError::Unreachable(_)));
    let mut told = error.to_string();
    let mut source = std::error::Error::source(&error);
    while let Some(cause) = source {
        told.push_str(&cause.to_string());
        source = cause.source();
    }
    assert!(!told.contains("sk-in-path"), "{told}");
}

#[tokio::test]
async fn what_was_recorded_is_played_back_and_nothing_else() {
    let tape = std::env::temp_dir().join(format!("provider-adapters-{}.tape", std::process::id()));
    let odd = [b"data: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"\xff\"}}\n\n".to_vec(), reply("anthropic/06-unicode.sse")].concat();
    let server = Server::start(vec![
        overloaded(),
        text().in_pieces(5),
        Answer::new(200, odd).in_pieces(3),
    ])
    .await;
    let recorder = model(&server).recording(&tape).unwrap();
    let first = request(recorder.adapter(), &["a"]);
    let mut second = first.clone();
    second.conversation.ask("And now?");
    let live = [
        play(&recorder, &first).await.unwrap(),
        play(&recorder, &second).await.unwrap(),
    ];

    let written = std::fs::read_to_string(&tape).unwrap();
    assert!(
        !written.contains("sk-secret") && written.lines().count() == 3,
        "{written}"
    );

    let player = HttpModel::replaying(Anthropic::default(), &tape).unwrap();
    assert_eq!(play(&player, &first).await.unwrap(), live[0]);
    assert_eq!(play(&player, &second).await.unwrap(), live[1]);
    let Err(ModelError::NotRecorded(difference)) = play(&player, &first).await else {
        panic!("the tape is over");
    };
    assert_eq!(difference, "request 4 of a tape with 3 of them");

    let player = HttpModel::replaying(Anthropic::default(), &tape).unwrap();
    let Err(ModelError::NotRecorded(difference)) = play(&player, &second).await else {
        panic!("another request was recorded");
    };
    assert_eq!(
        difference,
        "request 1, body.messages[0].content: 1 items were recorded, now there are 2"
    );
    assert_eq!(server.asked().len(), 3, "nothing goes live");
    std::fs::remove_file(tape).unwrap();
}
