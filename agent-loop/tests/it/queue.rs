//! Calls that wait for their turn at their server.

use std::sync::Arc;
use std::time::Duration;

use agent_loop::testing::ScriptedModel;
use agent_loop::{Agent, CallContext, Invocation, Outcome, RunEvent, Status, ToolInfo, Toolbox};
use async_trait::async_trait;
use mcp_client::{QueueReason, Queued};
use serde_json::json;

use crate::kit::{auto, drive, ends, results, tool};

/// A tool that is queued for an hour and then answers at once.
struct Busy(Arc<[ToolInfo]>);

#[async_trait]
impl Toolbox for Busy {
    async fn tools(&self) -> Arc<[ToolInfo]> {
        Arc::clone(&self.0)
    }

    async fn call(&self, call: Invocation, context: CallContext) -> Outcome {
        let caller = context.caller().expect("the agent is a conversation's");
        let text = format!("{caller}");
        for reason in [QueueReason::Answer, QueueReason::Conversation] {
            let queued = Queued::new(call.server.clone(), reason, Some("other".to_owned()));
            context.queued(Some(&queued));
            tokio::time::sleep(Duration::from_secs(1800)).await;
        }
        context.queued(None);
        Outcome::text(text)
    }
}

#[tokio::test(start_paused = true)]
async fn a_queued_call_is_reported_with_every_reason() {
    let tools = Busy(Arc::from([tool("a", "work")]));
    let name = tools.0[0].name.clone();
    let model = ScriptedModel::new()
        .calls([(name, json!({}))])
        .says("Done.");
    let agent = Agent::new(model).tools(tools).with_conversation("mine");
    let mut run = auto("Go");
    let events = drive(&agent, &mut run).await;
    let reasons: Vec<_> = events
        .iter()
        .filter_map(|event| match event {
            RunEvent::Queued { queued, .. } => Some(queued.as_ref().map(|queued| queued.reason)),
            _ => None,
        })
        .collect();
    assert_eq!(
        reasons[..2],
        [Some(QueueReason::Answer), Some(QueueReason::Conversation)]
    );
    assert_eq!(ends(&run), [Status::Done]);
    assert_eq!(results(&run), ["call 1 of mine"]);
}
