//! What `switchboard gateway` offers to whom, as its options say.

use std::io::{Read as _, Write as _};

use axum::Router;
use axum::routing::get;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::rand::SystemRandom;
use ring::signature::{Ed25519KeyPair, KeyPair as _};
use serde_json::{Value, json};

use crate::gateway_live::{Http, add_demo, names, switchboard};

/// The status of a request that names this host.
fn status(url: &str, host: &str) -> String {
    let address = url.strip_prefix("http://").unwrap();
    let address = address.strip_suffix("/mcp").unwrap();
    let mut stream = std::net::TcpStream::connect(address).unwrap();
    let head = format!(
        "POST /mcp HTTP/1.1\r\nHost: {host}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
    );
    stream.write_all(head.as_bytes()).unwrap();
    let mut reply = String::new();
    stream.read_to_string(&mut reply).unwrap();
    reply.split(' ').nth(1).unwrap_or_default().to_owned()
}

#[tokio::test]
async fn beyond_this_machine_it_needs_tls_or_a_proxy_and_answers_to_the_names_it_is_given() {
    let folder = tempfile::tempdir().unwrap();
    let home = folder.path();
    let (good, _, errors) = switchboard(home, &["gateway", "--http", "0.0.0.0:0"]);
    assert!(!good && errors.contains("without TLS"), "{errors}");
    let gateway = Http::start(home, &["--allow-host", "gateway.example"]);
    // The first has to say who it is; the others are not even asked.
    assert_eq!(status(&gateway.url, "gateway.example"), "401");
    assert_eq!(status(&gateway.url, "127.0.0.1"), "401");
    assert_eq!(status(&gateway.url, "other.example"), "403");
    let args = ["gateway", "--http", "127.0.0.1:0", "--json"];
    let behind = [
        "--trust-proxy",
        "127.0.0.1",
        "--public-url",
        "https://team.example",
    ];
    let gateway = Http::run(home, &[&args[..], &behind].concat());
    assert_eq!(gateway.url, "https://team.example/mcp");
}

#[tokio::test]
async fn prefixes_tools_limits_and_sizes_are_those_of_the_options() {
    let folder = tempfile::tempdir().unwrap();
    let home = folder.path();
    add_demo(home, "one");
    add_demo(home, "two");
    let args = [
        "--approve",
        "auto",
        "--prefix",
        "one=",
        "--prefix",
        "two=second_",
        "--tool",
        "one/echo",
        "--tool",
        "two/echo",
        "--limit-tool",
        "0",
        "--result-cap",
        "1000",
    ];
    let gateway = Http::start(home, &args);
    let client = gateway.client(&gateway.token).await.unwrap();
    assert_eq!(names(&client).await, ["echo", "second_echo", "read_output"]);
    let refused = client
        .call_tool("echo", json!({"text": "hi"}))
        .await
        .unwrap();
    assert!(
        format!("{refused:?}").contains("too many calls"),
        "{refused:?}"
    );
    let lazy = Http::start(home, &["--lazy-tools", "100"]);
    let client = lazy.client(&lazy.token).await.unwrap();
    assert_eq!(names(&client).await, ["tool_search", "tool_call"]);
}

#[tokio::test]
async fn a_token_has_its_tools_and_its_own_mode() {
    let folder = tempfile::tempdir().unwrap();
    let home = folder.path();
    add_demo(home, "demo");
    let add = ["gateway", "tokens", "add"];
    let token = |args: &[&str]| {
        let (good, made, errors) = switchboard(home, &[&add[..], args].concat());
        assert!(good, "{errors}");
        made["token"].as_str().unwrap().to_owned()
    };
    let one = token(&["one", "--tool", "demo/echo", "--approve", "auto"]);
    let plan = token(&["plan", "--approve", "plan"]);
    // A mode of its own holds under one that runs nothing.
    let gateway = Http::start(home, &["--approve", "plan"]);
    let client = gateway.client(&one).await.unwrap();
    assert_eq!(names(&client).await, ["demo__echo"]);
    let result = client.call_tool("demo__echo", json!({"text": "hi"})).await;
    assert!(!result.unwrap().failed());
    let client = gateway.client(&plan).await.unwrap();
    assert!(names(&client).await.is_empty());
}

#[tokio::test]
async fn a_server_that_cannot_be_served_is_named_to_clients() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("servers.json");
    let broken = json!({"command": "x", "env": {"KEY": "${SWITCHBOARD_NO_SUCH_VARIABLE}"}});
    let text = json!({"mcpServers": {"broken": broken}}).to_string();
    std::fs::write(&file, text).unwrap();
    let gateway = Http::start(folder.path(), &["--config", file.to_str().unwrap()]);
    let client = gateway.client(&gateway.token).await.unwrap();
    let instructions = client.server().instructions.unwrap();
    assert!(instructions.contains("broken ("), "{instructions}");
}

/// An issuer of access tokens.
struct Issuer {
    key: Ed25519KeyPair,
    keys: String,
}

impl Issuer {
    async fn start() -> Self {
        let document = Ed25519KeyPair::generate_pkcs8(&SystemRandom::new()).unwrap();
        let key = Ed25519KeyPair::from_pkcs8(document.as_ref()).unwrap();
        let x = URL_SAFE_NO_PAD.encode(key.public_key().as_ref());
        let set = json!({"keys": [{"kty": "OKP", "crv": "Ed25519", "kid": "k", "x": x}]});
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let keys = format!("http://{}/keys", listener.local_addr().unwrap());
        let set = set.to_string();
        let router = Router::new().route("/keys", get(move || async move { set.clone() }));
        tokio::spawn(async move { axum::serve(listener, router).await });
        Self { key, keys }
    }

    fn token(&self, claims: &Value) -> String {
        let encode = |json: &Value| URL_SAFE_NO_PAD.encode(json.to_string());
        let header = json!({"alg": "EdDSA", "kid": "k", "typ": "JWT"});
        let signed = format!("{}.{}", encode(&header), encode(claims));
        let signature = self.key.sign(signed.as_bytes());
        format!("{signed}.{}", URL_SAFE_NO_PAD.encode(signature.as_ref()))
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_access_token_of_the_issuer_is_let_in_as_a_caller_of_its_own() {
    let folder = tempfile::tempdir().unwrap();
    let home = folder.path();
    add_demo(home, "demo");
    let issuer = Issuer::start().await;
    let args = [
        "--approve",
        "auto",
        "--oauth-issuer",
        "https://issuer.example",
        "--oauth-keys",
        &issuer.keys,
    ];
    let gateway = Http::start(home, &args);
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    let claims = |audience: &str, subject: &str| {
        let expires = now.clone().unwrap().as_secs() + 600;
        json!({"iss": "https://issuer.example", "aud": audience, "sub": subject, "exp": expires})
    };
    let elsewhere = issuer.token(&claims("https://elsewhere.example/mcp", "ann"));
    assert!(gateway.client(&elsewhere).await.is_err());
    // A subject is no caller of ours, whatever it is called.
    let token = issuer.token(&claims(&gateway.url, "owner"));
    let client = gateway.client(&token).await.unwrap();
    let result = client.call_tool("demo__echo", json!({"text": "hi"})).await;
    assert!(!result.unwrap().failed());
    let (_, listed, _) = switchboard(home, &["audit", "list"]);
    assert_eq!(listed["calls"][0]["caller"], json!("oauth:owner"));
    // The gateway's own token is still one.
    assert!(gateway.client(&gateway.token).await.is_ok());
}
