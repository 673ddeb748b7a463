//! A call is decided, counted and recorded once, from its admission to its end, whatever its rounds.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use mcp_client::{
    CallError, CallOptions, Client, Host, HostCapabilities, HostError, ServerRequest,
};
use mcp_gateway::{
    ApprovalRequest, Approver, CallDecision, CallLimits, CallOutcome, GatewayBuilder,
};
use mcp_jsonrpc::model::{Implementation, Root};
use mcp_server::{Context, Eras, Error, Roots, Server, ServerLimits, Service};
use serde_json::{Value, json};
use tool_policy::{Mode, Policy};

use crate::kit::{
    Alive, CELLS, Log, MODERN, Obliging, any, connect, gateway_with, listen, text, until,
};

/// A server whose tool asks for the client's roots.
fn asking(eras: Eras) -> Service {
    Server::new(Implementation::new("upstream", "1"))
        .tool_with_schema(any("ask"), |_: Value, cx: Context| async move {
            let roots = cx.ask("roots", Roots::new()).await?;
            Ok::<_, Error>(format!("{} roots", roots.len()))
        })
        .eras(eras)
        .build()
}

/// Approves everything, and counts.
#[derive(Clone, Default)]
struct Counting(Arc<AtomicUsize>);

#[async_trait]
impl Approver for Counting {
    async fn approve(&self, _: ApprovalRequest) -> Option<bool> {
        self.0.fetch_add(1, Ordering::SeqCst);
        Some(true)
    }
}

/// Answers later.
struct Later;

#[async_trait]
impl Host for Later {
    async fn list_roots(&self, _: ServerRequest<()>) -> Result<Vec<Root>, HostError> {
        Err(HostError::Later)
    }
}

/// A client with roots that cannot be asked for approval.
async fn with_roots(service: &Service) -> Client {
    Client::builder(listen(service))
        .era(MODERN)
        .host(
            Obliging::default(),
            HostCapabilities::default().with_roots(),
        )
        .connect()
        .await
        .unwrap()
}

#[tokio::test]
async fn a_call_is_approved_once_however_many_rounds_it_takes() {
    for eras in [Eras::Legacy, Eras::Modern] {
        let (approver, log) = (Counting::default(), Log::default());
        let (asked, kept) = (approver.clone(), log.clone());
        let set = |it: GatewayBuilder| {
            it.policy(Policy::new(Mode::Ask))
                .approver(approver)
                .audit(kept)
        };
        let gateway = gateway_with(&[("up", None, &asking(eras))], set).await;
        let client = with_roots(gateway.service()).await;
        let result = client.call_tool("up__ask", json!({})).await.unwrap();
        assert_eq!(text(&result), "1 roots", "{eras:?}");
        assert_eq!(asked.0.load(Ordering::SeqCst), 1, "{eras:?}");
        let records = std::mem::take(&mut *log.0.lock());
        let decisions: Vec<_> = records.iter().map(|it| it.decision).collect();
        assert_eq!(decisions, [CallDecision::Approved; 2], "{eras:?}");
        gateway.shutdown().await;
    }
}

#[tokio::test]
async fn a_call_keeps_its_place_between_its_rounds() {
    let mut limits = CallLimits::default();
    limits.per_tool = 1;
    let set = |it: GatewayBuilder| it.call_limits(limits);
    let gateway = gateway_with(&[("up", None, &asking(Eras::Modern))], set).await;
    let client = Client::builder(listen(gateway.service()))
        .era(MODERN)
        .host(Later, HostCapabilities::default().with_roots())
        .connect()
        .await
        .unwrap();
    let parking = client.with(CallOptions::default().with_parking());
    let waiting = parking.call_tool("up__ask", json!({})).await.unwrap_err();
    assert!(matches!(waiting, CallError::Parked(_)), "{waiting}");
    let refused = client.call_tool("up__ask", json!({})).await.unwrap();
    assert!(text(&refused).contains("too many calls"), "{refused:?}");
    gateway.shutdown().await;
}

#[tokio::test]
async fn a_cancelled_call_has_an_end_in_the_log() {
    for (client_era, server_era) in CELLS {
        let (alive, log) = (Alive::default(), Log::default());
        let kept = log.clone();
        let upstream = crate::kit::server(server_era, &Arc::default(), &alive).build();
        let set = |it: GatewayBuilder| it.audit(kept);
        let gateway = gateway_with(&[("up", None, &upstream)], set).await;
        let (client, _) = connect(gateway.service(), client_era).await;
        let calling = {
            let client = client.clone();
            tokio::spawn(async move { client.call_tool("up__hang", json!({})).await })
        };
        until(|| alive.count() == 1).await;
        calling.abort();
        until(|| log.outcomes() == [CallOutcome::Cancelled]).await;
        gateway.shutdown().await;
    }
}

#[tokio::test]
async fn a_call_that_is_refused_by_profile_or_limit_is_recorded() {
    let log = Log::default();
    let mut limits = CallLimits::default();
    limits.per_caller = 0;
    let profile = Arc::new(mcp_gateway::Profile::default().with_servers(["up"]));
    let kept = log.clone();
    let set = |it: GatewayBuilder| {
        it.audit(kept)
            .call_limits(limits)
            .profiles(move |_| Arc::clone(&profile))
    };
    let upstream = asking(Eras::Both);
    let gateway = gateway_with(&[("up", None, &upstream), ("no", None, &upstream)], set).await;
    let (client, _) = connect(gateway.service(), MODERN).await;
    assert!(client.call_tool("no__ask", json!({})).await.is_err());
    let refused = client.call_tool("up__ask", json!({})).await.unwrap();
    assert!(refused.failed());
    let records = log.0.lock();
    let decisions: Vec<_> = records.iter().map(|it| it.decision).collect();
    let want = [CallDecision::NotPermitted, CallDecision::TooMany];
    assert_eq!(decisions, want);
}

#[tokio::test(start_paused = true)]
async fn a_silent_call_takes_as_long_as_its_client_waits() {
    for (client_era, server_era) in CELLS {
        let day = Duration::from_secs(24 * 3600);
        let upstream = Server::new(Implementation::new("upstream", "1"))
            .tool_with_schema(any("slow"), |_: Value, _: Context| async {
                tokio::time::sleep(Duration::from_secs(3600)).await;
                "done"
            })
            .limits(ServerLimits::default().with_request_time(day))
            .eras(server_era)
            .build();
        let gateway = gateway_with(&[("up", None, &upstream)], |it| it).await;
        let (client, _) = connect(gateway.service(), client_era).await;
        let patient = CallOptions::default().with_idle_timeout(day);
        let result = client.with(patient).call_tool("up__slow", json!({})).await;
        assert_eq!(text(&result.unwrap()), "done");
        gateway.shutdown().await;
    }
}
