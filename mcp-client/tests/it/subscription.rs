//! Being told of changes, whichever way the era does it.

use mcp_client::{Event, Interests};
use mcp_testkit::{Era, Script};

use crate::kit::{ERAS, client, server};

const NOTE: &str = "test://notes/first";

#[tokio::test]
async fn the_same_changes_come_in_both_eras() {
    for era in ERAS {
        let server = server(Script::standard(), era).await;
        let client = client(&server).await;
        let interests = Interests::default().with_tools().with_resource(NOTE);
        let mut changes = client.subscribe(interests).await.unwrap();
        server.list_changed("tools");
        assert_eq!(changes.next().await, Some(Event::ToolsChanged), "{era}");
        server.resource_updated(NOTE);
        let uri = NOTE.to_owned();
        assert_eq!(
            changes.next().await,
            Some(Event::ResourceUpdated { uri }),
            "{era}"
        );
        client.close().await;
        server.shutdown().await;
    }
}

#[tokio::test]
async fn dropping_a_subscription_ends_it_at_the_server() {
    let server = server(Script::standard(), Era::Legacy).await;
    let client = client(&server).await;
    let note = || Interests::default().with_resource(NOTE);
    let first = client.subscribe(note()).await.unwrap();
    let second = client.subscribe(note()).await.unwrap();
    drop(first);
    client.ping().await.unwrap();
    assert!(
        server.log().of_method("resources/unsubscribe").is_empty(),
        "one still listens"
    );
    drop(second);
    server.log().wait_for_method("resources/unsubscribe").await;
    client.close().await;
    server.shutdown().await;
}

#[tokio::test]
async fn a_lost_subscription_is_renewed_and_tells_of_the_gap() {
    let server = server(Script::standard(), Era::Modern).await;
    let client = client(&server).await;
    let mut changes = client
        .subscribe(Interests::default().with_tools())
        .await
        .unwrap();
    server.drop_connections();
    assert_eq!(changes.next().await, Some(Event::Gap));
    let listens = |event: &mcp_testkit::Event| {
        let _ = event;
        server.log().of_method("subscriptions/listen").len() > 1
    };
    server.log().wait_for(listens).await;
    client.close().await;
    server.shutdown().await;
}

#[tokio::test]
async fn the_connections_end_ends_the_stream() {
    for era in ERAS {
        let server = server(Script::standard(), era).await;
        let client = client(&server).await;
        let mut changes = client
            .subscribe(Interests::default().with_tools())
            .await
            .unwrap();
        client.close().await;
        while let Some(event) = changes.next().await {
            assert_eq!(event, Event::Gap, "{era}");
        }
        server.shutdown().await;
    }
}
