//! A model behind HTTP, against a scripted provider on loopback.

mod failover;
mod quarantine;
mod retry;
pub(crate) mod server;
mod time;
#[cfg(feature = "vertex")]
mod vertex;

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use provider_adapters::{
    Adapter, Anthropic, Cache, Conversation, ErrorKind, HttpModel, Model, ModelError, OpenAiChat,
    Reply, ReplyEvent, Request, Retry, ToolSpec,
};

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

async fn play(
    model: &dyn Model,
    request: &Request,
) -> Result<(Vec<ReplyEvent>, Reply), ModelError> {
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
async fn a_client_of_ones_own_takes_no_key_to_where_it_is_redirected() {
    let redirect = Answer::new(307, "").with_header("location", "/elsewhere");
    let server = Server::start(vec![redirect, text()]).await;
    let config = rustls::ClientConfig::builder_with_provider(std::sync::Arc::new(
        rustls::crypto::ring::default_provider(),
    ));
    let tls = config
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(rustls::RootCertStore::empty())
        .with_no_client_auth();
    let builder = reqwest::Client::builder()
        .tls_backend_preconfigured(tls)
        .redirect(reqwest::redirect::Policy::limited(5));
    let model = HttpModel::with_client(Anthropic::default(), builder)
        .unwrap()
        .with_key("sk-secret")
        .with_base_url(&server.url);
    let refused = play(&model, &request(model.adapter(), &[])).await;
    assert!(refused.is_err(), "{refused:?}");
    assert_eq!(server.asked().len(), 1, "it was not followed");
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
async fn an_unreachable_provider_is_an_error_without_secrets() {
    let model = HttpModel::new(OpenAiChat::default())
        .unwrap()
        .with_base_url("http://127.0.0.1:1/sk-in-path")
        .with_retry(Retry::default().with_tries(0));
    let error = model.ask(&request(model.adapter(), &[])).await.unwrap_err();
    assert!(matches!(error, ModelError::Unreachable(_)));
    let mut message = error.to_string();
    let mut source = std::error::Error::source(&error);
    while let Some(cause) = source {
        message.push_str(&cause.to_string());
        source = cause.source();
    }
    assert!(!message.contains("sk-in-path"), "{message}");
}

#[tokio::test]
async fn what_was_recorded_is_played_back_and_nothing_else() {
    let cassette =
        std::env::temp_dir().join(format!("provider-adapters-{}.cassette", std::process::id()));
    let odd = [b"data: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"\xff\"}}\n\n".to_vec(), reply("anthropic/06-unicode.sse")].concat();
    let server = Server::start(vec![
        overloaded(),
        text().in_pieces(5),
        Answer::new(200, odd).in_pieces(3),
    ])
    .await;
    let recorder = model(&server).recording(&cassette).unwrap();
    let first = request(recorder.adapter(), &["a"]).with_cache(Cache::Off);
    let mut second = first.clone();
    second.conversation.ask("And now?");
    let live = [
        play(&recorder, &first).await.unwrap(),
        play(&recorder, &second).await.unwrap(),
    ];

    let written = std::fs::read_to_string(&cassette).unwrap();
    assert!(
        !written.contains("sk-secret") && written.lines().count() == 3,
        "{written}"
    );

    let player = HttpModel::replaying(Anthropic::default(), &cassette).unwrap();
    assert_eq!(play(&player, &first).await.unwrap(), live[0]);
    assert_eq!(play(&player, &second).await.unwrap(), live[1]);
    let Err(ModelError::NotRecorded(difference)) = play(&player, &first).await else {
        panic!("the cassette is over");
    };
    assert_eq!(difference, "request 4 of a cassette with 3 of them");

    let player = HttpModel::replaying(Anthropic::default(), &cassette).unwrap();
    let Err(ModelError::NotRecorded(difference)) = play(&player, &second).await else {
        panic!("another request was recorded");
    };
    assert_eq!(
        difference,
        "request 1, body.messages[0].content: 1 items were recorded, now there are 2"
    );
    assert_eq!(server.asked().len(), 3, "nothing goes live");
    std::fs::remove_file(cassette).unwrap();
}

/// Some gateways repeat the key they refuse.
#[tokio::test]
async fn a_key_that_the_provider_repeats_is_not_printed() {
    let message = r#"{"error":{"message":"Incorrect API key provided: sk-secret"}}"#;
    let server = Server::start(vec![Answer::new(401, message)]).await;
    let model = model(&server);
    let error = model.ask(&request(model.adapter(), &[])).await.unwrap_err();
    let ModelError::Provider(inner) = &error else {
        panic!("{error:?}")
    };
    assert_eq!(inner.kind, ErrorKind::Credentials);
    assert_eq!(inner.message, "Incorrect API key provided: …");
    assert!(!format!("{error} {error:?}").contains("sk-secret"));
}

#[tokio::test]
async fn a_key_is_asked_for_before_every_try() {
    let server = Server::start(vec![overloaded(), text()]).await;
    let count = AtomicU32::new(0);
    let model = model(&server)
        .with_key_from(move || format!("key-{}", count.fetch_add(1, Ordering::Relaxed)).into());
    play(&model, &request(model.adapter(), &[])).await.unwrap();
    for (asked, key) in server.asked().iter().zip(["Bearer key-0", "Bearer key-1"]) {
        assert!(asked.head.contains(key), "{}", asked.head);
    }
    assert_eq!(server.asked().len(), 2);
}

#[tokio::test]
async fn models_are_listed_page_by_page() {
    let page = |id: &str, more: bool| {
        let body = format!(r#"{{"data":[{{"id":"{id}"}}],"has_more":{more},"last_id":"{id}"}}"#);
        Answer::new(200, body)
    };
    let server = Server::start(vec![page("claude-a", true), page("claude-b", false)]).await;
    let models = model(&server).models().await.unwrap();
    let ids: Vec<&str> = models.iter().map(|model| model.id.as_str()).collect();
    assert_eq!(ids, ["claude-a", "claude-b"]);
    let asked = server.asked();
    assert!(
        asked[0].head.starts_with("GET /v1/models?limit=1000 "),
        "{}",
        asked[0].head
    );
    assert!(
        asked[1]
            .head
            .starts_with("GET /v1/models?limit=1000&after_id=claude-a ")
    );
    assert!(
        asked
            .iter()
            .all(|asked| asked.head.contains("anthropic-version: "))
    );
}
