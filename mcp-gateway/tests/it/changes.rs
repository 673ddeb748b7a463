//! Changes of upstream lists and resources reach downstream clients; servers that are down are named.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use async_trait::async_trait;
use mcp_client::{ClientEvent, Interests};
use mcp_gateway::GatewayBuilder;
use mcp_jsonrpc::model::{
    Implementation, ListResourcesResult, PageParams, Resource, ResourcesCapability,
    ServerCapabilities,
};
use mcp_server::{Context, Error, Handler, Server};
use serde_json::{Value, json};

use crate::kit::{
    Alive, CELLS, MODERN, Net, any, connect, gateway, gateway_on, gateway_with, server, text, until,
};

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

/// Counts who watches its only resource.
#[derive(Clone, Default)]
struct Watchable(Arc<AtomicUsize>);

#[async_trait]
impl Handler for Watchable {
    fn info(&self) -> Implementation {
        Implementation::new("upstream", "1")
    }

    fn capabilities(&self) -> ServerCapabilities {
        let mut resources = ResourcesCapability::default();
        resources.subscribe = Some(true);
        let mut all = ServerCapabilities::default();
        all.resources = Some(resources);
        all
    }

    async fn list_resources(
        &self,
        _: PageParams,
        _: Context,
    ) -> Result<ListResourcesResult, Error> {
        Ok(ListResourcesResult::new(vec![Resource::new(
            "test://a", "a",
        )]))
    }

    async fn can_watch(&self, _: &str, _: &Context) -> bool {
        self.0.fetch_add(1, Ordering::SeqCst);
        true
    }

    fn unwatched(&self, _: &str) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

#[tokio::test]
async fn a_resource_is_watched_upstream_for_as_long_as_a_client_watches_it() {
    for (client_era, server_era) in CELLS {
        let watchable = Watchable::default();
        let watched = Arc::clone(&watchable.0);
        let upstream = Server::with_handler(watchable).eras(server_era).build();
        let gateway = gateway(&[("up", None, &upstream)]).await;
        let (one, _) = connect(gateway.service(), client_era).await;
        let (two, _) = connect(gateway.service(), client_era).await;
        let interests = || Interests::default().with_resource("test://a");
        let first = one.subscribe(interests()).await.unwrap();
        let second = two.subscribe(interests()).await.unwrap();
        assert_eq!(watched.load(Ordering::SeqCst), 1);
        drop(first);
        one.list_resources().await.unwrap();
        assert_eq!(watched.load(Ordering::SeqCst), 1);
        drop(second);
        until(|| watched.load(Ordering::SeqCst) == 0).await;
        gateway.shutdown().await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_watch_outlives_its_servers_connection_and_the_gap_is_one_change() {
    for (client_era, server_era) in CELLS {
        let upstream = Server::new(Implementation::new("upstream", "1"))
            .resource(Resource::new("test://a", "a"), |_| async { "a" })
            .eras(server_era)
            .build();
        let net = Net::default();
        let gateway = gateway_on(&net, &[("up", None, &upstream)], |it| it).await;
        let (client, _) = connect(gateway.service(), client_era).await;
        let interests = Interests::default().with_resource("test://a");
        let mut changes = client.subscribe(interests).await.unwrap();
        let updated = || {
            Some(ClientEvent::ResourceUpdated {
                uri: "test://a".to_owned(),
            })
        };
        net.cut("up");
        assert_eq!(changes.next().await, updated());
        upstream.notifier().resource_updated("test://a");
        assert_eq!(changes.next().await, updated());
        gateway.shutdown().await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_server_that_is_away_makes_no_one_wait_and_keeps_its_place_in_the_lists() {
    let small = || {
        Server::new(Implementation::new("upstream", "1"))
            .tool_with_schema(any("tool"), |_: Value, _: Context| async { "done" })
            .build()
    };
    let (away, there) = (small(), small());
    let net = Net::default();
    let servers = [("away", None, &away), ("there", None, &there)];
    let gateway = gateway_on(&net, &servers, |it| it).await;
    let (client, _) = connect(gateway.service(), MODERN).await;
    net.remove("away");
    net.cut("away");
    until(|| gateway.manager().client("away").is_none()).await;
    let asked = tokio::time::Instant::now();
    let names: Vec<_> = client.list_tools().await.unwrap().items;
    let names: Vec<_> = names.iter().map(|tool| tool.name.as_str()).collect();
    assert_eq!(names, ["away__tool", "there__tool"]);
    let result = client.call_tool("there__tool", json!({})).await.unwrap();
    assert_eq!(text(&result), "done");
    // No timer has run: the clock stands still until all wait.
    assert_eq!(asked.elapsed(), std::time::Duration::ZERO);
    gateway.shutdown().await;
}

#[tokio::test]
async fn a_server_that_is_down_is_named_in_the_instructions_and_the_error() {
    let upstream = server(mcp_server::Eras::Both, &Arc::default(), &Alive::default()).build();
    let set = |it: GatewayBuilder| it.missing("mail", "it waits for its approval");
    let gateway = gateway_with(&[("files", None, &upstream)], set).await;
    gateway.manager().shutdown().await;
    let (client, _) = connect(gateway.service(), MODERN).await;
    let instructions = client.server().instructions.unwrap();
    let call = client.call_tool("none", json!({})).await.unwrap_err();
    let read = client.read_resource("test://none").await.unwrap_err();
    let texts = [
        &instructions,
        &call.peer().unwrap().message,
        &read.peer().unwrap().message,
    ];
    for text in texts {
        for named in ["files (", "mail (it waits for its approval)"] {
            assert!(text.contains(named), "{named}: {text}");
        }
    }
    gateway.shutdown().await;
}
