//! Answers that stay fresh are not asked for again.

use std::time::Duration;

use mcp_client::Interests;
use mcp_testkit::{Era, Script};

use crate::kit::{client, server};

#[tokio::test]
async fn a_fresh_list_costs_no_request_until_it_changes() {
    let script = Script::standard().with_ttl(Duration::from_secs(3600));
    let server = server(script, Era::Modern).await;
    let client = client(&server).await;
    let mut changes = client
        .subscribe(Interests::default().with_tools())
        .await
        .unwrap();
    let first = client.list_tools().await.unwrap();
    assert_eq!(client.list_tools().await.unwrap(), first);
    assert_eq!(server.log().of_method("tools/list").len(), 1);
    server.list_changed("tools");
    changes.next().await.unwrap();
    client.list_tools().await.unwrap();
    assert_eq!(server.log().of_method("tools/list").len(), 2);
    client.close().await;
    server.shutdown().await;
}

#[tokio::test]
async fn older_servers_are_asked_every_time() {
    let server = server(Script::standard(), Era::Legacy).await;
    let client = client(&server).await;
    client.list_tools().await.unwrap();
    client.list_tools().await.unwrap();
    assert_eq!(server.log().of_method("tools/list").len(), 2);
    client.close().await;
    server.shutdown().await;
}
