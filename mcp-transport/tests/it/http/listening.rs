//! The stream on which a legacy server speaks unasked.

use super::*;

const CHANGED: &str = r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#;

/// DecodeLimits under which a reconnection takes no time to speak of.
fn quick() -> HttpLimits {
    HttpLimits::default().with_min_retry_delay(Duration::from_millis(1))
}

/// A legacy server that answers its `nth` GET so, and every call.
fn gets(
    script: impl Fn(usize) -> Answer + Send + Sync + 'static,
) -> impl Fn(&Seen) -> Answer + Send + Sync + 'static {
    legacy(move |seen| match seen.method.as_str() {
        "GET" => script(seen.nth),
        "POST" => Answer::json(&result(1)),
        _ => Answer::status(405),
    })
}

#[tokio::test]
async fn the_stream_is_open_before_initialized_returns() {
    let server = Server::start(gets(|_| Answer::events(&event(CHANGED)).hold())).await;
    let transport = open(config(&server)).await;
    shake_hands(&transport).await;
    let seen = server.seen();
    let get = seen
        .iter()
        .find(|seen| seen.method == "GET")
        .expect("the stream was asked for");
    assert_eq!(get.header("accept"), Some("text/event-stream"));
    assert_eq!(get.header("mcp-session-id"), Some("s1"));
    assert_eq!(get.header("mcp-protocol-version"), Some("2025-11-25"));
    assert_eq!(get.header("last-event-id"), None);
    assert_eq!(next(&transport).await, format!("- {CHANGED}"));
}

#[tokio::test]
async fn a_server_without_the_stream_is_asked_once_and_works() {
    for status in [400, 404, 405] {
        let server = Server::start(gets(move |_| Answer::with(status, &[], "<html>"))).await;
        let transport = open(config(&server)).await;
        shake_hands(&transport).await;
        send(&transport, call(1)).await.unwrap();
        assert_eq!(next(&transport).await, format!("1 {}", result(1)));
        assert_eq!(server.count("GET"), 1);
    }
}

#[tokio::test]
async fn a_stream_that_never_answers_holds_up_nothing() {
    let server = Server::start(gets(|_| Answer::default().hold())).await;
    let limits = quick().with_listen_timeout(Duration::from_millis(20));
    let transport = open_with(&server, limits).await;
    shake_hands(&transport).await;
    send(&transport, call(1)).await.unwrap();
    assert_eq!(next(&transport).await, format!("1 {}", result(1)));
    tokio::time::timeout(BOUND, transport.close())
        .await
        .expect("closing is bounded");
}

#[tokio::test]
async fn a_lost_stream_is_reopened_and_the_gap_is_reported() {
    let server = Server::start(gets(|nth| match nth {
        0 => Answer::events(&format!("retry: 1\n{}", event(CHANGED))).close(),
        _ => Answer::events(&event(CHANGED)).hold(),
    }))
    .await;
    let transport = open_with(&server, quick()).await;
    shake_hands(&transport).await;
    assert_eq!(next(&transport).await, format!("- {CHANGED}"));
    assert_eq!(next(&transport).await, "gap");
    assert_eq!(next(&transport).await, format!("- {CHANGED}"));
}

#[tokio::test]
async fn a_stream_is_resumed_after_its_last_event() {
    let server = Server::start(gets(|nth| match nth {
        0 => Answer::all_events(&format!("id: e7\nretry: 1\n{}", event(CHANGED))),
        _ => Answer::events(&event(CHANGED)).hold(),
    }))
    .await;
    let transport = open_with(&server, quick()).await;
    shake_hands(&transport).await;
    assert_eq!(next(&transport).await, format!("- {CHANGED}"));
    assert_eq!(
        next(&transport).await,
        format!("- {CHANGED}"),
        "a clean hand-over has no gap"
    );
    let seen = server.seen();
    let again = seen.iter().rfind(|seen| seen.method == "GET").unwrap();
    assert_eq!(again.header("last-event-id"), Some("e7"));
}

#[tokio::test]
async fn an_abandoned_stream_is_tried_again_when_the_server_responds() {
    let server = Server::start(gets(|nth| match nth {
        0 => Answer::all_events("retry: 1\n\n"),
        1 => Answer::status(400),
        _ => Answer::events(&event(CHANGED)).hold(),
    }))
    .await;
    let transport = open_with(&server, quick()).await;
    shake_hands(&transport).await;
    server
        .saw(|seen| seen.iter().filter(|seen| seen.method == "GET").count() == 2)
        .await;
    send(&transport, call(1)).await.unwrap();
    let mut heard = Vec::new();
    while !heard.contains(&format!("- {CHANGED}")) {
        heard.push(next(&transport).await);
    }
    assert!(heard.contains(&"gap".to_owned()));
}

#[tokio::test]
async fn a_stream_that_finds_the_session_gone_ends_it() {
    let server = Server::start(gets(|nth| match nth {
        0 => Answer::all_events("retry: 1\n\n"),
        _ => Answer::status(404),
    }))
    .await;
    let transport = open_with(&server, quick()).await;
    shake_hands(&transport).await;
    server
        .saw(|seen| seen.iter().filter(|seen| seen.method == "GET").count() == 2)
        .await;
    while send(&transport, call(1)).await.is_ok() {}
    let failed = send(&transport, call(1)).await.unwrap_err();
    assert!(
        matches!(failed.error, mcp_transport::TransportError::SessionExpired),
        "{failed}"
    );
}

#[tokio::test]
async fn an_event_over_the_limit_is_reported_and_the_next_one_read() {
    let text = [event(&"x".repeat(3_000)), event(CHANGED)].concat();
    let server = Server::start(gets(move |_| Answer::events(&text).hold())).await;
    let transport = open_with(&server, quick().with_message_bytes(1_000)).await;
    shake_hands(&transport).await;
    assert_eq!(next(&transport).await, "too large for 1000");
    assert_eq!(next(&transport).await, format!("- {CHANGED}"));
}

#[tokio::test]
async fn a_new_handshake_replaces_the_stream() {
    let server = Server::start(gets(|_| Answer::events("").hold())).await;
    let transport = open(config(&server)).await;
    shake_hands(&transport).await;
    let first = server
        .seen()
        .iter()
        .find(|seen| seen.method == "GET")
        .unwrap()
        .connection;
    shake_hands(&transport).await;
    server.hung_up(first).await;
    assert_eq!(server.count("GET"), 2);
}
