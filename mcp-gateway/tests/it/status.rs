//! Nothing is silently missing: what is down, hidden or not permitted is named, and a crash ends the
//! calls of one server with what is known of them.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use mcp_client::Client;
use mcp_gateway::Profile;
use mcp_jsonrpc::model::Implementation;
use mcp_server::{Context, Eras, Server, Service};
use serde_json::{Value, json};

use crate::kit::{
    Alive, CELLS, MODERN, Net, any, connect, gateway, gateway_on, gateway_with, server, text,
    until, upstream,
};

fn small(tools: &[&str]) -> Service {
    let server = Server::new(Implementation::new("upstream", "1"));
    let with = |server: Server, tool: &&str| {
        let name = (*tool).to_owned();
        server.tool_with_schema(any(tool), move |_: Value, _: Context| {
            let name = name.clone();
            async move { name }
        })
    };
    tools.iter().fold(server, with).build()
}

async fn names(client: &Client) -> Vec<String> {
    let listed = client.list_tools().await.unwrap();
    listed.items.into_iter().map(|tool| tool.name).collect()
}

#[tokio::test]
async fn what_is_hidden_by_a_name_is_named_in_the_instructions() {
    let (one, two) = (small(&["a", "b"]), small(&["b", "c"]));
    let gateway = gateway(&[("one", Some(""), &one), ("two", Some(""), &two)]).await;
    let (client, _) = connect(gateway.service(), MODERN).await;
    assert_eq!(names(&client).await, ["a", "b", "c"]);
    let (client, _) = connect(gateway.service(), MODERN).await;
    let text = client.server().instructions.unwrap();
    assert!(text.contains("the tool b of two"), "{text}");
    gateway.shutdown().await;
}

#[tokio::test]
async fn a_crash_ends_the_calls_of_its_server_with_their_delivery_state_and_nothing_else() {
    for (client_era, server_era) in CELLS {
        let alive = Alive::default();
        let failing = server(server_era, &Arc::default(), &alive).build();
        let sound = small(&["a"]);
        let net = Net::default();
        let servers = [("bad", None, &failing), ("good", None, &sound)];
        let gateway = gateway_on(&net, &servers, |it| it).await;
        let (client, _) = connect(gateway.service(), client_era).await;
        let cell = format!("{client_era:?} {server_era:?}");
        let calling = {
            let client = client.clone();
            tokio::spawn(async move { client.call_tool("bad__hang", json!({})).await })
        };
        until(|| alive.count() == 1).await;
        net.cut("bad");
        let error = calling.await.unwrap().unwrap_err();
        let message = &error.peer().unwrap().message;
        assert!(message.contains("'bad'"), "{cell}: {message}");
        assert!(message.contains("may have run"), "{cell}: {message}");
        let other = client.call_tool("good__a", json!({})).await.unwrap();
        assert_eq!(text(&other), "a", "{cell}");
        // It is started again for the next call, on the same session.
        let again = client.call_tool("bad__zeta", json!({})).await.unwrap();
        assert_eq!(text(&again), "{}", "{cell}");
        gateway.shutdown().await;
    }
}

#[tokio::test]
async fn a_caller_sees_and_calls_what_its_profile_has_and_reads_what_is_missing() {
    let (one, two) = (small(&["a", "b"]), small(&["c"]));
    let profile = Arc::new(
        Profile::default()
            .with_servers(["one"])
            .with_tools("one", ["a"]),
    );
    let gateway = gateway_with(&[("one", None, &one), ("two", None, &two)], |it| {
        it.profiles(move |_| Arc::clone(&profile))
    })
    .await;
    for (era, _) in CELLS {
        let (client, _) = connect(gateway.service(), era).await;
        assert_eq!(names(&client).await, ["one__a"]);
        let text = client.server().instructions.unwrap();
        assert!(text.contains("two (not permitted"), "{text}");
        for (tool, named) in [
            ("one__b", "'b' of server 'one'"),
            ("two__c", "server 'two'"),
        ] {
            let error = client.call_tool(tool, json!({})).await.unwrap_err();
            let message = &error.peer().unwrap().message;
            assert!(message.contains(named), "{message}");
        }
    }
    gateway.shutdown().await;
}

#[tokio::test]
async fn servers_come_and_go_while_sessions_and_running_calls_go_on() {
    let runs = Arc::new(AtomicUsize::new(0));
    let release = Arc::new(tokio::sync::Notify::new());
    let (counted, released) = (Arc::clone(&runs), Arc::clone(&release));
    let slow = Server::new(Implementation::new("upstream", "1"))
        .tool_with_schema(any("slow"), move |_: Value, _: Context| {
            let (runs, release) = (Arc::clone(&counted), Arc::clone(&released));
            async move {
                runs.fetch_add(1, Ordering::SeqCst);
                release.notified().await;
                "finished"
            }
        })
        .eras(Eras::Legacy)
        .build();
    let (stays, comes) = (small(&["a"]), small(&["b"]));
    let net = Net::default();
    let servers = [("stays", None, &stays), ("goes", None, &slow)];
    let gateway = Arc::new(gateway_on(&net, &servers, |it| it).await);
    net.add("comes", &comes);
    let (client, _) = connect(gateway.service(), MODERN).await;
    assert_eq!(names(&client).await, ["stays__a", "goes__slow"]);
    let calling = {
        let client = client.clone();
        tokio::spawn(async move { client.call_tool("goes__slow", json!({})).await })
    };
    until(|| runs.load(Ordering::SeqCst) == 1).await;
    let changing = {
        let gateway = Arc::clone(&gateway);
        let servers = [upstream("comes", None), upstream("stays", None)];
        tokio::spawn(async move { gateway.set_upstreams(servers).await })
    };
    // Nothing new is called there, what runs goes on.
    for _ in 0..100 {
        tokio::task::yield_now().await;
    }
    assert!(client.call_tool("goes__slow", json!({})).await.is_err());
    release.notify_waiters();
    let result = calling.await.unwrap().unwrap();
    assert_eq!(text(&result), "finished");
    let applied = changing.await.unwrap().unwrap();
    assert_eq!(applied.stopped.len(), 1);
    until(|| gateway.manager().connected().len() == 2).await;
    assert_eq!(names(&client).await, ["comes__b", "stays__a"]);
    let result = client.call_tool("comes__b", json!({})).await.unwrap();
    assert_eq!(text(&result), "b");
    assert_eq!(runs.load(Ordering::SeqCst), 1);
}
