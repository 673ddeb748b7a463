//! Whatever executes tool calls.

pub(crate) mod context;
#[cfg(feature = "manager")]
pub(crate) mod direct;
pub(crate) mod joined;
pub(crate) mod local;
#[cfg(feature = "manager")]
pub(crate) mod managed;

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use mcp_client::{Parked, TaskTicket};
use mcp_jsonrpc::RawObject;
use mcp_jsonrpc::model::{CallToolResult, ContentBlock, InputResponses};
use provider_adapters::CallId;
use serde::{Deserialize, Serialize};
use tool_policy::{BUILT_IN, Definition, SearchIndex, ToolInfo};

use self::context::CallContext;
use crate::approval::{Consent, Decision};
use crate::run::Run;
use crate::run::number::CallNumber;

/// Tools that can be listed and called. Wrap one to watch or to change what passes.
///
/// Dropping the future of a call cancels it.
#[async_trait]
pub trait Toolbox: Send + Sync {
    /// The tools as they are now, in a stable order. Return the same `Arc` while nothing changed:
    /// nothing is recompiled then.
    async fn tools(&self) -> Arc<[ToolInfo]>;

    /// Brings [`tools`](Self::tools) up to date where they are known to have changed. Awaited before
    /// every request to the model: it must end within seconds, and soon if nothing changed.
    /// Does nothing by default; a toolbox that wraps another passes it on.
    async fn refresh(&self) {}

    /// Executes a call. Ends in exactly one outcome, and never executes twice by itself. Calls arrive
    /// in the model's order, also those that are not to run at the same time: a toolbox queues them
    /// as its servers need it. It also keeps to the time-outs of `context`; one without time-outs of
    /// its own uses [`CallContext::enforce_timeouts`].
    async fn call(&self, call: Invocation, context: CallContext) -> Outcome;

    /// The tools among `tools` that fit `query` best, as positions, best first.
    fn search(&self, tools: &[ToolInfo], query: &str, limit: usize) -> Vec<usize> {
        let index: SearchIndex = tools.iter().collect();
        let hits = index.search(query, limit);
        hits.iter().map(|hit| hit.position).collect()
    }
}

#[async_trait]
impl<T: Toolbox + ?Sized> Toolbox for Arc<T> {
    async fn tools(&self) -> Arc<[ToolInfo]> {
        (**self).tools().await
    }

    async fn refresh(&self) {
        (**self).refresh().await;
    }

    async fn call(&self, call: Invocation, context: CallContext) -> Outcome {
        (**self).call(call, context).await
    }

    fn search(&self, tools: &[ToolInfo], query: &str, limit: usize) -> Vec<usize> {
        (**self).search(tools, query, limit)
    }
}

/// A call to be executed.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Invocation {
    /// The call's number within the run.
    pub number: CallNumber,
    /// The model's name for the call.
    pub id: CallId,
    /// The server's name with us.
    pub server: String,
    /// The tool's name as its server spells it.
    pub tool: String,
    /// The tool's name as the model sees it.
    pub name: String,
    /// The definition that was approved: the tool must not run if it is another one by now.
    pub definition: Definition,
    /// What to call it with: checked against the tool's schema.
    pub arguments: RawObject,
    /// Whether it begins, or goes on.
    pub start: Start,
    /// The tool's own idle timeout, if it has one.
    pub idle_timeout: Option<Duration>,
}

impl Invocation {
    /// Whether it is of one of the loop's own tools.
    pub(crate) fn is_built_in(&self) -> bool {
        self.server == BUILT_IN
    }
}

/// How a call is taken up.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Start {
    /// It begins.
    Call,
    /// It was parked; here is what the server wanted to know.
    Resume {
        /// What was parked.
        parked: Box<Parked>,
        /// The answers, by the keys of the questions.
        answers: InputResponses,
    },
    /// It became a task; wait for that.
    Await(TaskTicket),
    /// It is a sub-agent's, whose run goes on.
    Continue {
        /// The sub-agent's run.
        run: Box<Run>,
        /// A person's answer to a question of that run.
        answer: Option<Box<(Consent, Decision)>>,
    },
}

/// What became of a call.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Outcome {
    /// The tool answered, perhaps that it failed.
    Result(CallToolResult),
    /// There is no answer.
    Failed(CallFailure),
    /// The server needs an answer first, which will come later.
    Parked(Box<Parked>),
    /// The call goes on at the server.
    Task(TaskTicket),
    /// The call is a sub-agent's, whose run waits for approval.
    Suspended,
}

/// Why a call has no answer.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[non_exhaustive]
pub struct CallFailure {
    /// What kind of failure it is.
    pub kind: FailureKind,
    /// What happened, for the model and for people.
    pub message: String,
}

/// Kinds of failure.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum FailureKind {
    /// The server answered with an error, or against the protocol.
    Protocol,
    /// It took too long; the server was asked to stop.
    Timeout,
    /// It never left: nothing happened.
    NotSent,
    /// It broke off; whether it took effect is unknown.
    Unknown,
    /// The code that executes it crashed.
    Crashed,
    /// The tool does not exist (any more).
    NoTool,
}

impl Outcome {
    /// An answer that is text.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Result(CallToolResult::new(vec![ContentBlock::text(text)]))
    }

    /// The tool's answer that it failed.
    pub fn error(text: impl Into<String>) -> Self {
        let mut result = CallToolResult::new(vec![ContentBlock::text(text)]);
        result.is_error = Some(true);
        Self::Result(result)
    }

    /// A server's call is not a sub-agent's.
    #[cfg(feature = "manager")]
    pub(crate) fn no_run() -> Self {
        Self::failed(
            FailureKind::NotSent,
            "a call of a server has no run to continue",
        )
    }

    /// No answer.
    pub fn failed(kind: FailureKind, message: impl Into<String>) -> Self {
        Self::Failed(CallFailure {
            kind,
            message: message.into(),
        })
    }
}
