//! The policy decides about every call, the caller is asked, and both are recorded.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use async_trait::async_trait;
use mcp_client::{Client, EraMode, Host, HostCapabilities, HostError, Interests, ServerRequest};
use mcp_gateway::{CallDecision, CallLimits, CallOutcome, GatewayBuilder};
use mcp_jsonrpc::model::{ElicitFormParams, ElicitResult, Implementation};
use mcp_server::{Context, Eras, Server, Service};
use parking_lot::Mutex;
use serde_json::{Value, json};
use tool_policy::{Effect, Mode, Policy, Rule};

use crate::kit::{CELLS, Log, Net, any, gateway_on, gateway_with, listen, text};

/// Answers the question whether a call may run.
#[derive(Clone)]
struct Approver {
    answer: &'static str,
    asked: Arc<Mutex<Vec<String>>>,
}

#[async_trait]
impl Host for Approver {
    async fn elicit_form(
        &self,
        question: ServerRequest<ElicitFormParams>,
    ) -> Result<ElicitResult, HostError> {
        self.asked.lock().push(question.params.message);
        if self.answer.is_empty() {
            return Ok(ElicitResult::decline());
        }
        let content = json!({"decision": self.answer});
        Ok(ElicitResult::accept(content.as_object().cloned().unwrap()))
    }
}

const ONCE: &str = "run once";
const ALWAYS: &str = "run, and do not ask again until the gateway ends";

async fn client(
    service: &Service,
    era: EraMode,
    answer: Option<&'static str>,
) -> (Client, Approver) {
    let host = Approver {
        answer: answer.unwrap_or_default(),
        asked: Arc::default(),
    };
    let mut builder = Client::builder(listen(service)).era(era);
    if answer.is_some() {
        builder = builder.host(host.clone(), HostCapabilities::default().with_forms());
    }
    (builder.connect().await.unwrap(), host)
}

/// A server whose tools count their calls.
fn counting(eras: Eras) -> (Service, Arc<AtomicUsize>) {
    let calls = Arc::new(AtomicUsize::new(0));
    let mut server = Server::new(Implementation::new("upstream", "1"));
    for name in ["read", "write", "delete"] {
        let calls = Arc::clone(&calls);
        server = server.tool_with_schema(any(name), move |_: Value, _: Context| {
            calls.fetch_add(1, Ordering::SeqCst);
            async { "done" }
        });
    }
    (server.eras(eras).build(), calls)
}

fn policy() -> Policy {
    Policy::new(Mode::Ask)
        .with_rule(Rule::new(Effect::Allow, "up", "read"))
        .with_rule(Rule::new(Effect::Deny, "up", "delete"))
}

fn with_policy(builder: GatewayBuilder) -> GatewayBuilder {
    builder.policy(policy())
}

#[tokio::test]
async fn what_a_rule_denies_is_not_listed_and_not_called() {
    for (client_era, server_era) in CELLS {
        let (upstream, calls) = counting(server_era);
        let gateway = gateway_with(&[("up", Some(""), &upstream)], with_policy).await;
        let (client, _) = client(gateway.service(), client_era, Some(ONCE)).await;
        let tools = client.list_tools().await.unwrap().items;
        let names: Vec<_> = tools.iter().map(|tool| tool.name.as_str()).collect();
        assert_eq!(names, ["read", "write"]);
        let denied = client.call_tool("delete", json!({})).await.unwrap();
        assert!(denied.failed() && text(&denied).contains("a rule of the user forbids it"));
        assert_eq!(calls.load(Ordering::SeqCst), 0);
        assert!(!client.call_tool("read", json!({})).await.unwrap().failed());
        assert_eq!(calls.load(Ordering::SeqCst), 1);
        gateway.shutdown().await;
    }
}

#[tokio::test]
async fn a_call_that_needs_approval_runs_after_a_yes_and_not_after_a_no() {
    for (client_era, server_era) in CELLS {
        let (upstream, calls) = counting(server_era);
        let gateway = gateway_with(&[("up", Some(""), &upstream)], with_policy).await;
        let (yes, approver) = client(gateway.service(), client_era, Some(ONCE)).await;
        for round in 1..=2 {
            let result = yes.call_tool("write", json!({"path": "/x"})).await.unwrap();
            assert_eq!(text(&result), "done");
            assert_eq!(calls.load(Ordering::SeqCst), round);
            let asked = approver.asked.lock().clone();
            assert_eq!(asked.len(), round, "each call needs its own approval");
            assert!(asked[0].contains(r#"{"path":"/x"}"#) && asked[0].contains("write"));
        }
        let (no, _) = client(gateway.service(), client_era, Some("")).await;
        let declined = no.call_tool("write", json!({})).await.unwrap();
        assert!(declined.failed() && text(&declined).contains("declined"));
        let (other, _) = client(gateway.service(), client_era, Some("do not run")).await;
        assert!(other.call_tool("write", json!({})).await.unwrap().failed());
        assert_eq!(calls.load(Ordering::SeqCst), 2);
        gateway.shutdown().await;
    }
}

#[tokio::test]
async fn arguments_that_cannot_be_shown_whole_are_not_asked_about() {
    let (upstream, calls) = counting(Eras::Both);
    let gateway = gateway_with(&[("up", Some(""), &upstream)], with_policy).await;
    let (yes, approver) = client(gateway.service(), CELLS[0].0, Some(ONCE)).await;
    let long = json!({"text": "x".repeat(20_000)});
    let refused = yes.call_tool("write", long.clone()).await.unwrap();
    assert!(refused.failed() && text(&refused).contains("too long to be shown"));
    assert_eq!(calls.load(Ordering::SeqCst), 0);
    assert!(approver.asked.lock().is_empty());
    assert!(!yes.call_tool("read", long).await.unwrap().failed());
    gateway.shutdown().await;
}

#[tokio::test]
async fn a_client_that_cannot_be_asked_is_refused_with_the_reason() {
    for (client_era, server_era) in CELLS {
        let (upstream, calls) = counting(server_era);
        let gateway = gateway_with(&[("up", Some(""), &upstream)], with_policy).await;
        let (client, _) = client(gateway.service(), client_era, None).await;
        let refused = client.call_tool("write", json!({})).await.unwrap();
        assert!(refused.failed() && text(&refused).contains("does not support elicitation"));
        assert_eq!(calls.load(Ordering::SeqCst), 0);
        gateway.shutdown().await;
    }
}

#[tokio::test]
async fn an_approval_until_the_end_outlasts_a_new_policy_but_no_rule_that_denies() {
    let (upstream, calls) = counting(Eras::Both);
    let gateway = gateway_with(&[("up", Some(""), &upstream)], with_policy).await;
    let (client, approver) = client(gateway.service(), EraMode::Legacy, Some(ALWAYS)).await;
    for _ in 0..2 {
        client.call_tool("write", json!({})).await.unwrap();
    }
    gateway.set_policy(policy());
    client.call_tool("write", json!({})).await.unwrap();
    assert_eq!(approver.asked.lock().len(), 1);
    gateway.set_policy(policy().with_rule(Rule::new(Effect::Deny, "up", "write")));
    assert!(client.call_tool("write", json!({})).await.unwrap().failed());
    assert_eq!(calls.load(Ordering::SeqCst), 3);
    gateway.shutdown().await;
}

#[tokio::test]
async fn every_call_is_recorded_before_and_after_and_none_runs_unrecorded() {
    for (client_era, server_era) in CELLS {
        let (upstream, calls) = counting(server_era);
        let log = Log::default();
        let kept = log.clone();
        let set = |builder: GatewayBuilder| builder.policy(policy()).audit(kept);
        let gateway = gateway_with(&[("up", Some(""), &upstream)], set).await;
        let (client, _) = client(gateway.service(), client_era, Some(ONCE)).await;
        for tool in ["read", "write", "delete"] {
            client.call_tool(tool, json!({"a": 1})).await.unwrap();
        }
        let records = std::mem::take(&mut *log.0.lock());
        let seen: Vec<_> = records
            .iter()
            .map(|it| {
                (
                    it.tool.as_str(),
                    it.decision,
                    it.end.as_ref().map(|end| end.outcome),
                )
            })
            .collect();
        let done = Some(CallOutcome::Succeeded);
        assert_eq!(
            seen,
            [
                ("read", CallDecision::Allowed, None),
                ("read", CallDecision::Allowed, done),
                ("write", CallDecision::Approved, None),
                ("write", CallDecision::Approved, done),
                ("delete", CallDecision::Denied, None),
            ]
        );
        assert_eq!(records[0].call, records[1].call);
        assert_ne!(records[1].call, records[2].call);
        assert_eq!(records[0].arguments, records[2].arguments);
        log.1.store(true, Ordering::SeqCst);
        let error = client.call_tool("read", json!({})).await.unwrap_err();
        assert!(
            error.to_string().contains("could not be recorded"),
            "{error}"
        );
        assert_eq!(calls.load(Ordering::SeqCst), 2);
        gateway.shutdown().await;
    }
}

#[tokio::test]
async fn a_caller_beyond_its_limit_is_refused() {
    let (upstream, _) = counting(Eras::Both);
    let mut limits = CallLimits::default();
    limits.per_tool = 0;
    let set = |builder: GatewayBuilder| builder.call_limits(limits);
    let gateway = gateway_with(&[("up", Some(""), &upstream)], set).await;
    let (client, _) = client(gateway.service(), EraMode::Legacy, None).await;
    let refused = client.call_tool("read", json!({})).await.unwrap();
    assert!(refused.failed() && text(&refused).contains("too many calls"));
    gateway.shutdown().await;
}

#[tokio::test]
async fn a_tool_that_is_defined_in_another_way_than_when_it_first_ran_is_asked_for() {
    let defined = |about: &str| {
        let mut tool = any("read");
        tool.description = Some(about.to_owned());
        Server::new(Implementation::new("upstream", "1"))
            .tool_with_schema(tool, |_: Value, _: Context| async { "done" })
            .build()
    };
    let net = Net::default();
    let gateway = gateway_on(&net, &[("up", None, &defined("old"))], with_policy).await;
    let (client, approver) = client(gateway.service(), EraMode::Legacy, Some(ONCE)).await;
    for _ in 0..2 {
        client.call_tool("up__read", json!({})).await.unwrap();
    }
    assert!(approver.asked.lock().is_empty(), "a rule allows it");
    let interests = Interests::default().with_tools();
    let mut changes = client.subscribe(interests).await.unwrap();
    net.add("up", &defined("new"));
    net.cut("up");
    loop {
        let listed = client.list_tools().await.unwrap().items;
        if listed
            .iter()
            .any(|it| it.description.as_deref() == Some("new"))
        {
            break;
        }
        changes.next().await;
    }
    gateway.set_policy(policy());
    for round in 1..=2 {
        let result = client.call_tool("up__read", json!({})).await.unwrap();
        assert_eq!(text(&result), "done");
        let asked = approver.asked.lock().clone();
        assert_eq!(asked.len(), round, "{asked:?}");
        assert!(asked[0].contains("definition has changed"), "{asked:?}");
    }
    gateway.shutdown().await;
}
