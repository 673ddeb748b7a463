//! The session: drives a run with a model and a toolbox.

pub(crate) mod calls;
pub(crate) mod handle;
pub(crate) mod invoke;
pub(crate) mod queue;
pub(crate) mod reply;
pub(crate) mod result;
pub(crate) mod stream;
pub(crate) mod summarise;
pub(crate) mod trace;

use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use mcp_jsonrpc::model::InputResponses;
use provider_adapters::{Conversation, ReplyEvent, Request, ToolChoice};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep_until};
use tool_policy::ToolInfo;

use self::invoke::Invoked;
use self::reply::Asked;
use crate::agent::Agent;
use crate::agent::step::NextRequest;
use crate::approval::{AnswerError, Consent, Decision};
use crate::compaction::ToSummarise;
use crate::event::RunEvent;
use crate::offer::Offer;
use crate::run::Run;
use crate::run::number::CallNumber;
use crate::run::step::Step;
use crate::session::handle::{Command, Handle};
use crate::session::queue::Queues;
use crate::session::summarise::Summarised;
use crate::session::trace::Trace;
use crate::toolbox::Invocation;
use crate::toolbox::context::{Delegated, Report};

/// The capacity of the queue of progress reports.
const REPORTS: usize = 64;

/// A run in progress: one [`RunEvent`] at a time, as fast as the caller takes them.
///
/// An event is emitted before what it announces takes place: store the [`run`](Self::run) at a
/// [milestone](RunEvent::is_milestone), and a crash loses nothing. Dropping the session stops everything in flight; the
/// run can then be stored, driven again, or given another question.
pub struct Session<'r> {
    agent: Agent,
    run: &'r mut Run,
    handle: Handle,
    /// Events to be returned before anything else is done.
    queue: VecDeque<RunEvent>,
    effect: Effect,
    listed: Option<Arc<[ToolInfo]>>,
    offer: Option<Arc<Offer>>,
    request: Arc<Request>,
    /// How often the conversation was replaced, as the request has it.
    replaced: u32,
    model: Option<Asked>,
    summary: JoinSet<Summarised>,
    tools: JoinSet<Invoked>,
    numbers: HashMap<tokio::task::Id, CallNumber>,
    reports: mpsc::Receiver<Report>,
    reporter: mpsc::Sender<Report>,
    delegated: mpsc::Receiver<Delegated>,
    delegator: mpsc::Sender<Delegated>,
    queues: Arc<Queues>,
    /// The text of the reply in progress, as far as it was reported.
    said: String,
    clock: Instant,
    waiting: Vec<CallNumber>,
    over: bool,
    trace: Trace,
}

/// What to do once all events are returned.
#[derive(Debug)]
enum Effect {
    Decide,
    Ask {
        tools: bool,
    },
    Compact(Box<ToSummarise>),
    Start(Vec<Invocation>),
    /// Lets a sub-agent continue.
    LetGo(oneshot::Sender<()>),
    Listen,
}

impl<'r> Session<'r> {
    pub(crate) fn new(agent: Agent, run: &'r mut Run) -> Self {
        let request = Request::new(&agent.model_name, instructions(run));
        let request = request.with_options(agent.options.clone());
        let mut request = request.with_cache(agent.cache.clone());
        request.output.clone_from(&agent.output);
        let trace = Trace::new(&agent);
        let (reporter, reports) = mpsc::channel(REPORTS);
        let (delegator, delegated) = mpsc::channel(REPORTS);
        Self {
            agent,
            run,
            handle: Handle::default(),
            queue: VecDeque::new(),
            effect: Effect::Decide,
            listed: None,
            offer: None,
            request: Arc::new(request),
            replaced: 0,
            model: None,
            summary: JoinSet::new(),
            tools: JoinSet::new(),
            numbers: HashMap::new(),
            reports,
            reporter,
            delegated,
            delegator,
            queues: Arc::default(),
            said: String::new(),
            clock: Instant::now(),
            waiting: Vec::new(),
            over: false,
            trace,
        }
    }

    /// Makes the session part of an existing trace, given as a W3C `traceparent`. An invalid one is ignored.
    #[must_use]
    pub fn with_traceparent(mut self, traceparent: &str) -> Self {
        self.trace.put_under(traceparent);
        self
    }

    /// Listens to this handle.
    pub(crate) fn with_handle(mut self, handle: Handle) -> Self {
        self.handle = handle;
        self
    }

    /// The current run. Store it at milestones.
    pub fn run(&self) -> &Run {
        self.run
    }

    /// A handle that controls this session from other tasks.
    pub fn handle(&self) -> Handle {
        self.handle.clone()
    }

    /// Answers an approval that was shown, between two events.
    ///
    /// # Errors
    /// [`AnswerError`] if the answer is not accepted.
    pub async fn answer(
        &mut self,
        shown: &Consent,
        decision: impl Into<Decision>,
    ) -> Result<(), AnswerError> {
        self.reconsider();
        let tools = self.agent.toolbox.tools().await;
        let offer = self.refresh(tools);
        self.run.answer(shown, decision.into(), &offer)
    }

    /// Whether there are events that have not been taken. Take them before you answer: they may replace what was shown
    /// before.
    pub fn has_queued(&self) -> bool {
        !self.queue.is_empty() || !self.run.events.is_empty()
    }

    /// Answers a server's question about a parked call, between two events.
    ///
    /// # Errors
    /// [`AnswerError`] if the answer is not accepted.
    pub fn supply(
        &mut self,
        number: CallNumber,
        answers: InputResponses,
    ) -> Result<(), AnswerError> {
        self.reconsider();
        self.run.supply(number, answers)
    }

    /// Decides again after an answer: there may be something else to wait for.
    fn reconsider(&mut self) {
        if matches!(self.effect, Effect::Listen) {
            self.effect = Effect::Decide;
        }
        // Whatever is waited for next is announced, even if it is the same calls.
        self.waiting.clear();
    }

    /// Cancels everything in flight, between two events.
    pub fn cancel(&mut self) {
        self.run.cancel(&self.said);
    }

    /// The next event; `None` once the run has ended and all events were returned.
    ///
    /// Cancel-safe: nothing is lost if the future is dropped.
    pub async fn next(&mut self) -> Option<RunEvent> {
        loop {
            self.queue.extend(self.run.take_events());
            if let Some(event) = self.queue.pop_front() {
                if matches!(event, RunEvent::Done { .. }) {
                    self.finish();
                }
                return Some(event);
            }
            if self.over {
                return None;
            }
            match std::mem::replace(&mut self.effect, Effect::Decide) {
                Effect::Decide => self.decide().await,
                Effect::Ask { tools } => self.ask(tools),
                Effect::Compact(turns) => self.compact(&turns),
                Effect::Start(invocations) => self.start(invocations).await,
                // One that is gone needs no word; then it is decided what to do.
                Effect::LetGo(sub_agent) => drop(sub_agent.send(())),
                Effect::Listen => self.listen().await,
            }
        }
    }

    /// Asks the run what to do.
    async fn decide(&mut self) {
        if self.model.is_none() && self.run.is_models_turn() {
            let toolbox = Arc::clone(&self.agent.toolbox);
            tokio::select! {
                biased;
                // Commands are handled below, at once.
                () = self.handle.woken() => {}
                () = toolbox.refresh() => {}
            }
        }
        let tools = self.agent.toolbox.tools().await;
        let offer = self.refresh(tools);
        self.run_commands();
        let passed = self.tick();
        self.run.advance(passed);
        match self.run.next(&offer) {
            Step::CallModel { .. } if self.model.is_some() => self.effect = Effect::Listen,
            Step::CallModel { tools } => {
                // What still runs was cancelled.
                self.tools.abort_all();
                let round = self.run.spent().rounds + 1;
                self.announce(RunEvent::Round { round });
                self.effect = Effect::Ask { tools };
            }
            Step::Compact(_) if !self.summary.is_empty() => self.effect = Effect::Listen,
            Step::Compact(turns) => self.effect = Effect::Compact(turns),
            Step::RunTools(invocations) => self.effect = Effect::Start(invocations),
            Step::Wait => self.effect = Effect::Listen,
            Step::AskApproval(approvals) => {
                let numbers = approvals.iter().map(|approval| approval.record.number);
                self.wait(numbers.collect());
            }
            Step::Park(numbers) => self.wait(numbers),
            Step::Done(reason) => {
                let events = self.run.take_events();
                let announced = events
                    .iter()
                    .any(|event| matches!(event, RunEvent::Done { .. }));
                self.queue.extend(events);
                if !announced {
                    // It was over before the session began.
                    self.announce(RunEvent::Done { reason });
                }
            }
        }
    }

    /// The offer of these tools, recompiled only if something changed.
    fn refresh(&mut self, tools: Arc<[ToolInfo]>) -> Arc<Offer> {
        let listed = self.listed.as_ref();
        let same = listed.is_some_and(|listed| Arc::ptr_eq(listed, &tools));
        let stored = self.run.has_stored_results();
        if let Some(offer) = &self.offer
            && same
            && (offer.is_readable() || !stored)
        {
            return Arc::clone(offer);
        }
        let selected = self.agent.selection.choose(&tools);
        let adapter = self.agent.model.adapter();
        let (model, deferral) = (&self.agent.model_name, &self.agent.deferral);
        let secrets = Arc::clone(&self.agent.secrets);
        let offer = Offer::new(&selected, adapter, model, deferral, stored);
        let offer = offer.with_secrets(secrets);
        let warnings = offer.warnings().iter().cloned();
        self.queue
            .extend(warnings.map(|message| RunEvent::Warning { message }));
        let offer = Arc::new(offer);
        self.listed = Some(tools);
        self.offer = Some(Arc::clone(&offer));
        offer
    }

    /// Queues an event behind those of the run.
    fn announce(&mut self, event: RunEvent) {
        self.queue.extend(self.run.take_events());
        self.queue.push_back(event);
    }

    /// Waits for people, and reports it once.
    fn wait(&mut self, numbers: Vec<CallNumber>) {
        if self.waiting != numbers {
            self.waiting.clone_from(&numbers);
            self.announce(RunEvent::Waiting { numbers });
        }
        self.effect = Effect::Listen;
    }

    /// Sends a request to the model. Only new turns are copied.
    fn ask(&mut self, tools: bool) {
        let Some(offer) = self.offer.clone() else {
            return;
        };
        let request = Arc::make_mut(&mut self.request);
        if self.replaced != self.run.state.replaced {
            self.replaced = self.run.state.replaced;
            request.conversation = instructions(self.run);
        }
        let turns = self.run.conversation().turns();
        for turn in turns.iter().skip(request.conversation.turns().len()) {
            request.conversation.push(turn.clone());
        }
        request.tools = Arc::clone(offer.tool_set());
        let round = self.run.spent().rounds + 1;
        let mut next = NextRequest {
            run: self.run,
            round,
            model: self.agent.model_name.clone(),
            choice: match round {
                1 => self.agent.choice.clone(),
                _ => ToolChoice::Auto,
            },
            options: self.agent.options.clone(),
        };
        if let Some(hook) = &self.agent.on_step {
            hook(&mut next);
        }
        request.choice = match tools {
            true => next.choice,
            false => ToolChoice::None,
        };
        request.model = next.model;
        request.options = next.options;
        let request = Arc::clone(&self.request);
        let span = self.trace.chat(&self.agent, offer.wire());
        let model = Arc::clone(&self.agent.model);
        self.model = Some(reply::ask(
            model,
            request,
            offer,
            span,
            self.agent.traces_content,
        ));
        self.effect = Effect::Listen;
    }

    /// Waits for the next thing to happen.
    async fn listen(&mut self) {
        // Only people can make progress.
        let idle = self.model.is_none() && self.tools.is_empty() && self.summary.is_empty();
        let left = self.run.time_left().filter(|_| !idle);
        let deadline = self.clock + left.unwrap_or_default();
        let model = self.model.as_mut();
        let asked = model.is_some();
        tokio::select! {
            biased;
            () = self.handle.woken() => {}
            heard = reply::listen(model), if asked => match heard {
                reply::ModelOutput::Event(event) => self.tell(event),
                reply::ModelOutput::End(end) => self.replied(end),
            },
            Some(summarised) = self.summary.join_next() => self.summarised(summarised),
            (number, queued) = self.queues.next() => {
                self.queue.push_back(RunEvent::Queued { number, queued });
                self.effect = Effect::Listen;
            }
            Some(delegated) = self.delegated.recv() => self.delegated(delegated),
            Some((number, progress)) = self.reports.recv() => {
                self.queue.push_back(RunEvent::Progress { number, progress });
                self.effect = Effect::Listen;
            }
            Some(ended) = self.tools.join_next_with_id() => self.ended(ended),
            () = sleep_until(deadline), if left.is_some() => {}
        }
        let passed = self.tick();
        // People's time to answer does not count.
        if !idle {
            self.run.advance(passed);
        }
    }

    fn tell(&mut self, event: ReplyEvent) {
        self.effect = Effect::Listen;
        self.queue.extend(reply::event(event));
        if let Some(RunEvent::Text { text }) = self.queue.back() {
            self.said.push_str(text);
        }
    }

    fn replied(&mut self, end: reply::End) {
        self.model = None;
        self.said.clear();
        match end {
            reply::End::Replied(reply, offer) => {
                let prices = self.agent.prices.as_ref();
                let cost = prices.map(|prices| prices.cost(&reply.usage));
                self.run.replied(*reply, &offer, cost);
            }
            reply::End::ContextFull => self.run.context_full(),
            reply::End::Failed(message) => self.run.failed(message),
        }
    }

    /// Carries out the queued commands.
    fn run_commands(&mut self) {
        let Some(offer) = self.offer.clone() else {
            return;
        };
        for command in self.handle.take() {
            let (heard, verdict) = match command {
                Command::Answer(shown, decision, verdict) => {
                    self.waiting.clear();
                    (self.run.answer(&shown, decision, &offer), verdict)
                }
                Command::Supply(number, answers, verdict) => {
                    (self.run.supply(number, answers), verdict)
                }
                Command::Cancel => {
                    self.run.cancel(&self.said);
                    continue;
                }
            };
            drop(verdict.send(heard));
        }
    }

    /// How much time has passed since this was last asked.
    fn tick(&mut self) -> Duration {
        let now = Instant::now();
        now.saturating_duration_since(std::mem::replace(&mut self.clock, now))
    }

    /// The run is over: nothing stays under way.
    fn finish(&mut self) {
        self.over = true;
        self.model = None;
        self.summary.abort_all();
        self.tools.abort_all();
        self.numbers.clear();
        self.handle.close();
    }
}

/// A conversation with the run's instructions and no turns.
fn instructions(run: &Run) -> Conversation {
    match run.conversation().system() {
        Some(system) => Conversation::new().with_system(system),
        None => Conversation::new(),
    }
}

impl Drop for Session<'_> {
    /// Interrupts the calls in flight.
    fn drop(&mut self) {
        self.handle.close();
        self.run.interrupt();
    }
}

impl fmt::Debug for Session<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Session")
            .field("run", &self.run)
            .field("effect", &self.effect)
            .finish_non_exhaustive()
    }
}
