//! What the tests share.

use std::sync::Arc;

use agent_loop::{Agent, Deferral, Mode, Offer, Policy, Run, RunEvent, Status, ToolInfo};
use mcp_jsonrpc::RawObject;
use provider_adapters::{Adapter, OpenAiChat, Turn};
use serde_json::{Value, json};

/// A JSON object, raw.
pub(crate) fn object(value: &Value) -> RawObject {
    RawObject::from_serialize(value).unwrap()
}

/// A tool that takes an optional `n`.
pub(crate) fn tool(server: &str, name: &str) -> ToolInfo {
    let schema = json!({
        "type": "object",
        "properties": {"n": {"type": "integer"}},
        "additionalProperties": false,
    });
    ToolInfo::new(server, name, object(&schema)).with_fingerprint("1")
}

/// A run in which everything is allowed.
pub(crate) fn auto(question: &str) -> Run {
    let mut run = Run::default().with_policy(Policy::new(Mode::Auto));
    run.ask(question);
    run
}

/// A run in which everything is asked for.
pub(crate) fn asking(question: &str) -> Run {
    let mut run = Run::default();
    run.ask(question);
    run
}

/// An offer of these tools.
pub(crate) fn offer(tools: &[ToolInfo]) -> Arc<Offer> {
    let adapter: &dyn Adapter = &OpenAiChat::default();
    Arc::new(Offer::new(
        tools,
        adapter,
        "gpt-5",
        &Deferral::never(),
        false,
    ))
}

/// Drives a run to its end or to where it waits, and returns what happened.
pub(crate) async fn drive(agent: &Agent, run: &mut Run) -> Vec<RunEvent> {
    let mut events = Vec::new();
    let mut session = agent.session(run);
    while let Some(event) = session.next().await {
        let waits = matches!(event, RunEvent::Waiting { .. });
        events.push(event);
        if waits {
            break;
        }
    }
    events
}

/// Every change of a call's status, as `name status`.
pub(crate) fn statuses(events: &[RunEvent]) -> Vec<String> {
    let status = |event: &RunEvent| match event {
        RunEvent::Call(record) => Some(format!(
            "{} {}",
            record.display_name,
            json!(record.status).as_str().unwrap()
        )),
        _ => None,
    };
    events.iter().filter_map(status).collect()
}

/// The results of the run's calls, as text, in order.
pub(crate) fn results(run: &Run) -> Vec<String> {
    run.records()
        .iter()
        .map(|record| record.response_text().unwrap_or_default())
        .collect()
}

/// Where the run's calls stand.
pub(crate) fn ends(run: &Run) -> Vec<Status> {
    run.records().iter().map(|record| record.status).collect()
}

/// The text of the last assistant turn.
pub(crate) fn last_words(run: &Run) -> String {
    let turns = run.conversation().turns().iter().rev();
    let text = turns.filter_map(|turn| match turn {
        Turn::Assistant(turn) => Some(turn),
        _ => None,
    });
    let parts = text.take(1).flat_map(|turn| turn.parts().to_vec());
    parts
        .filter_map(|part| match part {
            provider_adapters::AssistantPart::Text { text } => Some(text),
            _ => None,
        })
        .collect()
}
