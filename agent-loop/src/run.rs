//! The step machine: the state of a run, and its next step.

pub(crate) mod call;
pub(crate) mod compact;
pub(crate) mod finish;
pub(crate) mod input;
pub(crate) mod limits;
pub(crate) mod log;
pub(crate) mod loop_detector;
pub(crate) mod messages;
pub(crate) mod number;
pub(crate) mod record;
pub(crate) mod state;
pub(crate) mod step;

use std::collections::BTreeSet;

use mcp_client::Parked;
use mcp_jsonrpc::RawJson;
use provider_adapters::{Conversation, SystemTurn, ToolCall, ToolResult, Turn, UserPart, UserTurn};
use tool_policy::{Mode, Pattern, Policy};

use crate::approval::Approval;
use crate::event::RunEvent;
use crate::offer::Offer;
use crate::run::call::{CallState, OpenCall};
use crate::run::limits::{LimitKind, RunLimits, Spent};
use crate::run::number::CallNumber;
use crate::run::record::{Status, ToolCallRecord};
use crate::run::state::{Phase, State};
use crate::run::step::{Reason, Step};
use crate::toolbox::Invocation;

/// A run: a conversation and everything in progress in it.
///
/// It does no IO and has no clock. [`next`](Self::next) returns the next action, and its outcome is fed back with
/// [`replied`](Self::replied), [`finished`](Self::finished), [`answer`](Self::answer) and so on. Between any two of
/// these calls it can be serialized, dropped, and restored elsewhere, days later: no question is asked twice and no
/// call is executed twice. A [`Session`](crate::Session) does all that with a model and a toolbox.
///
/// ```
/// use agent_loop::Run;
///
/// let mut run = Run::default();
/// run.ask("What time is it?");
/// let stored = serde_json::to_string(&run)?;
/// let run: Run = serde_json::from_str(&stored)?;
/// assert_eq!(run.conversation().turns().len(), 1);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Run {
    pub(crate) state: State,
    pub(crate) events: Vec<RunEvent>,
}

impl Default for Run {
    fn default() -> Self {
        Self::new(Conversation::new())
    }
}

impl Run {
    /// Continues a conversation, whose last turn is the user's, or is added with [`ask`](Self::ask).
    pub fn new(conversation: Conversation) -> Self {
        Self {
            state: State::new(conversation),
            events: Vec::new(),
        }
    }

    /// Sets the policy.
    #[must_use]
    pub fn with_policy(mut self, policy: Policy) -> Self {
        self.state.policy = policy;
        self
    }

    /// Sets the limits.
    #[must_use]
    pub fn with_limits(mut self, limits: RunLimits) -> Self {
        self.state.limits = limits;
        self
    }

    /// Exempts tools, by the name the model sees, from loop detection, because they are polled.
    #[must_use]
    pub fn with_polled(mut self, name: impl Into<Pattern>) -> Self {
        self.state.loop_detector.exempt(name.into());
        self
    }

    /// The conversation, every call with its result.
    pub fn conversation(&self) -> &Conversation {
        &self.state.conversation
    }

    /// The policy for calls, including the answers so far.
    pub fn policy(&self) -> &Policy {
        &self.state.policy
    }

    /// The limits.
    pub fn limits(&self) -> &RunLimits {
        &self.state.limits
    }

    /// The amounts spent since the last user turn.
    pub fn spent(&self) -> &Spent {
        &self.state.spent
    }

    /// The reason why it ended, if it has.
    pub fn reason(&self) -> Option<&Reason> {
        match &self.state.phase {
            Phase::Done(reason) => Some(reason),
            _ => None,
        }
    }

    /// The text of the model's last reply to the last user turn; empty if it has none.
    pub fn text(&self) -> String {
        let latest = self.state.conversation.turns().iter().rev();
        let replies = latest.take_while(|turn| !matches!(turn, Turn::User(_)));
        let mut texts = replies.filter_map(|turn| match turn {
            Turn::Assistant(turn) => Some(turn.text()),
            _ => None,
        });
        texts.next().unwrap_or_default()
    }

    /// The structured output of the model's last reply to the last user turn, if the agent has an output schema, which
    /// it matches.
    pub fn output(&self) -> Option<&RawJson> {
        self.state.output.as_ref()
    }

    /// Every call of the run, in order, with its status.
    pub fn records(&self) -> Vec<ToolCallRecord> {
        let mut exchanges = self.exchanges();
        let over = self.state.log.iter().filter_map(|logged| {
            let (call, result) = match &logged.exchange {
                Some(exchange) => (&exchange.0, &exchange.1),
                None => exchanges.next()?,
            };
            Some(logged.record(call).with_result(result))
        });
        let mut records: Vec<ToolCallRecord> = over.collect();
        records.extend(self.open().iter().map(OpenCall::record));
        records
    }

    /// The calls of the run that are over and still in the conversation.
    fn exchanges(&self) -> impl Iterator<Item = (&ToolCall, &ToolResult)> {
        let turns = self.state.conversation.turns().iter();
        let replies = turns.skip(self.state.first_turn);
        replies.flat_map(|turn| match turn {
            Turn::Assistant(turn) => turn.exchanges().collect(),
            _ => Vec::new(),
        })
    }

    /// Replaces the conversation, for instance with other instructions. Records, stored results and all other parts of
    /// the run stay. Calls in flight are cancelled.
    #[must_use]
    pub fn with_conversation(mut self, conversation: Conversation) -> Self {
        self.cancel_open("the conversation was replaced");
        self.replace(conversation, BTreeSet::new());
        self.state.measured = None;
        self
    }

    /// Replaces the conversation; the log keeps the exchanges of the old one.
    pub(crate) fn replace(&mut self, conversation: Conversation, pinned: BTreeSet<usize>) {
        let exchanges: Vec<(ToolCall, ToolResult)> = self
            .exchanges()
            .map(|(call, result)| (call.clone(), result.clone()))
            .collect();
        let log = self.state.log.iter_mut();
        let logged = log.filter(|logged| logged.exchange.is_none());
        for (logged, exchange) in logged.zip(exchanges) {
            logged.exchange = Some(Box::new(exchange));
        }
        self.state.first_turn = conversation.turns().len();
        self.state.conversation = conversation;
        self.state.pinned = pinned;
        self.state.compacting = None;
        self.state.replaced = self.state.replaced.wrapping_add(1);
    }

    /// The calls that wait for approval.
    pub fn approvals(&self) -> Vec<Approval> {
        self.open().iter().filter_map(OpenCall::approval).collect()
    }

    /// The calls whose servers asked a question first, and the questions.
    pub fn parked(&self) -> impl Iterator<Item = (CallNumber, &Parked)> {
        self.open().iter().filter_map(|call| match &call.state {
            CallState::Parked(parked) => Some((call.number, &**parked)),
            _ => None,
        })
    }

    /// Adds a user turn in plain text. Cancels everything in flight and resets the amounts spent.
    pub fn ask(&mut self, text: impl Into<String>) {
        self.say(UserTurn::new(vec![UserPart::text(text)]));
    }

    /// Adds a user turn. Cancels everything in flight and resets the amounts spent.
    pub fn say(&mut self, turn: UserTurn) {
        self.cancel_open("superseded by a new user message");
        self.state.conversation.push(turn);
        self.restart();
    }

    /// Continues a run that has ended, as if nothing had stopped it. If the model had the last word, an instruction to go
    /// on is added.
    pub fn proceed(&mut self) {
        if matches!(self.state.phase, Phase::Done(_)) {
            self.tell_after_reply(messages::go_on());
            self.restart();
        }
    }

    /// Adds an instruction if the conversation ends with the model's own words, which few providers accept.
    fn tell_after_reply(&mut self, instruction: String) {
        let last = self.state.conversation.turns().last();
        if let Some(Turn::Assistant(turn)) = last
            && turn.results().is_empty()
        {
            self.state.conversation.push(SystemTurn::new(instruction));
        }
    }

    fn restart(&mut self) {
        // It is not over any more.
        self.events
            .retain(|event| !matches!(event, RunEvent::Done { .. }));
        self.state.phase = Phase::Model;
        self.state.spent = Spent::default();
        self.state.spoilt = 0;
        self.state.summing_up = None;
        self.state.compacting = None;
        self.state.full = false;
        self.state.output = None;
        self.state.invalid_outputs = 0;
        self.state.loop_detector.reset();
    }

    /// The next step. Without new input the step stays the same, except that calls are returned only once.
    pub fn next(&mut self, offer: &Offer) -> Step {
        self.state.tool_tokens = offer.tokens();
        loop {
            if let Some(to_summarise) = self.to_summarise() {
                return Step::Compact(to_summarise);
            }
            match &mut self.state.phase {
                Phase::Done(reason) => return Step::Done(reason.clone()),
                Phase::Model => match self.state.limits.reached(&self.state.spent) {
                    Some(kind) if self.state.summing_up.is_none() => self.limit(kind),
                    _ if self.compact_if_due() => {}
                    _ => {
                        let planning = self.state.policy.mode() == Mode::Plan;
                        let tools = self.state.summing_up.is_none() && !planning;
                        return Step::CallModel { tools };
                    }
                },
                Phase::Acting(_) => {
                    if let Some(step) = self.act(offer) {
                        return step;
                    }
                }
            }
        }
    }

    /// Whether the model is to be asked next.
    pub(crate) fn is_models_turn(&self) -> bool {
        match &self.state.phase {
            Phase::Model => true,
            Phase::Acting(round) => round.calls.iter().all(OpenCall::is_settled),
            Phase::Done(_) => false,
        }
    }

    /// The next step of a round; nothing if the round is over.
    fn act(&mut self, offer: &Offer) -> Option<Step> {
        self.judge(offer);
        let invocations = self.start();
        if !invocations.is_empty() {
            return Some(Step::RunTools(invocations));
        }
        let open = self.open();
        if open.iter().any(OpenCall::is_running) {
            return Some(Step::Wait);
        }
        let approvals: Vec<Approval> = open.iter().filter_map(OpenCall::approval).collect();
        if !approvals.is_empty() {
            return Some(Step::AskApproval(approvals));
        }
        let parked: Vec<CallNumber> = self.parked().map(|(number, _)| number).collect();
        if !parked.is_empty() {
            return Some(Step::Park(parked));
        }
        self.settle();
        None
    }

    /// Returns the calls that may start, in order, as far as the limits allow. The toolbox decides which of them run
    /// concurrently.
    fn start(&mut self) -> Vec<Invocation> {
        let (limits, spent) = (self.state.limits, &mut self.state.spent);
        let Phase::Acting(round) = &mut self.state.phase else {
            return Vec::new();
        };
        let running = round.calls.iter().filter(|call| call.is_running()).count();
        let mut room = limits.parallel.saturating_sub(running);
        let mut invocations = Vec::new();
        for call in round.calls.iter_mut().filter(|call| call.can_start()) {
            let begins = matches!(call.state, CallState::Ready);
            if begins && limits.calls != 0 && spent.calls >= limits.calls {
                let limit = limits.describe(LimitKind::Calls);
                call.settle(Status::Cancelled, messages::not_made(&limit));
                self.state.over = Some(LimitKind::Calls);
                self.events.push(RunEvent::Call(Box::new(call.record())));
                continue;
            }
            if room == 0 {
                break;
            }
            if let Some(invocation) = call.start() {
                room -= 1;
                spent.calls += u64::from(begins);
                self.events.push(RunEvent::Call(Box::new(call.record())));
                invocations.push(invocation);
            }
        }
        invocations
    }

    /// Judges the calls that have not started again: rules, grants and tools may have changed.
    pub(crate) fn judge(&mut self, offer: &Offer) {
        let Phase::Acting(round) = &mut self.state.phase else {
            return;
        };
        for call in &mut round.calls {
            if call.review(offer, &self.state.policy) {
                self.events.push(RunEvent::Call(Box::new(call.record())));
                self.events
                    .extend(call.approval().map(Box::new).map(RunEvent::Approval));
            }
        }
    }

    /// Records that a result was stored which the model may read.
    pub fn stored_result(&mut self) {
        self.state.stored = true;
    }

    /// Whether results were stored which the model may read.
    pub fn has_stored_results(&self) -> bool {
        self.state.stored
    }

    /// The events since the last call.
    pub fn take_events(&mut self) -> Vec<RunEvent> {
        std::mem::take(&mut self.events)
    }

    pub(crate) fn open(&self) -> &[OpenCall] {
        match &self.state.phase {
            Phase::Acting(round) => &round.calls,
            _ => &[],
        }
    }

    pub(crate) fn find(&mut self, number: CallNumber) -> Option<&mut OpenCall> {
        match &mut self.state.phase {
            Phase::Acting(round) => round.calls.iter_mut().find(|call| call.number == number),
            _ => None,
        }
    }
}
