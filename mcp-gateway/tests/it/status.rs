//! Nothing is silently missing: what is down, hidden or not permitted is named, and a crash ends the
//! calls of one server with what is known of them.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use mcp_client::{Client, ClientEvent, EraMode};
use mcp_gateway::Profile;
use mcp_jsonrpc::RawObject;
use mcp_jsonrpc::model::{Implementation, LogMessageParams, LoggingLevel};
use mcp_manager::ManagerEvent;
use mcp_server::{Context, Eras, Server, Service};
use serde_json::{Value, json};

use crate::kit::{
    Alive, CELLS, MODERN, Net, any, connect, gateway, gateway_on, gateway_with, listen, server,
    text, until, upstream,
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
    let gateway = gateway_on(&net, &servers, |it| it).await;
    net.add("comes", &comes);
    let (client, _) = connect(gateway.service(), MODERN).await;
    assert_eq!(names(&client).await, ["stays__a", "goes__slow"]);
    let calling = {
        let client = client.clone();
        tokio::spawn(async move { client.call_tool("goes__slow", json!({})).await })
    };
    until(|| runs.load(Ordering::SeqCst) == 1).await;
    // Nothing waits for what runs: the new server is there while the old one still works.
    let servers = [upstream("comes", None), upstream("stays", None)];
    let applied = gateway.set_upstreams(servers).await.unwrap();
    assert_eq!(applied.stopped.len(), 1);
    let result = client.call_tool("comes__b", json!({})).await.unwrap();
    assert_eq!(text(&result), "b");
    // Nothing new is called at the old one, and what runs goes on.
    assert!(client.call_tool("goes__slow", json!({})).await.is_err());
    release.notify_waiters();
    let result = calling.await.unwrap().unwrap();
    assert_eq!(text(&result), "finished");
    assert_eq!(names(&client).await, ["comes__b", "stays__a"]);
    assert_eq!(runs.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn a_profile_hides_the_names_the_logs_and_the_schemas_of_other_servers() {
    let mut secret = any("b");
    secret.description = Some("hidden".to_owned());
    secret.input_schema =
        RawObject::from_serialize(&json!({"type": "object", "required": ["passphrase"]})).unwrap();
    let other = Server::new(Implementation::new("upstream", "1"))
        .tool_with_schema(secret, |_: Value, _: Context| async {})
        .tool_with_schema(any("a"), |_: Value, _: Context| async {})
        .eras(Eras::Legacy)
        .build();
    let own = small(&["a"]);
    let profile = Arc::new(Profile::default().with_servers(["own"]));
    let servers = [("own", Some(""), &own), ("other", Some(""), &other)];
    let gateway = gateway_with(&servers, |it| {
        it.profiles(move |_| Arc::clone(&profile)).lazy_tools(0)
    })
    .await;
    let heard = Arc::new(AtomicUsize::new(0));
    let noted = Arc::clone(&heard);
    let client = Client::builder(listen(gateway.service()))
        .era(EraMode::Legacy)
        .on_event(move |event| {
            if let ClientEvent::Log(_) = event {
                noted.fetch_add(1, Ordering::SeqCst);
            }
            std::future::ready(())
        })
        .connect()
        .await
        .unwrap();
    names(&client).await;
    let (again, _) = connect(gateway.service(), MODERN).await;
    let instructions = again.server().instructions.unwrap();
    assert!(!instructions.contains("Hidden"), "{instructions}");
    let call = json!({"name": "b", "arguments": {}});
    let refused = client.call_tool("tool_call", call).await;
    let refused = format!("{refused:?}");
    assert!(!refused.contains("passphrase"), "{refused}");
    let data = mcp_jsonrpc::RawJson::from_serialize(&"x").unwrap();
    let message = LogMessageParams::new(LoggingLevel::Error, data);
    let mut events = gateway.manager().events();
    other.notifier().log(message);
    while !matches!(events.next().await, Some(ManagerEvent::Log { .. })) {}
    names(&client).await;
    assert_eq!(heard.load(Ordering::SeqCst), 0);
    gateway.shutdown().await;
}
