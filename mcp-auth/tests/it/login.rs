//! A person logs in.

use std::sync::Arc;

use mcp_auth::{
    AuthError, AuthLimits, HostAuthorizer, MemoryStore, OAuth, RegisteredClient, Violation,
};
use mcp_transport::{AuthProvider as _, AuthRequest};
use serde_json::json;
use tokio::sync::Semaphore;

use crate::realm::{REDIRECT, Realm, auth_error, headless, poll_once, visit};

#[tokio::test]
async fn a_refused_request_leads_to_a_login_and_is_repeated() {
    let realm = Realm::start().await;
    let oauth = realm.oauth().client_name("Ours").build().unwrap();
    assert_eq!(realm.call(&oauth, "read").await.unwrap(), 200);
    assert_eq!(realm.call(&oauth, "read").await.unwrap(), 200);
    let books = realm.books.lock();
    assert_eq!(books.logins.len(), 1);
    assert_eq!(
        books.registrations,
        [json!({
            "client_name": "Ours",
            "application_type": "native",
            "redirect_uris": [REDIRECT],
            "grant_types": ["authorization_code", "refresh_token"],
            "response_types": ["code"],
            "token_endpoint_auth_method": "none",
        })]
    );
    let login = &books.logins[0];
    assert_eq!(login["resource"], realm.server());
    assert_eq!(login["code_challenge_method"], "S256");
    assert!(
        !login.contains_key("scope"),
        "no one named a scope, so none is asked for"
    );
    assert_eq!(books.asked[0]["resource"], realm.server());
}

#[tokio::test]
async fn concurrent_refusals_lead_to_one_login() {
    let realm = Realm::start().await;
    let gate = Arc::new(Semaphore::new(0));
    realm.books.lock().gate = Some(gate.clone());
    let oauth = realm.oauth().build().unwrap();
    let calls: Vec<_> = (0..20)
        .map(|_| {
            let (realm, oauth) = (realm.clone(), oauth.clone());
            tokio::spawn(async move { realm.call(&oauth, "read").await.unwrap() })
        })
        .collect();
    gate.add_permits(100);
    for call in calls {
        assert_eq!(call.await.unwrap(), 200);
    }
    assert_eq!(realm.books.lock().logins.len(), 1);
}

#[tokio::test]
async fn a_failed_login_fails_every_request_that_waited_for_it() {
    let realm = Realm::start().await;
    let gate = Arc::new(Semaphore::new(0));
    realm.books.lock().gate = Some(gate.clone());
    realm.books.lock().token_failure = Some(crate::web::Page::json(
        400,
        &json!({ "error": "invalid_grant" }),
    ));
    let oauth = realm.oauth().build().unwrap();
    let first = tokio::spawn({
        let (realm, oauth) = (realm.clone(), oauth.clone());
        async move { realm.call(&oauth, "read").await }
    });
    while realm.books.lock().asked.is_empty() {
        tokio::task::yield_now().await;
    }
    let mut second = Box::pin(realm.challenge(&oauth));
    assert!(poll_once(&mut second).await.is_none(), "it joined");
    gate.add_permits(100);
    for outcome in [first.await.unwrap(), second.await.map(|_| 0)] {
        assert!(
            matches!(auth_error(outcome), AuthError::Rejected { error, .. } if error == "invalid_grant")
        );
    }
    assert_eq!(realm.books.lock().logins.len(), 1);
}

#[tokio::test]
async fn a_cancelled_request_does_not_lose_the_login() {
    let realm = Realm::start().await;
    let gate = Arc::new(Semaphore::new(0));
    realm.books.lock().gate = Some(gate.clone());
    let oauth = realm.oauth().build().unwrap();
    let mut call = Box::pin(realm.call(&oauth, "read"));
    while realm.books.lock().asked.is_empty() {
        assert!(poll_once(&mut call).await.is_none());
    }
    drop(call);
    gate.add_permits(100);
    assert_eq!(realm.call(&oauth, "read").await.unwrap(), 200);
    assert_eq!(realm.books.lock().logins.len(), 1);
}

#[tokio::test]
async fn without_an_authorizer_the_error_names_what_is_missing() {
    let realm = Realm::start().await;
    let oauth = OAuth::builder(realm.server()).build().unwrap();
    let error = auth_error(realm.call(&oauth, "read").await);
    assert!(error.needs_person());
    assert!(matches!(error, AuthError::LoginRequired { .. }));
    assert!(realm.books.lock().registrations.is_empty());
}

#[tokio::test]
async fn an_unfinished_login_ends() {
    let realm = Realm::start().await;
    let never = HostAuthorizer::new(REDIRECT, |_| std::future::pending());
    let limits = AuthLimits::default().with_login(std::time::Duration::ZERO);
    let oauth = OAuth::builder(realm.server())
        .authorizer(Arc::new(never))
        .limits(limits)
        .build()
        .unwrap();
    assert!(matches!(
        auth_error(realm.call(&oauth, "read").await),
        AuthError::LoginTimeout { .. }
    ));
}

#[tokio::test]
async fn answers_that_must_not_be_believed_are_not() {
    let realm = Realm::start().await;
    let oauth = realm.oauth().build().unwrap();
    for (callback, want) in [
        (json!({ "state": "forged" }), Violation::State),
        (
            json!({ "iss": null }),
            Violation::CallbackIssuer {
                expected: realm.authority.url.clone(),
                found: None,
            },
        ),
        (
            json!({ "iss": "https://evil.example", "error": "access_denied", "error_description": "call 555" }),
            Violation::CallbackIssuer {
                expected: realm.authority.url.clone(),
                found: Some("https://evil.example".to_owned()),
            },
        ),
    ] {
        realm.books.lock().callback = callback;
        match auth_error(realm.call(&oauth, "read").await) {
            AuthError::Refused { violation, .. } => assert_eq!(violation, want),
            other => panic!("{other:?}"),
        }
    }
    assert!(
        realm.books.lock().asked.is_empty(),
        "no code was shown to anybody"
    );
    realm.books.lock().callback = json!({ "code": null, "error": "access_denied" });
    assert!(matches!(
        auth_error(realm.call(&oauth, "read").await),
        AuthError::Denied { .. }
    ));
}

#[tokio::test]
async fn a_registration_is_used_again_until_it_fails() {
    let realm = Realm::start().await;
    let store = Arc::new(MemoryStore::new());
    let oauth = || realm.oauth().store(store.clone()).build().unwrap();
    let first = oauth();
    assert_eq!(realm.call(&first, "read").await.unwrap(), 200);
    first.log_out().await.unwrap();
    assert_eq!(
        realm.call(&oauth(), "read").await.unwrap(),
        200,
        "a new provider logs in again"
    );
    assert_eq!(realm.books.lock().registrations.len(), 1);

    first.log_out().await.unwrap();
    realm.books.lock().callback = json!({ "code": null, "error": "unauthorized_client" });
    assert!(matches!(
        auth_error(realm.call(&oauth(), "read").await),
        AuthError::Denied { .. }
    ));
    realm.books.lock().callback = json!(null);
    assert_eq!(realm.call(&oauth(), "read").await.unwrap(), 200);
    assert_eq!(
        realm.books.lock().registrations.len(),
        2,
        "the server had forgotten us"
    );
}

#[tokio::test]
async fn identities_are_tried_in_order() {
    let realm = Realm::start().await;
    let document = "https://app.example/client.json";
    let with_document = || realm.oauth().client_document(document);
    realm.books.lock().server_metadata = json!({ "client_id_metadata_document_supported": true });
    realm
        .call(&with_document().build().unwrap(), "read")
        .await
        .unwrap();
    assert_eq!(realm.books.lock().logins[0]["client_id"], document);

    let registered = RegisteredClient::new("by-hand").with_secret("s");
    realm
        .call(
            &with_document()
                .registered_client(registered)
                .build()
                .unwrap(),
            "read",
        )
        .await
        .unwrap();
    assert_eq!(realm.books.lock().logins[1]["client_id"], "by-hand");
    assert!(
        realm.books.lock().authorizations[1]
            .as_ref()
            .unwrap()
            .starts_with("Basic ")
    );
    assert!(realm.books.lock().registrations.is_empty());

    realm.books.lock().server_metadata = json!({});
    realm
        .call(&with_document().build().unwrap(), "read")
        .await
        .unwrap();
    assert_eq!(realm.books.lock().registrations.len(), 1);

    realm.books.lock().server_metadata = json!({ "registration_endpoint": null });
    let error = auth_error(realm.call(&with_document().build().unwrap(), "read").await);
    assert!(
        matches!(&error, AuthError::NoClient { redirect_uri: Some(uri), .. } if uri == REDIRECT)
    );
}

#[tokio::test]
async fn tokens_go_to_their_own_server_only() {
    let realm = Realm::start().await;
    let oauth = realm.oauth().build().unwrap();
    realm.call(&oauth, "read").await.unwrap();
    let server = realm.server();
    for elsewhere in [
        "https://evil.example/mcp",
        &realm.authority.url,
        "not a url",
        &server.replace("http", "https"),
    ] {
        let headers = oauth
            .headers(&AuthRequest::new("POST", elsewhere, &server))
            .await
            .unwrap();
        assert!(headers.is_empty(), "{elsewhere}");
    }
    let below = format!("{}/other?x=1", realm.resource.url);
    assert_eq!(
        oauth
            .headers(&AuthRequest::new("GET", &below, &server))
            .await
            .unwrap()
            .len(),
        1
    );
}

#[tokio::test]
async fn a_token_that_is_refused_at_once_is_not_asked_for_again_and_again() {
    let realm = Realm::start().await;
    realm.books.lock().token = json!({ "access_token": "never-valid", "refresh_token": null });
    let oauth = realm.oauth().build().unwrap();
    for _ in 0..3 {
        assert!(matches!(
            auth_error(realm.call(&oauth, "read").await),
            AuthError::TokenRefused { .. }
        ));
    }
    assert_eq!(realm.books.lock().logins.len(), 1);
}

#[tokio::test]
async fn a_code_is_only_sent_to_this_machine_or_over_https() {
    let realm = Realm::start().await;
    let oauth = OAuth::builder(realm.server())
        .authorizer(Arc::new(HostAuthorizer::new(
            "http://app.example/callback",
            visit,
        )))
        .build()
        .unwrap();
    assert!(matches!(
        auth_error(realm.call(&oauth, "read").await),
        AuthError::Config { .. }
    ));
    assert!(realm.books.lock().logins.is_empty());
}

#[test]
fn what_cannot_work_is_reported_at_the_start() {
    for builder in [
        OAuth::builder("not a url"),
        OAuth::builder("https://h/mcp").client_credentials(),
        OAuth::builder("https://h/mcp").client_document("http://app.example/client.json"),
        OAuth::builder("https://h/mcp").client_document("https://app.example"),
        OAuth::builder("https://h/mcp")
            .proxy("nonsense")
            .authorizer(Arc::new(headless())),
    ] {
        assert!(matches!(builder.build(), Err(AuthError::Config { .. })));
    }
}
