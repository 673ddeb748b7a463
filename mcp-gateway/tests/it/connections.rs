//! Which connection a call runs on, and what its server learns of the client.

use std::time::Duration;

use mcp_client::{Client, ClientEvent, EraMode, HostCapabilities};
use mcp_gateway::{ConnectionLimits, Gateway};
use mcp_jsonrpc::model::{ElicitUrlParams, Implementation};
use mcp_server::{Context, Eras, Error, Roots, Server, Service};
use serde_json::{Value, json};
use tokio::sync::mpsc;

use crate::kit::{
    Alive, MODERN, Net, Obliging, any, everything, gateway_on, listen, name, text, until,
};

/// A server that asks, and that tells what it knows of its client.
fn asking(eras: Eras, alive: &Alive) -> Service {
    let alive = alive.clone();
    Server::new(Implementation::new("upstream", "1"))
        .tool_with_schema(any("ask"), |_: Value, cx: Context| async move {
            name(&cx).await
        })
        .tool_with_schema(any("know"), |_: Value, cx: Context| async move {
            let can = serde_json::to_value(cx.client_capabilities()).unwrap();
            Ok::<_, Error>(json!([cx.session_id(), can]).to_string())
        })
        .tool_with_schema(any("wait"), move |_: Value, cx: Context| {
            let guard = alive.enter();
            async move {
                let _guard = guard;
                cx.ask("never", mcp_server::Roots::new()).await?;
                Ok::<_, Error>("rooted")
            }
        })
        .eras(eras)
        .build()
}

async fn client(gateway: &Gateway, era: EraMode, can: HostCapabilities) -> Client {
    Client::builder(listen(gateway.service()))
        .era(era)
        .host(Obliging::default(), can)
        .connect()
        .await
        .unwrap()
}

/// The session that the server sees, and the names of the capabilities.
async fn known(client: &Client) -> (Option<u64>, Vec<String>) {
    let result = client.call_tool("up__know", json!({})).await.unwrap();
    let (session, can): (Option<u64>, serde_json::Map<String, Value>) =
        serde_json::from_str(text(&result)).unwrap();
    (session, can.keys().cloned().collect())
}

#[tokio::test]
async fn clients_share_a_legacy_server_until_it_asks_and_have_their_own_connections_then() {
    for era in [EraMode::Legacy, MODERN] {
        let upstream = asking(Eras::Legacy, &Alive::default());
        let net = Net::default();
        let gateway = gateway_on(&net, &[("up", None, &upstream)], |it| it).await;
        let all = client(&gateway, era, everything()).await;
        let few = client(&gateway, era, HostCapabilities::default().with_roots()).await;
        let (shared, _) = known(&all).await;
        assert_eq!(known(&few).await.0, shared, "{era:?}");
        assert_eq!(net.open("up"), 1, "{era:?}");
        all.call_tool("up__ask", json!({})).await.unwrap();
        let (own, can) = known(&all).await;
        assert_ne!(own, shared, "{era:?}");
        assert_eq!(can, ["roots", "sampling", "elicitation"], "{era:?}");
        let (other, can) = known(&few).await;
        assert!(other != own && other != shared, "{era:?}");
        assert_eq!(can, ["roots"], "{era:?}");
        assert_eq!(known(&all).await.0, own, "{era:?}: it stays");
        assert_eq!(net.open("up"), 3, "{era:?}");
        gateway.shutdown().await;
        until(|| net.open("up") == 0).await;
    }
}

#[tokio::test]
async fn a_modern_server_learns_with_each_call_what_its_client_can_do() {
    for era in [EraMode::Legacy, MODERN] {
        let upstream = asking(Eras::Modern, &Alive::default());
        let net = Net::default();
        let gateway = gateway_on(&net, &[("up", None, &upstream)], |it| it).await;
        let few = client(&gateway, era, HostCapabilities::default().with_roots()).await;
        let all = client(&gateway, era, everything()).await;
        let can = |names: Vec<String>| {
            let names = names.into_iter().filter(|name| name != "extensions");
            names.collect::<Vec<_>>()
        };
        assert_eq!(can(known(&few).await.1), ["roots"], "{era:?}");
        let both = ["roots", "sampling", "elicitation"];
        assert_eq!(can(known(&all).await.1), both, "{era:?}");
        all.call_tool("up__ask", json!({})).await.unwrap();
        known(&all).await;
        assert_eq!(net.open("up"), 1, "{era:?}");
        gateway.shutdown().await;
    }
}

#[tokio::test]
async fn a_client_is_never_asked_what_it_did_not_declare() {
    for era in [EraMode::Legacy, MODERN] {
        for eras in [Eras::Legacy, Eras::Modern] {
            let upstream = asking(eras, &Alive::default());
            let gateway = gateway_on(&Net::default(), &[("up", None, &upstream)], |it| it).await;
            let host = Obliging::default();
            let client = Client::builder(listen(gateway.service()))
                .era(era)
                .host(host.clone(), HostCapabilities::default().with_roots())
                .connect()
                .await
                .unwrap();
            // The first call is on the shared connection, the second on its own.
            for round in 0..2 {
                let outcome = client.call_tool("up__ask", json!({})).await;
                if era == MODERN {
                    let error = outcome.unwrap_err();
                    let code = error.peer().unwrap().code;
                    let missing = mcp_jsonrpc::ErrorCode::MISSING_CLIENT_CAPABILITY;
                    assert_eq!(code, missing, "{eras:?} {round}");
                } else if let Ok(result) = outcome {
                    assert!(result.failed(), "{eras:?} {round}: {result:?}");
                }
                assert_eq!(host.0.load(std::sync::atomic::Ordering::SeqCst), 0);
            }
            gateway.shutdown().await;
        }
    }
}

#[tokio::test]
async fn an_open_question_of_one_client_keeps_no_other_waiting() {
    let alive = Alive::default();
    let upstream = asking(Eras::Legacy, &alive);
    let gateway = gateway_on(&Net::default(), &[("up", None, &upstream)], |it| it).await;
    let other = client(&gateway, EraMode::Legacy, everything()).await;
    other.call_tool("up__ask", json!({})).await.unwrap();
    /// Never answers.
    struct Silent;
    #[async_trait::async_trait]
    impl mcp_client::Host for Silent {
        async fn list_roots(
            &self,
            _: mcp_client::ServerRequest<()>,
        ) -> Result<Vec<mcp_jsonrpc::model::Root>, mcp_client::HostError> {
            std::future::pending().await
        }
    }
    let silent = Client::builder(listen(gateway.service()))
        .era(EraMode::Legacy)
        .host(Silent, HostCapabilities::default().with_roots())
        .connect()
        .await
        .unwrap();
    let waiting = tokio::spawn(async move { silent.call_tool("up__wait", json!({})).await });
    until(|| alive.count() == 1).await;
    for _ in 0..3 {
        let result = other.call_tool("up__ask", json!({})).await.unwrap();
        assert_eq!(text(&result), "Ann");
    }
    waiting.abort();
    until(|| alive.count() == 0).await;
    gateway.shutdown().await;
}

#[tokio::test(start_paused = true)]
async fn own_connections_are_bounded_and_closed_when_idle() {
    let upstream = asking(Eras::Legacy, &Alive::default());
    let net = Net::default();
    let mut limits = ConnectionLimits::default();
    limits.open = 2;
    let gateway = gateway_on(&net, &[("up", None, &upstream)], |it| {
        it.connection_limits(limits)
    })
    .await;
    let mut clients = Vec::new();
    for _ in 0..5 {
        let client = client(&gateway, EraMode::Legacy, everything()).await;
        client.call_tool("up__ask", json!({})).await.unwrap();
        known(&client).await;
        clients.push(client);
    }
    until(|| net.open("up") == 3).await;
    tokio::time::sleep(limits.idle + Duration::from_secs(100)).await;
    until(|| net.open("up") == 1).await;
    known(&clients[0]).await;
    assert_eq!(net.open("up"), 2);
    gateway.shutdown().await;
}

#[tokio::test]
async fn only_the_session_that_was_asked_hears_that_its_user_is_done_at_the_url() {
    let upstream = Server::new(Implementation::new("upstream", "1"))
        .tool_with_schema(any("visit"), |_: Value, cx: Context| async move {
            let mut question = ElicitUrlParams::new("Log in", "https://login.invalid/");
            question.elicitation_id = Some("e1".to_owned());
            cx.ask("visit", question).await?;
            let notifier = cx.notifier();
            notifier.elicitation_complete(cx.session_id().unwrap(), "unknown");
            notifier.elicitation_complete(cx.session_id().unwrap(), "e1");
            Ok::<_, Error>("visited")
        })
        .eras(Eras::Legacy)
        .build();
    let gateway = gateway_on(&Net::default(), &[("up", None, &upstream)], |it| it).await;
    let (heard, mut done) = mpsc::channel(16);
    let mut clients = Vec::new();
    for number in 0..2 {
        let heard = heard.clone();
        let client = Client::builder(listen(gateway.service()))
            .era(EraMode::Legacy)
            .host(Obliging::default(), everything())
            .on_event(move |event| {
                if let ClientEvent::ElicitationComplete { elicitation_id } = event {
                    let _ = heard.try_send((number, elicitation_id));
                }
                std::future::ready(())
            });
        clients.push(client.connect().await.unwrap());
    }
    // At first on the connection that all share, then on the client's own.
    for number in [0, 1, 1, 0] {
        clients[number]
            .call_tool("up__visit", json!({}))
            .await
            .unwrap();
        assert_eq!(done.recv().await.unwrap(), (number, "e1".to_owned()));
    }
    gateway.shutdown().await;
}

#[tokio::test]
async fn a_sessions_new_roots_are_announced_on_its_own_connections() {
    let (changed, mut changes) = mpsc::channel(16);
    let upstream = Server::new(Implementation::new("upstream", "1"))
        .tool_with_schema(any("roots"), |_: Value, cx: Context| async move {
            cx.ask("roots", Roots::new()).await?;
            Ok::<_, Error>(cx.session_id().unwrap().to_string())
        })
        .on_roots_changed(move |session| changed.try_send(session).unwrap())
        .eras(Eras::Legacy)
        .build();
    let gateway = gateway_on(&Net::default(), &[("up", None, &upstream)], |it| it).await;
    let mut sessions = Vec::new();
    for _ in 0..2 {
        let client = client(&gateway, EraMode::Legacy, everything()).await;
        client.call_tool("up__roots", json!({})).await.unwrap();
        let result = client.call_tool("up__roots", json!({})).await.unwrap();
        sessions.push((client, text(&result).parse::<u64>().unwrap()));
    }
    for (client, session) in sessions.iter().rev() {
        client.roots_changed().await.unwrap();
        assert_eq!(changes.recv().await, Some(*session));
    }
    gateway.shutdown().await;
}
