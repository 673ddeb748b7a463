//! Replies that are none, and what they make of the call: it fails at once, with its cause.

use super::*;

/// Sends one call to a server that answers so; returns what the failure tells.
async fn failure(answer: Answer) -> String {
    let limits = HttpLimits::default()
        .with_message_bytes(1000)
        .with_error_body_bytes(100);
    let server = Server::start(move |_| answer.clone()).await;
    let transport = open_with(&server, limits).await;
    match send(&transport, call(1)).await {
        Err(failed) => describe(&server, &failed),
        Ok(()) => loop {
            let text = next(&transport).await;
            if text.contains("ended") || text.contains("too large") {
                break format!("accepted, then {text}\n").replace(&server.address, "HOST");
            }
        },
    }
}

fn html(status: u16) -> Answer {
    Answer::with(
        status,
        &[("Content-Type", "text/html")],
        "<h1>Bad Gateway</h1>\n<p>nginx</p>",
    )
}

fn endless(head: &str, line: &str) -> Answer {
    Answer::raw(format!("HTTP/1.1 {head}\r\n\r\n{}", line.repeat(2_000))).hold()
}

#[tokio::test]
async fn a_reply_that_is_no_answer_fails_the_call_at_once() {
    let mut report = String::new();
    for (case, answer) in [
        ("202-for-request", Answer::status(202)),
        ("204-for-request", Answer::status(204)),
        ("html-200", html(200)),
        ("empty-json", Answer::json("")),
        ("blank-json", Answer::json(" \r\n")),
        ("no-json-at-all", Answer::json("It works!")),
        ("gzip-unasked", Answer::json("\u{1f}\u{8b}\u{8}")),
        (
            "gzip-announced",
            Answer::with(
                200,
                &[
                    ("Content-Type", "application/json"),
                    ("Content-Encoding", "gzip"),
                ],
                "\u{1f}",
            ),
        ),
        ("json-wrong-id", Answer::json(&result(7))),
        (
            "sse-no-response",
            Answer::all_events(&event(r#"{"method":"m"}"#)),
        ),
        (
            "truncated-sse",
            Answer::all_events("data: {\"jsonrpc\":\"2.0\","),
        ),
    ] {
        report += &format!("{case}: {}", failure(answer).await);
    }
    insta::assert_snapshot!(report);
}

#[tokio::test]
async fn a_refusal_reports_its_status_and_the_start_of_its_body() {
    let mut report = String::new();
    for (case, answer) in [
        (
            "400",
            Answer::with(400, &[], r#"{"error":{"code":-32022,"message":"version"}}"#),
        ),
        ("401", Answer::status(401)),
        ("403", Answer::status(403)),
        ("404", Answer::status(404)),
        ("405", Answer::status(405)),
        (
            "429",
            Answer::with(429, &[("Retry-After", "86400")], "slow down"),
        ),
        ("500", Answer::with(500, &[], &"x".repeat(5_000))),
        ("502", html(502)),
        ("503", Answer::status(503)),
    ] {
        report += &format!("{case}: {}", failure(answer).await);
    }
    insta::assert_snapshot!(report);
}

#[tokio::test]
async fn what_breaks_or_never_ends_fails_the_call_at_once() {
    let mut report = String::new();
    let json = "200 OK\r\nContent-Type: application/json";
    let events = "200 OK\r\nContent-Type: text/event-stream";
    for (case, answer) in [
        ("accept-then-close", Answer::default().close()),
        (
            "truncated-body",
            Answer::raw(format!("HTTP/1.1 {json}\r\nContent-Length: 99\r\n\r\n{{")).close(),
        ),
        (
            "bad-chunks",
            Answer::raw(format!(
                "HTTP/1.1 {json}\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n"
            ))
            .hold(),
        ),
        ("not-http", Answer::raw("SSH-2.0-OpenSSH_9.6\r\n").hold()),
        (
            "endless-headers",
            Answer::raw(format!(
                "HTTP/1.1 200 OK\r\n{}",
                "X-A: b\r\n".repeat(100_000)
            ))
            .hold(),
        ),
        ("endless-json", endless(json, "[[[[[[[[[[")),
        (
            "content-length-huge",
            Answer::raw(format!(
                "HTTP/1.1 {json}\r\nContent-Length: 1125899906842624\r\n\r\n{{"
            ))
            .hold(),
        ),
        ("endless-error-body", endless("500 No", "sorry\n")),
        ("endless-sse-event", endless(events, "data: xxxxxxx")),
        ("endless-sse-lines", endless(events, "data: xxxxxxx\n")),
    ] {
        report += &format!("{case}: {}", failure(answer).await);
    }
    insta::assert_snapshot!(report);
}

#[tokio::test]
async fn a_refused_connection_means_that_nothing_was_sent() {
    let server = Server::start(|_| Answer::default()).await;
    let transport = open(config(&server)).await;
    server.stop().await;
    let failed = send(&transport, call(1)).await.unwrap_err();
    insta::assert_snapshot!(describe(&server, &failed));
    assert!(
        std::error::Error::source(&failed).is_some(),
        "the cause is reported, too"
    );
}

#[tokio::test]
async fn a_server_without_tls_gets_nothing_that_was_meant_for_one_with_it() {
    let server = Server::start(|_| Answer::json(&result(1))).await;
    let url = server.url("/mcp").replace("http:", "https:");
    let transport = open(HttpConfig::new(&url).unwrap()).await;
    let failed = send(&transport, call(1)).await.unwrap_err();
    insta::assert_snapshot!(describe(&server, &failed));
}

#[tokio::test]
async fn one_fault_is_one_calls_fault() {
    let broken = [
        Answer::default().reset(),
        Answer::raw("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{").reset(),
        Answer::status(500),
        Answer::events(": ").reset(),
    ];
    let server = Server::start(move |seen| match broken.get(seen.nth / 2) {
        Some(fault) if seen.nth % 2 == 0 => fault.clone(),
        _ => Answer::json(&result(2)),
    })
    .await;
    let transport = open(config(&server)).await;
    for _ in 0..4 {
        if send(&transport, call(1)).await.is_ok() {
            assert!(
                next(&transport)
                    .await
                    .starts_with("1 ended: reading the reply")
            );
        }
        send(&transport, call(2)).await.unwrap();
        assert_eq!(next(&transport).await, format!("2 {}", result(2)));
        assert!(next(&transport).await.starts_with("2 ended"));
    }
    assert_eq!(server.count("POST"), 8, "nothing was sent twice");
}

#[tokio::test]
async fn a_reused_connection_that_breaks_is_not_sent_to_twice() {
    let server = Server::start(|seen| match seen.nth {
        1 => Answer::default().reset(),
        _ => Answer::json(&result(1)),
    })
    .await;
    let transport = open(config(&server)).await;
    send(&transport, call(1)).await.unwrap();
    let failed = send(&transport, call(1)).await.unwrap_err();
    assert_eq!(failed.delivery, mcp_transport::Delivery::Unknown);
    send(&transport, call(1)).await.unwrap();
    assert_eq!(server.count("POST"), 3);
}

#[tokio::test]
async fn an_unsolicited_response_settles_no_request() {
    let forged = Answer::json(&result(666));
    let server = Server::start(move |seen| match seen.nth {
        0 => Answer::json(&result(1)).then(forged.clone()),
        _ => Answer::json(&result(2)),
    })
    .await;
    let transport = open(config(&server)).await;
    send(&transport, call(1)).await.unwrap();
    let _ = send(&transport, call(2)).await;
    let mut seen = Vec::new();
    while seen.len() < 2 {
        seen.push(next(&transport).await);
    }
    assert!(seen.iter().all(|text| !text.contains("666")), "{seen:?}");
}
