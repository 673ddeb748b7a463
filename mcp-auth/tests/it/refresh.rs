//! Tokens are renewed in time, once, and never lost.

use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use async_trait::async_trait;
use mcp_auth::{AuthError, MemoryStore, OAuth, StoreLock, TokenStore};
use mcp_transport::{AuthVerdict, BoxError, Secret};
use parking_lot::Mutex;
use serde_json::{Value, json};
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
async fn a_refused_token_is_refreshed_once_for_all_requests() {
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
async fn a_proxys_error_page_costs_no_refresh_token() {
    let realm = Realm::start().await;
    let oauth = realm.oauth().build().unwrap();
    realm.call(&oauth, "read").await.unwrap();
    for page in [
        Page::new(403, "<html>sign in to the wireless network"),
        Page::new(200, "<html>"),
    ] {
        realm.revoke();
        realm.books.lock().token_failure = Some(page);
        realm.call(&oauth, "read").await.unwrap_err();
        realm.books.lock().token_failure = None;
        let before = refreshes(&realm);
        assert_eq!(realm.call(&oauth, "read").await.unwrap(), 200);
        assert_eq!(refreshes(&realm), before + 1);
    }
}

#[tokio::test]
async fn a_client_the_server_has_forgotten_is_registered_anew() {
    let realm = Realm::start().await;
    let oauth = realm.oauth().build().unwrap();
    realm.call(&oauth, "read").await.unwrap();
    realm.revoke();
    realm.books.lock().forgotten = true;
    assert_eq!(realm.call(&oauth, "read").await.unwrap(), 200);
    assert_eq!(
        (logins(&realm), realm.books.lock().registrations.len()),
        (2, 2)
    );
}

/// A realm, a provider whose token is over at once, and what holds up its renewal.
async fn held_up() -> (Realm, OAuth, Arc<Semaphore>) {
    let realm = Realm::start().await;
    realm.books.lock().token = json!({ "expires_in": 0 });
    let oauth = realm.oauth().build().unwrap();
    realm.challenge(&oauth).await.unwrap();
    let gate = Arc::new(Semaphore::new(0));
    realm.books.lock().gate = Some(gate.clone());
    (realm, oauth, gate)
}

/// Remembers the last session that was saved, so that a test can age it.
#[derive(Debug, Default)]
struct Cellar {
    inner: MemoryStore,
    session: Mutex<Option<(String, Secret)>>,
}

impl Cellar {
    /// Moves the stored session's life: issued long ago, and over in this many seconds.
    async fn age(&self, left: u64) {
        let (name, text) = self.session.lock().clone().unwrap();
        let now = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap()
            .as_secs();
        let mut session: Value = serde_json::from_str(text.expose()).unwrap();
        session["issued_at"] = json!(now - 100_000);
        session["expires_at"] = json!(now + left);
        self.inner
            .save(&name, &Secret::new(session.to_string()))
            .await
            .unwrap();
    }
}

#[async_trait]
impl TokenStore for Cellar {
    async fn load(&self, name: &str) -> Result<Option<Secret>, BoxError> {
        self.inner.load(name).await
    }
    async fn save(&self, name: &str, value: &Secret) -> Result<(), BoxError> {
        if name.starts_with("token ") {
            *self.session.lock() = Some((name.to_owned(), value.clone()));
        }
        self.inner.save(name, value).await
    }
    async fn remove(&self, name: &str) -> Result<(), BoxError> {
        self.inner.remove(name).await
    }
    async fn lock(&self, name: &str) -> Result<StoreLock, BoxError> {
        self.inner.lock(name).await
    }
}

#[tokio::test]
async fn a_token_is_renewed_a_little_before_its_end() {
    let realm = Realm::start().await;
    let cellar = Arc::new(Cellar::default());
    let oauth = || realm.oauth().store(cellar.clone()).build().unwrap();
    realm.call(&oauth(), "read").await.unwrap();
    cellar.age(300).await;
    realm.call(&oauth(), "read").await.unwrap();
    assert_eq!(refreshes(&realm), 0);
    cellar.age(30).await;
    realm.call(&oauth(), "read").await.unwrap();
    assert_eq!((logins(&realm), refreshes(&realm)), (1, 1));
}

#[tokio::test]
async fn an_outage_before_the_end_of_a_token_goes_unnoticed() {
    let realm = Realm::start().await;
    let cellar = Arc::new(Cellar::default());
    let oauth = || realm.oauth().store(cellar.clone()).build().unwrap();
    realm.call(&oauth(), "read").await.unwrap();
    cellar.age(30).await;
    realm.books.lock().token_failure = Some(Page::new(503, ""));
    let second = oauth();
    for _ in 0..5 {
        assert_eq!(realm.call(&second, "read").await.unwrap(), 200);
    }
    assert_eq!(
        refreshes(&realm),
        1,
        "the failing endpoint is left alone for a while"
    );
}

#[tokio::test]
async fn a_refusal_that_only_met_a_failing_renewal_gets_its_login() {
    let (realm, oauth, gate) = held_up().await;
    realm.books.lock().token_failure = Some(Page::json(400, &json!({ "error": "invalid_grant" })));
    let mut renewal = Box::pin(realm.call(&oauth, "read"));
    while refreshes(&realm) == 0 {
        assert!(poll_once(&mut renewal).await.is_none());
    }
    let mut refusal = Box::pin(realm.challenge(&oauth));
    assert!(
        poll_once(&mut refusal).await.is_none(),
        "it waits for the renewal"
    );
    realm.books.lock().token_failure = None;
    realm.books.lock().token = json!({});
    gate.add_permits(100);
    assert_eq!(refusal.await.unwrap(), AuthVerdict::Retry);
    assert_eq!(renewal.await.unwrap(), 200);
    assert_eq!(logins(&realm), 2);
}

#[tokio::test]
async fn a_cancelled_request_does_not_lose_the_new_refresh_token() {
    let (realm, oauth, gate) = held_up().await;
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
