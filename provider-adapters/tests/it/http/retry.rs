//! Who is asked again, and when.

use provider_adapters::{
    ErrorKind, Gemini, HttpModel, Model as _, ModelError, ReplyEvent, Retry, StopReason,
};

use super::server::{Answer, Server};
use super::{model, overloaded, play, reply, request, text};

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
        panic!("it should have stopped");
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
async fn a_reply_that_fails_half_way_is_an_error_and_not_repeated() {
    let server = Server::start(vec![
        Answer::new(200, reply("anthropic/08-error-overloaded.sse")),
        text(),
    ])
    .await;
    let model = model(&server);
    let (events, reply) = play(&model, &request(model.adapter(), &[])).await.unwrap();
    assert_eq!((reply.text().as_str(), server.asked().len()), ("part", 1));
    assert!(
        events
            .iter()
            .any(|event| matches!(event, ReplyEvent::Error(_)))
    );
    let failed = model.ask(&request(model.adapter(), &[])).await;
    assert_eq!(failed.unwrap().stop_reason(), Some(StopReason::End));
}

#[tokio::test]
async fn statuses_that_may_pass_are_tried_again_and_others_are_not() {
    for (status, tries) in [
        (400, 1),
        (403, 1),
        (404, 1),
        (408, 2),
        (409, 2),
        (413, 1),
        (422, 1),
        (429, 2),
        (500, 2),
        (502, 2),
        (503, 2),
        (504, 2),
    ] {
        let server = Server::start(vec![Answer::new(status, "{}"), text()]).await;
        let model = model(&server);
        let played = play(&model, &request(model.adapter(), &[])).await;
        assert_eq!(
            (played.is_ok(), server.asked().len()),
            (tries == 2, tries),
            "{status}"
        );
    }
}

#[tokio::test]
async fn a_provider_that_wants_another_try_gets_one() {
    let server = Server::start(vec![
        Answer::new(400, "{}").with_header("x-should-retry", "true"),
        text(),
    ])
    .await;
    let model = model(&server);
    play(&model, &request(model.adapter(), &[])).await.unwrap();
    assert_eq!(server.asked().len(), 2);
}

/// Google has no header for it. Our own wait would be longer than the test may take.
#[tokio::test]
async fn google_tells_the_wait_in_the_body() {
    let busy = r#"{"error":{"code":429,"message":"slow down","status":"RESOURCE_EXHAUSTED","details":[{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"0.001s"}]}}"#;
    let server = Server::start(vec![
        Answer::new(429, busy),
        Answer::new(200, reply("gemini/01-text.sse")),
    ])
    .await;
    let model = HttpModel::new(Gemini::developer())
        .unwrap()
        .with_key("sk-secret")
        .with_base_url(&server.url)
        .with_retry(Retry::default().with_first_delay(std::time::Duration::MAX));
    play(&model, &request(model.adapter(), &[])).await.unwrap();
    let asked = server.asked();
    assert_eq!(asked.len(), 2);
    assert!(asked[0].head.contains("x-goog-api-key: sk-secret"));
}

#[tokio::test]
async fn a_connection_lost_before_the_reply_is_made_again() {
    let server = Server::start(vec![Answer::none().closing(), text()]).await;
    let model = model(&server);
    let (_, reply) = play(&model, &request(model.adapter(), &[])).await.unwrap();
    assert_eq!((reply.text().as_str(), server.asked().len()), ("Hello.", 2));
}
