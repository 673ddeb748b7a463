//! Logins at an OpenID provider of our own, which says whatever a test wants.

use std::sync::Arc;

use axum::extract::State;
use axum::http::HeaderMap;
use axum::{Json, Router, routing};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use parking_lot::Mutex;
use ring::rand::SystemRandom;
use ring::signature::{Ed25519KeyPair, KeyPair as _};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use super::House;
use super::house::Reply;
use crate::cli::Desk;

/// A provider. Each code stands for what its ID token claims.
pub(super) struct Provider {
    key: Ed25519KeyPair,
    url: Mutex<String>,
    /// The claims of the next token, and the challenge that its verifier must fit.
    next: Mutex<Option<(Value, String)>>,
    /// What it says of whoever has the access token; nothing if it has no place for that.
    more: Mutex<Option<Value>>,
}

impl Provider {
    pub(super) async fn start(more: Option<Value>) -> Arc<Self> {
        let document = Ed25519KeyPair::generate_pkcs8(&SystemRandom::new()).unwrap();
        let provider = Arc::new(Self {
            key: Ed25519KeyPair::from_pkcs8(document.as_ref()).unwrap(),
            url: Mutex::default(),
            next: Mutex::default(),
            more: Mutex::new(more),
        });
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        *provider.url.lock() = format!("http://{}", listener.local_addr().unwrap());
        let router = Router::new()
            .route("/.well-known/openid-configuration", routing::get(metadata))
            .route("/keys", routing::get(keys))
            .route("/token", routing::post(token))
            .route("/userinfo", routing::get(user_info))
            .with_state(Arc::clone(&provider));
        tokio::spawn(async move { axum::serve(listener, router).await });
        provider
    }

    pub(super) fn url(&self) -> String {
        self.url.lock().clone()
    }
}

async fn metadata(State(provider): State<Arc<Provider>>) -> Json<Value> {
    let url = provider.url();
    let user_info = provider
        .more
        .lock()
        .as_ref()
        .map(|_| format!("{url}/userinfo"));
    Json(json!({
        "userinfo_endpoint": user_info,
        "issuer": url, "authorization_endpoint": format!("{url}/authorize"),
        "token_endpoint": format!("{url}/token"), "jwks_uri": format!("{url}/keys"),
        "end_session_endpoint": format!("{url}/end"),
        "authorization_response_iss_parameter_supported": true,
    }))
}

async fn keys(State(provider): State<Arc<Provider>>) -> Json<Value> {
    let x = URL_SAFE_NO_PAD.encode(provider.key.public_key().as_ref());
    Json(json!({"keys": [{"kty": "OKP", "crv": "Ed25519", "kid": "k", "x": x}]}))
}

async fn user_info(State(provider): State<Arc<Provider>>, headers: HeaderMap) -> Json<Value> {
    assert_eq!(headers["authorization"], "Bearer a");
    Json(provider.more.lock().clone().unwrap())
}

async fn token(State(provider): State<Arc<Provider>>, body: String) -> Json<Value> {
    let fields: Vec<(String, String)> = url::form_urlencoded::parse(body.as_bytes())
        .into_owned()
        .collect();
    let field = |name: &str| {
        let found = fields.iter().find(|(key, _)| key == name);
        found.map(|(_, value)| value.clone()).unwrap_or_default()
    };
    let Some((claims, challenge)) = provider.next.lock().take() else {
        return Json(json!({"error": "invalid_grant"}));
    };
    let proof = URL_SAFE_NO_PAD.encode(Sha256::digest(field("code_verifier")));
    if proof != challenge || field("code") != "the-code" {
        return Json(json!({"error": "invalid_grant"}));
    }
    let text = |json: &Value| URL_SAFE_NO_PAD.encode(json.to_string());
    let signed = format!(
        "{}.{}",
        text(&json!({"alg": "EdDSA", "kid": "k"})),
        text(&claims)
    );
    let signature = URL_SAFE_NO_PAD.encode(provider.key.sign(signed.as_bytes()));
    let id_token = format!("{signed}.{signature}");
    Json(json!({"access_token": "a", "token_type": "Bearer", "id_token": id_token}))
}

/// A house whose users log in there.
struct Team {
    house: House,
    provider: Arc<Provider>,
}

/// A login that was begun: what its browser holds, and what the provider was asked.
struct Begun {
    cookie: String,
    state: String,
    nonce: String,
    challenge: String,
}

impl Team {
    async fn open(arguments: &[&str]) -> Self {
        Self::with(arguments, None).await
    }

    /// With a provider that says this of a person beside what is in its ID tokens.
    async fn with(arguments: &[&str], more: Option<Value>) -> Self {
        let provider = Provider::start(more).await;
        let url = provider.url();
        let mut all = vec!["--oidc-issuer", &url, "--oidc-client-id", "us"];
        all.extend(arguments);
        let house = tokio::task::block_in_place(|| House::at(Desk::new().on_tested_store(), &all));
        Self { house, provider }
    }

    fn get(&self, path: &str, cookie: &str) -> Reply {
        let host = format!("127.0.0.1:{}", self.house.port);
        let headers = [
            ("Host", host.as_str()),
            ("Cookie", cookie),
            ("x-switchboard-page", "1"),
        ];
        tokio::task::block_in_place(|| self.house.send("GET", path, &headers, ""))
    }

    fn begin(&self) -> Begun {
        let reply = self.get("/auth/login?to=%23/tools", "");
        assert_eq!(reply.status, 303);
        let cookie = reply.header("set-cookie").unwrap().to_owned();
        assert!(cookie.contains("HttpOnly; SameSite=Lax"), "{cookie}");
        let url = url::Url::parse(reply.header("location").unwrap()).unwrap();
        let query = |name: &str| {
            let found = url.query_pairs().find(|(key, _)| key == name);
            found
                .map(|(_, value)| value.into_owned())
                .unwrap_or_default()
        };
        assert_eq!(query("code_challenge_method"), "S256");
        Begun {
            cookie: cookie.split(';').next().unwrap().to_owned(),
            state: query("state"),
            nonce: query("nonce"),
            challenge: query("code_challenge"),
        }
    }

    /// The provider will say this of whoever logs in next.
    fn will_say(&self, begun: &Begun, claims: Value) {
        let exp = switchboard::store::Timestamp::now().as_millis() / 1000 + 300;
        let mut all = json!({
            "iss": self.provider.url(), "aud": "us", "sub": "1", "exp": exp,
            "nonce": begun.nonce, "name": "Ann",
        });
        let all_members = all.as_object_mut().unwrap();
        all_members.extend(claims.as_object().cloned().unwrap());
        *self.provider.next.lock() = Some((all, begun.challenge.clone()));
    }

    fn come_back(&self, begun: &Begun, cookie: &str) -> Reply {
        let path = format!(
            "/auth/callback?code=the-code&state={}&iss={}",
            begun.state,
            self.provider.url()
        );
        self.get(&path, cookie)
    }

    /// Logs in, and returns the session's cookie.
    fn log_in(&self, claims: Value) -> Result<String, String> {
        let begun = self.begin();
        self.will_say(&begun, claims);
        session(&self.come_back(&begun, &begun.cookie))
    }

    fn health(&self, cookie: &str) -> (u16, Value) {
        let reply = self.get("/api/health", cookie);
        (reply.status, reply.json())
    }
}

/// The session's cookie, or where the browser was sent instead.
fn session(reply: &Reply) -> Result<String, String> {
    assert_eq!(reply.status, 303);
    let place = reply.header("location").unwrap().to_owned();
    let cookies = reply
        .headers
        .iter()
        .filter(|(name, _)| name == "set-cookie");
    let mut cookies = cookies.map(|(_, value)| value.split(';').next().unwrap());
    match cookies.find(|cookie| cookie.starts_with("switchboard=")) {
        Some(cookie) => {
            assert_eq!(place, "/#/tools");
            Ok(cookie.to_owned())
        }
        None => Err(place),
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_login_begins_a_new_session_whatever_the_browser_came_with() {
    let team = Team::open(&["--oidc-owner", "ann@team.example"]).await;
    let first = team.log_in(json!({})).unwrap();
    let (status, health) = team.health(&first);
    assert_eq!((status, &health["role"]), (200, &json!("member")));
    let user = health["user"].as_str().unwrap().to_owned();
    assert!(user.starts_with("u-"), "{user}");
    // An attacker may have planted a session or a value of their own.
    for planted in [first.as_str(), "switchboard=planted"] {
        let begun = team.begin();
        let boss = json!({"email": "Ann@team.example", "email_verified": true});
        team.will_say(&begun, boss);
        let reply = team.come_back(&begun, &format!("{}; {planted}", begun.cookie));
        let next = session(&reply).unwrap();
        assert_ne!(next, planted);
        assert_eq!(team.health(planted).0, 401, "it ended");
        let (_, health) = team.health(&next);
        assert_eq!(health["user"], json!(user), "the same subject");
        assert_eq!(health["role"], "owner");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stolen_or_replayed_state_is_refused() {
    let team = Team::open(&[]).await;
    let refused = Err("/#problem=state".to_owned());
    let begun = team.begin();
    team.will_say(&begun, json!({}));
    // Another browser has the state, but not the cookie; or the cookie of its own login.
    let other = team.begin();
    for cookie in ["", other.cookie.as_str(), "switchboard-login=guess"] {
        assert_eq!(
            session(&team.come_back(&begun, cookie)),
            refused,
            "{cookie}"
        );
    }
    // The browser that began it still gets in: once.
    assert!(session(&team.come_back(&begun, &begun.cookie)).is_ok());
    team.will_say(&begun, json!({}));
    assert_eq!(session(&team.come_back(&begun, &begun.cookie)), refused);
    // A state that was never given out, and none.
    let path = "/auth/callback?code=the-code&state=guess";
    assert_eq!(session(&team.get(path, &begun.cookie)), refused);
    assert_eq!(session(&team.get("/auth/callback?code=x", "")), refused);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_id_token_that_is_not_for_this_login_is_refused() {
    let team = Team::open(&[]).await;
    assert_eq!(
        team.log_in(json!({"nonce": "other"})),
        Err("/#problem=state".to_owned())
    );
    for claims in [
        json!({"aud": "them"}),
        json!({"iss": "https://evil.example"}),
        json!({"exp": 1000}),
        json!({"azp": "them"}),
        json!({"sub": ""}),
    ] {
        let got = team.log_in(claims.clone());
        assert_eq!(got, Err("/#problem=provider".to_owned()), "{claims}");
    }
    // Another issuer answers, or the provider refuses.
    let begun = team.begin();
    team.will_say(&begun, json!({}));
    let path = format!(
        "/auth/callback?code=the-code&state={}&iss=https://evil.example",
        begun.state
    );
    let got = session(&team.get(&path, &begun.cookie));
    assert_eq!(got, Err("/#problem=provider".to_owned()));
    let begun = team.begin();
    let path = format!(
        "/auth/callback?error=access_denied&state={}&iss={}",
        begun.state,
        team.provider.url()
    );
    let got = session(&team.get(&path, &begun.cookie));
    assert_eq!(got, Err("/#problem=provider".to_owned()));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn groups_give_roles_at_every_login_and_no_group_is_refused() {
    let roles = ["--oidc-role", "devs=member", "--oidc-role", "look=viewer"];
    let team = Team::open(&roles).await;
    let role = |groups: Value| {
        let cookie = team.log_in(json!({"groups": groups}))?;
        Ok::<Value, String>(team.health(&cookie).1["role"].clone())
    };
    assert_eq!(role(json!(["look", "devs"])), Ok(json!("member")));
    assert_eq!(role(json!(["look"])), Ok(json!("viewer")));
    assert_eq!(role(json!(["others"])), Err("/#problem=group".to_owned()));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_user_who_was_there_before_is_found_by_a_verified_address() {
    let team = Team::open(&[]).await;
    let set = ["users", "set", "local", "--email", "ann@team.example"];
    let set = { team.house.desk.command(&set) }.status().unwrap();
    assert!(set.success());
    let unverified = json!({"sub": "2", "email": "ann@team.example"});
    let other = team.log_in(unverified).unwrap();
    assert_ne!(team.health(&other).1["user"], "local");
    let verified = json!({"email": "ann@team.example", "email_verified": true});
    let ann = team.log_in(verified).unwrap();
    assert_eq!(team.health(&ann).1["user"], "local");
    assert_eq!(team.health(&ann).1["role"], "owner");
    // From then on the subject counts, and no one else gets in by the address.
    let eve = json!({"sub": "3", "email": "ann@team.example", "email_verified": true});
    let eve = team.log_in(eve).unwrap();
    assert_ne!(team.health(&eve).1["user"], "local");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_provider_with_thin_tokens_is_asked_for_the_address_and_the_groups() {
    let more = json!({
        "sub": "1", "email": "boss@team.example", "email_verified": true, "groups": ["devs"],
    });
    let roles = [
        "--oidc-role",
        "devs=member",
        "--oidc-domain",
        "team.example",
    ];
    let team = Team::with(&roles, Some(more)).await;
    let cookie = team.log_in(json!({})).unwrap();
    assert_eq!(team.health(&cookie).1["role"], "member");
    // It is about the one who logged in, or about no one.
    let other = team.log_in(json!({"sub": "2"}));
    assert_eq!(other, Err("/#problem=provider".to_owned()));
    *team.provider.more.lock() = Some(json!({"sub": "1", "groups": ["devs"]}));
    let nowhere = team.log_in(json!({}));
    assert_eq!(nowhere, Err("/#problem=domain".to_owned()));
}

#[test]
fn a_provider_or_a_secret_that_cannot_be_used_is_exit_1_with_its_name() {
    let desk = Desk::new().on_tested_store();
    let provider = [
        "--oidc-issuer",
        "http://127.0.0.1:9",
        "--oidc-client-id",
        "us",
    ];
    let refused = |more: &[&str]| {
        let serve = ["serve", "--json", "--port", "0"];
        let output = desk.run(&[&serve[..], &provider, more].concat());
        assert_eq!(output.status.code(), Some(1));
        String::from_utf8(output.stderr).unwrap()
    };
    let said = refused(&[]);
    assert!(said.contains("http://127.0.0.1:9"), "{said}");
    let said = refused(&["--oidc-client-secret", "env:NOT_SET"]);
    assert!(
        said.contains("the variable NOT_SET of --oidc-client-secret"),
        "{said}"
    );
    let said = refused(&["--oidc-client-secret", "/none/secret"]);
    assert!(
        said.contains("/none/secret") && said.contains("cannot be read"),
        "{said}"
    );
}
