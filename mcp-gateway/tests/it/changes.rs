//! Changes of upstream lists and resources reach downstream clients; servers that are down are named.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use mcp_client::{ClientEvent, Interests};
use mcp_jsonrpc::model::{Implementation, Resource};
use mcp_server::{Context, Server};
use serde_json::{Value, json};

use crate::kit::{Alive, CELLS, any, connect, gateway, server};

#[tokio::test]
async fn a_change_of_an_upstream_list_is_announced_and_listed() {
    for (client_era, server_era) in CELLS {
        let grown = Arc::new(AtomicBool::new(false));
        let shown = Arc::clone(&grown);
        let upstream = Server::new(Implementation::new("upstream", "1"))
            .tool_with_schema(any("old"), |_: Value, _: Context| async {})
            .tool_with_schema(any("new"), |_: Value, _: Context| async {})
            .filter_tools(move |tool, _| tool.name == "old" || shown.load(Ordering::SeqCst))
            .eras(server_era)
            .build();
        let gateway = gateway(&[("up", Some(""), &upstream)]).await;
        let (client, _) = connect(gateway.service(), client_era).await;
        assert_eq!(client.list_tools().await.unwrap().items.len(), 1);
        let interests = Interests::default().with_tools();
        let mut changes = client.subscribe(interests).await.unwrap();
        grown.store(true, Ordering::SeqCst);
        upstream.notifier().tools_changed();
        assert_eq!(changes.next().await, Some(ClientEvent::ToolsChanged));
        assert_eq!(client.list_tools().await.unwrap().items.len(), 2);
        assert!(client.call_tool("new", json!({})).await.is_ok());
        gateway.shutdown().await;
    }
}

#[tokio::test]
async fn a_change_of_a_watched_resource_is_announced() {
    for (client_era, server_era) in CELLS {
        let upstream = Server::new(Implementation::new("upstream", "1"))
            .resource(Resource::new("test://a", "a"), |_| async { "a" })
            .eras(server_era)
            .build();
        let gateway = gateway(&[("up", None, &upstream)]).await;
        let (client, _) = connect(gateway.service(), client_era).await;
        let interests = Interests::default().with_resource("test://a");
        let mut changes = client.subscribe(interests).await.unwrap();
        upstream.notifier().resource_updated("test://a");
        let uri = "test://a".to_owned();
        assert_eq!(
            changes.next().await,
            Some(ClientEvent::ResourceUpdated { uri })
        );
        gateway.shutdown().await;
    }
}

#[tokio::test]
async fn a_server_that_is_down_is_named_in_the_instructions_and_the_error() {
    let upstream = server(mcp_server::Eras::Both, &Arc::default(), &Alive::default()).build();
    let gateway = gateway(&[("up", None, &upstream)]).await;
    gateway.manager().shutdown().await;
    let (client, _) = connect(gateway.service(), crate::kit::MODERN).await;
    let error = client.call_tool("up__zeta", json!({})).await.unwrap_err();
    assert!(error.peer().unwrap().message.contains("up"), "{error}");
    gateway.shutdown().await;
}
