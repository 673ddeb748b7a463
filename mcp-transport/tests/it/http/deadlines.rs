//! The limits in time. That they exist, and which one speaks, is shown here with tiny ones.

use super::*;

async fn timed_out(answer: Answer, limits: HttpLimits) -> String {
    let server = Server::start(move |_| answer.clone()).await;
    let transport = open_with(&server, limits).await;
    match send(&transport, call(1)).await {
        Err(failed) => describe(&server, &failed),
        Ok(()) => next(&transport).await + "\n",
    }
}

#[tokio::test]
async fn each_phase_has_a_limit_of_its_own() {
    let tiny = Duration::from_millis(10);
    let limits = HttpLimits::default();
    let json = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{";
    let mut report = String::new();
    for (case, answer, limits) in [
        (
            "no head",
            Answer::default().hold(),
            limits.clone().with_first_byte_timeout(tiny),
        ),
        (
            "half a head",
            Answer::raw("HTTP/1.1 200").hold(),
            limits.clone().with_first_byte_timeout(tiny),
        ),
        (
            "json pauses",
            Answer::raw(json).hold(),
            limits.clone().with_idle_timeout(tiny),
        ),
        (
            "events pause",
            Answer::events(": x\n").hold(),
            limits.clone().with_idle_timeout(tiny),
        ),
        (
            "json takes long",
            Answer::raw(json).hold(),
            limits.clone().with_total_timeout(tiny),
        ),
        (
            "events take long",
            Answer::events(": x\n").hold(),
            limits.clone().with_total_timeout(tiny),
        ),
    ] {
        report += &format!("{case}: {}", timed_out(answer, limits).await);
    }
    insta::assert_snapshot!(report);
}

#[tokio::test]
async fn a_notification_is_acknowledged_in_time_or_not_at_all() {
    let server = Server::start(|_| Answer::default().hold()).await;
    let limits = HttpLimits::default().with_acknowledge_timeout(Duration::from_millis(10));
    let transport = open_with(&server, limits).await;
    let failed = send(&transport, notification("notifications/cancelled"))
        .await
        .unwrap_err();
    insta::assert_snapshot!(describe(&server, &failed));
}

#[tokio::test]
async fn a_tls_handshake_that_never_ends_is_no_connection() {
    // No one accepts, but the operating system does.
    let silent = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("https://{}/mcp", silent.local_addr().unwrap());
    let limits = HttpLimits::default().with_connect_timeout(Duration::from_millis(10));
    let transport = open(HttpConfig::new(&url).unwrap().with_limits(limits)).await;
    let failed = send(&transport, call(1)).await.unwrap_err();
    assert_eq!(
        failed.to_string(),
        "connecting took longer than 10ms (the message was not sent)"
    );
}
