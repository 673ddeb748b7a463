//! What is asked, in which order, and what is refused.

use std::sync::Arc;

use mcp_auth::{AuthError, ResourceParameter, Violation};
use serde_json::{Value, json};
use tokio::sync::Semaphore;

use crate::realm::{Realm, auth_error};
use crate::web::{Page, Site};

/// The metadata requests of one login.
fn metadata_log(site: &Site) -> Vec<String> {
    site.take_log()
        .into_iter()
        .filter(|line| line.contains("/.well-known/"))
        .collect()
}

#[tokio::test]
async fn the_place_a_challenge_names_is_asked_first_and_alone() {
    let realm = Realm::start().await;
    let elsewhere = Site::start({
        let document =
            json!({ "resource": realm.server(), "authorization_servers": [realm.authority.url] });
        move |_| Page::json(200, &document)
    })
    .await;
    realm.books.lock().challenge = format!("resource_metadata=\"{}/custom\"", elsewhere.url);
    realm.first_call().await.unwrap();
    assert_eq!(elsewhere.take_log(), ["GET /custom"]);
    assert!(metadata_log(&realm.resource).is_empty());
    assert_eq!(
        metadata_log(&realm.authority),
        ["GET /.well-known/oauth-authorization-server"]
    );
}

#[tokio::test]
async fn a_named_place_with_nothing_in_it_is_not_the_end() {
    let realm = Realm::start().await;
    realm.books.lock().challenge = "resource_metadata=\"/nothing/here\"".to_owned();
    realm.first_call().await.unwrap();
    assert_eq!(
        metadata_log(&realm.resource),
        ["GET /.well-known/oauth-protected-resource/mcp"]
    );
}

#[tokio::test]
async fn an_issuers_documents_are_asked_in_order() {
    let realm = Realm::start().await;
    let tenant = format!("{}/tenant", realm.authority.url);
    realm.books.lock().resource_metadata = json!({ "authorization_servers": [tenant] });
    let error = auth_error(realm.first_call().await);
    assert!(matches!(error, AuthError::NoAuthorizationServer { .. }));
    assert_eq!(
        realm.authority.take_log(),
        [
            "GET /.well-known/oauth-authorization-server/tenant",
            "GET /.well-known/openid-configuration/tenant",
            "GET /tenant/.well-known/openid-configuration",
        ]
    );
}

#[tokio::test]
async fn a_resource_of_the_bare_origin_is_sent_back_without_a_slash() {
    let realm = Realm::start().await;
    realm.books.lock().resource_metadata = json!({ "resource": realm.resource.url });
    realm.first_call().await.unwrap();
    let books = realm.books.lock();
    assert_eq!(books.logins[0]["resource"], realm.resource.url);
    assert_eq!(books.asked[0]["resource"], realm.resource.url);
}

#[tokio::test]
async fn the_resource_parameter_can_be_overruled() {
    let realm = Realm::start().await;
    let exactly = ResourceParameter::Exactly("api://mine".to_owned());
    realm
        .call(&realm.oauth().resource(exactly).build().unwrap(), "read")
        .await
        .unwrap();
    realm
        .call(
            &realm
                .oauth()
                .resource(ResourceParameter::Omit)
                .build()
                .unwrap(),
            "read",
        )
        .await
        .unwrap();
    let books = realm.books.lock();
    assert_eq!(books.logins[0]["resource"], "api://mine");
    assert!(!books.logins[1].contains_key("resource") && !books.asked[1].contains_key("resource"));
}

#[tokio::test]
async fn what_the_protocol_says_to_refuse_is_refused() {
    let realm = Realm::start().await;
    let issuer = realm.authority.url.clone();
    let cases: [(Value, Value, Violation); 3] = [
        (
            json!({ "resource": "https://evil.example/mcp" }),
            json!({}),
            Violation::Resource {
                resource: "https://evil.example/mcp".to_owned(),
            },
        ),
        (
            json!({}),
            json!({ "issuer": format!("{issuer}/") }),
            Violation::Issuer {
                expected: issuer.clone(),
                found: format!("{issuer}/"),
            },
        ),
        (
            json!({}),
            json!({ "code_challenge_methods_supported": null }),
            Violation::NoPkce {
                issuer: issuer.clone(),
            },
        ),
    ];
    for (resource, server, want) in cases {
        realm.books.lock().resource_metadata = resource;
        realm.books.lock().server_metadata = server;
        match auth_error(realm.first_call().await) {
            AuthError::Refused { violation, .. } => assert_eq!(violation, want),
            other => panic!("{other:?}"),
        }
    }
    let books = realm.books.lock();
    assert!(books.registrations.is_empty() && books.logins.is_empty() && books.asked.is_empty());
}

#[tokio::test]
async fn pkce_may_be_presumed_if_the_host_allows_it() {
    let realm = Realm::start().await;
    realm.books.lock().server_metadata = json!({ "code_challenge_methods_supported": null });
    let oauth = realm.oauth().presume_pkce().build().unwrap();
    assert_eq!(realm.call(&oauth, "read").await.unwrap(), 200);
}

#[tokio::test]
async fn scopes_come_from_the_challenge_else_from_the_resource() {
    let realm = Realm::start().await;
    realm.books.lock().resource_metadata = json!({ "scopes_supported": ["a", "b"] });
    realm.books.lock().server_metadata =
        json!({ "scopes_supported": ["a", "offline_access", "z"] });
    realm.first_call().await.unwrap();
    realm.books.lock().challenge = "scope=\"c\"".to_owned();
    realm.first_call().await.unwrap();
    realm.books.lock().server_metadata = json!({ "scopes_supported": ["a"] });
    realm.first_call().await.unwrap();
    let books = realm.books.lock();
    let scopes: Vec<_> = books
        .logins
        .iter()
        .map(|login| login["scope"].as_str())
        .collect();
    assert_eq!(scopes, ["a b offline_access", "c offline_access", "c"]);
}

#[tokio::test]
async fn another_authorization_server_replaces_one_that_is_down() {
    let realm = Realm::start().await;
    let down = Site::start(|_| Page::new(503, "")).await;
    realm.books.lock().resource_metadata =
        json!({ "authorization_servers": [down.url, realm.authority.url] });
    assert_eq!(realm.first_call().await.unwrap(), 200);

    realm.books.lock().resource_metadata = json!({ "authorization_servers": [down.url] });
    let error = auth_error(realm.first_call().await);
    assert!(error.is_retryable(), "{error:?}");
}

/// A server of 2025-03-26, which is its own authorization server, and answers these pages.
async fn legacy(metadata: Option<fn(&str) -> Value>) -> Site {
    Site::start(move |hit| {
        let own = format!("http://{}", hit.header("host").unwrap());
        match (hit.path(), metadata) {
            ("/mcp", _) => match hit.header("authorization") {
                Some("Bearer T") => Page::new(200, ""),
                _ => Page::new(401, ""),
            },
            ("/.well-known/oauth-authorization-server", Some(metadata)) => {
                Page::json(200, &metadata(&own))
            }
            ("/register" | "/oauth/register", _) => Page::json(201, &json!({ "client_id": "c" })),
            ("/authorize" | "/oauth/authorize", _) => {
                let query = hit.query();
                assert_eq!(query["code_challenge_method"], "S256");
                Page::new(302, "").with(
                    "location",
                    format!("{}?code=C&state={}", query["redirect_uri"], query["state"]),
                )
            }
            ("/token" | "/oauth/token", _) => Page::json(200, &json!({ "access_token": "T" })),
            _ => Page::new(404, ""),
        }
    })
    .await
}

async fn legacy_call(site: &Site) -> Result<u16, mcp_transport::BoxError> {
    let mut realm = Realm::start().await;
    realm.resource = site.clone();
    realm.first_call().await
}

#[tokio::test]
async fn a_server_of_2025_03_26_is_its_own_authorization_server() {
    let bare = legacy(None).await;
    assert_eq!(legacy_call(&bare).await.unwrap(), 200);
    assert!(bare.take_log().contains(&"POST /token".to_owned()));

    let described = legacy(Some(|own| {
        json!({
            "issuer": format!("{own}/oauth"),
            "authorization_endpoint": format!("{own}/oauth/authorize"),
            "token_endpoint": format!("{own}/oauth/token"),
            "registration_endpoint": format!("{own}/oauth/register"),
        })
    }))
    .await;
    assert_eq!(legacy_call(&described).await.unwrap(), 200);
    assert!(
        described
            .take_log()
            .contains(&"POST /oauth/token".to_owned())
    );

    let foreign = legacy(Some(
        |own| json!({ "issuer": own, "token_endpoint": "https://evil.example/token" }),
    ))
    .await;
    let error = auth_error(legacy_call(&foreign).await);
    assert!(matches!(
        error,
        AuthError::Refused {
            violation: Violation::Issuer { .. },
            ..
        }
    ));
}

#[tokio::test]
async fn a_server_that_requires_a_fixed_token_is_recognized() {
    let plain =
        Site::start(|hit| Page::new(if hit.path() == "/mcp" { 401 } else { 404 }, "")).await;
    let error = auth_error(legacy_call(&plain).await);
    assert!(
        matches!(error, AuthError::NoAuthorizationServer { .. }),
        "{error:?}"
    );
}

#[tokio::test]
async fn metadata_may_be_behind_a_few_redirects_but_not_behind_many() {
    let realm = Realm::start().await;
    let document =
        json!({ "resource": realm.server(), "authorization_servers": [realm.authority.url] });
    let hops = Site::start(
        move |hit| match hit.path().trim_start_matches('/').parse() {
            Ok(0) => Page::json(200, &document),
            Ok(left) => Page::new(302, "").with("location", format!("/{}", left - 1)),
            Err(_) => panic!("{hit:?}"),
        },
    )
    .await;
    let from = |hop: u32| format!("resource_metadata=\"{}/{hop}\"", hops.url);
    realm.books.lock().challenge = from(3);
    assert_eq!(realm.first_call().await.unwrap(), 200);
    realm.books.lock().challenge = from(4);
    let error = auth_error(realm.first_call().await);
    assert!(matches!(error, AuthError::Malformed { .. }), "{error:?}");
}

#[tokio::test(start_paused = true)]
async fn a_server_that_never_responds_is_abandoned() {
    let realm = Realm::start().await;
    let gate = Arc::new(Semaphore::new(0));
    let silent = Site::start(move |_| Page::new(200, "").behind(Some(gate.clone()))).await;
    realm.books.lock().challenge = format!("resource_metadata=\"{}\"", silent.url);
    let error = auth_error(realm.first_call().await);
    assert!(error.is_retryable(), "{error:?}");
}

#[tokio::test]
async fn an_answer_that_never_ends_is_cut() {
    let realm = Realm::start().await;
    let endless = Site::start(|_| Page::new(200, "x".repeat(300 * 1024))).await;
    realm.books.lock().challenge = format!("resource_metadata=\"{}\"", endless.url);
    let error = auth_error(realm.first_call().await);
    assert!(matches!(error, AuthError::Malformed { .. }), "{error:?}");
}
