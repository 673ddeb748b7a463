//! Executes one call: in time, and with a result that fits.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use mcp_client::Caller;
use mcp_jsonrpc::model::Meta;
use tokio::sync::{Notify, mpsc};
use tokio::time::{Instant, sleep_until};
use tracing::Span;

use crate::agent::Agent;
use crate::limits::Limits;
use crate::queue::Queues;
use crate::result::{self, Stored, fit};
use crate::toolbox::{CallContext, FailureKind, Invocation, Outcome, Report, Start};
use crate::{trace, words};
use tool_policy::ToolInfo;
use tool_policy::{InvalidMetaCall, MAX_FOUND, MetaCall, search_results};

/// How often at the most a call is looked at while people are asked.
const LOOK: Duration = Duration::from_millis(100);

/// What became of a call, and what of its result was stored.
#[derive(Debug)]
pub(crate) struct Invoked {
    pub(crate) outcome: Outcome,
    pub(crate) stored: Stored,
}

/// What a call may use while it runs.
pub(crate) fn context(
    agent: &Agent,
    invocation: &Invocation,
    limits: &Limits,
    (reports, queues): (mpsc::Sender<Report>, Arc<Queues>),
    meta: Meta,
) -> CallContext {
    let conversation = agent.conversation.as_ref();
    let idle_timeout = invocation.idle_timeout;
    let idle_timeout = idle_timeout.unwrap_or(limits.call_idle_timeout);
    CallContext {
        number: invocation.number,
        reports: Some(reports),
        touched: Arc::new(Notify::new()),
        pause: Arc::default(),
        queues: Some(queues),
        caller: conversation.map(|name| Caller::new(name, invocation.number.to_string())),
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
    limits: Limits,
    listed: Arc<[ToolInfo]>,
    span: Span,
) -> Invoked {
    let outcome = if invocation.is_built_in() {
        built_in(&agent, &invocation, &listed).await
    } else {
        in_time(&agent, invocation, context).await
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
            let message = words::unknown_tool(&invocation.tool, &[]);
            Outcome::failed(FailureKind::NoTool, message)
        }
    }
}

/// A call of the toolbox, given up when it takes too long without progress, or too long in all.
/// A task has its server's time, and neither people's time to answer nor that in a queue counts.
async fn in_time(agent: &Agent, invocation: Invocation, context: CallContext) -> Outcome {
    let (idle, total) = (context.idle_timeout, context.deadline);
    let touched = Arc::clone(&context.touched);
    let pause = Arc::clone(&context.pause);
    let stood = || pause.total();
    let (server, tool) = (invocation.server.clone(), invocation.tool.clone());
    if matches!(invocation.start, Start::Await(_)) {
        return agent.toolbox.call(invocation, context).await;
    }
    let begin = Instant::now();
    // By a clock that stands still while people are asked, and while the call is queued.
    let last = begin + total;
    let mut due = (begin + idle).min(last);
    let mut wake = due;
    let mut call = pin!(agent.toolbox.call(invocation, context));
    loop {
        tokio::select! {
            biased;
            outcome = &mut call => return outcome,
            () = touched.notified() => {
                let reading = Instant::now().checked_sub(stood()).unwrap_or(begin);
                due = (reading + idle).min(last);
                wake = due + stood();
            }
            () = sleep_until(wake) => {
                let (now, at) = (Instant::now(), due + stood());
                if at > now {
                    wake = at.max(now + LOOK);
                    continue;
                }
                let message = match due == last {
                    true => words::deadline(&server, &tool, total),
                    false => words::idle_timeout(&server, &tool, idle),
                };
                return Outcome::failed(FailureKind::Timeout, message);
            }
        }
    }
}
