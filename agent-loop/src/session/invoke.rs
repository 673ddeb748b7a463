//! Executes one call.

use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;

use mcp_client::Caller;
use mcp_jsonrpc::model::Meta;
use tokio::sync::{Notify, mpsc, oneshot};
use tool_policy::{InvalidMetaCall, MAX_FOUND, MetaCall, ToolInfo, search_results};
use tracing::Span;

use crate::agent::Agent;
use crate::run::limits::RunLimits;
use crate::run::messages;
use crate::session::queue::Queues;
use crate::session::result::{self, Stored, fit};
use crate::session::trace;
use crate::toolbox::context::{CallContext, Delegated, Report};
use crate::toolbox::{FailureKind, Invocation, Outcome, Start};

/// What became of a call, and what of its result was stored.
#[derive(Debug)]
pub(crate) struct Invoked {
    pub(crate) outcome: Outcome,
    pub(crate) stored: Stored,
}

/// Where a call reports to.
#[derive(Debug)]
pub(crate) struct Channels {
    pub(crate) reports: mpsc::Sender<Report>,
    pub(crate) queues: Arc<Queues>,
    pub(crate) delegated: mpsc::Sender<Delegated>,
}

/// What a call may use while it runs.
pub(crate) fn context(
    agent: &Agent,
    invocation: &Invocation,
    limits: &RunLimits,
    channels: Channels,
    meta: Meta,
) -> CallContext {
    let conversation = agent.conversation.as_ref();
    let idle_timeout = invocation.idle_timeout;
    let idle_timeout = idle_timeout.unwrap_or(limits.call_idle_timeout);
    CallContext {
        number: invocation.number,
        reports: Some(channels.reports),
        touched: Arc::new(Notify::new()),
        queues: Some(channels.queues),
        delegated: Some(channels.delegated),
        caller: conversation.map(|name| Caller::new(name, invocation.number.to_string())),
        // A task goes on at its server: there is no call to make again.
        parking: agent.parking && !matches!(invocation.start, Start::Await(_)),
        meta,
        idle_timeout,
        deadline: idle_timeout.saturating_mul(limits.call_deadline_factor),
    }
}

/// Executes a call of the loop's own tools or of the toolbox.
pub(crate) async fn invoke(
    agent: Agent,
    invocation: Invocation,
    context: CallContext,
    limits: RunLimits,
    listed: Arc<[ToolInfo]>,
    span: Span,
) -> Invoked {
    let outcome = if invocation.is_built_in() {
        built_in(&agent, &invocation, &listed).await
    } else {
        agent.toolbox.call(invocation, context).await
    };
    let mut invoked = Invoked {
        outcome,
        stored: Stored::default(),
    };
    if let Outcome::Result(result) = &mut invoked.outcome {
        invoked.stored = fit(result, &limits, &*agent.store).await;
    }
    trace::tool_ended(&span, &invoked.outcome, agent.traces_content);
    invoked
}

/// Executes a built-in tool.
async fn built_in(agent: &Agent, invocation: &Invocation, listed: &[ToolInfo]) -> Outcome {
    match MetaCall::parse(&invocation.tool, &invocation.arguments) {
        Ok(MetaCall::Search { query }) => {
            let tools = agent.selection.choose(listed);
            let found = agent.toolbox.search(&tools, &query, MAX_FOUND);
            Outcome::text(search_results(found.iter().filter_map(|at| tools.get(*at))))
        }
        Ok(MetaCall::Read { id, offset, length }) => {
            match result::read(&*agent.store, &id, offset, length).await {
                Ok(text) => Outcome::text(text),
                Err(problem) => Outcome::error(problem),
            }
        }
        Err(InvalidMetaCall::Arguments(problem)) => Outcome::error(problem),
        // `tool_call` became a call of the tool it names.
        _ => {
            let message = messages::unknown_tool(&invocation.tool, &[]);
            Outcome::failed(FailureKind::NoTool, message)
        }
    }
}

/// Polls `call` for the first time once `previous` was, and then lets `next` go: calls that are started
/// together reach the queues of their servers in order. A sender that is dropped lets go as well.
pub(crate) async fn in_order<T>(
    previous: Option<oneshot::Receiver<()>>,
    next: oneshot::Sender<()>,
    call: impl Future<Output = T>,
) -> T {
    if let Some(previous) = previous {
        let _ = previous.await;
    }
    let mut call = pin!(call);
    let first = poll_fn(|context| Poll::Ready(call.as_mut().poll(context))).await;
    let _ = next.send(());
    match first {
        Poll::Ready(output) => output,
        Poll::Pending => call.await,
    }
}
