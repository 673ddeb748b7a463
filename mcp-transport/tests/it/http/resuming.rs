//! Replies that break and go on elsewhere. When they do so is a matter of virtual time, and shown
//! in the crate's own tests.

use super::*;

fn quick() -> HttpLimits {
    HttpLimits::default()
        .with_min_retry_delay(Duration::from_millis(1))
        .with_resumptions(1)
}

/// A legacy server whose calls begin with `first` and whose GETs go on with `more`.
fn resumable(first: Answer, more: Answer) -> impl Fn(&Seen) -> Answer + Send + Sync + 'static {
    legacy(
        move |seen| match (seen.method.as_str(), seen.header("last-event-id")) {
            ("GET", None) => Answer::status(405),
            ("GET", Some(_)) => more.clone(),
            _ => first.clone(),
        },
    )
}

#[tokio::test]
async fn a_reply_goes_on_where_it_broke() {
    for broken in [
        Answer::all_events("id: e1\nretry: 1\ndata:\n\n"),
        cut_after_event(),
    ] {
        let rest = Answer::all_events(&event(&result(1)));
        let server = Server::start(resumable(broken, rest)).await;
        let transport = open_with(&server, quick()).await;
        shake_hands(&transport).await;
        send(&transport, call(1)).await.unwrap();
        assert_eq!(next(&transport).await, format!("1 {}", result(1)));
        assert!(next(&transport).await.starts_with("1 ended"));
        let seen = server.seen();
        let get = seen.iter().rfind(|seen| seen.method == "GET").unwrap();
        assert_eq!(get.header("last-event-id"), Some("e1"));
        assert_eq!(get.header("mcp-session-id"), Some("s1"));
        assert_eq!(get.header("accept"), Some("text/event-stream"));
    }
}

fn cut_after_event() -> Answer {
    Answer::events("id: e1\nretry: 1\ndata:\n\ndata: {").close()
}

#[tokio::test]
async fn an_unanswered_reply_ends_when_it_cannot_be_resumed() {
    let mut report = String::new();
    for (case, more) in [
        ("refused", Answer::status(405)),
        ("always-500", Answer::status(500)),
        ("session-gone", Answer::status(404)),
        ("no-event-stream", Answer::json("{}")),
    ] {
        let broken = Answer::all_events("id: e1\nretry: 1\ndata:\n\n");
        let server = Server::start(resumable(broken, more)).await;
        let transport = open_with(&server, quick()).await;
        shake_hands(&transport).await;
        send(&transport, call(1)).await.unwrap();
        let reported = next(&transport).await.replace(&server.address, "HOST");
        report += &format!("{case}: {reported}\n");
    }
    insta::assert_snapshot!(report);
}

#[tokio::test]
async fn a_modern_reply_is_never_resumed() {
    let server = Server::start(|_| Answer::all_events("id: e1\nretry: 1\ndata:\n\n")).await;
    let transport = open_with(&server, quick()).await;
    send(&transport, modern_call(1)).await.unwrap();
    assert_eq!(
        next(&transport).await,
        "1 ended: the reply ended without a response: the event stream is over"
    );
    assert_eq!(server.count("GET"), 0);
}

#[tokio::test]
async fn a_released_reply_is_not_resumed() {
    let server = Server::start(legacy(|seen| match seen.method.as_str() {
        "GET" => Answer::status(405),
        _ => Answer::events("id: e1\nretry: 1\ndata:\n\n").hold(),
    }))
    .await;
    let transport = open_with(&server, quick()).await;
    shake_hands(&transport).await;
    send(&transport, call(1)).await.unwrap();
    let connection = server.seen().last().unwrap().connection;
    transport.release(&RequestId::from(1));
    server.hung_up(connection).await;
    transport.close().await;
    assert_eq!(
        next(&transport).await,
        "closed: clean",
        "no caller waits, so none is notified"
    );
    assert_eq!(server.count("GET"), 1);
}
