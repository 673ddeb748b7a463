//! The real HTTP transport, which knows nothing of OAuth.

use std::sync::Arc;

use mcp_transport::{HttpConfig, Incoming, Outgoing, TransportError};

use crate::realm::Realm;

fn ping() -> Outgoing {
    let body = br#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#.to_vec();
    Outgoing::request(1.into(), "ping", body)
}

#[tokio::test]
async fn the_http_transport_is_let_in_by_this_provider() {
    let realm = Realm::start().await;
    let oauth = Arc::new(realm.oauth().build().unwrap());
    let config = HttpConfig::new(&realm.server()).unwrap().streamable_only();
    let server = config.with_auth(oauth).into_connect().unwrap();
    let connection = server.connect().await.unwrap();
    for _ in 0..2 {
        connection.send(ping()).await.unwrap();
        while !matches!(connection.recv().await, Incoming::Message { .. }) {}
        realm.revoke();
    }
    let books = realm.books.lock();
    let grants: Vec<_> = books
        .asked
        .iter()
        .map(|form| form["grant_type"].as_str())
        .collect();
    assert_eq!(grants, ["authorization_code", "refresh_token"]);
}

#[tokio::test]
async fn the_transports_error_carries_what_the_provider_said() {
    let realm = Realm::start().await;
    let oauth = mcp_auth::OAuth::builder(realm.server()).build().unwrap();
    let config = HttpConfig::new(&realm.server()).unwrap().streamable_only();
    let server = config.with_auth(Arc::new(oauth)).into_connect().unwrap();
    let connection = server.connect().await.unwrap();
    match connection.send(ping()).await.unwrap_err().error {
        TransportError::Unauthorized {
            source: Some(source),
            ..
        } => {
            let error = source.downcast_ref::<mcp_auth::AuthError>().unwrap();
            assert!(error.needs_person());
        }
        other => panic!("{other:?}"),
    }
}
