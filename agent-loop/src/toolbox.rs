//! Toolboxes, which execute tool calls.

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
#[cfg(feature = "manager")]
use tool_policy::{ScanPolicy, screen_error, screen_result};

use self::context::CallContext;
use crate::approval::{Consent, Decision};
use crate::run::Run;
use crate::run::number::CallNumber;

/// Tools that can be listed and called. Wrap one to observe or change its calls.
///
/// Dropping the future of a call cancels it.
#[async_trait]
pub trait Toolbox: Send + Sync {
    /// The current tools, in a stable order. Return the same `Arc` while nothing has changed: then nothing is
    /// recompiled.
    async fn tools(&self) -> Arc<[ToolInfo]>;

    /// Updates [`tools`](Self::tools) if they are known to have changed. Awaited before every request to the model: it
    /// must end within seconds, and soon if nothing has changed. Does nothing by default; a toolbox that wraps another
    /// passes it on.
    async fn refresh(&self) {}

    /// Executes a call. It has exactly one outcome, and is never executed twice automatically. Calls arrive in the
    /// model's order, including those that must not run concurrently: a toolbox queues them as its servers require. It
    /// also enforces the time-outs of `context`; a toolbox without its own time-outs uses
    /// [`CallContext::enforce_timeouts`].
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

/// A call to execute.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Invocation {
    /// The call's number within the run.
    pub number: CallNumber,
    /// The model's name for the call.
    pub id: CallId,
    /// Our name for the server.
    pub server: String,
    /// The server's name for the tool.
    pub tool: String,
    /// The tool's name as the model sees it.
    pub name: String,
    /// The approved definition: the tool must not run if it has another one by now.
    pub definition: Definition,
    /// The arguments, validated against the tool's schema.
    pub arguments: RawObject,
    /// Whether it starts, or continues.
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

/// The way a call starts or continues.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Start {
    /// It starts.
    Call,
    /// It was parked; these are the answers to the server's questions.
    Resume {
        /// What was parked.
        parked: Box<Parked>,
        /// The answers, by the keys of the questions.
        answers: InputResponses,
    },
    /// It became a task; wait for the task.
    Await(TaskTicket),
    /// It is a call to a sub-agent, whose run continues.
    Continue {
        /// The sub-agent's run.
        run: Box<Run>,
        /// A person's answer to a question of that run.
        answer: Option<Box<(Consent, Decision)>>,
    },
}

/// The outcome of a call.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Outcome {
    /// The tool returned a result, which may be a failure.
    Result(CallToolResult),
    /// There is no answer.
    Failed(CallFailure),
    /// The server requires an answer first, which will come later.
    Parked(Box<Parked>),
    /// The call continues at the server.
    Task(TaskTicket),
    /// The call is one to a sub-agent, whose run waits for approval.
    Suspended,
}

/// The reason why a call has no result.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[non_exhaustive]
pub struct CallFailure {
    /// The kind of failure.
    pub kind: FailureKind,
    /// The description, for the model and for people.
    pub message: String,
}

/// The kinds of failure.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum FailureKind {
    /// The server returned an error, or violated the protocol.
    Protocol,
    /// It timed out; the server was asked to stop.
    Timeout,
    /// It was never sent, so it had no effect.
    NotSent,
    /// It was interrupted; whether it took effect is unknown.
    Unknown,
    /// The code that executes it panicked.
    Crashed,
    /// The tool does not exist, or no longer exists.
    NoTool,
}

impl Outcome {
    /// A result that is text.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Result(CallToolResult::new(vec![ContentBlock::text(text)]))
    }

    /// A result that reports a failure of the tool.
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

    /// What the model may read of it: whatever a server says may be an attack, its errors as well.
    #[cfg(feature = "manager")]
    pub(crate) fn screened(self, policy: &ScanPolicy) -> Self {
        match self {
            Self::Result(result) => Self::Result(screen_result(result, policy)),
            Self::Failed(CallFailure { kind, message }) => {
                Self::failed(kind, screen_error(message, policy))
            }
            other => other,
        }
    }

    /// A call without a result.
    pub fn failed(kind: FailureKind, message: impl Into<String>) -> Self {
        Self::Failed(CallFailure {
            kind,
            message: message.into(),
        })
    }
}
