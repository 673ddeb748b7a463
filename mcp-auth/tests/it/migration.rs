//! A server moves to another authorization server; nothing of the old one is shown to the new.

use std::sync::Arc;

use mcp_auth::{AuthError, MemoryStore, RegisteredClient, Violation};
use serde_json::json;

use crate::realm::{Realm, auth_error};

#[tokio::test]
async fn a_new_authorization_server_gets_a_new_registration_and_no_old_secret() {
    let (old, new) = (Realm::start().await, Realm::start().await);
    let oauth = old
        .oauth()
        .store(Arc::new(MemoryStore::new()))
        .build()
        .unwrap();
    old.call(&oauth, "read").await.unwrap();
    let old_client = old.books.lock().logins[0]["client_id"].clone();

    // The resource now trusts only the new authorization server's tokens.
    new.books.lock().token = json!({ "access_token": "new-token" });
    old.books.lock().resource_metadata = json!({ "authorization_servers": [new.authority.url] });
    old.revoke();
    old.books
        .lock()
        .valid
        .insert("new-token".to_owned(), String::new());
    old.authority.take_log();
    assert_eq!(old.call(&oauth, "read").await.unwrap(), 200);

    assert!(
        old.authority.take_log().is_empty(),
        "the old one is not asked any more"
    );
    let books = new.books.lock();
    assert_eq!(books.registrations.len(), 1);
    assert_ne!(books.logins[0]["client_id"], old_client);
    assert_eq!(
        books.asked.len(),
        1,
        "nothing but the code was shown to the new one"
    );
    assert_eq!(books.asked[0]["grant_type"], "authorization_code");
}

#[tokio::test]
async fn a_configured_client_is_never_shown_to_a_stranger() {
    let (old, new) = (Realm::start().await, Realm::start().await);
    for client in [
        RegisteredClient::new("ours").with_secret("s"),
        RegisteredClient::new("ours")
            .with_secret("s")
            .with_issuer(old.authority.url.clone()),
    ] {
        old.books.lock().resource_metadata = json!({});
        let oauth = old.oauth().registered_client(client).build().unwrap();
        old.call(&oauth, "read").await.unwrap();
        old.books.lock().resource_metadata =
            json!({ "authorization_servers": [new.authority.url] });
        old.revoke();
        match auth_error(old.call(&oauth, "read").await) {
            AuthError::Refused { violation, .. } => assert_eq!(
                violation,
                Violation::ForeignClient {
                    issuer: new.authority.url.clone(),
                    registered_with: old.authority.url.clone(),
                }
            ),
            other => panic!("{other:?}"),
        }
    }
    let books = new.books.lock();
    assert!(books.logins.is_empty() && books.asked.is_empty() && books.registrations.is_empty());
}

#[tokio::test]
async fn the_authorization_server_a_client_belongs_to_is_preferred() {
    let (realm, other) = (Realm::start().await, Realm::start().await);
    realm.books.lock().resource_metadata =
        json!({ "authorization_servers": [other.authority.url, realm.authority.url] });
    let client = RegisteredClient::new("ours").with_issuer(realm.authority.url.clone());
    let oauth = realm.oauth().registered_client(client).build().unwrap();
    assert_eq!(realm.call(&oauth, "read").await.unwrap(), 200);
    assert!(other.authority.take_log().is_empty());
}
