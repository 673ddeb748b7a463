//! More scopes when a request needs them, and no more often than it helps.

use mcp_auth::AuthError;
use serde_json::json;

use crate::realm::{Realm, auth_error};

fn scopes(realm: &Realm) -> Vec<String> {
    let books = realm.books.lock();
    books
        .logins
        .iter()
        .map(|login| login.get("scope").cloned().unwrap_or_default())
        .collect()
}

#[tokio::test]
async fn what_was_granted_is_asked_for_again_with_what_is_missing() {
    let realm = Realm::start().await;
    realm.books.lock().challenge = "scope=\"read\"".to_owned();
    realm.books.lock().resource_metadata = json!({ "scopes_supported": ["decoy"] });
    let oauth = realm.oauth().build().unwrap();
    assert_eq!(realm.call(&oauth, "read").await.unwrap(), 200);
    assert_eq!(realm.call(&oauth, "write").await.unwrap(), 200);
    assert_eq!(realm.call(&oauth, "read").await.unwrap(), 200);
    assert_eq!(scopes(&realm), ["read", "read write"]);
}

#[tokio::test]
async fn scopes_that_were_asked_for_and_did_not_help_are_not_asked_for_again() {
    let realm = Realm::start().await;
    realm.books.lock().challenge = "scope=\"read\"".to_owned();
    realm.books.lock().granted = Some("read".to_owned());
    let oauth = realm.oauth().build().unwrap();
    realm.call(&oauth, "read").await.unwrap();
    for _ in 0..3 {
        let error = auth_error(realm.call(&oauth, "write").await);
        assert!(
            matches!(&error, AuthError::ScopeRefused { scope, .. } if scope == "write"),
            "{error:?}"
        );
    }
    realm.revoke();
    assert_eq!(realm.call(&oauth, "read").await.unwrap(), 200);
    let error = auth_error(realm.call(&oauth, "write").await);
    assert!(
        matches!(error, AuthError::ScopeRefused { .. }),
        "a renewed token changes nothing"
    );
    assert_eq!(scopes(&realm), ["read", "read write"]);
}

#[tokio::test]
async fn concurrent_step_ups_are_one() {
    let realm = Realm::start().await;
    realm.books.lock().challenge = "scope=\"read\"".to_owned();
    let oauth = realm.oauth().build().unwrap();
    realm.call(&oauth, "read").await.unwrap();
    let calls: Vec<_> = (0..10)
        .map(|_| {
            let (realm, oauth) = (realm.clone(), oauth.clone());
            tokio::spawn(async move { realm.call(&oauth, "write").await.unwrap() })
        })
        .collect();
    for call in calls {
        assert_eq!(call.await.unwrap(), 200);
    }
    assert_eq!(scopes(&realm), ["read", "read write"]);
}
