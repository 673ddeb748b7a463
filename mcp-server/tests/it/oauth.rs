//! The OAuth resource server, with keys made for the occasion.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use async_trait::async_trait;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use http::{Method, StatusCode};
use mcp_server::http::HttpService;
use mcp_server::oauth::{JwtAuthenticator, KeySource};
use ring::rand::SystemRandom;
use ring::signature::{
    ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, Ed25519KeyPair, KeyPair as _,
};
use serde_json::{Value, json};

use crate::http_kit::{Reply, app, initialize, post, send};
use crate::kit::Alive;

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
    tokio::time::advance(std::time::Duration::from_secs(31)).await;
    open(&service, &forged).await;
    assert_eq!(
        fetched.load(Ordering::SeqCst),
        2,
        "a new key is found after a while"
    );
}
