//! The calls of a session: started, monitored, ended.

use std::sync::Arc;

use tokio::sync::oneshot;
use tokio::task::{Id, JoinError};
use tool_policy::ToolInfo;
use tracing::Instrument as _;

use crate::event::RunEvent;
use crate::run::messages;
use crate::session::invoke::{self, Channels, Invoked};
use crate::session::{Effect, Session};
use crate::toolbox::context::Delegated;
use crate::toolbox::{FailureKind, Invocation, Outcome, Start};

impl Session<'_> {
    /// Starts calls, side by side. The tools may have changed while the calls were stored: one
    /// that is no longer what was approved is not called.
    pub(super) async fn start(&mut self, invocations: Vec<Invocation>) {
        let tools = match invocations.iter().any(|it| it.start == Start::Call) {
            true => Some(self.agent.toolbox.tools().await),
            false => None,
        };
        let listed = self.listed.as_ref();
        let tools = tools.filter(|now| !listed.is_some_and(|listed| Arc::ptr_eq(listed, now)));
        self.effect = Effect::Listen;
        let mut previous = None;
        for invocation in invocations {
            let number = invocation.number;
            let tools = tools.as_deref().filter(|_| invocation.start == Start::Call);
            if tools.is_some_and(|tools| !is_as_approved(&invocation, tools)) {
                let outcome = Outcome::failed(FailureKind::NotSent, messages::changed());
                self.run.finished(number, outcome);
                self.effect = Effect::Decide;
                continue;
            }
            let (span, meta) = self.trace.tool(&invocation);
            let channels = Channels {
                reports: self.reporter.clone(),
                queues: Arc::clone(&self.queues),
                delegated: self.delegator.clone(),
            };
            let limits = self.run.limits();
            let context = invoke::context(&self.agent, &invocation, limits, channels, meta);
            let listed = self.listed.clone().unwrap_or_else(|| Arc::from([]));
            let limits = *self.run.limits();
            let agent = self.agent.clone();
            let call = invoke::invoke(agent, invocation, context, limits, listed, span.clone());
            let (begun, has_begun) = oneshot::channel();
            let call = invoke::in_order(previous.replace(has_begun), begun, call.instrument(span));
            let task = self.tools.spawn(call);
            self.numbers.insert(task.id(), number);
        }
    }

    pub(super) fn ended(&mut self, ended: Result<(Id, Invoked), JoinError>) {
        let (id, outcome, whole) = match ended {
            Ok((id, invoked)) => {
                if invoked.stored.readable {
                    self.run.stored_result();
                }
                (id, invoked.outcome, invoked.stored.whole)
            }
            Err(error) => {
                let message = "the code that executes the tool crashed";
                let outcome = Outcome::failed(FailureKind::Crashed, message);
                (error.id(), outcome, None)
            }
        };
        if let Some(number) = self.numbers.remove(&id) {
            self.queues.forget(number);
            if let Some(id) = whole {
                self.queue.push_back(RunEvent::ResultStored { number, id });
            }
            self.run.finished(number, outcome);
        }
    }

    /// Takes in what happened in the run of a sub-agent, which goes on once the event was returned.
    pub(super) fn delegated(&mut self, delegated: Delegated) {
        let Delegated {
            number,
            event,
            run,
            taken,
        } = delegated;
        if let Some(run) = run {
            self.run.delegated(number, run);
        }
        let event = Box::new(event);
        self.queue.push_back(RunEvent::Delegated { number, event });
        self.effect = Effect::LetGo(taken);
    }
}

/// Whether the tool of a call is there and defined as it was approved.
fn is_as_approved(invocation: &Invocation, tools: &[ToolInfo]) -> bool {
    let approved = &invocation.definition;
    invocation.is_built_in() || tools.iter().any(|tool| tool.definition() == *approved)
}
