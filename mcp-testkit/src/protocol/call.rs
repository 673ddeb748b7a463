//! Requests whose responses may take steps: calls, and prompts and resources that ask first.

use std::sync::Arc;

use serde_json::{Value, json};

use super::play::{Play, Way};
use super::session::Session;
use super::{Out, dialect, method, task};
use crate::fault::Kind;
use crate::script::{Script, Step, Tool};
use crate::{Era, Refusal, TaskSupport};

impl Session {
    /// Whether the response takes no time, so that no task is required.
    pub(crate) fn is_quick(&self, request: &Value) -> bool {
        match request.get("method").and_then(Value::as_str) {
            Some("subscriptions/listen" | "tasks/result") => false,
            _ if matches!(self.world.fault_kind(), Some(Kind::Question(_))) => false,
            Some(name @ ("prompts/get" | "resources/read")) => {
                asking(&self.world.script(), name, request).is_none()
            }
            Some("tools/call") => {
                let name = request.pointer("/params/name").and_then(Value::as_str);
                let script = self.world.script();
                let tool = name.and_then(|name| script.tool(name));
                tool.is_none_or(|tool| tool.steps.is_empty() && tool.task == TaskSupport::Forbidden)
            }
            _ => true,
        }
    }

    /// Answers `tools/call`: at once, as a task, or by asking first.
    pub(super) async fn call(
        self: &Arc<Self>,
        era: Era,
        request: &Value,
        out: &Out,
    ) -> Result<Value, Refusal> {
        let script = self.world.script();
        let name = request
            .pointer("/params/name")
            .and_then(Value::as_str)
            .unwrap_or_default();
        let Some(tool) = script.tool(name) else {
            return Err(Refusal::new(-32602, format!("Unknown tool: {name}")));
        };
        let wants_task = match era {
            Era::Legacy => request.pointer("/params/task").is_some(),
            Era::Modern => dialect::client_capabilities(request)
                .get("extensions")
                .is_some_and(|extensions| extensions.get(dialect::TASKS).is_some()),
        };
        match (tool.task, wants_task) {
            (TaskSupport::Required, false) if era == Era::Modern => Err(Refusal::new(
                -32021,
                "Missing required client capability",
            )
            .with_data(json!({"requiredCapabilities": {"extensions": {dialect::TASKS: {}}}}))),
            (TaskSupport::Required, false) => {
                Err(Refusal::new(-32601, format!("{name} runs only as a task")))
            }
            (TaskSupport::Forbidden, true) if era == Era::Legacy => Err(Refusal::new(
                -32601,
                format!("{name} does not run as a task"),
            )),
            (TaskSupport::Optional | TaskSupport::Required, true) => {
                Ok(task::start(self, era, tool, request))
            }
            _ => self.play(era, tool, request, out).await,
        }
    }

    /// Answers `prompts/get` and `resources/read`.
    pub(super) async fn get(
        &self,
        era: Era,
        method: &str,
        request: &Value,
        out: &Out,
    ) -> Result<Value, Refusal> {
        match asking(&self.world.script(), method, request) {
            Some(tool) => self.play(era, &tool, request, out).await,
            None => method::answer(&self.world, era, method, request),
        }
    }

    async fn play(
        &self,
        era: Era,
        tool: &Tool,
        request: &Value,
        out: &Out,
    ) -> Result<Value, Refusal> {
        let way = match era {
            Era::Legacy => Way::Requests,
            Era::Modern => Way::Rounds,
        };
        let play = Play {
            session: self,
            request,
            out,
            way,
        };
        play.run(tool).await
    }
}

/// A prompt or a resource that asks the client first, as a tool that does.
fn asking(script: &Script, method: &str, request: &Value) -> Option<Tool> {
    let text = |name: &str| request.pointer(name).and_then(Value::as_str);
    let (asks, tool) = match method {
        "prompts/get" => {
            let name = text("/params/name")?;
            let prompt = script
                .prompts
                .iter()
                .find(|prompt| prompt.name() == name)?
                .clone();
            let asks = prompt.asks.clone();
            let tool = Tool::new(name).answering(move |called| prompt.expanded(called.arguments));
            (asks, tool)
        }
        _ => {
            let uri = text("/params/uri")?;
            let resource = script
                .resources
                .iter()
                .find(|resource| resource.uri() == uri)?;
            let contents = json!({"contents": resource.contents});
            let tool = Tool::new(uri).answering(move |_| contents.clone());
            (resource.asks.clone(), tool)
        }
    };
    let steps = asks.into_iter().map(Step::Ask);
    let tool = steps.fold(tool, Tool::with_step);
    (!tool.steps.is_empty()).then_some(tool)
}
