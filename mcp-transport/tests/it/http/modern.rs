//! The modern era: every POST stands for itself.

use mcp_transport::{OutgoingKind, ReplyTimeout};

use super::*;

#[tokio::test]
async fn a_modern_message_carries_method_name_and_parameters() {
    let server = Server::start(|_| Answer::json(&result(1))).await;
    let transport = open(config(&server)).await;
    let mut message = modern_call(1);
    message.name = Some("lookup ü".to_owned());
    message.params = vec![
        ("Zone".to_owned(), "ést".to_owned()),
        ("Plain".to_owned(), "a b".to_owned()),
        ("Empty".to_owned(), String::new()),
    ];
    send(&transport, message).await.unwrap();
    let seen = server.seen();
    let header = |name| seen[0].header(name);
    assert_eq!(header("mcp-protocol-version"), Some("2026-07-28"));
    assert_eq!(header("mcp-method"), Some("tools/call"));
    assert_eq!(header("mcp-name"), Some("=?base64?bG9va3VwIMO8?="));
    assert_eq!(header("mcp-param-zone"), Some("=?base64?w6lzdA==?="));
    assert_eq!(header("mcp-param-plain"), Some("a b"));
    assert_eq!(header("mcp-session-id"), None);
}

#[tokio::test]
async fn an_empty_parameter_is_sent_as_an_empty_header() {
    let server = Server::start(|_| Answer::json(&result(1))).await;
    let transport = open(config(&server)).await;
    let mut message = modern_call(1);
    message.params = vec![("Empty".to_owned(), String::new())];
    send(&transport, message).await.unwrap();
    let seen = server.seen();
    let names: Vec<_> = seen[0]
        .headers
        .iter()
        .map(|(name, _)| name.as_str())
        .collect();
    assert!(names.contains(&"mcp-param-empty"), "{names:?}");
}

#[tokio::test]
async fn a_header_http_does_not_allow_is_never_sent() {
    let server = Server::start(|_| Answer::json(&result(1))).await;
    let transport = open(config(&server)).await;
    let mut message = modern_call(1);
    message.params = vec![("a b".to_owned(), "1".to_owned())];
    let failed = send(&transport, message).await.unwrap_err();
    insta::assert_snapshot!(describe(&server, &failed));
    assert!(server.seen().is_empty());
}

#[tokio::test]
async fn a_modern_notification_has_the_full_headers_and_opens_no_stream() {
    let server = Server::start(|_| Answer::status(202)).await;
    let transport = open(config(&server)).await;
    let message = notification("notifications/initialized").with_revision(Revision::V2026_07_28);
    send(&transport, message).await.unwrap();
    let seen = server.seen();
    assert_eq!(seen.len(), 1);
    assert_eq!(
        seen[0].header("mcp-method"),
        Some("notifications/initialized")
    );
}

#[tokio::test]
async fn both_eras_can_be_tried_on_one_transport() {
    let server = Server::start(legacy(|seen| match seen.calls("server/discover") {
        true => Answer::with(404, &[], "no such method"),
        false => Answer::json(&result(1)),
    }))
    .await;
    let transport = open(config(&server)).await;
    let probe = request(5, "server/discover").with_revision(Revision::V2026_07_28);
    assert!(send(&transport, probe.clone()).await.is_err());
    shake_hands(&transport).await;
    assert!(send(&transport, probe).await.is_err(), "still only a 404");
    let seen = server.seen();
    assert_eq!(seen.last().unwrap().header("mcp-session-id"), None);
    send(&transport, call(1)).await.unwrap();
    assert_eq!(
        server.seen().last().unwrap().header("mcp-session-id"),
        Some("s1")
    );
}

#[tokio::test]
async fn releasing_a_request_closes_its_stream() {
    let server = Server::start(|_| Answer::events(": open\n\n").hold()).await;
    let transport = open(config(&server)).await;
    send(&transport, modern_call(1)).await.unwrap();
    transport.release(&RequestId::from(1));
    server.hung_up(0).await;
}

#[tokio::test]
async fn dropping_a_send_closes_its_exchange() {
    let server = Server::start(|_| Answer::default().hold()).await;
    let transport = open(config(&server)).await;
    let sending = transport.clone();
    let task = tokio::spawn(async move { sending.send(modern_call(1)).await });
    server.saw(|seen| seen.len() == 1).await;
    task.abort();
    server.hung_up(0).await;
}

#[tokio::test]
async fn a_stream_that_stays_open_is_spared_the_limits_of_replies() {
    let gate = Gate::new();
    let held = gate.clone();
    let server = Server::start(move |seen| match seen.calls("subscriptions/listen") {
        true => Answer::events(": open\n\n")
            .wait(&held)
            .chunk(&event(r#"{"method":"m"}"#))
            .hold(),
        false => Answer::events(": open\n\n").hold(),
    })
    .await;
    let limits = HttpLimits::default()
        .with_requests_in_flight(1)
        .with_idle_timeout(Duration::from_millis(20))
        .with_total_timeout(Duration::from_millis(40));
    let transport = open_with(&server, limits).await;
    let mut listen = request(1, "subscriptions/listen").with_revision(Revision::V2026_07_28);
    if let OutgoingKind::Request { reply_timeout, .. } = &mut listen.kind {
        *reply_timeout = ReplyTimeout::Stream;
    }
    send(&transport, listen).await.unwrap();
    // Requests that run into their limits show both: time has passed, and the window was free.
    for id in 2..5 {
        send(&transport, modern_call(id)).await.unwrap();
        let ended = next(&transport).await;
        assert!(
            ended.starts_with(&format!("{id} ended: a pause")),
            "{ended}"
        );
    }
    gate.open();
    assert_eq!(next(&transport).await, r#"1 {"method":"m"}"#);
}
