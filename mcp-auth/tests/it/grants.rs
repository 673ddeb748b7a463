//! Tokens without a login.

use std::collections::BTreeMap;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use mcp_auth::{
    Algorithm, Assertion, AuthError, EnterpriseLogin, OAuth, PrivateKey, RegisteredClient,
};
use parking_lot::Mutex;
use ring::rand::SystemRandom;
use ring::signature::{
    ECDSA_P256_SHA256_FIXED, ECDSA_P256_SHA256_FIXED_SIGNING, ED25519, EcdsaKeyPair,
    Ed25519KeyPair, KeyPair as _, RSA_PKCS1_2048_8192_SHA256, RSA_PSS_2048_8192_SHA256, RsaKeyPair,
    UnparsedPublicKey, VerificationAlgorithm,
};
use rustls_pki_types::PrivatePkcs8KeyDer;
use rustls_pki_types::pem::PemObject as _;
use serde_json::{Value, json};

use crate::realm::{Realm, auth_error};
use crate::web::{Page, Site};

const JWT_BEARER: &str = "urn:ietf:params:oauth:grant-type:jwt-bearer";

fn pem(der: &[u8]) -> String {
    format!(
        "-----BEGIN PRIVATE KEY-----\n{}\n-----END PRIVATE KEY-----\n",
        STANDARD.encode(der)
    )
}

fn asked(realm: &Realm) -> Vec<BTreeMap<String, String>> {
    realm.books.lock().asked.clone()
}

#[tokio::test]
async fn client_credentials_are_shown_as_basic_or_in_the_form() {
    let realm = Realm::start().await;
    let client = RegisteredClient::new("me").with_secret("shh");
    let oauth = || {
        OAuth::builder(realm.server())
            .registered_client(client.clone())
            .client_credentials()
            .build()
            .unwrap()
    };
    realm.books.lock().challenge = "scope=\"read\"".to_owned();
    assert_eq!(realm.call(&oauth(), "read").await.unwrap(), 200);
    assert_eq!(
        realm.books.lock().authorizations[0],
        Some(format!("Basic {}", STANDARD.encode("me:shh")))
    );
    realm.books.lock().server_metadata =
        json!({ "token_endpoint_auth_methods_supported": ["client_secret_post"] });
    assert_eq!(realm.call(&oauth(), "read").await.unwrap(), 200);
    let forms = asked(&realm);
    for form in &forms {
        assert_eq!(form["grant_type"], "client_credentials");
        assert_eq!(form["scope"], "read");
        assert_eq!(form["resource"], realm.server());
    }
    assert_eq!(
        (
            forms[1]["client_id"].as_str(),
            forms[1]["client_secret"].as_str()
        ),
        ("me", "shh")
    );
    assert!(realm.books.lock().authorizations[1].is_none());
    assert!(realm.books.lock().registrations.is_empty());
}

#[tokio::test]
async fn a_client_proves_itself_by_signing() {
    let random = SystemRandom::new();
    let p256 = EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &random).unwrap();
    let p256_pair =
        EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, p256.as_ref(), &random).unwrap();
    let ed = Ed25519KeyPair::generate_pkcs8(&random).unwrap();
    let ed_pair = Ed25519KeyPair::from_pkcs8(ed.as_ref()).unwrap();
    check_signed(
        "ES256",
        p256.as_ref(),
        &ECDSA_P256_SHA256_FIXED,
        p256_pair.public_key().as_ref(),
    )
    .await;
    check_signed(
        "EdDSA",
        ed.as_ref(),
        &ED25519,
        ed_pair.public_key().as_ref(),
    )
    .await;
}

#[tokio::test]
async fn a_client_proves_itself_with_an_rsa_key() {
    let pkcs8 = include_str!("inputs/rsa_pkcs8.pem");
    let pkcs1 = include_str!("inputs/rsa_pkcs1.pem");
    let der = PrivatePkcs8KeyDer::from_pem_slice(pkcs8.as_bytes()).unwrap();
    let pair = RsaKeyPair::from_pkcs8(der.secret_pkcs8_der()).unwrap();
    let public = pair.public_key().as_ref();
    for pem in [pkcs8, pkcs1] {
        check_signed_pem("RS256", pem, &RSA_PKCS1_2048_8192_SHA256, public).await;
        check_signed_pem("PS256", pem, &RSA_PSS_2048_8192_SHA256, public).await;
    }
}

async fn check_signed(
    name: &str,
    pkcs8: &[u8],
    verifier: &'static dyn VerificationAlgorithm,
    public: &[u8],
) {
    check_signed_pem(name, &pem(pkcs8), verifier, public).await;
}

async fn check_signed_pem(
    name: &str,
    pem: &str,
    verifier: &'static dyn VerificationAlgorithm,
    public: &[u8],
) {
    let realm = Realm::start().await;
    let key = PrivateKey::from_pem(pem, Algorithm::from_name(name).unwrap())
        .unwrap()
        .with_key_id("k1");
    let client = RegisteredClient::new("me").with_private_key(key);
    let oauth = OAuth::builder(realm.server())
        .registered_client(client)
        .client_credentials()
        .build()
        .unwrap();
    assert_eq!(realm.call(&oauth, "read").await.unwrap(), 200);
    let form = &asked(&realm)[0];
    assert_eq!(
        form["client_assertion_type"],
        "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
    );
    let (signed, signature) = form["client_assertion"].rsplit_once('.').unwrap();
    let signature = URL_SAFE_NO_PAD.decode(signature).unwrap();
    UnparsedPublicKey::new(verifier, public)
        .verify(signed.as_bytes(), &signature)
        .unwrap();
    let read = |part: &str| -> Value {
        serde_json::from_slice(&URL_SAFE_NO_PAD.decode(part).unwrap()).unwrap()
    };
    let (header, claims) = signed.split_once('.').unwrap();
    let (header, claims) = (read(header), read(claims));
    assert_eq!(
        (header["alg"].as_str(), header["kid"].as_str()),
        (Some(name), Some("k1"))
    );
    assert_eq!(
        (claims["iss"].as_str(), claims["sub"].as_str()),
        (Some("me"), Some("me"))
    );
    assert_eq!(claims["aud"], realm.authority.url);
    assert!(claims["exp"].as_u64().unwrap() - claims["iat"].as_u64().unwrap() <= 60);
}

#[test]
fn a_key_that_does_not_fit_is_reported_at_the_start() {
    let ed = Ed25519KeyPair::generate_pkcs8(&SystemRandom::new()).unwrap();
    for (text, algorithm) in [
        (pem(ed.as_ref()), Algorithm::Es256),
        (pem(ed.as_ref()), Algorithm::Rs256),
        (
            "-----BEGIN EC PRIVATE KEY-----\nAAAA\n-----END EC PRIVATE KEY-----\n".to_owned(),
            Algorithm::Es256,
        ),
        ("hello".to_owned(), Algorithm::Es256),
    ] {
        assert!(matches!(
            PrivateKey::from_pem(&text, algorithm),
            Err(AuthError::Config { .. })
        ));
    }
}

#[tokio::test]
async fn a_company_vouches_for_its_employee() {
    let realm = Realm::start().await;
    let exchanges = Arc::new(Mutex::new(Vec::new()));
    let seen = exchanges.clone();
    let idp = Site::start(move |hit| {
        seen.lock().push(hit.form());
        Page::json(
            200,
            &json!({
                "access_token": "ID-JAG", "token_type": "N_A",
                "issued_token_type": "urn:ietf:params:oauth:token-type:id-jag",
            }),
        )
    })
    .await;
    let login = EnterpriseLogin::new(
        format!("{}/token", idp.url),
        RegisteredClient::new("at-idp"),
        Assertion::from_fn(|request| async move { Ok(format!("ID-TOKEN for {}", request.issuer)) }),
    );
    let oauth = OAuth::builder(realm.server())
        .registered_client(RegisteredClient::new("at-as").with_secret("s"))
        .enterprise(login)
        .build()
        .unwrap();
    assert_eq!(realm.call(&oauth, "read").await.unwrap(), 200);
    let exchange = &exchanges.lock()[0];
    let want = [
        (
            "grant_type",
            "urn:ietf:params:oauth:grant-type:token-exchange",
        ),
        (
            "requested_token_type",
            "urn:ietf:params:oauth:token-type:id-jag",
        ),
        ("audience", &realm.authority.url),
        ("resource", &realm.server()),
        (
            "subject_token",
            &format!("ID-TOKEN for {}", realm.authority.url),
        ),
        (
            "subject_token_type",
            "urn:ietf:params:oauth:token-type:id_token",
        ),
        ("client_id", "at-idp"),
    ];
    assert_eq!(
        exchange,
        &want
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .into()
    );
    let form = &asked(&realm)[0];
    assert_eq!(
        (form["grant_type"].as_str(), form["assertion"].as_str()),
        (JWT_BEARER, "ID-JAG")
    );
    assert!(
        realm.books.lock().authorizations[0]
            .as_ref()
            .unwrap()
            .starts_with("Basic ")
    );
}

#[tokio::test]
async fn a_workload_presents_its_token_once_and_fails_when_refused() {
    let realm = Realm::start().await;
    let directory = std::env::temp_dir().join(format!("mcp-auth-workload-{}", std::process::id()));
    std::fs::write(&directory, "PLATFORM-TOKEN\n").unwrap();
    let workload = |token| {
        OAuth::builder(realm.server())
            .workload_identity(token)
            .build()
            .unwrap()
    };
    let oauth = workload(Assertion::from_file(&directory));
    assert_eq!(realm.call(&oauth, "read").await.unwrap(), 200);
    std::fs::remove_file(&directory).unwrap();
    let form = asked(&realm)[0].clone();
    assert_eq!(
        (form["grant_type"].as_str(), form["assertion"].as_str()),
        (JWT_BEARER, "PLATFORM-TOKEN")
    );
    assert!(!form.contains_key("client_id"));

    realm.books.lock().token_failure = Some(Page::json(400, &json!({ "error": "invalid_grant" })));
    let error = auth_error(realm.call(&workload(Assertion::fixed("X")), "read").await);
    assert!(matches!(error, AuthError::Rejected { .. }), "{error:?}");
    assert_eq!(
        asked(&realm).len(),
        2,
        "one request, and no other grant after it"
    );
}
