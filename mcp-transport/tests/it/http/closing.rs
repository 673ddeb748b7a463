//! The end of a connection.

use mcp_transport::{Delivery, TransportError};

use super::*;

#[tokio::test]
async fn closing_ends_everything_and_reports_it_last() {
    let server = Server::start(legacy(|seen| {
        match (seen.method.as_str(), seen.calls("slow")) {
            ("GET", _) => Answer::events("").hold(),
            ("DELETE", _) => Answer::status(200),
            (_, true) => Answer::default().hold(),
            (_, false) => Answer::events(&event(r#"{"method":"m"}"#)).hold(),
        }
    }))
    .await;
    let transport = open(config(&server)).await;
    shake_hands(&transport).await;
    send(&transport, call(1)).await.unwrap();
    let slow = transport.clone();
    let slow = tokio::spawn(async move { send(&slow, request(2, "slow")).await });
    server
        .saw(|seen| seen.iter().any(|seen| seen.calls("slow")))
        .await;
    assert_eq!(next(&transport).await, r#"1 {"method":"m"}"#);
    assert!(transport.is_alive());
    tokio::time::timeout(BOUND, transport.close())
        .await
        .expect("closing is bounded");
    assert!(!transport.is_alive());
    assert_eq!(next(&transport).await, "closed: clean");
    assert_eq!(next(&transport).await, "closed: clean");
    let failed = slow.await.unwrap().unwrap_err();
    assert!(matches!(failed.error, TransportError::Closed), "{failed}");
    assert_eq!(failed.delivery, Delivery::Unknown);
    for seen in server
        .seen()
        .iter()
        .filter(|seen| seen.method == "GET" || seen.calls("slow"))
    {
        server.hung_up(seen.connection).await;
    }
}

#[tokio::test]
async fn a_closed_connection_sends_nothing() {
    let server = Server::start(|_| Answer::json(&result(1))).await;
    let transport = open(config(&server)).await;
    transport.close().await;
    for message in [call(1), notification("notifications/cancelled")] {
        let failed = send(&transport, message).await.unwrap_err();
        assert!(matches!(failed.error, TransportError::Closed), "{failed}");
        assert_eq!(failed.delivery, Delivery::NotSent);
    }
    assert!(server.seen().is_empty());
}

#[tokio::test]
async fn a_request_that_waits_for_the_window_fails_on_close() {
    let server = Server::start(|_| Answer::default().hold()).await;
    let transport = open_with(&server, HttpLimits::default().with_requests_in_flight(1)).await;
    let calls = [1, 2].map(|id| {
        let transport = transport.clone();
        tokio::spawn(async move { send(&transport, call(id)).await.unwrap_err().delivery })
    });
    server.saw(|seen| seen.len() == 1).await;
    transport.close().await;
    let mut reported = Vec::new();
    for call in calls {
        reported.push(call.await.unwrap());
    }
    reported.sort_by_key(|delivery| format!("{delivery:?}"));
    assert_eq!(reported, [Delivery::NotSent, Delivery::Unknown]);
}

#[tokio::test]
async fn dropping_a_connection_hangs_up() {
    let server = Server::start(legacy(|_| Answer::events("").hold())).await;
    let transport = open(config(&server)).await;
    shake_hands(&transport).await;
    send(&transport, call(1)).await.unwrap();
    drop(transport);
    for seen in server.seen() {
        if seen.method == "GET" || seen.calls("tools/call") {
            server.hung_up(seen.connection).await;
        }
    }
}
