//! Whatever executes tool calls.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use mcp_client::{Caller, Parked, TaskTicket};
use mcp_jsonrpc::RawObject;
use mcp_jsonrpc::model::{CallToolResult, ContentBlock, InputResponses, Meta};
use mcp_manager::Queued;
use provider_adapters::CallId;
use serde::{Deserialize, Serialize};
use tokio::sync::{Notify, mpsc};

use crate::number::CallNumber;
use crate::pause::Pause;
use crate::queue::Queues;
use tool_policy::{BUILT_IN, SearchIndex};
use tool_policy::{Definition, ToolInfo};

/// Tools that can be listed and called. Wrap one to watch or to change what passes.
///
/// Dropping the future of a call cancels it.
#[async_trait]
pub trait Toolbox: Send + Sync {
    /// The tools as they are now, in a stable order. Return the same `Arc` while nothing changed:
    /// nothing is compiled anew then.
    async fn tools(&self) -> Arc<[ToolInfo]>;

    /// Brings [`tools`](Self::tools) up to date where they are known to have changed. Awaited before
    /// every request to the model: it must end within seconds, and soon if nothing changed.
    /// Does nothing by default; a toolbox that wraps another passes it on.
    async fn refresh(&self) {}

    /// Executes a call. Ends in exactly one outcome, and never executes twice by itself.
    async fn call(&self, call: Invocation, context: CallContext) -> Outcome;

    /// The tools among `tools` that fit `query` best, as positions, best first.
    fn search(&self, tools: &[ToolInfo], query: &str, limit: usize) -> Vec<usize> {
        let index: SearchIndex = tools.iter().collect();
        let hits = index.search(query, limit);
        hits.iter().map(|hit| hit.position).collect()
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
}

/// Why a call has no answer.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[non_exhaustive]
pub struct CallFailure {
    /// What kind of failure it is.
    pub kind: FailureKind,
    /// What happened, in words for the model and for people.
    pub message: String,
}

/// Kinds of failure.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum FailureKind {
    /// The server answered with an error, or against the protocol.
    Protocol,
    /// It took too long; the server was told to stop.
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

    /// No answer.
    pub fn failed(kind: FailureKind, message: impl Into<String>) -> Self {
        Self::Failed(CallFailure {
            kind,
            message: message.into(),
        })
    }
}

/// How far a call has come.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[non_exhaustive]
pub struct CallProgress {
    /// How far.
    pub progress: f64,
    /// How far it is in all, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total: Option<f64>,
    /// What is going on, for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}

impl CallProgress {
    /// This far.
    pub fn new(progress: f64, total: Option<f64>, message: Option<String>) -> Self {
        Self {
            progress,
            total,
            message,
        }
    }
}

/// How far which call has come.
pub(crate) type Report = (CallNumber, CallProgress);

/// What a call may use while it runs.
#[derive(Clone)]
pub struct CallContext {
    pub(crate) number: CallNumber,
    pub(crate) reports: Option<mpsc::Sender<Report>>,
    pub(crate) touched: Arc<Notify>,
    pub(crate) pause: Arc<Pause>,
    pub(crate) queues: Option<Arc<Queues>>,
    pub(crate) caller: Option<Caller>,
    pub(crate) meta: Meta,
    pub(crate) idle_timeout: Duration,
    pub(crate) deadline: Duration,
}

impl CallContext {
    /// A context nobody listens to, for calls outside of a run.
    pub fn detached(idle_timeout: Duration) -> Self {
        Self {
            number: CallNumber::default(),
            reports: None,
            touched: Arc::default(),
            pause: Arc::default(),
            queues: None,
            caller: None,
            meta: Meta::default(),
            idle_timeout,
            deadline: idle_timeout.saturating_mul(10),
        }
    }

    /// Tells how far the call has come, and starts its idle timeout anew. A report
    /// that nobody takes in time is dropped.
    pub fn progress(&self, progress: CallProgress) {
        self.touched.notify_one();
        if let Some(reports) = &self.reports {
            let _ = reports.try_send((self.number, progress));
        }
    }

    /// The call's clock stands still while people are asked: `stood` tells for how long it has,
    /// all in all, and never less than before. Say it once, before anybody is asked.
    pub fn stands_still(&self, stood: impl Fn() -> Duration + Send + Sync + 'static) {
        self.pause.set(stood);
    }

    /// Tells that the call waits for its turn at its server, and why; `None` when it does not any
    /// more. Its clock stands still meanwhile: it was not sent yet.
    pub fn queued(&self, queued: Option<&Queued>) {
        self.pause.queued(queued.is_some());
        if let Some(queues) = &self.queues {
            queues.set(self.number, queued.cloned());
        }
    }

    /// Who makes the call, if the agent is a conversation's.
    pub fn caller(&self) -> Option<&Caller> {
        self.caller.as_ref()
    }

    /// What goes along with the request: the trace context.
    pub fn meta(&self) -> &Meta {
        &self.meta
    }

    /// How long the call may go without a response and without progress. The loop sees to it.
    pub fn idle_timeout(&self) -> Duration {
        self.idle_timeout
    }

    /// How long the call may take in total. The loop sees to it.
    pub fn deadline(&self) -> Duration {
        self.deadline
    }
}

impl fmt::Debug for CallContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CallContext")
            .field("number", &self.number)
            .field("idle_timeout", &self.idle_timeout)
            .finish_non_exhaustive()
    }
}
