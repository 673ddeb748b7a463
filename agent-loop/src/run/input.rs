//! The inputs of a run.

use std::time::Duration;

use mcp_jsonrpc::model::InputResponses;
use provider_adapters::{
    AssistantTurn, CallProblem, ErrorKind, Reply, StopReason, SystemTurn, Usage,
};
use tool_policy::{Effect, Grant, Pattern, Rule};

use crate::approval::{Answer, AnswerError, Consent, Decision};
use crate::event::RunEvent;
use crate::offer::Offer;
use crate::run::call::{CallState, OpenCall};
use crate::run::finish::{name_apart, paired};
use crate::run::limits::LimitKind;
use crate::run::number::CallNumber;
use crate::run::record::Status;
use crate::run::state::{Phase, Round};
use crate::run::step::Reason;
use crate::run::{Run, messages};
use crate::toolbox::Outcome;

/// The number of replies that do not match the output schema and are asked for again.
const INVALID_OUTPUTS: u32 = 1;
/// The number of unreadable replies in a row that end a run.
const SPOILT: u32 = 2;

impl Run {
    /// Adds the model's reply, and its cost if known.
    pub fn replied(&mut self, mut reply: Reply, offer: &Offer, cost_micros: Option<u64>) {
        if !matches!(self.state.phase, Phase::Model) {
            return;
        }
        self.count(&reply, cost_micros);
        match reply.error.take() {
            Some(error) if error.kind == ErrorKind::ContextWindow => return self.context_full(),
            Some(error) => return self.failed(error.to_string()),
            None => {}
        }
        if reply.stop_reason() == Some(StopReason::ContextWindow)
            && reply.calls().next().is_none()
            && self.state.compaction.is_some()
        {
            return self.context_full();
        }
        self.state.full = false;
        name_apart(&mut reply);
        let cut = |problem: &Option<CallProblem>| matches!(problem, Some(CallProblem::Cut));
        let spoilt = reply.calls().any(|call| cut(&call.problem));
        let mut calls = Vec::new();
        for call in reply.calls() {
            let number = CallNumber(self.state.next_number);
            self.state.next_number += 1;
            let mut open = OpenCall::new(number, call.clone());
            let known = open.understand(offer, &self.state.policy);
            self.events.push(RunEvent::Call(Box::new(open.wish())));
            if spoilt && known {
                open.settle(Status::Cancelled, messages::cut_sibling());
            }
            if open.is_settled() {
                self.events.push(RunEvent::Call(Box::new(open.record())));
            }
            self.events
                .extend(open.approval().map(Box::new).map(RunEvent::Approval));
            calls.push(open);
        }
        if calls.is_empty() {
            return self.said(reply);
        }
        self.state.spoilt = if spoilt { self.state.spoilt + 1 } else { 0 };
        self.state.phase = Phase::Acting(Box::new(Round { reply, calls }));
        if let Some(kind) = self.state.summing_up {
            self.end(Reason::Limit(kind));
        } else if self.state.spoilt >= SPOILT {
            self.end(Reason::Truncated);
        } else if let Some(kind) = self.state.limits.reached(&self.state.spent) {
            self.limit(kind);
        }
    }

    fn count(&mut self, reply: &Reply, cost_micros: Option<u64>) {
        self.state.spent.rounds = self.state.spent.rounds.saturating_add(1);
        self.measure(&reply.usage);
        self.charge(reply.usage, cost_micros);
    }

    /// Counts what the model was paid for a reply.
    pub(crate) fn charge(&mut self, usage: Usage, cost_micros: Option<u64>) {
        let spent = &mut self.state.spent;
        let tokens = usage.total().unwrap_or(0);
        spent.tokens = spent.tokens.saturating_add(tokens);
        spent.cost_micros = spent.cost_micros.saturating_add(cost_micros.unwrap_or(0));
        self.events.push(RunEvent::Usage {
            usage,
            cost_micros,
            spent: self.state.spent,
        });
    }

    /// The model made no call.
    fn said(&mut self, mut reply: Reply) {
        let stop = reply.stop_reason();
        let output = reply.output.take();
        if !reply.parts.is_empty() {
            self.state.conversation.push(paired(reply, Vec::new()));
        }
        let reason = match stop {
            Some(StopReason::Pause) => return,
            Some(StopReason::MalformedToolCall) => {
                self.state.spoilt += 1;
                if self.state.spoilt < SPOILT {
                    return self.tell_after_reply(messages::unreadable_calls());
                }
                Reason::Failed {
                    message: "the model's tool calls cannot be read".to_owned(),
                }
            }
            Some(StopReason::MaxTokens) => Reason::Truncated,
            Some(StopReason::ContextWindow) => Reason::ContextFull,
            Some(StopReason::Refusal | StopReason::Filtered) => Reason::Refused,
            _ => match output {
                Some(Err(invalid)) if self.state.invalid_outputs < INVALID_OUTPUTS => {
                    self.state.invalid_outputs += 1;
                    let turn = SystemTurn::new(messages::invalid_output(&invalid));
                    self.state.conversation.push(turn);
                    return;
                }
                Some(Err(invalid)) => Reason::InvalidOutput {
                    message: invalid.to_string(),
                },
                Some(Ok(output)) => {
                    self.state.output = Some(output);
                    Reason::Finished
                }
                None => Reason::Finished,
            },
        };
        let reason = self.state.summing_up.map_or(reason, Reason::Limit);
        self.end(reason);
    }

    /// Reports that the request to the model failed.
    pub fn failed(&mut self, message: impl Into<String>) {
        if matches!(self.state.phase, Phase::Model) {
            let message = message.into();
            self.end(Reason::Failed { message });
        }
    }

    /// Adds the outcome of a call. The outcome of a call that is not running is ignored: it may have been cancelled.
    pub fn finished(&mut self, number: CallNumber, outcome: Outcome) {
        let limits = self.state.limits;
        let Some(call) = self.find(number).filter(|call| call.is_running()) else {
            return;
        };
        call.finish(outcome, &limits);
        let record = call.record();
        let parked = match &call.state {
            CallState::Parked(parked) => Some(parked.clone()),
            _ => None,
        };
        let approval = call.approval();
        self.events.push(RunEvent::Call(Box::new(record)));
        self.events
            .extend(parked.map(|parked| RunEvent::Elicitation { number, parked }));
        self.events
            .extend(approval.map(Box::new).map(RunEvent::Approval));
    }

    /// Feeds the state of a sub-agent's run: kept with its call, and what it has spent counts here.
    pub(crate) fn delegated(&mut self, number: CallNumber, run: Box<Self>) {
        let Some(call) = self.find(number).filter(|call| call.is_running()) else {
            return;
        };
        let spent = call.delegate(run);
        self.state.spent.add(&spent);
        if let Some(kind) = self.state.limits.reached(&self.state.spent)
            && kind != LimitKind::Rounds
            && self.state.summing_up.is_none()
        {
            self.limit(kind);
        }
    }

    /// Adds a person's answer to an [`Approval`](crate::Approval): exactly the one that was shown.
    ///
    /// # Errors
    /// [`AnswerError`] if the call does not wait for one, if the waiting question is not the one that was shown, if it
    /// does not take such an answer, or if edited arguments are invalid.
    pub fn answer(
        &mut self,
        shown: &Consent,
        decision: Decision,
        offer: &Offer,
    ) -> Result<(), AnswerError> {
        let number = shown.call;
        let not_asked = AnswerError::NotAsked(number);
        // The tool may have changed since the question was last looked at.
        self.judge(offer);
        let Some(call) = self.find(number) else {
            return Err(not_asked);
        };
        if let Some(answered) = call.answer_delegated(shown, &decision) {
            return answered;
        }
        match call.approval() {
            None => return Err(not_asked),
            Some(now) if now.digest != shown.digest => {
                return Err(AnswerError::Superseded(Box::new(now)));
            }
            Some(now) => now.takes(decision.answer)?,
        }
        let read_only_tools = call.read_only_tools.clone();
        let Some(target) = &mut call.target else {
            return Err(not_asked);
        };
        if let Some(arguments) = decision.arguments {
            offer
                .check(&target.server, &target.tool, &arguments)
                .map_err(AnswerError::Arguments)?;
            call.edited |= target.arguments != arguments;
            target.arguments = arguments;
        }
        let definition = target.definition();
        let this_tool = || Grant::tool(definition.clone());
        let grant = match decision.answer {
            Answer::Once => None,
            Answer::ThisRun => Some(this_tool().for_this_run()),
            Answer::AlwaysTool => Some(this_tool()),
            Answer::AlwaysServerReadOnly => {
                let (server, identity) = (&definition.server, &definition.server_identity);
                Some(Grant::read_only(server, identity, read_only_tools))
            }
            Answer::Deny | Answer::AlwaysDeny => {
                call.settle(
                    Status::Denied,
                    messages::declined(decision.reason.as_deref()),
                );
                let record = Box::new(call.record());
                self.events.push(RunEvent::Call(record));
                if decision.answer == Answer::AlwaysDeny {
                    let server = Pattern::exact(&definition.server);
                    let tool = Pattern::exact(&definition.tool);
                    let rule = Rule::new(Effect::Deny, server, tool);
                    self.state.policy.add_rule(rule.clone());
                    self.events.push(RunEvent::Forbidden(rule));
                }
                return Ok(());
            }
        };
        call.state = CallState::Ready;
        let tool = offer.at(&definition.server, &definition.tool);
        let source = match tool.filter(|tool| tool.definition() == definition) {
            Some(tool) => {
                self.state.policy.add_pin_of(tool);
                tool.source.as_deref().cloned().map(Box::new)
            }
            None => {
                self.state.policy.add_pin(definition.clone());
                None
            }
        };
        self.events.push(RunEvent::Pinned {
            definition,
            tool: source,
        });
        if let Some(grant) = grant {
            self.state.policy.add_grant(grant.clone());
            if !grant.this_run {
                self.events.push(RunEvent::Granted(grant));
            }
        }
        Ok(())
    }

    /// Adds the answers to a server's questions about a parked call.
    ///
    /// # Errors
    /// [`AnswerError`] if the call is not parked.
    pub fn supply(
        &mut self,
        number: CallNumber,
        answers: InputResponses,
    ) -> Result<(), AnswerError> {
        let call = self.find(number).ok_or(AnswerError::NotAsked(number))?;
        let CallState::Parked(parked) = &call.state else {
            return Err(AnswerError::NotAsked(number));
        };
        call.state = CallState::Answered {
            parked: parked.clone(),
            answers,
        };
        Ok(())
    }

    /// Cancels everything in flight. `said` is the part of the current reply that was shown: it is kept, incomplete
    /// calls are not.
    pub fn cancel(&mut self, said: &str) {
        if matches!(self.state.phase, Phase::Model) && !said.trim().is_empty() {
            self.state.conversation.push(AssistantTurn::from_text(said));
        }
        self.end(Reason::Cancelled);
    }

    /// How much time is left, if time is limited.
    pub(crate) fn time_left(&self) -> Option<Duration> {
        let limit = self.state.limits.time?;
        let summing_up = self.state.summing_up.is_some();
        (!summing_up).then(|| limit.saturating_sub(self.state.spent.time))
    }

    /// Reports that time has passed. Do not include the time people take to answer.
    pub fn advance(&mut self, elapsed: Duration) {
        self.state.spent.time += elapsed;
        let over = self.state.limits.reached(&self.state.spent) == Some(LimitKind::Time);
        if over && self.reason().is_none() && self.state.summing_up.is_none() {
            self.limit(LimitKind::Time);
        }
    }
}
