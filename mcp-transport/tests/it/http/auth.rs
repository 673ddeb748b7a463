//! Credentials: asked for with every request, renewed when refused.

use async_trait::async_trait;
use mcp_transport::{
    AuthProvider, AuthRequest, AuthVerdict, BoxError, Challenge, Delivery, NoopAuth, Secret,
    StaticTokenAuth, TransportError,
};
use parking_lot::Mutex;

use super::*;

/// Counts its requests, and returns scripted credentials.
#[derive(Debug, Default)]
struct Scripted {
    asked: Mutex<Vec<String>>,
    challenged: Mutex<Vec<String>>,
    observed: Mutex<Vec<String>>,
    verdict: Option<AuthVerdict>,
    broken: bool,
}

impl Scripted {
    fn saying(verdict: Option<AuthVerdict>) -> Arc<Self> {
        Arc::new(Self {
            verdict,
            ..Self::default()
        })
    }
}

#[async_trait]
impl AuthProvider for Scripted {
    async fn headers(&self, request: &AuthRequest<'_>) -> Result<Vec<(String, Secret)>, BoxError> {
        if self.broken {
            return Err("the key ring is locked".into());
        }
        let mut asked = self.asked.lock();
        asked.push(format!("{} {}", request.method, request.url));
        Ok(vec![(
            "Authorization".to_owned(),
            Secret::new(format!("token-{}", asked.len())),
        )])
    }

    async fn challenged(&self, challenge: &Challenge<'_>) -> Result<AuthVerdict, BoxError> {
        let sent: Vec<_> = challenge
            .sent
            .iter()
            .map(|(_, value)| value.expose())
            .collect();
        let reported = format!(
            "#{} {} {:?} sent {sent:?}",
            challenge.attempt, challenge.status, challenge.www_authenticate
        );
        self.challenged.lock().push(reported);
        self.verdict
            .ok_or_else(|| "the user closed the browser".into())
    }

    fn observed(&self, request: &AuthRequest<'_>, headers: &[(&str, &str)]) {
        let nonce = headers.iter().find(|(name, _)| *name == "dpop-nonce");
        self.observed
            .lock()
            .push(format!("{} {:?}", request.method, nonce));
    }
}

/// What a failed message tells, with its first cause.
fn describe(server: &Server, failed: &SendError) -> String {
    let cause = std::error::Error::source(failed);
    let cause = cause.map_or(String::new(), |cause| format!("  because: {cause}\n"));
    super::describe(server, failed) + &cause
}

fn refuse(status: u16) -> Answer {
    let challenge = [
        ("WWW-Authenticate", "Bearer scope=\"a\""),
        ("WWW-Authenticate", "DPoP"),
    ];
    Answer::with(status, &challenge, r#"{"error":"invalid_token"}"#)
}

#[tokio::test]
async fn the_provider_is_asked_for_every_request() {
    let server = Server::start(legacy(|_| Answer::json(&result(1)))).await;
    let auth = Scripted::saying(None);
    let config = config(&server)
        .with_header("authorization", "custom")
        .unwrap();
    let transport = open(config.with_auth(auth.clone())).await;
    shake_hands(&transport).await;
    transport.close().await;
    let url = server.url("/mcp");
    let want: Vec<_> = ["POST", "POST", "GET", "DELETE"]
        .iter()
        .map(|method| format!("{method} {url}"))
        .collect();
    assert_eq!(*auth.asked.lock(), want);
    let sent: Vec<_> = server
        .seen()
        .iter()
        .map(|seen| seen.header("authorization").unwrap().to_owned())
        .collect();
    assert_eq!(
        sent,
        ["token-1", "token-2", "token-3", "token-4"],
        "it wins over custom headers"
    );
}

#[tokio::test]
async fn a_fixed_token_is_a_bearer_and_none_is_none() {
    let server = Server::start(|_| Answer::json(&result(1))).await;
    let auth: [Arc<dyn AuthProvider>; 2] =
        [Arc::new(StaticTokenAuth::new("s3cret")), Arc::new(NoopAuth)];
    for auth in auth {
        send(&open(config(&server).with_auth(auth)).await, call(1))
            .await
            .unwrap();
    }
    let seen = server.seen();
    assert_eq!(seen[0].header("authorization"), Some("Bearer s3cret"));
    assert_eq!(seen[1].header("authorization"), None);
}

#[tokio::test]
async fn a_refused_request_is_repeated_with_new_credentials() {
    for status in [401, 403] {
        let server = Server::start(move |seen| match seen.nth {
            0 => refuse(status),
            _ => Answer::with(200, &[("DPoP-Nonce", "n")], &result(1)),
        })
        .await;
        let auth = Scripted::saying(Some(AuthVerdict::Retry));
        let transport = open(config(&server).with_auth(auth.clone())).await;
        send(&transport, call(1)).await.unwrap();
        assert_eq!(next(&transport).await, format!("1 {}", result(1)));
        let reported = format!(r##"#1 {status} ["Bearer scope=\"a\"", "DPoP"] sent ["token-1"]"##);
        assert_eq!(*auth.challenged.lock(), [reported]);
        assert_eq!(
            *auth.observed.lock(),
            ["POST None", r#"POST Some(("dpop-nonce", "n"))"#]
        );
        let seen = server.seen();
        assert_eq!(seen[1].header("authorization"), Some("token-2"));
        assert_eq!(seen[0].body, seen[1].body);
    }
}

#[tokio::test]
async fn a_request_refused_again_and_again_is_repeated_three_times_at_most() {
    let server = Server::start(|_| refuse(401)).await;
    let auth = Scripted::saying(Some(AuthVerdict::Retry));
    let transport = open(config(&server).with_auth(auth.clone())).await;
    let failed = send(&transport, call(1)).await.unwrap_err();
    assert!(
        matches!(
            failed.error,
            TransportError::Unauthorized { status: 401, .. }
        ),
        "{failed}"
    );
    assert_eq!(failed.delivery, Delivery::NotSent);
    assert_eq!(server.count("POST"), 4);
    assert_eq!(auth.challenged.lock().len(), 3);
}

#[tokio::test]
async fn a_refusal_that_the_provider_cannot_handle_reports_why() {
    let mut report = String::new();
    let cases: [(&str, Option<Arc<Scripted>>, Answer); 5] = [
        ("no provider", None, refuse(401)),
        (
            "provider declines",
            Some(Scripted::saying(Some(AuthVerdict::Fail))),
            refuse(401),
        ),
        ("provider fails", Some(Scripted::saying(None)), refuse(403)),
        (
            "403 without a challenge",
            Some(Scripted::saying(None)),
            Answer::with(403, &[], "no"),
        ),
        (
            "no credentials",
            Some(Arc::new(Scripted {
                broken: true,
                ..Scripted::default()
            })),
            refuse(401),
        ),
    ];
    for (case, auth, answer) in cases {
        let server = Server::start(move |_| answer.clone()).await;
        let config = match auth {
            Some(auth) => config(&server).with_auth(auth),
            None => config(&server),
        };
        let failed = send(&open(config).await, call(1)).await.unwrap_err();
        report += &format!(
            "{case} ({} requests): {}",
            server.seen().len(),
            describe(&server, &failed)
        );
    }
    insta::assert_snapshot!(report);
}

#[tokio::test]
async fn the_servers_own_stream_starts_one_authorization_at_most() {
    let server = Server::start(legacy(|seen| match (seen.method.as_str(), seen.nth) {
        ("GET", 0) => refuse(401),
        ("GET", 1) => Answer::all_events("retry: 1\n\n"),
        ("GET", _) => refuse(401),
        _ => Answer::json(&result(1)),
    }))
    .await;
    let auth = Scripted::saying(Some(AuthVerdict::Retry));
    let limits = HttpLimits::default().with_min_retry_delay(Duration::from_millis(1));
    let transport = open(config(&server).with_limits(limits).with_auth(auth.clone())).await;
    shake_hands(&transport).await;
    server
        .saw(|seen| seen.iter().filter(|seen| seen.method == "GET").count() == 3)
        .await;
    send(&transport, call(1)).await.unwrap();
    server
        .saw(|seen| seen.iter().filter(|seen| seen.method == "GET").count() == 4)
        .await;
    assert_eq!(auth.challenged.lock().len(), 1);
}

#[tokio::test]
async fn a_provider_cannot_set_the_headers_of_the_protocol() {
    #[derive(Debug)]
    struct Forger;

    #[async_trait]
    impl AuthProvider for Forger {
        async fn headers(&self, _: &AuthRequest<'_>) -> Result<Vec<(String, Secret)>, BoxError> {
            Ok(vec![("Mcp-Session-Id".to_owned(), Secret::new("stolen"))])
        }
    }

    let server = Server::start(|_| Answer::json(&result(1))).await;
    let transport = open(config(&server).with_auth(Arc::new(Forger))).await;
    let failed = send(&transport, call(1)).await.unwrap_err();
    insta::assert_snapshot!(describe(&server, &failed));
    assert!(server.seen().is_empty());
}

#[test]
fn secrets_are_not_printed() {
    let config = HttpConfig::new("https://h.example/mcp?key=k3y")
        .unwrap()
        .with_header("X-Key", "s3cret")
        .unwrap()
        .with_auth(Arc::new(StaticTokenAuth::new("t0ken")));
    let connect = HttpConnect::new(config.clone()).unwrap();
    for text in [
        format!("{config:?}"),
        format!("{connect:?}"),
        connect.target(),
    ] {
        for secret in ["k3y", "s3cret", "t0ken"] {
            assert!(!text.contains(secret), "{text}");
        }
    }
}
