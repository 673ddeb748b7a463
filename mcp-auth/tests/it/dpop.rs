//! Tokens bound to a key.

use std::collections::BTreeSet;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use mcp_auth::{AuthError, MemoryStore};
use parking_lot::Mutex;
use ring::signature::{ECDSA_P256_SHA256_FIXED, UnparsedPublicKey};
use serde_json::{Value, json};

use crate::realm::{Realm, auth_error, sha256};
use crate::web::{Hit, Page, Site};

/// Checks a proof by every rule of RFC 9449 and returns its key, id and nonce.
fn proof(hit: &Hit, url: &str) -> (String, String, Option<String>) {
    let proof = hit.header("dpop").expect("a proof");
    let (signed, signature) = proof.rsplit_once('.').unwrap();
    let (header, claims) = signed.split_once('.').unwrap();
    let read = |part: &str| -> Value {
        serde_json::from_slice(&URL_SAFE_NO_PAD.decode(part).unwrap()).unwrap()
    };
    let (header, claims) = (read(header), read(claims));
    assert_eq!(header["typ"], "dpop+jwt");
    assert!(header["jwk"].get("d").is_none());
    let coordinate = |name: &str| {
        URL_SAFE_NO_PAD
            .decode(header["jwk"][name].as_str().unwrap())
            .unwrap()
    };
    let point = [vec![4], coordinate("x"), coordinate("y")].concat();
    let signature = URL_SAFE_NO_PAD.decode(signature).unwrap();
    UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, &point)
        .verify(signed.as_bytes(), &signature)
        .unwrap();
    assert_eq!(
        (claims["htm"].as_str(), claims["htu"].as_str()),
        (Some(hit.method.as_str()), Some(url))
    );
    let token = hit
        .header("authorization")
        .and_then(|value| value.strip_prefix("DPoP "));
    assert_eq!(
        claims.get("ath"),
        token.map(|token| json!(sha256(token))).as_ref()
    );
    let text = |field: &str| {
        claims
            .get(field)
            .map(|value| value.as_str().unwrap().to_owned())
    };
    (
        URL_SAFE_NO_PAD.encode(point),
        text("jti").unwrap(),
        text("nonce"),
    )
}

#[derive(Debug, Default)]
struct Seen {
    key: Option<String>,
    proofs: BTreeSet<String>,
    refused_for_nonce: u32,
}

/// A realm whose tokens are bound, with nonces on both sides.
async fn bound() -> (Realm, Arc<Mutex<Seen>>) {
    let mut realm = Realm::start().await;
    let seen = Arc::new(Mutex::new(Seen::default()));
    let note = {
        let seen = seen.clone();
        move |(key, id, nonce): (String, String, Option<String>), want: &str| {
            let mut seen = seen.lock();
            assert!(seen.proofs.insert(id), "every proof is fresh");
            assert_eq!(seen.key.get_or_insert_with(|| key.clone()), &key);
            let good = nonce.as_deref() == Some(want);
            seen.refused_for_nonce += u32::from(!good);
            good
        }
    };
    let (honest, count) = (realm.authority.url.clone(), note.clone());
    let authority = Site::start(move |hit| {
        let own = format!("http://{}", hit.header("host").unwrap());
        match hit.path() {
            "/.well-known/oauth-authorization-server" => Page::json(200, &json!({
                "issuer": own, "authorization_endpoint": format!("{honest}/authorize"),
                "token_endpoint": format!("{own}/token"), "registration_endpoint": format!("{honest}/register"),
                "code_challenge_methods_supported": ["S256"],
            })),
            "/token" if count(proof(hit, &format!("{own}/token")), "as-nonce") => {
                Page::json(200, &json!({ "access_token": format!("T-{}", hit.form()["grant_type"]), "token_type": "DPoP", "refresh_token": "R" }))
            }
            "/token" => Page::json(400, &json!({ "error": "use_dpop_nonce" })).with("DPoP-Nonce", "as-nonce"),
            _ => Page::new(404, ""),
        }
    })
    .await;
    realm.books.lock().callback = json!({ "iss": authority.url });
    let (issuer, valid) = (authority.url.clone(), realm.books.clone());
    realm.resource = Site::start(move |hit| {
        let own = format!("http://{}", hit.header("host").unwrap());
        let metadata = format!("DPoP resource_metadata=\"{own}/prm\"");
        match (hit.path(), hit.header("authorization")) {
            ("/prm", _) => Page::json(
                200,
                &json!({ "resource": own, "authorization_servers": [issuer] }),
            ),
            (_, Some(token)) if token == format!("DPoP T-{}", valid.lock().challenge) => {
                if note(proof(hit, &format!("{own}/mcp")), "rs-nonce") {
                    Page::new(200, "")
                } else {
                    Page::new(401, "")
                        .with(
                            "www-authenticate",
                            format!("{metadata}, error=\"use_dpop_nonce\""),
                        )
                        .with("dpop-nonce", "rs-nonce")
                }
            }
            _ => Page::new(401, "").with("www-authenticate", metadata),
        }
    })
    .await;
    realm.books.lock().challenge = "authorization_code".to_owned();
    realm.authority = authority;
    (realm, seen)
}

#[tokio::test]
async fn a_server_that_asks_for_bound_tokens_gets_them_and_its_nonces() {
    let (realm, seen) = bound().await;
    let oauth = realm.oauth().build().unwrap();
    assert_eq!(realm.call(&oauth, "read").await.unwrap(), 200);
    assert_eq!(realm.call(&oauth, "read").await.unwrap(), 200);
    assert_eq!(seen.lock().refused_for_nonce, 2, "once by each side");
    assert_eq!(
        realm.books.lock().logins.len(),
        1,
        "a missing nonce is no reason to log in again"
    );
}

#[tokio::test]
async fn a_renewed_token_is_bound_to_the_same_key_even_after_a_restart() {
    let (realm, seen) = bound().await;
    let store = Arc::new(MemoryStore::new());
    let oauth = || realm.oauth().store(store.clone()).build().unwrap();
    assert_eq!(realm.call(&oauth(), "read").await.unwrap(), 200);
    realm.books.lock().challenge = "refresh_token".to_owned(); // only a renewed token will do
    assert_eq!(realm.call(&oauth(), "read").await.unwrap(), 200);
    assert_eq!(realm.books.lock().logins.len(), 1);
    assert!(seen.lock().key.is_some());
}

#[tokio::test]
async fn a_host_that_insists_refuses_an_unbound_token() {
    let realm = Realm::start().await;
    let oauth = realm.oauth().require_dpop().build().unwrap();
    assert!(matches!(
        auth_error(realm.call(&oauth, "read").await),
        AuthError::Malformed { .. }
    ));
    realm.books.lock().token = json!({ "token_type": "DPoP" });
    assert_eq!(realm.call(&oauth, "read").await.unwrap(), 200);
}
