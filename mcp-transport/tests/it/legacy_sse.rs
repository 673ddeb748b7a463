//! HTTP+SSE of 2024-11-05 against a scripted server.

use std::sync::Arc;
use std::time::Duration;

use mcp_jsonrpc::RequestId;
use mcp_transport::{
    Connect, Delivery, HttpConfig, HttpLimits, SseConnect, StaticTokenAuth, Transport,
    TransportError, TransportKind,
};

use crate::http::{BOUND, call, describe, event, next, notification, request, result, send};
use crate::server::{Answer, Gate, Server};

const ENDPOINT: &str = "event: endpoint\ndata: /messages?sessionId=x\n\n";

fn config(server: &Server) -> HttpConfig {
    HttpConfig::new(&server.url("/sse")).unwrap()
}

async fn connect(config: HttpConfig) -> Result<Arc<dyn Transport>, TransportError> {
    let connecting = SseConnect::new(config).unwrap();
    tokio::time::timeout(BOUND, connecting.connect())
        .await
        .expect("connecting is bounded")
}

/// A server whose event stream says `text` and stays, and whose POSTs are answered so.
async fn server(text: &str, post: Answer) -> Server {
    let stream = Answer::events(text).hold();
    Server::start(move |seen| {
        if seen.method == "GET" {
            stream.clone()
        } else {
            post.clone()
        }
    })
    .await
}

#[tokio::test]
async fn connecting_waits_for_the_endpoint_and_messages_are_posted_to_it() {
    let gate = Gate::new();
    let held = gate.clone();
    let server = Server::start(move |seen| match seen.method.as_str() {
        "GET" => Answer::events(ENDPOINT)
            .wait(&held)
            .chunk(&event(&result(1)))
            .hold(),
        _ => Answer::with(202, &[], "Accepted"),
    })
    .await;
    let auth = Arc::new(StaticTokenAuth::new("t"));
    let transport = connect(config(&server).with_auth(auth)).await.unwrap();
    assert_eq!(transport.kind(), TransportKind::LegacySse);
    send(&transport, request(1, "initialize")).await.unwrap();
    gate.open();
    assert_eq!(next(&transport).await, format!("- {}", result(1)));
    let seen = server.seen();
    assert_eq!(
        (seen[0].method.as_str(), seen[0].path.as_str()),
        ("GET", "/sse")
    );
    assert_eq!(seen[0].header("accept"), Some("text/event-stream"));
    assert_eq!(
        (seen[1].method.as_str(), seen[1].path.as_str()),
        ("POST", "/messages?sessionId=x")
    );
    assert_eq!(seen[1].header("content-type"), Some("application/json"));
    assert!(
        seen.iter()
            .all(|seen| seen.header("authorization") == Some("Bearer t"))
    );
}

#[tokio::test]
async fn an_endpoint_of_another_origin_is_refused_and_never_sent_to() {
    let other = Server::start(|_| Answer::status(202)).await;
    let (host, url) = (other.address.clone(), other.url("/m"));
    for endpoint in [
        url,
        format!("//{host}/m"),
        format!("/\\{host}/m"),
        "file:///m".to_owned(),
    ] {
        let text = format!("event: endpoint\ndata: {endpoint}\n\n");
        let server = server(&text, Answer::status(202)).await;
        let error = connect(config(&server)).await.unwrap_err();
        assert!(
            matches!(error, TransportError::Malformed { .. }),
            "{endpoint}: {error}"
        );
    }
    assert!(other.seen().is_empty());
}

#[tokio::test]
async fn a_later_endpoint_is_not_followed() {
    let other = Server::start(|_| Answer::status(202)).await;
    let text = format!(
        "{ENDPOINT}event: endpoint\ndata: {}\n\n{}",
        other.url("/m"),
        event("{}")
    );
    let server = server(&text, Answer::status(202)).await;
    let transport = connect(config(&server)).await.unwrap();
    assert_eq!(next(&transport).await, "- {}");
    send(&transport, call(1)).await.unwrap();
    assert!(other.seen().is_empty());
    assert_eq!(server.seen().last().unwrap().path, "/messages?sessionId=x");
}

#[tokio::test]
async fn what_is_no_such_server_is_reported_immediately() {
    let json = ("Content-Type", "application/json");
    let mut report = String::new();
    for (case, answer) in [
        ("l-get-404", Answer::with(404, &[], "no such page")),
        (
            "l-get-html",
            Answer::with(200, &[("Content-Type", "text/html")], "<h1>"),
        ),
        ("json", Answer::with(200, &[json], "{}")),
        (
            "l-endpoint-garbage",
            Answer::events("event: endpoint\ndata: http://[\n\n").hold(),
        ),
        (
            "empty endpoint",
            Answer::events("event: endpoint\ndata:\n\n").hold(),
        ),
        ("no endpoint", Answer::all_events(&event("{}"))),
        ("l-endless-event", Answer::events(&"x".repeat(5_000)).hold()),
        ("401", Answer::status(401)),
    ] {
        let server = Server::start(move |_| answer.clone()).await;
        let limits = HttpLimits::default().with_message_bytes(1_000);
        let error = connect(config(&server).with_limits(limits))
            .await
            .unwrap_err();
        report += &format!("{case}: {error}\n").replace(&server.address, "HOST");
    }
    insta::assert_snapshot!(report);
}

#[tokio::test]
async fn the_wait_for_the_endpoint_is_bounded() {
    for answer in [
        Answer::events(": wait\n\n").hold(),
        Answer::default().hold(),
    ] {
        let server = Server::start(move |_| answer.clone()).await;
        let limits = HttpLimits::default().with_endpoint_timeout(Duration::from_millis(50));
        let error = connect(config(&server).with_limits(limits))
            .await
            .unwrap_err();
        assert!(matches!(error, TransportError::Timeout { .. }), "{error}");
    }
}

#[tokio::test]
async fn a_post_that_fails_fails_its_call_and_no_other() {
    let answers = [
        Answer::status(400),
        Answer::status(500),
        Answer::default().reset(),
    ];
    let server = Server::start(
        move |seen| match (seen.method.as_str(), answers.get(seen.nth)) {
            ("GET", _) => Answer::events(ENDPOINT).hold(),
            (_, Some(answer)) => answer.clone(),
            (_, None) => Answer::status(202),
        },
    )
    .await;
    let transport = connect(config(&server)).await.unwrap();
    let mut report = String::new();
    for id in 0..3 {
        report += &describe(&server, &send(&transport, call(id)).await.unwrap_err());
    }
    insta::assert_snapshot!(report);
    send(&transport, call(4)).await.unwrap();
    assert!(transport.is_alive());
}

#[tokio::test]
async fn an_answer_on_the_stream_outruns_a_post_that_is_never_acknowledged() {
    let gate = Gate::new();
    let held = gate.clone();
    let server = Server::start(move |seen| match seen.method.as_str() {
        "GET" => Answer::events(ENDPOINT)
            .wait(&held)
            .chunk(&event(&result(1)))
            .hold(),
        _ => Answer::default().hold(),
    })
    .await;
    let transport = connect(config(&server)).await.unwrap();
    let sending = transport.clone();
    let sending = tokio::spawn(async move { send(&sending, call(1)).await });
    server.saw(|seen| seen.len() == 2).await;
    gate.open();
    assert_eq!(next(&transport).await, format!("- {}", result(1)));
    sending.await.unwrap().unwrap();
}

#[tokio::test]
async fn an_answer_in_the_body_of_a_post_is_no_message() {
    let server = server(ENDPOINT, Answer::json(&result(1))).await;
    let transport = connect(config(&server)).await.unwrap();
    send(&transport, call(1)).await.unwrap();
    transport.close().await;
    assert_eq!(next(&transport).await, "closed: clean");
}

#[tokio::test]
async fn a_lost_stream_ends_the_connection_after_what_it_said() {
    let mut report = String::new();
    for (case, end) in [
        ("ended", Answer::default().end()),
        ("cut", Answer::default().close()),
        (
            "endless",
            Answer::default().chunk(&"x".repeat(50_000)).hold(),
        ),
    ] {
        let text = format!("{ENDPOINT}{}", event("{}"));
        let stream = Answer::events(&text).then(end);
        let server = Server::start(move |seen| match seen.method.as_str() {
            "GET" => stream.clone(),
            _ => Answer::default().hold(),
        })
        .await;
        let limits = HttpLimits::default().with_message_bytes(1_000);
        let transport = connect(config(&server).with_limits(limits)).await.unwrap();
        assert_eq!(next(&transport).await, "- {}");
        report += &format!(
            "{case}: {}\n",
            next(&transport).await.replace(&server.address, "HOST")
        );
        assert!(
            next(&transport).await.starts_with("closed"),
            "and it stays so"
        );
        assert!(!transport.is_alive());
        let failed = send(&transport, call(1)).await.unwrap_err();
        assert_eq!(failed.delivery, Delivery::NotSent);
        report += &describe(&server, &failed);
    }
    insta::assert_snapshot!(report);
}

#[tokio::test]
async fn a_stream_lost_during_a_post_fails_the_call_at_once() {
    let gate = Gate::new();
    let held = gate.clone();
    let server = Server::start(move |seen| match seen.method.as_str() {
        "GET" => Answer::events(ENDPOINT).wait(&held).close(),
        _ => Answer::default().hold(),
    })
    .await;
    let transport = connect(config(&server)).await.unwrap();
    let sending = transport.clone();
    let sending = tokio::spawn(async move { send(&sending, call(1)).await });
    server.saw(|seen| seen.len() == 2).await;
    gate.open();
    let failed = sending.await.unwrap().unwrap_err();
    assert_eq!(failed.delivery, Delivery::Unknown, "{failed}");
}

#[tokio::test]
async fn notifications_do_not_wait_behind_requests() {
    let server = Server::start(move |seen| match seen.method.as_str() {
        "GET" => Answer::events(ENDPOINT).hold(),
        _ if seen.calls("tools/call") => Answer::default().hold(),
        _ => Answer::status(202),
    })
    .await;
    let limits = HttpLimits::default().with_requests_in_flight(1);
    let transport = connect(config(&server).with_limits(limits)).await.unwrap();
    let sending = transport.clone();
    let sending = tokio::spawn(async move { send(&sending, call(1)).await });
    server.saw(|seen| seen.len() == 2).await;
    send(&transport, notification("notifications/cancelled"))
        .await
        .unwrap();
    transport.close().await;
    assert!(sending.await.unwrap().is_err());
}

#[tokio::test]
async fn closing_and_dropping_hang_up() {
    let server = server(ENDPOINT, Answer::status(202)).await;
    let transport = connect(config(&server)).await.unwrap();
    transport.release(&RequestId::from(1));
    transport.close().await;
    server.hung_up(0).await;
    assert_eq!(next(&transport).await, "closed: clean");
    let failed = send(&transport, call(1)).await.unwrap_err();
    assert!(matches!(failed.error, TransportError::Closed), "{failed}");
    drop(connect(config(&server)).await.unwrap());
    let second = server.seen().last().unwrap().connection;
    server.hung_up(second).await;
}

#[tokio::test]
async fn credentials_do_not_follow_a_redirect_elsewhere() {
    let other = Server::start(|_| Answer::status(202)).await;
    let location = other.url("/");
    let redirect = Answer::with(307, &[("Location", location.as_str())], "");
    let moved = redirect.clone();
    let away = Server::start(move |_| moved.clone()).await;
    assert!(connect(config(&away)).await.is_err());
    let server = server(ENDPOINT, redirect).await;
    let transport = connect(config(&server)).await.unwrap();
    assert!(send(&transport, call(1)).await.is_err());
    assert!(other.seen().is_empty());
}
