//! A model that calls any tool it is offered, at a leisurely pace.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use agent_loop::testing::ScriptedModel;
use async_trait::async_trait;
use parking_lot::Mutex;
use provider_adapters::{
    Adapter, Arguments, AssistantPart, Model, ModelError, Reply, ReplyStream, Request, Stop,
    StopReason, ToolCall,
};
use serde_json::json;

use crate::random::Random;
use crate::role::ROLES;

/// Its response time, in milliseconds.
const THINKS: std::ops::Range<u64> = 100..700;

/// Makes up calls, each with its own id.
#[derive(Debug)]
pub(crate) struct Caller {
    model: ScriptedModel,
    pace: Arc<Mutex<Random>>,
}

impl std::fmt::Debug for Random {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Random")
    }
}

impl Caller {
    pub(crate) fn new(seed: u64) -> Self {
        let next = Arc::new(AtomicU64::new(1));
        let chance = Mutex::new(Random(seed));
        let model = ScriptedModel::improvising(move |request| {
            improvise(request, &mut chance.lock(), &next)
        });
        let pace = Arc::new(Mutex::new(Random(seed + 1)));
        Self { model, pace }
    }
}

#[async_trait]
impl Model for Caller {
    fn adapter(&self) -> &dyn Adapter {
        self.model.adapter()
    }

    async fn start(&self, request: &Request) -> Result<Box<dyn ReplyStream>, ModelError> {
        let thought: Duration = self.pace.lock().millis(THINKS);
        tokio::time::sleep(thought).await;
        self.model.start(request).await
    }
}

/// One to four calls, or the end of the conversation.
fn improvise(request: &Request, random: &mut Random, next: &AtomicU64) -> Reply {
    let names: Vec<&str> = request.tools.names().collect();
    let mut reply = Reply::default();
    if names.is_empty() || random.percent(20) {
        reply.parts = vec![AssistantPart::text("That is all.")];
        reply.stop = Some(Stop::new(StopReason::End, "scripted"));
        return reply;
    }
    for _ in 0..=random.below(4) {
        let id = next.fetch_add(1, Ordering::Relaxed);
        let mut arguments = json!({"id": id, "ms": random.below(40)});
        let name = match random.one_of(&names).unwrap_or_default() {
            _ if random.percent(1) => "no_such_tool",
            name => name,
        };
        match name {
            "tool_search" => arguments = json!({"query": "write a number down"}),
            "read_output" => arguments = json!({"id": "output-1"}),
            "tool_call" => {
                let role = random.one_of(ROLES).map_or("", |role| role.name);
                arguments = json!({"name": format!("mcp__{role}__note"), "arguments": arguments});
            }
            _ => {}
        }
        let arguments = Arguments::read(arguments.to_string());
        let call = ToolCall::new(format!("call_{id}"), name, arguments);
        reply.parts.push(AssistantPart::from(call));
    }
    reply.stop = Some(Stop::new(StopReason::ToolUse, "scripted"));
    reply
}
