//! Lists, calls and errors through the gateway are those of the servers behind it.

use std::sync::Arc;
use std::time::Duration;

use mcp_client::CallOptions;
use mcp_gateway::Profile;
use mcp_jsonrpc::ErrorCode;
use mcp_jsonrpc::model::{
    CacheScope, CompleteParams, CompletionArgument, ListTools, PageParams, PromptReference,
};
use mcp_server::{Eras, ServerLimits, Service};
use parking_lot::Mutex;
use serde_json::json;

use crate::kit::{Alive, CELLS, MODERN, connect, gateway, gateway_with, server, text};

#[tokio::test]
async fn lists_are_merged_in_the_order_of_the_servers_with_stable_names() {
    for (client_era, server_era) in CELLS {
        let upstream = server(server_era, &Arc::default(), &Alive::default()).build();
        let gateway = gateway(&[("b", None, &upstream), ("a", Some(""), &upstream)]).await;
        let (client, _) = connect(gateway.service(), client_era).await;
        let tools = client.list_tools().await.unwrap().items;
        let names: Vec<_> = tools.iter().map(|tool| tool.name.as_str()).collect();
        let own = ["zeta", "alpha", "refuse", "progress", "ask_all", "hang"];
        let want: Vec<_> = own
            .iter()
            .map(|name| format!("b__{name}"))
            .chain(own.iter().map(|name| (*name).to_owned()))
            .collect();
        assert_eq!(names, want);
        let prompts = client.list_prompts().await.unwrap().items;
        let prompts: Vec<_> = prompts.iter().map(|prompt| prompt.name.as_str()).collect();
        assert_eq!(prompts, ["b__greet", "greet"]);
        // URIs are not changed; the first server that lists one has it.
        let resources = client.list_resources().await.unwrap().items;
        assert_eq!(resources.len(), 1);
        assert_eq!(
            client.list_resource_templates().await.unwrap().items.len(),
            1
        );
        gateway.shutdown().await;
    }
}

#[tokio::test]
async fn results_failures_errors_and_progress_pass_unchanged() {
    for (client_era, server_era) in CELLS {
        let upstream = server(server_era, &Arc::default(), &Alive::default()).build();
        let gateway = gateway(&[("up", None, &upstream)]).await;
        let (client, _) = connect(gateway.service(), client_era).await;
        let cell = format!("{client_era:?} {server_era:?}");
        let echo = client
            .call_tool("up__zeta", json!({"ü": [1, null]}))
            .await
            .unwrap();
        assert_eq!(text(&echo), r#"{"ü":[1,null]}"#, "{cell}");
        let failed = client.call_tool("up__alpha", json!({})).await.unwrap();
        assert!(failed.failed() && text(&failed) == "broken", "{cell}");
        let refused = client.call_tool("up__refuse", json!({})).await.unwrap_err();
        let peer = refused.peer().unwrap();
        assert_eq!(
            (peer.code, peer.message.as_str()),
            (ErrorCode::new(-7), "refused")
        );
        let unknown = client.call_tool("zeta", json!({})).await.unwrap_err();
        assert_eq!(unknown.peer().unwrap().code, ErrorCode::INVALID_PARAMS);
        let missing = client.read_resource("test://nothing").await.unwrap_err();
        let want = match client.revision().is_modern() {
            true => ErrorCode::INVALID_PARAMS,
            false => ErrorCode::RESOURCE_NOT_FOUND,
        };
        assert_eq!(missing.peer().unwrap().code, want, "{cell}");
        let item = client.read_resource("test://item/7").await.unwrap();
        assert_eq!(item.contents[0].text.as_deref(), Some("7"), "{cell}");
        let reference = PromptReference::new("up__greet");
        let argument = CompletionArgument::new("name", "x");
        let params = CompleteParams::new(reference, argument);
        let completed = client.complete(&params).await.unwrap();
        assert_eq!(completed.completion.values, ["x!"], "{cell}");
        let seen = Arc::new(Mutex::new(Vec::new()));
        let reports = Arc::clone(&seen);
        let options = CallOptions::default()
            .with_progress(move |report| reports.lock().push(report.progress));
        let done = client
            .with(options)
            .call_tool("up__progress", json!({}))
            .await;
        assert_eq!(text(&done.unwrap()), "done", "{cell}");
        assert_eq!(seen.lock().last(), Some(&3.0), "{cell}");
        gateway.shutdown().await;
    }
}

#[tokio::test]
async fn a_long_list_comes_in_pages_and_a_cursor_of_none_is_refused() {
    for (client_era, server_era) in CELLS {
        let upstream = server(server_era, &Arc::default(), &Alive::default()).build();
        let limits = ServerLimits::default().with_page_len(4);
        let servers = [("up", None, &upstream)];
        let gateway = gateway_with(&servers, |it| it.limits(limits)).await;
        let (client, _) = connect(gateway.service(), client_era).await;
        let page = |cursor: Option<String>| {
            let mut params = PageParams::default();
            params.cursor = cursor;
            let client = client.clone();
            async move { client.request::<ListTools>(&params).await }
        };
        let first = page(None).await.unwrap();
        let second = page(first.next_cursor.clone()).await.unwrap();
        assert_eq!((first.tools.len(), second.tools.len()), (4, 2));
        assert_eq!(second.next_cursor, None);
        let refused = page(Some("none".to_owned())).await.unwrap_err();
        assert_eq!(refused.peer().unwrap().code, ErrorCode::INVALID_PARAMS);
        assert_eq!(client.list_tools().await.unwrap().items.len(), 6);
        gateway.shutdown().await;
    }
}

/// A server whose lists and resources may be cached so.
fn cached(seconds: u64, scope: CacheScope) -> Service {
    let server = server(Eras::Modern, &Arc::default(), &Alive::default());
    server.cache(Duration::from_secs(seconds), scope).build()
}

#[tokio::test]
async fn a_list_stays_fresh_as_long_as_its_first_part_and_is_private_if_one_is() {
    let (long, short) = (
        cached(60, CacheScope::Public),
        cached(20, CacheScope::Public),
    );
    let private = cached(40, CacheScope::Private);
    for (servers, seconds, scope) in [
        (
            [("a", None, &long), ("b", None, &short)],
            20,
            CacheScope::Public,
        ),
        (
            [("a", None, &long), ("b", None, &private)],
            40,
            CacheScope::Private,
        ),
    ] {
        let gateway = gateway(&servers).await;
        let (client, _) = connect(gateway.service(), MODERN).await;
        let tools = client.list_tools().await.unwrap();
        assert_eq!(
            (tools.ttl, tools.scope),
            (Some(Duration::from_secs(seconds)), scope)
        );
        gateway.shutdown().await;
    }
}

#[tokio::test]
async fn what_callers_may_see_in_part_is_cached_for_each_of_them_alone() {
    let public = cached(60, CacheScope::Public);
    let servers = [("a", None, &public)];
    let scopes = async |gateway: &mcp_gateway::Gateway| {
        let (client, _) = connect(gateway.service(), MODERN).await;
        let tools = client.list_tools().await.unwrap().scope;
        let note = client.list_resources().await.unwrap().items.remove(0).uri;
        (
            tools,
            client.read_resource(&note).await.unwrap().cache_scope,
        )
    };
    let plain = gateway(&servers).await;
    let want = (CacheScope::Public, Some(CacheScope::Public));
    assert_eq!(scopes(&plain).await, want);
    plain.shutdown().await;
    let profiles = |_: Option<&mcp_server::Caller>| Arc::new(Profile::default());
    let gateway = gateway_with(&servers, |it| it.profiles(profiles)).await;
    let want = (CacheScope::Private, Some(CacheScope::Private));
    assert_eq!(scopes(&gateway).await, want);
    gateway.shutdown().await;
}
