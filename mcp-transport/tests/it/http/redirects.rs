//! Redirects: within the origin, and never with our credentials to another.

use mcp_transport::StaticTokenAuth;

use super::*;

fn to(status: u16, location: &str) -> Answer {
    Answer::with(status, &[("Location", location)], "")
}

#[tokio::test]
async fn a_redirect_within_the_origin_is_followed_with_everything() {
    for status in [307, 308] {
        let server = Server::start(move |seen| match seen.path.as_str() {
            "/mcp" => to(status, "/elsewhere"),
            _ => Answer::json(&result(1)),
        })
        .await;
        let auth = Arc::new(StaticTokenAuth::new("t"));
        let transport = open(config(&server).with_auth(auth)).await;
        send(&transport, call(1)).await.unwrap();
        assert_eq!(next(&transport).await, format!("1 {}", result(1)));
        let seen = server.seen();
        assert_eq!(seen[1].method, "POST");
        assert_eq!(seen[1].body, seen[0].body);
        assert_eq!(seen[1].header("authorization"), Some("Bearer t"));
    }
}

#[tokio::test]
async fn nothing_follows_a_redirect_to_another_origin() {
    let other = Server::start(|_| Answer::json(&result(1))).await;
    let location = other.url("/mcp");
    for status in [301, 302, 303, 307, 308] {
        let location = location.clone();
        let script = legacy(move |_| to(status, &location));
        let server = Server::start(script).await;
        let auth = Arc::new(StaticTokenAuth::new("t"));
        let transport = open(config(&server).with_auth(auth)).await;
        shake_hands(&transport).await;
        let failed = send(&transport, call(1)).await.unwrap_err();
        assert!(failed.to_string().contains("another origin"), "{failed}");
        assert_eq!(failed.delivery, mcp_transport::Delivery::NotSent);
        transport.close().await;
    }
    assert!(
        other.seen().is_empty(),
        "POST, GET and DELETE were all redirected: none came"
    );
}

#[tokio::test]
async fn a_redirect_that_leads_nowhere_is_an_error() {
    let mut report = String::new();
    for (case, answer) in [
        ("loop", to(307, "/mcp")),
        ("302", to(302, "/elsewhere")),
        ("file", to(307, "file:///etc/passwd")),
        ("garbage", to(307, "http://[")),
        ("missing", Answer::status(308)),
        ("to https", to(308, "https://mcp.example.com/mcp?key=1")),
    ] {
        let server = Server::start(move |_| answer.clone()).await;
        let transport = open(config(&server)).await;
        let failed = send(&transport, call(1)).await.unwrap_err();
        report += &format!(
            "{case} ({} requests): {}",
            server.seen().len(),
            describe(&server, &failed)
        );
    }
    insta::assert_snapshot!(report);
}
