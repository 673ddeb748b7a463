//! The OAuth resource server, with keys made for the occasion.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use http::{Method, StatusCode};
use mcp_server::http::HttpService;
use mcp_server::oauth::{JwtAuthenticator, KeySource};
use mcp_server::{Context, Error};
use ring::rand::SystemRandom;
use ring::signature::{
    ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, Ed25519KeyPair, KeyPair as _,
};
use serde_json::{Value, json};

use crate::http_kit::{Reply, app, initialize, modern, post, send};
use crate::kit::{Alive, any, server};

const ISSUER: &str = "https://as.example";
const RESOURCE: &str = "https://rs.example/mcp";

/// An issuer with one key of each kind.
struct Issuer {
    ed: Ed25519KeyPair,
    ec: EcdsaKeyPair,
    random: SystemRandom,
}

impl Issuer {
    fn new() -> Self {
        let random = SystemRandom::new();
        let ed = Ed25519KeyPair::generate_pkcs8(&random).unwrap();
        let kind = &ECDSA_P256_SHA256_FIXED_SIGNING;
        let ec = EcdsaKeyPair::generate_pkcs8(kind, &random).unwrap();
        Self {
            ed: Ed25519KeyPair::from_pkcs8(ed.as_ref()).unwrap(),
            ec: EcdsaKeyPair::from_pkcs8(kind, ec.as_ref(), &random).unwrap(),
            random,
        }
    }

    fn keys(&self) -> String {
        let text = |bytes: &[u8]| URL_SAFE_NO_PAD.encode(bytes);
        let point = self.ec.public_key().as_ref();
        json!({"keys": [
            {"kty": "OKP", "crv": "Ed25519", "kid": "ed", "x": text(self.ed.public_key().as_ref())},
            {"kty": "EC", "crv": "P-256", "kid": "ec", "x": text(&point[1..33]), "y": text(&point[33..])},
        ]})
        .to_string()
    }

    fn token(&self, header: &Value, claims: &Value) -> String {
        let text = |json: &Value| URL_SAFE_NO_PAD.encode(json.to_string());
        let signed = format!("{}.{}", text(header), text(claims));
        let signature = match header["alg"].as_str() {
            Some("ES256") => self
                .ec
                .sign(&self.random, signed.as_bytes())
                .unwrap()
                .as_ref()
                .to_vec(),
            Some("none") => Vec::new(),
            _ => self.ed.sign(signed.as_bytes()).as_ref().to_vec(),
        };
        format!("{signed}.{}", URL_SAFE_NO_PAD.encode(signature))
    }
}

fn claims() -> Value {
    json!({"iss": ISSUER, "aud": RESOURCE, "sub": "ann", "exp": 4_000_000_000_u64, "scope": "tools"})
}

async fn open(service: &HttpService, token: &str) -> Reply {
    let bearer = format!("Bearer {token}");
    post(
        service,
        &[("authorization", &bearer)],
        &initialize("2025-11-25"),
    )
    .await
}

#[tokio::test]
async fn only_tokens_of_the_issuer_for_this_resource_are_let_in() {
    let issuer = Issuer::new();
    let authenticator =
        JwtAuthenticator::new(ISSUER, RESOURCE, issuer.keys()).require_scope("tools");
    let service = HttpService::new(&app(&Alive::default())).authenticator(authenticator);
    for header in [
        json!({"alg": "EdDSA", "kid": "ed"}),
        json!({"alg": "ES256", "kid": "ec"}),
        json!({"alg": "EdDSA"}),
        json!({"alg": "EdDSA", "typ": "JWT"}),
        json!({"alg": "EdDSA", "typ": "application/at+jwt"}),
    ] {
        let token = issuer.token(&header, &claims());
        assert_eq!(
            open(&service, &token).await.status,
            StatusCode::OK,
            "{header}"
        );
    }
    let ed = json!({"alg": "EdDSA", "kid": "ed"});
    let with = |name: &str, value: Value| {
        let mut claims = claims();
        claims[name] = value;
        issuer.token(&ed, &claims)
    };
    let good = issuer.token(&ed, &claims());
    let (start, signature) = good.rsplit_once('.').unwrap();
    for (why, token) in [
        ("another issuer's key", Issuer::new().token(&ed, &claims())),
        (
            "another key's id",
            issuer.token(&json!({"alg": "EdDSA", "kid": "ec"}), &claims()),
        ),
        (
            "an unknown key",
            issuer.token(&json!({"alg": "EdDSA", "kid": "x"}), &claims()),
        ),
        (
            "no algorithm",
            issuer.token(&json!({"alg": "none"}), &claims()),
        ),
        (
            "another algorithm",
            issuer.token(&json!({"alg": "HS256"}), &claims()),
        ),
        (
            "a type of another purpose",
            issuer.token(&json!({"alg": "EdDSA", "typ": "dpop+jwt"}), &claims()),
        ),
        (
            "a critical extension",
            issuer.token(&json!({"alg": "EdDSA", "crit": ["b64"]}), &claims()),
        ),
        ("another issuer", with("iss", json!("https://evil.example"))),
        (
            "another audience",
            with("aud", json!("https://other.example")),
        ),
        ("expired", with("exp", json!(1_000_000_000))),
        ("no signature", format!("{start}.")),
        (
            "another payload",
            format!("{}.e30.{signature}", start.split_once('.').unwrap().0),
        ),
        ("no token at all", "x".to_owned()),
        ("a giant token", "x".repeat(20_000)),
    ] {
        let reply = open(&service, &token).await;
        assert_eq!(reply.status, StatusCode::UNAUTHORIZED, "{why}");
    }
    let reply = open(&service, &with("scope", json!("other"))).await;
    assert_eq!(reply.status, StatusCode::FORBIDDEN);
    insta::assert_snapshot!(reply.headers["www-authenticate"].to_str().unwrap(), @r#"Bearer error="insufficient_scope", scope="tools", resource_metadata="https://rs.example/.well-known/oauth-protected-resource/mcp""#);
}

#[tokio::test]
async fn a_request_without_a_token_learns_where_to_get_one() {
    let issuer = Issuer::new();
    let authenticator = JwtAuthenticator::new(ISSUER, RESOURCE, issuer.keys());
    let service = HttpService::new(&app(&Alive::default())).authenticator(authenticator);
    let reply = post(&service, &[], &initialize("2025-11-25")).await;
    assert_eq!(reply.status, StatusCode::UNAUTHORIZED);
    insta::assert_snapshot!(reply.headers["www-authenticate"].to_str().unwrap(), @r#"Bearer resource_metadata="https://rs.example/.well-known/oauth-protected-resource/mcp""#);
    let path = "/.well-known/oauth-protected-resource/mcp";
    let request = http::Request::builder()
        .uri(path)
        .header("host", "localhost")
        .body(crate::http_kit::Chunks(Vec::new()))
        .unwrap();
    let reply = tower_service::Service::call(&mut service.clone(), request)
        .await
        .unwrap();
    assert_eq!(reply.status(), StatusCode::OK);
    let get = send(&service, Method::GET, &[], "").await;
    assert_eq!(
        get.status,
        StatusCode::UNAUTHORIZED,
        "other documents are not public"
    );
}

/// Counts how often it is asked.
struct Counting(Arc<AtomicUsize>, String);

#[async_trait]
impl KeySource for Counting {
    async fn fetch(&self) -> Result<String, Box<dyn std::error::Error + Send + Sync>> {
        self.0.fetch_add(1, Ordering::SeqCst);
        Ok(self.1.clone())
    }
}

#[tokio::test(start_paused = true)]
async fn unknown_keys_do_not_flood_the_issuer() {
    let (issuer, fetched) = (Issuer::new(), Arc::new(AtomicUsize::new(0)));
    let keys = Counting(Arc::clone(&fetched), issuer.keys());
    let authenticator = JwtAuthenticator::new(ISSUER, RESOURCE, keys);
    let service = HttpService::new(&app(&Alive::default())).authenticator(authenticator);
    let forged = issuer.token(&json!({"alg": "EdDSA", "kid": "made-up"}), &claims());
    for _ in 0..100 {
        assert_eq!(
            open(&service, &forged).await.status,
            StatusCode::UNAUTHORIZED
        );
    }
    assert_eq!(fetched.load(Ordering::SeqCst), 1);
    tokio::time::advance(Duration::from_secs(31)).await;
    open(&service, &forged).await;
    assert_eq!(
        fetched.load(Ordering::SeqCst),
        2,
        "a new key is found after a while"
    );
}

/// An issuer whose key set can be had or not, after a second.
struct Unsteady {
    keys: String,
    up: Arc<AtomicBool>,
    asked: Arc<AtomicUsize>,
}

#[async_trait]
impl KeySource for Unsteady {
    async fn fetch(&self) -> Result<String, Box<dyn std::error::Error + Send + Sync>> {
        self.asked.fetch_add(1, Ordering::SeqCst);
        tokio::time::sleep(Duration::from_secs(1)).await;
        match self.up.load(Ordering::SeqCst) {
            true => Ok(self.keys.clone()),
            false => Err("down".into()),
        }
    }
}

fn unsteady(issuer: &Issuer, up: bool) -> (HttpService, Arc<AtomicBool>, Arc<AtomicUsize>) {
    let (up, asked) = (Arc::new(AtomicBool::new(up)), Arc::default());
    let keys = Unsteady {
        keys: issuer.keys(),
        up: Arc::clone(&up),
        asked: Arc::clone(&asked),
    };
    let authenticator = JwtAuthenticator::new(ISSUER, RESOURCE, keys);
    let service = HttpService::new(&app(&Alive::default())).authenticator(authenticator);
    (service, up, asked)
}

#[tokio::test(start_paused = true)]
async fn an_issuer_that_is_down_from_the_start_is_asked_once_per_cool_down() {
    let issuer = Issuer::new();
    let (service, up, asked) = unsteady(&issuer, false);
    let token = issuer.token(&json!({"alg": "EdDSA", "kid": "ed"}), &claims());
    let begin = tokio::time::Instant::now();
    let mut all = tokio::task::JoinSet::new();
    for _ in 0..50 {
        let (service, token) = (service.clone(), token.clone());
        all.spawn(async move { open(&service, &token).await.status });
    }
    for status in all.join_all().await {
        assert_eq!(status, StatusCode::SERVICE_UNAVAILABLE);
    }
    for _ in 0..50 {
        let reply = open(&service, &token).await;
        assert_eq!(reply.status, StatusCode::SERVICE_UNAVAILABLE);
    }
    assert_eq!(asked.load(Ordering::SeqCst), 1);
    assert_eq!(begin.elapsed().as_secs(), 1, "all waited for one fetch");
    up.store(true, Ordering::SeqCst);
    tokio::time::advance(Duration::from_secs(31)).await;
    assert_eq!(open(&service, &token).await.status, StatusCode::OK);
}

#[tokio::test(start_paused = true)]
async fn a_client_that_goes_away_does_not_end_the_fetch_for_the_others() {
    let issuer = Issuer::new();
    let (service, _, asked) = unsteady(&issuer, true);
    let token = issuer.token(&json!({"alg": "EdDSA", "kid": "ed"}), &claims());
    let gone = tokio::time::timeout(Duration::from_millis(10), open(&service, &token)).await;
    assert!(gone.is_err());
    assert_eq!(open(&service, &token).await.status, StatusCode::OK);
    assert_eq!(asked.load(Ordering::SeqCst), 1);
}

#[tokio::test(start_paused = true)]
async fn old_keys_are_used_at_once_while_the_issuer_is_down_but_not_for_ever() {
    let issuer = Issuer::new();
    let (service, up, asked) = unsteady(&issuer, true);
    let token = issuer.token(&json!({"alg": "EdDSA", "kid": "ed"}), &claims());
    assert_eq!(open(&service, &token).await.status, StatusCode::OK);
    up.store(false, Ordering::SeqCst);
    for hours in [1, 10, 12] {
        tokio::time::advance(Duration::from_secs(hours * 3600)).await;
        let begin = tokio::time::Instant::now();
        assert_eq!(
            open(&service, &token).await.status,
            StatusCode::OK,
            "{hours}"
        );
        assert_eq!(begin.elapsed(), Duration::ZERO, "no caller waits");
        tokio::time::sleep(Duration::from_secs(2)).await;
    }
    assert_eq!(asked.load(Ordering::SeqCst), 4);
    tokio::time::advance(Duration::from_secs(2 * 3600)).await;
    let reply = open(&service, &token).await;
    assert_eq!(reply.status, StatusCode::SERVICE_UNAVAILABLE);
}

/// A tool that needs more than the endpoint does.
#[tokio::test]
async fn a_handler_that_needs_more_scopes_is_a_challenge_that_names_them_in_both_eras() {
    let issuer = Issuer::new();
    let authenticator =
        JwtAuthenticator::new(ISSUER, RESOURCE, issuer.keys()).require_scope("tools");
    let service = server()
        .tool_with_schema(any("write"), |_: Value, cx: Context| async move {
            match cx.caller().is_some_and(|caller| caller.has_scope("write")) {
                true => Ok("written"),
                false => Err(Error::insufficient_scope(["write"])),
            }
        })
        .build();
    let service = HttpService::new(&service).authenticator(authenticator);
    let ed = json!({"alg": "EdDSA", "kid": "ed"});
    let less = issuer.token(&ed, &claims());
    let mut claims = claims();
    claims["scope"] = json!("tools write");
    let enough = issuer.token(&ed, &claims);
    for (token, status) in [(less, StatusCode::FORBIDDEN), (enough, StatusCode::OK)] {
        let bearer = format!("Bearer {token}");
        let call = json!({"name": "write", "arguments": {}});
        let headers = [
            ("authorization", bearer.as_str()),
            ("mcp-protocol-version", "2026-07-28"),
            ("mcp-method", "tools/call"),
            ("mcp-name", "write"),
        ];
        let new = post(&service, &headers, &modern("tools/call", call.clone())).await;
        let session = open(&service, &token).await.session();
        let headers = [
            ("authorization", bearer.as_str()),
            ("mcp-session-id", &session),
        ];
        let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call});
        let old = post(&service, &headers, &call).await;
        for reply in [new, old] {
            assert_eq!(reply.status, status);
            if status == StatusCode::FORBIDDEN {
                let challenge = reply.headers["www-authenticate"].to_str().unwrap();
                assert_eq!(
                    challenge,
                    r#"Bearer error="insufficient_scope", scope="tools write", resource_metadata="https://rs.example/.well-known/oauth-protected-resource/mcp""#
                );
                let message = reply.json().await["error"]["message"].clone();
                assert_eq!(message, "insufficient scope: this requires write");
            }
        }
    }
}
