//! How long a provider may take, and that dropping a reply ends the wait.

use std::time::Duration;

use futures_util::StreamExt as _;
use provider_adapters::{
    ErrorKind, Model as _, ModelError, Phase, ReplyEvent, Retry, StopReason, Timeouts,
};

use super::server::{Answer, Server};
use super::{model, overloaded, play, reply, request, text};

const SHORT: Duration = Duration::from_millis(30);

#[tokio::test]
async fn a_silent_provider_is_not_waited_for_without_end() {
    let server = Server::start(vec![
        Answer::new(200, "event: ping\ndata: {\"type\":\"ping\"}\n\n").stalling(),
    ])
    .await;
    let timeouts = Timeouts::default().with_idle_timeout(SHORT);
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
    let timeouts = Timeouts::default().with_deadline(Duration::from_secs(5));
    let model = model(&server).with_timeouts(timeouts);
    assert!(play(&model, &request(model.adapter(), &[])).await.is_err());
    assert_eq!(server.asked().len(), 1);
}

#[tokio::test]
async fn the_events_of_a_reply_are_a_stream_and_leave_the_reply() {
    let server = Server::start(vec![text()]).await;
    let model = model(&server);
    let mut reply = model.start(&request(model.adapter(), &[])).await.unwrap();
    let events: Vec<ReplyEvent> = reply.events().collect().await;
    assert!(matches!(events.first(), Some(ReplyEvent::Text { .. })));
    assert_eq!(reply.finish().stop_reason(), Some(StopReason::End));
}

#[tokio::test]
async fn dropping_the_stream_hangs_up() {
    let mut server = Server::start(vec![begun().stalling()]).await;
    let model = model(&server);
    let mut stream = model.start(&request(model.adapter(), &[])).await.unwrap();
    assert!(matches!(stream.next().await, Some(ReplyEvent::Text { .. })));
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
async fn a_reply_that_does_not_begin_times_out() {
    let server = Server::start(vec![Answer::none().stalling()]).await;
    let model = model(&server)
        .with_timeouts(Timeouts::default().with_first_byte(SHORT))
        .with_retry(Retry::default().with_tries(0));
    let error = model.ask(&request(model.adapter(), &[])).await.unwrap_err();
    assert!(
        matches!(error, ModelError::Timeout(Phase::FirstByte, SHORT)),
        "{error:?}"
    );
    assert_eq!(
        error.to_string(),
        "the first byte of the reply did not come within 30ms"
    );
}

/// Bytes come all the time, but the end does not.
#[tokio::test]
async fn a_total_limit_ends_a_reply_that_has_begun() {
    let server = Server::start(vec![begun().stalling()]).await;
    let timeouts = Timeouts::default().with_deadline(Duration::from_millis(300));
    let model = model(&server).with_timeouts(timeouts);
    let (_, reply) = play(&model, &request(model.adapter(), &[])).await.unwrap();
    let error = reply.error.as_ref().unwrap();
    assert_eq!(
        (error.kind, reply.text().as_str()),
        (ErrorKind::Truncated, "part")
    );
    assert!(error.message.contains("the end of the reply"), "{error}");
}

#[tokio::test]
async fn dropping_the_future_hangs_up() {
    let mut server = Server::start(vec![Answer::none().stalling()]).await;
    let model = model(&server);
    let request = request(model.adapter(), &[]);
    tokio::select! {
        _ = model.start(&request) => panic!("there is no reply"),
        _ = server.arrivals.recv() => {}
    }
    server.hang_ups.recv().await.unwrap();
}

/// A reply whose first words have come.
fn begun() -> Answer {
    let whole = String::from_utf8(reply("anthropic/08-error-overloaded.sse")).unwrap();
    let (part, _) = whole.split_once("event: error").unwrap();
    Answer::new(200, part)
}
