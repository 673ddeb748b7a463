//! Vertex AI: access tokens from a token endpoint, and the requests of both wires.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use provider_adapters::{Gemini, GoogleCredentials};
use ring::signature::{KeyPair as _, RSA_PKCS1_2048_8192_SHA256, RsaKeyPair, UnparsedPublicKey};
use serde_json::{Value, json};

use super::*;

/// Made for this test alone.
const KEY: &str = include_str!("vertex_test_key.pem");

fn token(text: &str, seconds: u64) -> Answer {
    Answer::new(
        200,
        json!({"access_token": text, "expires_in": seconds}).to_string(),
    )
}

fn service_account(endpoint: &Server) -> GoogleCredentials {
    let file = json!({
        "type": "service_account",
        "client_email": "robot@my-project.iam.gserviceaccount.com",
        "private_key": KEY,
        "private_key_id": "key-1",
        "token_uri": format!("{}/token", endpoint.url),
    });
    GoogleCredentials::from_json(&file.to_string()).unwrap()
}

fn claude(provider: &Server, credentials: GoogleCredentials) -> HttpModel<Anthropic> {
    HttpModel::new(Anthropic::vertex("my-project", "us-east5"))
        .unwrap()
        .with_google_credentials(credentials)
        .with_base_url(&provider.url)
        .with_retry(Retry::default().with_tries(0))
}

/// The verified parts of a signed token.
fn verified(form: &str) -> (Value, Value) {
    let assertion = form
        .strip_prefix("grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer&assertion=")
        .unwrap();
    let (signed, signature) = assertion.rsplit_once('.').unwrap();
    let body: String = KEY.lines().filter(|line| !line.starts_with('-')).collect();
    let pair = RsaKeyPair::from_pkcs8(&STANDARD.decode(body).unwrap()).unwrap();
    UnparsedPublicKey::new(&RSA_PKCS1_2048_8192_SHA256, pair.public_key().as_ref())
        .verify(
            signed.as_bytes(),
            &URL_SAFE_NO_PAD.decode(signature).unwrap(),
        )
        .unwrap();
    let (header, claims) = signed.split_once('.').unwrap();
    let read = |part| serde_json::from_slice(&URL_SAFE_NO_PAD.decode(part).unwrap()).unwrap();
    (read(header), read(claims))
}

#[tokio::test]
async fn a_service_account_signs_for_a_token_that_is_kept() {
    let endpoint = Server::start(vec![token("ya29.first", 3600)]).await;
    let provider = Server::start(vec![text(), text()]).await;
    let model = claude(&provider, service_account(&endpoint));
    for _ in 0..2 {
        play(&model, &request(model.adapter(), &[])).await.unwrap();
    }
    let [asked] = endpoint.asked().try_into().unwrap();
    let (header, claims) = verified(asked.body.as_str().unwrap());
    assert_eq!(
        header,
        json!({"alg": "RS256", "typ": "JWT", "kid": "key-1"})
    );
    assert_eq!(claims["iss"], "robot@my-project.iam.gserviceaccount.com");
    assert_eq!(claims["aud"], format!("{}/token", endpoint.url));
    assert_eq!(
        claims["scope"],
        "https://www.googleapis.com/auth/cloud-platform"
    );
    assert_eq!(
        claims["exp"].as_u64().unwrap() - claims["iat"].as_u64().unwrap(),
        3600
    );
    for asked in provider.asked() {
        assert!(
            asked.head.contains("authorization: Bearer ya29.first"),
            "{}",
            asked.head
        );
    }
    let printed = format!("{model:?}");
    assert!(!printed.contains("ya29") && !printed.contains("PRIVATE"));
}

#[tokio::test]
async fn a_token_that_is_about_to_expire_or_was_refused_is_replaced() {
    let endpoint = Server::start(vec![
        token("ya29.short", 30),
        token("ya29.revoked", 3600),
        token("ya29.third", 3600),
    ])
    .await;
    let refusal = r#"{"error":{"code":401,"message":"expired","status":"UNAUTHENTICATED"}}"#;
    let provider = Server::start(vec![text(), Answer::new(401, refusal), text()]).await;
    let model = claude(&provider, service_account(&endpoint));
    for succeeds in [true, false, true] {
        let played = play(&model, &request(model.adapter(), &[])).await;
        assert_eq!(played.is_ok(), succeeds);
    }
    let tokens: Vec<bool> = provider
        .asked()
        .iter()
        .zip(["ya29.short", "ya29.revoked", "ya29.third"])
        .map(|(asked, token)| asked.head.contains(token))
        .collect();
    assert_eq!(tokens, [true, true, true]);
}

#[tokio::test]
async fn requests_at_the_same_time_share_one_token() {
    let endpoint = Server::start(vec![token("ya29.one", 3600)]).await;
    let provider = Server::start(vec![text(), text()]).await;
    let model = claude(&provider, service_account(&endpoint));
    let asked = request(model.adapter(), &[]);
    let (first, second) = tokio::join!(play(&model, &asked), play(&model, &asked));
    assert!(first.is_ok() && second.is_ok());
    assert_eq!(endpoint.asked().len(), 1);
}

#[tokio::test]
async fn a_refused_account_is_an_error_that_says_why() {
    let refusal = r#"{"error":"invalid_grant","error_description":"Invalid JWT Signature."}"#;
    let endpoint = Server::start(vec![Answer::new(400, refusal)]).await;
    let provider = Server::start(vec![]).await;
    let model = claude(&provider, service_account(&endpoint));
    let error = model.ask(&request(model.adapter(), &[])).await.unwrap_err();
    let ModelError::Provider(error) = error else {
        panic!("{error}");
    };
    assert_eq!(error.kind, ErrorKind::Credentials);
    assert_eq!(
        error.message,
        "the token endpoint refused the credentials: Invalid JWT Signature. (invalid_grant)"
    );
    assert!(provider.asked().is_empty());
}

#[tokio::test]
async fn a_user_of_gcloud_refreshes_a_token() {
    let endpoint = Server::start(vec![token("ya29.user", 3600)]).await;
    let provider = Server::start(vec![Answer::new(200, reply("gemini/01-text.sse"))]).await;
    let file = json!({
        "type": "authorized_user",
        "client_id": "id",
        "client_secret": "a&b",
        "refresh_token": "1//r",
        "token_uri": endpoint.url,
    });
    let model = HttpModel::new(Gemini::vertex("my-project", "global"))
        .unwrap()
        .with_google_credentials(GoogleCredentials::from_json(&file.to_string()).unwrap())
        .with_base_url(&provider.url);
    play(&model, &request(model.adapter(), &[])).await.unwrap();
    assert_eq!(
        endpoint.asked()[0].body,
        "grant_type=refresh_token&client_id=id&client_secret=a%26b&refresh_token=1%2F%2Fr"
    );
    let head = &provider.asked()[0].head;
    assert!(head.contains("authorization: Bearer ya29.user"), "{head}");
    assert!(
        head.starts_with("POST /v1/projects/my-project/locations/global/publishers/google/models/model:streamGenerateContent?alt=sse "),
        "{head}"
    );
}

/// Stands in for the metadata server of a machine of Google Cloud.
#[tokio::test]
async fn the_metadata_server_of_the_machine_hands_out_a_token() {
    let metadata = Server::start(vec![token("ya29.machine", 3600)]).await;
    let provider = Server::start(vec![text()]).await;
    let host = metadata.url.strip_prefix("http://").unwrap();
    let model = claude(&provider, GoogleCredentials::from_metadata_host(host));
    play(&model, &request(model.adapter(), &[])).await.unwrap();
    let [asked] = metadata.asked().try_into().unwrap();
    assert!(
        asked
            .head
            .starts_with("GET /computeMetadata/v1/instance/service-accounts/default/token "),
        "{}",
        asked.head
    );
    assert!(
        asked.head.contains("metadata-flavor: Google"),
        "{}",
        asked.head
    );
    let head = &provider.asked()[0].head;
    assert!(
        head.contains("authorization: Bearer ya29.machine"),
        "{head}"
    );
}

#[test]
fn unusable_credentials_are_refused_without_their_secrets() {
    let bad = [
        json!({"type": "external_account"}),
        json!({"type": "service_account", "client_email": "a@b"}),
        json!({"type": "service_account", "client_email": "a@b", "private_key": "hunter2"}),
    ];
    for file in bad {
        let error = GoogleCredentials::from_json(&file.to_string()).unwrap_err();
        assert!(matches!(error, ModelError::Setup(_)));
        assert!(!format!("{error:?}").contains("hunter2"));
    }
}

#[test]
fn claude_on_vertex_has_its_model_in_the_path_and_its_version_in_the_body() {
    for (location, base) in [
        ("us-east5", "https://us-east5-aiplatform.googleapis.com"),
        ("global", "https://aiplatform.googleapis.com"),
    ] {
        assert_eq!(Anthropic::vertex("p", location).base_url(), base);
    }
    let adapter = Anthropic::vertex("my project", "us-east5");
    let mut asked = request(&adapter, &["look"]);
    asked.options.temperature = Some(0.5);
    asked.model = "claude-sonnet-5-5@20260901".to_owned();
    let shot = |stream| {
        asked.stream = stream;
        let encoded = adapter.encode(&asked).unwrap();
        let body: Value = serde_json::from_slice(&encoded.request.body).unwrap();
        json!({"path": encoded.request.path, "headers": encoded.request.headers, "body": body})
    };
    insta::assert_json_snapshot!("anthropic_on_vertex", [true, false].map(shot));
}
