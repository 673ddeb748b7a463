//! Falling back on another provider.

use std::time::Duration;

use provider_adapters::{Failover, HttpModel, Model, ModelError, OpenAiChat, Retry};
use serde_json::json;

use super::server::{Answer, Server};
use super::{model, overloaded, play, reply, request};

fn second(server: &Server) -> HttpModel<OpenAiChat> {
    HttpModel::new(OpenAiChat::default())
        .unwrap()
        .with_key("sk-other")
        .with_base_url(&server.url)
        .with_retry(Retry::default().with_first_delay(Duration::ZERO))
}

#[tokio::test]
async fn a_fallback_is_asked_in_its_own_words() {
    let first = Server::start(vec![overloaded(), overloaded(), overloaded()]).await;
    let text = Answer::new(200, reply("openai-chat/01-text.sse"));
    let other = Server::start(vec![text.clone(), text]).await;
    let models = Failover::new(model(&first)).with_fallback(second(&other), "gpt-5.6");
    let asked = request(models.adapter(), &["web.search"]);
    let (_, said) = play(&models, &asked).await.unwrap();
    assert!(!said.text().is_empty());
    assert_eq!(
        first.asked().len(),
        3,
        "the first model is tried as often as it may be"
    );
    let body = &other.asked()[0].body;
    assert_eq!(body["model"], "gpt-5.6");
    assert_eq!(body["tools"][0]["type"], json!("function"));
    assert!(body["tools"][0]["function"]["parameters"].is_object());
}

#[tokio::test]
async fn a_request_that_is_rejected_is_not_sent_to_another_provider() {
    let invalid = r#"{"type":"error","error":{"type":"invalid_request_error","message":"no"}}"#;
    let first = Server::start(vec![Answer::new(400, invalid)]).await;
    let other = Server::start(Vec::new()).await;
    let models = Failover::new(model(&first)).with_fallback(second(&other), "gpt-5.6");
    let failed = play(&models, &request(models.adapter(), &[])).await;
    assert!(matches!(failed, Err(ModelError::Provider(_))));
    assert!(other.asked().is_empty());
}

#[tokio::test]
async fn the_last_failure_is_the_outcome() {
    let down = || vec![Answer::none().closing(); 3];
    let first = Server::start(vec![overloaded(); 3]).await;
    let other = Server::start(down()).await;
    let models = Failover::new(model(&first)).with_fallback(second(&other), "gpt-5.6");
    let failed = play(&models, &request(models.adapter(), &[])).await;
    assert!(matches!(failed, Err(ModelError::Unreachable(_))));
}
