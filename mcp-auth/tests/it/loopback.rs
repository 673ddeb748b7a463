//! The listener that catches the browser.

use std::sync::Arc;

use mcp_auth::{Authorizer as _, LoginPrompt, LoopbackAuthorizer, OAuth};
use parking_lot::Mutex;
use tokio::net::TcpStream;
use tokio::sync::oneshot;

use crate::realm::{Realm, visit};
use crate::web::fetch;

/// An authorizer that hands its prompt to the test.
fn watched() -> (LoopbackAuthorizer, oneshot::Receiver<LoginPrompt>) {
    let (show, shown) = oneshot::channel();
    let show = Mutex::new(Some(show));
    let authorizer = LoopbackAuthorizer::new(move |prompt| {
        show.lock()
            .take()
            .unwrap()
            .send(prompt.clone())
            .map_err(|_| "no one watches")?;
        Ok(())
    });
    (authorizer, shown)
}

#[tokio::test]
async fn the_browser_is_caught_and_shows_that_it_can_be_closed() {
    let realm = Realm::start().await;
    let (authorizer, shown) = watched();
    let oauth = OAuth::builder(realm.server())
        .authorizer(Arc::new(authorizer))
        .build()
        .unwrap();
    let call = tokio::spawn({
        let realm = realm.clone();
        async move { realm.call(&oauth, "read").await.unwrap() }
    });
    let prompt = shown.await.unwrap();
    let host = prompt
        .redirect_uri
        .strip_prefix("http://")
        .unwrap()
        .split('/')
        .next()
        .unwrap();
    // Browsers open connections they do not use, ask for icons, and run other pages' scripts.
    let _idle = TcpStream::connect(host).await.unwrap();
    for stray in [
        format!("http://{host}/favicon.ico"),
        prompt.redirect_uri.clone(),
        format!("{}?code=X&state=forged", prompt.redirect_uri),
    ] {
        assert_eq!(
            fetch("GET", &stray, &[], "").await.unwrap().status,
            404,
            "{stray}"
        );
    }
    let back = visit(prompt).await.unwrap();
    let page = fetch("GET", &back, &[], "").await.unwrap();
    assert_eq!(page.status, 200);
    assert!(page.body.contains("You can close this page"));
    assert!(!page.body.contains("code"));
    assert_eq!(call.await.unwrap(), 200);
}

#[tokio::test]
async fn a_pasted_url_is_as_good_as_a_browser() {
    let realm = Realm::start().await;
    let authorizer = LoopbackAuthorizer::new(|_| Ok(()))
        .with_paste(|prompt| async { Ok(format!("  {}\n", visit(prompt).await?)) });
    let oauth = OAuth::builder(realm.server())
        .authorizer(Arc::new(authorizer))
        .build()
        .unwrap();
    assert_eq!(realm.call(&oauth, "read").await.unwrap(), 200);
}

#[tokio::test]
async fn the_port_that_was_registered_is_used_again_if_it_is_free() {
    let authorizer = LoopbackAuthorizer::new(|_| Ok(()));
    let first = authorizer.begin(None).await.unwrap();
    let uri = first.redirect_uri().to_owned();
    assert!(
        uri.starts_with("http://127.0.0.1:") && uri.ends_with("/callback"),
        "{uri}"
    );
    let other = authorizer.begin(Some(&uri)).await.unwrap();
    assert_ne!(other.redirect_uri(), uri, "it is taken");
    drop(first);
    let again = authorizer.begin(Some(&uri)).await.unwrap();
    assert_eq!(again.redirect_uri(), uri);
}

#[tokio::test]
async fn the_address_can_be_chosen_but_not_outside_this_machine() {
    let show = Arc::new(|_: &LoginPrompt| Ok(()));
    let at = |uri: &str| {
        let show = show.clone();
        LoopbackAuthorizer::new(move |prompt| show(prompt)).with_redirect_uri(uri)
    };
    let named = at("http://localhost/cb").begin(None).await.unwrap();
    assert!(
        named.redirect_uri().starts_with("http://localhost:")
            && named.redirect_uri().ends_with("/cb")
    );
    for uri in [
        "http://0.0.0.0/cb",
        "http://app.example/cb",
        "https://localhost/cb",
        "nonsense",
    ] {
        assert!(at(uri).begin(None).await.is_err(), "{uri}");
    }
}
