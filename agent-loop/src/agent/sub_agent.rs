//! An agent as a tool of another agent.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use mcp_jsonrpc::RawObject;
use mcp_jsonrpc::model::{CallToolResult, ContentBlock};
use serde::Deserialize;
use tool_policy::ToolInfo;

use crate::agent::Agent;
use crate::event::RunEvent;
use crate::run::step::Reason;
use crate::toolbox::context::CallContext;
use crate::toolbox::{FailureKind, Invocation, Outcome, Start, Toolbox};

/// The server name of sub-agents' tools.
const SERVER: &str = "agents";
/// The arguments of a sub-agent's tool.
const SCHEMA: &str = r#"{"type":"object","properties":{"task":{"type":"string","description":"What to do, with everything that has to be known for it."}},"required":["task"],"additionalProperties":false}"#;

impl Agent {
    /// Turns the agent into a tool of another agent, with one argument: the task. Each call is a separate run with this
    /// agent's instructions, policy and limits, and its last reply is the result.
    ///
    /// - Its usage counts against the limits of the run that calls it.
    /// - Its approvals are requested in that run, regardless of its own `on_approval`:
    ///   [`Approval::via`](crate::Approval::via) has the chain of sub-agents.
    /// - Its events are reported in that run, as [`RunEvent::Delegated`].
    /// - It is cancelled, stored and resumed with that run.
    ///
    /// ```
    /// use agent_loop::Agent;
    /// use agent_loop::testing::ScriptedModel;
    /// use serde_json::json;
    ///
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), agent_loop::AskError> {
    /// let researcher = Agent::new(ScriptedModel::new().says("It has 206 bones."))
    ///     .into_tool("research", "Researches a question.");
    /// let model = ScriptedModel::new()
    ///     .calls([("research", json!({"task": "How many bones has a human?"}))])
    ///     .says("206.");
    /// let agent = Agent::new(model).tools(researcher).on_approval(async |_| agent_loop::Answer::Once);
    /// let run = agent.ask("How many bones do I have?").await?;
    /// assert_eq!(run.records()[0].response_text().unwrap(), "It has 206 bones.");
    /// # Ok(()) }
    /// ```
    #[must_use]
    pub fn into_tool(self, name: impl Into<String>, description: impl Into<String>) -> SubAgent {
        let schema = serde_json::from_str(SCHEMA).unwrap_or_else(|_| RawObject::empty());
        // What it does is judged call by call.
        let tool = ToolInfo::new(SERVER, name, schema)
            .with_description(description)
            .read_only();
        SubAgent {
            agent: self,
            tools: Arc::from([tool]),
        }
    }
}

/// An agent as a tool: see [`Agent::into_tool`].
#[derive(Clone)]
pub struct SubAgent {
    agent: Agent,
    tools: Arc<[ToolInfo]>,
}

#[derive(Deserialize)]
struct Arguments {
    task: String,
}

#[async_trait]
impl Toolbox for SubAgent {
    async fn tools(&self) -> Arc<[ToolInfo]> {
        Arc::clone(&self.tools)
    }

    async fn call(&self, call: Invocation, context: CallContext) -> Outcome {
        let (mut run, answer) = match call.start {
            Start::Continue { run, answer } => (*run, answer),
            _ => match call.arguments.parse::<Arguments>() {
                Ok(Arguments { task }) => (self.agent.begin(task), None),
                Err(error) => return Outcome::error(format!("invalid arguments: {error}")),
            },
        };
        let mut end = None;
        {
            let mut session = self.agent.session(&mut run);
            if let Some(parent) = context.meta().traceparent() {
                session = session.with_traceparent(&parent);
            }
            if let Some(answer) = answer {
                // One that no longer counts is asked for again.
                let _ = session.answer(&answer.0, answer.1).await;
            }
            while let Some(event) = session.next().await {
                match &event {
                    RunEvent::Waiting { .. } => end = Some(None),
                    RunEvent::Done { reason } => end = Some(Some(reason.clone())),
                    _ => {}
                }
                context.delegated(session.run(), event).await;
                if end.is_some() {
                    break;
                }
            }
        }
        match end {
            Some(Some(Reason::Finished)) => {
                let mut result = CallToolResult::new(vec![ContentBlock::text(run.text())]);
                result.structured_content = run.output().cloned();
                Outcome::Result(result)
            }
            Some(Some(reason)) => {
                let text = run.text();
                Outcome::error(format!(
                    "The agent stopped: {reason}. Its last words: {text}"
                ))
            }
            Some(None) => Outcome::Suspended,
            None => Outcome::failed(FailureKind::Crashed, "the agent ended without a reason"),
        }
    }
}

impl fmt::Debug for SubAgent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = self.tools.iter().map(|tool| &tool.name);
        f.debug_list().entries(names).finish()
    }
}
