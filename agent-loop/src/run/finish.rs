//! The end of rounds and runs: every call has a result, in a history every provider accepts.

use std::collections::BTreeSet;

use provider_adapters::{
    AssistantPart, AssistantTurn, CallId, History, Reply, SystemTurn, ToolResult, Turn,
};

use crate::event::RunEvent;
use crate::run::call::OpenCall;
use crate::run::limits::LimitKind;
use crate::run::log::Logged;
use crate::run::loop_detector::Repetition;
use crate::run::state::Phase;
use crate::run::step::Reason;
use crate::run::{Run, messages};

impl Run {
    /// Ends the run at a limit: cancels open calls, and lets the model sum up if configured.
    pub(crate) fn limit(&mut self, kind: LimitKind) {
        let limit = self.state.limits.describe(kind);
        self.cancel_open(&limit);
        if !self.state.limits.summary {
            return self.done(Reason::Limit(kind));
        }
        self.state.summing_up = Some(kind);
        let turn = SystemTurn::new(messages::sum_up(&limit));
        self.state.conversation.push(turn);
        self.state.phase = Phase::Model;
    }

    /// Ends the run, unless it is over.
    pub(crate) fn end(&mut self, reason: Reason) {
        self.state.compacting = None;
        if self.reason().is_none() {
            self.cancel_open(&reason.to_string());
            self.done(reason);
        }
    }

    fn done(&mut self, reason: Reason) {
        self.state.phase = Phase::Done(reason.clone());
        self.events.push(RunEvent::Done { reason });
    }

    /// Cancels open calls, with the reason as their result.
    pub(crate) fn cancel_open(&mut self, why: &str) {
        if let Phase::Acting(round) = &mut self.state.phase {
            for call in round.calls.iter_mut().filter(|call| !call.is_settled()) {
                call.cancel(why);
                self.events.push(RunEvent::Call(Box::new(call.record())));
            }
            self.record_round();
        }
        self.state.over = None;
    }

    /// Finishes a round whose calls are all over: continues with the model, unless it loops.
    pub(crate) fn settle(&mut self) {
        let repetition = self.record_round();
        if let Some(kind) = self.state.over.take() {
            return self.limit(kind);
        }
        match repetition {
            Repetition::None => {}
            Repetition::Nudge => {
                let turn = SystemTurn::new(messages::nudge());
                self.state.conversation.push(turn);
            }
            Repetition::Stop => self.end(Reason::Loop),
        }
    }

    /// Writes a round whose calls are all over into the conversation.
    fn record_round(&mut self) -> Repetition {
        let Phase::Acting(round) = std::mem::replace(&mut self.state.phase, Phase::Model) else {
            return Repetition::None;
        };
        let records = round.calls.iter().map(OpenCall::record).collect();
        self.state.log.extend(round.calls.iter().map(Logged::of));
        let results = round.calls.into_iter().filter_map(OpenCall::into_result);
        let turn = paired(round.reply, results.collect());
        let repetition = self.state.loop_detector.watch(turn.exchanges());
        self.state.conversation.push(turn);
        self.events.push(RunEvent::Settled { records });
        repetition
    }
}

/// The turn that a reply becomes with these results.
pub(crate) fn paired(reply: Reply, results: Vec<ToolResult>) -> AssistantTurn {
    let parts = reply.parts.clone();
    let native = reply.native.clone();
    reply.into_turn(results.clone()).unwrap_or_else(|_| {
        // Cannot be: every call was given a result, and names were set apart.
        let mut history = History::new();
        history.assistant(parts, native);
        results
            .into_iter()
            .for_each(|result| history.result(result));
        let (conversation, _) = history.repair();
        match conversation.turns().first() {
            Some(Turn::Assistant(turn)) => turn.clone(),
            _ => AssistantTurn::from_text(String::new()),
        }
    })
}

/// Renames calls with duplicate ids; the provider's native form is then dropped.
pub(crate) fn name_apart(reply: &mut Reply) {
    let mut seen: BTreeSet<CallId> = BTreeSet::new();
    for part in &mut reply.parts {
        let AssistantPart::ToolCall(call) = part else {
            continue;
        };
        let mut number = 1;
        while !seen.insert(call.id.clone()) {
            number += 1;
            call.id = CallId::from(format!("{}x{number}", call.id));
            reply.native = None;
        }
    }
}
