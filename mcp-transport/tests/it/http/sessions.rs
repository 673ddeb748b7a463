//! The session of the legacy era.

use mcp_transport::{Delivery, TransportError};

use super::*;

/// Fails with "the session is gone", for a message that may be sent again.
async fn expires(transport: &Arc<dyn Transport>, message: Outgoing) {
    let failed = send(transport, message).await.unwrap_err();
    assert!(
        matches!(failed.error, TransportError::SessionExpired),
        "{failed}"
    );
    assert_eq!(failed.delivery, Delivery::NotSent);
}

/// A server that hands out session after session, and knows only those named `good…`.
fn sessions(names: &'static [&'static str]) -> impl Fn(&Seen) -> Answer + Send + Sync + 'static {
    let next = std::sync::atomic::AtomicUsize::new(0);
    move |seen| {
        if seen.calls("initialize") {
            let nth = next.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            let headers = [
                ("Content-Type", "application/json"),
                ("Mcp-Session-Id", names[nth]),
            ];
            return Answer::with(200, &headers, &result(0));
        }
        match seen.header("mcp-session-id") {
            Some(id) if id.starts_with("good") => Answer::json(&result(1)),
            _ => Answer::status(404),
        }
    }
}

async fn initialize(transport: &Arc<dyn Transport>) {
    send(transport, request(0, "initialize")).await.unwrap();
    next(transport).await;
    next(transport).await;
}

#[tokio::test]
async fn a_404_ends_the_session_and_initialize_begins_another() {
    let server = Server::start(sessions(&["bad", "good"])).await;
    let transport = open(config(&server)).await;
    initialize(&transport).await;
    expires(&transport, call(1)).await;
    let before = server.seen().len();
    expires(&transport, call(2)).await;
    expires(&transport, notification("notifications/cancelled")).await;
    assert_eq!(
        server.seen().len(),
        before,
        "a dead session is not asked again"
    );
    initialize(&transport).await;
    let again = server.seen();
    assert_eq!(again.last().unwrap().header("mcp-session-id"), None);
    send(&transport, call(3)).await.unwrap();
    assert_eq!(
        server.seen().last().unwrap().header("mcp-session-id"),
        Some("good")
    );
}

#[tokio::test]
async fn a_late_404_of_the_old_session_does_not_end_the_new_one() {
    let gate = Gate::new();
    let held = gate.clone();
    let scripted = sessions(&["good1", "good2"]);
    let server = Server::start(move |seen| {
        if seen.calls("slow") {
            return Answer::default().wait(&held).then(Answer::status(404));
        }
        scripted(seen)
    })
    .await;
    let transport = open(config(&server)).await;
    initialize(&transport).await;
    let slow = transport.clone();
    let late = tokio::spawn(async move { expires(&slow, request(9, "slow")).await });
    server
        .saw(|seen| seen.iter().any(|seen| seen.calls("slow")))
        .await;
    initialize(&transport).await;
    gate.open();
    late.await.unwrap();
    send(&transport, call(1)).await.unwrap();
    assert_eq!(
        server.seen().last().unwrap().header("mcp-session-id"),
        Some("good2")
    );
}

#[tokio::test]
async fn a_404_without_a_session_is_just_a_404() {
    let server = Server::start(|_| Answer::status(404)).await;
    let transport = open(config(&server)).await;
    let failed = send(&transport, call(1)).await.unwrap_err();
    assert!(matches!(failed.error, TransportError::Http(_)), "{failed}");
}

#[tokio::test]
async fn a_400_that_blames_the_session_ends_it_and_any_other_400_does_not() {
    let blames = r#"{"jsonrpc":"2.0","error":{"code":-32000,"message":"Bad Request: No valid session ID provided"},"id":null}"#;
    let own = r#"{"jsonrpc":"2.0","error":{"code":-32602,"message":"no such session"},"id":1}"#;
    for (body, expired) in [(blames, true), (own, false), ("session?", false)] {
        let server = Server::start(legacy(move |_| Answer::with(400, &[], body))).await;
        let transport = open(config(&server)).await;
        initialize(&transport).await;
        let failed = send(&transport, call(1)).await.unwrap_err();
        assert_eq!(
            matches!(failed.error, TransportError::SessionExpired),
            expired,
            "{failed}"
        );
    }
}

#[tokio::test]
async fn only_initialize_assigns_a_session() {
    let server = Server::start(legacy(|_| {
        let headers = [
            ("Content-Type", "application/json"),
            ("Mcp-Session-Id", "other"),
        ];
        Answer::with(200, &headers, &result(1))
    }))
    .await;
    let transport = open(config(&server)).await;
    initialize(&transport).await;
    send(&transport, call(1)).await.unwrap();
    send(&transport, call(2)).await.unwrap();
    assert_eq!(
        server.seen().last().unwrap().header("mcp-session-id"),
        Some("s1")
    );
}

#[tokio::test]
async fn a_session_id_outside_visible_ascii_is_refused() {
    let server = Server::start(|_| {
        let headers = [
            ("Content-Type", "application/json"),
            ("Mcp-Session-Id", "sé"),
        ];
        Answer::with(200, &headers, &result(0))
    })
    .await;
    let transport = open(config(&server)).await;
    let failed = send(&transport, request(0, "initialize"))
        .await
        .unwrap_err();
    insta::assert_snapshot!(describe(&server, &failed));
}

#[tokio::test]
async fn closing_ends_the_session_at_the_server() {
    let server = Server::start(legacy(|_| Answer::status(405))).await;
    let transport = open(config(&server)).await;
    shake_hands(&transport).await;
    transport.close().await;
    transport.close().await;
    let seen = server.seen();
    let goodbye: Vec<_> = seen.iter().filter(|seen| seen.method == "DELETE").collect();
    assert_eq!(goodbye.len(), 1);
    assert_eq!(goodbye[0].header("mcp-session-id"), Some("s1"));
    assert_eq!(
        goodbye[0].header("mcp-protocol-version"),
        Some("2025-11-25")
    );
}

#[tokio::test]
async fn a_goodbye_that_is_never_answered_does_not_hold_up_the_close() {
    let server = Server::start(legacy(|_| Answer::default().hold())).await;
    let limits = HttpLimits::default()
        .with_close_timeout(Duration::from_millis(20))
        .with_listen_timeout(Duration::from_millis(20));
    let transport = open_with(&server, limits).await;
    shake_hands(&transport).await;
    tokio::time::timeout(BOUND, transport.close())
        .await
        .expect("closing is bounded");
    assert_eq!(next(&transport).await, "closed: clean");
}

#[tokio::test]
async fn no_session_no_goodbye() {
    let server = Server::start(|_| Answer::json(&result(0))).await;
    let transport = open(config(&server)).await;
    initialize(&transport).await;
    transport.close().await;
    assert_eq!(server.count("DELETE"), 0);
}
