//! Tokens are renewed in time, once, and never lost.

use std::sync::Arc;

use mcp_auth::{AuthError, MemoryStore};
use serde_json::json;
use tokio::sync::Semaphore;

use crate::realm::{Realm, auth_error, poll_once};
use crate::web::Page;

fn logins(realm: &Realm) -> usize {
    realm.books.lock().logins.len()
}

/// How often a refresh token was shown.
fn refreshes(realm: &Realm) -> usize {
    let books = realm.books.lock();
    books
        .asked
        .iter()
        .filter(|form| form["grant_type"] == "refresh_token")
        .count()
}

#[tokio::test]
async fn a_token_that_is_over_is_renewed_before_it_is_sent() {
    let realm = Realm::start().await;
    realm.books.lock().token = json!({ "expires_in": 0 });
    realm.books.lock().refreshed = json!({ "expires_in": 3600 });
    let oauth = realm.oauth().build().unwrap();
    realm.challenge(&oauth).await.unwrap();
    realm.resource.take_log();
    assert_eq!(realm.call(&oauth, "read").await.unwrap(), 200);
    assert_eq!(
        realm.resource.take_log(),
        ["POST /mcp"],
        "no request was refused"
    );
    assert_eq!((logins(&realm), refreshes(&realm)), (1, 1));
    assert_eq!(realm.books.lock().asked[1]["resource"], realm.server());
}

#[tokio::test]
async fn a_refused_token_is_renewed_once_for_everybody() {
    let realm = Realm::start().await;
    let oauth = realm.oauth().build().unwrap();
    realm.call(&oauth, "read").await.unwrap();
    realm.revoke();
    let calls: Vec<_> = (0..20)
        .map(|_| {
            let (realm, oauth) = (realm.clone(), oauth.clone());
            tokio::spawn(async move { realm.call(&oauth, "read").await.unwrap() })
        })
        .collect();
    for call in calls {
        assert_eq!(call.await.unwrap(), 200);
    }
    assert_eq!((logins(&realm), refreshes(&realm)), (1, 1));
}

#[tokio::test]
async fn a_rejected_refresh_leads_to_a_login_and_an_outage_does_not() {
    let realm = Realm::start().await;
    let oauth = realm.oauth().build().unwrap();
    realm.call(&oauth, "read").await.unwrap();

    realm.revoke();
    realm.books.lock().token_failure = Some(Page::new(502, "<html>"));
    let error = auth_error(realm.call(&oauth, "read").await);
    assert!(error.is_retryable(), "{error:?}");
    assert_eq!(logins(&realm), 1);
    realm.books.lock().token_failure = None;
    assert_eq!(realm.call(&oauth, "read").await.unwrap(), 200);
    assert_eq!(logins(&realm), 1, "the refresh token survived the outage");

    realm.revoke();
    realm.books.lock().token_failure = Some(Page::json(400, &json!({ "error": "invalid_grant" })));
    let error = auth_error(realm.call(&oauth, "read").await);
    assert!(
        matches!(
            error,
            AuthError::Rejected {
                action: "exchanging the code",
                ..
            }
        ),
        "{error:?}"
    );
    assert_eq!(logins(&realm), 2);
}

#[tokio::test]
async fn an_outage_before_the_end_of_a_token_goes_unnoticed() {
    let realm = Realm::start().await;
    // So short-lived that it is always about to end; and valid for the whole test.
    realm.books.lock().token = json!({ "expires_in": 3600 });
    let limits =
        mcp_auth::Limits::default().with_refresh_margin(std::time::Duration::from_secs(900));
    let oauth = realm.oauth().limits(limits).build().unwrap();
    realm.call(&oauth, "read").await.unwrap();
    realm.books.lock().token_failure = Some(Page::new(503, ""));
    assert_eq!(realm.call(&oauth, "read").await.unwrap(), 200);
}

#[tokio::test]
async fn a_cancelled_request_does_not_lose_the_new_refresh_token() {
    let realm = Realm::start().await;
    realm.books.lock().token = json!({ "expires_in": 0 });
    let oauth = realm.oauth().build().unwrap();
    realm.challenge(&oauth).await.unwrap();
    let gate = Arc::new(Semaphore::new(0));
    realm.books.lock().gate = Some(gate.clone());
    let mut call = Box::pin(realm.call(&oauth, "read"));
    while refreshes(&realm) == 0 {
        assert!(poll_once(&mut call).await.is_none());
    }
    drop(call);
    gate.add_permits(100);
    assert_eq!(realm.call(&oauth, "read").await.unwrap(), 200);
    assert!(!realm.books.lock().reused);
    assert_eq!(logins(&realm), 1);
}

#[tokio::test]
async fn two_providers_with_one_store_share_one_session() {
    let realm = Realm::start().await;
    let store = Arc::new(MemoryStore::new());
    let oauth = || realm.oauth().store(store.clone()).build().unwrap();
    let (first, second) = (oauth(), oauth());
    realm.call(&first, "read").await.unwrap();
    realm.call(&second, "read").await.unwrap();
    assert_eq!(
        logins(&realm),
        1,
        "the second found what the first had stored"
    );

    realm.revoke();
    realm.call(&first, "read").await.unwrap();
    realm.call(&second, "read").await.unwrap();
    assert_eq!(
        (logins(&realm), refreshes(&realm)),
        (1, 1),
        "the second took over the first's token"
    );
    assert!(!realm.books.lock().reused);
}

#[tokio::test]
async fn logging_out_forgets_the_tokens() {
    let realm = Realm::start().await;
    let oauth = realm.oauth().build().unwrap();
    realm.call(&oauth, "read").await.unwrap();
    oauth.log_out().await.unwrap();
    realm.call(&oauth, "read").await.unwrap();
    assert_eq!(logins(&realm), 2);
}

#[tokio::test]
async fn a_token_without_a_refresh_token_ends_in_a_login() {
    let realm = Realm::start().await;
    realm.books.lock().token = json!({ "expires_in": 0, "refresh_token": null });
    let oauth = realm.oauth().build().unwrap();
    realm.challenge(&oauth).await.unwrap();
    realm.books.lock().token = json!({});
    assert_eq!(realm.call(&oauth, "read").await.unwrap(), 200);
    assert_eq!(logins(&realm), 2);
}
