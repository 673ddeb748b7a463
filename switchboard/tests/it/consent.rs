//! Consent is a value: whatever changes, crashes or is answered in whatever order by two processes on
//! one store, a tool runs only if a person or a grant covered exactly that call, its arguments and
//! its definition, at most once, and a denied call never runs.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use agent_loop::testing::ScriptedModel;
use agent_loop::{
    Agent, Answer, AnswerError, Approval, CallContext, Decision, Definition, Event, Invocation,
    Limits, Mode, Outcome, ToolInfo, Toolbox,
};
use async_trait::async_trait;
use futures_util::FutureExt as _;
use parking_lot::Mutex;
use proptest::prelude::*;
use provider_adapters::{
    Arguments, AssistantPart, Reply, Request, Stop, StopReason, ToolCall, Turn as Said, Wire,
};
use switchboard::session::{Decided, Model, SessionError, Talk, Turn};
use switchboard::store::{
    Change, Conversation, ConversationId, Limits as StoreLimits, Server, ServerKind, SqliteStore,
    Store, UserId,
};
use tokio::sync::{mpsc, oneshot};

const SERVERS: [&str; 2] = ["files", "web"];
const TOOLS: [&str; 3] = ["look", "list", "write"];

/// The tools as they are now, and what really ran.
#[derive(Default)]
struct World {
    /// How often each tool and each endpoint was changed.
    versions: Mutex<BTreeMap<(usize, usize), u32>>,
    endpoints: Mutex<BTreeMap<usize, u32>>,
    ran: Mutex<Vec<(Invocation, Definition)>>,
}

impl World {
    fn tool(&self, server: usize, tool: usize) -> ToolInfo {
        let schema = serde_json::from_str(r#"{"type":"object"}"#).unwrap();
        let version = self.versions.lock().get(&(server, tool)).copied();
        let endpoint = self.endpoints.lock().get(&server).copied();
        let info = ToolInfo::new(SERVERS[server], TOOLS[tool], schema)
            .with_name(format!("{}_{}", SERVERS[server], TOOLS[tool]))
            .with_server_identity(format!("endpoint {}", endpoint.unwrap_or(0)))
            .with_fingerprint(format!("version {}", version.unwrap_or(0)));
        match TOOLS[tool] {
            "write" => info,
            _ => info.read_only(),
        }
    }

    fn tools(&self) -> Vec<ToolInfo> {
        let all =
            (0..SERVERS.len()).flat_map(|server| (0..TOOLS.len()).map(move |tool| (server, tool)));
        all.map(|(server, tool)| self.tool(server, tool)).collect()
    }

    fn change(&self, server: usize, tool: usize) {
        *self.versions.lock().entry((server, tool)).or_default() += 1;
    }

    fn move_endpoint(&self, server: usize) {
        *self.endpoints.lock().entry(server).or_default() += 1;
    }
}

#[async_trait]
impl Toolbox for World {
    async fn tools(&self) -> Arc<[ToolInfo]> {
        World::tools(self).into()
    }

    async fn call(&self, call: Invocation, _context: CallContext) -> Outcome {
        let tools = World::tools(self);
        let now = tools
            .iter()
            .find(|it| it.server == call.server && it.tool == call.tool);
        let now = now.unwrap().definition();
        self.ran.lock().push((call, now));
        Outcome::text("done")
    }
}

/// What people said: the oracle.
#[derive(Default)]
struct Oracle {
    /// Calls, by their arguments as they were approved, with the definition that was shown.
    once: BTreeMap<String, Definition>,
    /// Definitions that were approved for more than one call.
    granted: BTreeSet<Definition>,
    /// Calls, by the model's arguments.
    denied: BTreeSet<String>,
}

impl Oracle {
    fn hear(&mut self, shown: &Approval, decision: &Decision) {
        let own = shown.record.arguments.text().to_owned();
        let used = decision.arguments.as_ref();
        let used = used.map_or(own.clone(), |arguments| arguments.get().to_owned());
        let definition = shown.definition.clone();
        match decision.answer {
            Answer::Deny | Answer::AlwaysDeny => drop(self.denied.insert(own)),
            Answer::Once => drop(self.once.insert(used, definition)),
            Answer::AlwaysServerReadOnly => {
                self.once.insert(used, definition.clone());
                for (tool, fingerprint) in &shown.read_only_tools {
                    self.granted.insert(Definition::new(
                        &definition.server,
                        &definition.server_identity,
                        tool,
                        fingerprint,
                    ));
                }
            }
            _ => {
                self.once.insert(used, definition.clone());
                self.granted.insert(definition);
            }
        }
    }

    fn judge(&self, call: &Invocation, now: &Definition) {
        let arguments = call.arguments.get();
        assert!(
            !self.denied.contains(arguments),
            "a denied call ran: {call:?}"
        );
        let once = self.once.get(arguments) == Some(now);
        assert!(
            once || self.granted.contains(now),
            "nothing covered {call:?} as {now:?}"
        );
    }
}

#[derive(Clone, Debug)]
enum Step {
    /// A process does the next thing.
    Drive(usize),
    /// A process answers what it, or the other one, showed last.
    Answer(usize, Answer, Shown),
    Change(usize, usize),
    Move(usize),
    Crash(usize),
    Say(usize),
}

#[derive(Clone, Copy, Debug)]
enum Shown {
    Now,
    Earlier,
    Edited,
}

fn step() -> impl Strategy<Value = Step> {
    let answer = prop_oneof![
        4 => Just(Answer::Once),
        1 => Just(Answer::ThisRun),
        1 => Just(Answer::AlwaysTool),
        2 => Just(Answer::AlwaysServerReadOnly),
        2 => Just(Answer::Deny),
        1 => Just(Answer::AlwaysDeny),
    ];
    let shown = prop_oneof![
        4 => Just(Shown::Now),
        2 => Just(Shown::Earlier),
        1 => Just(Shown::Edited),
    ];
    let process = || 0..2usize;
    prop_oneof![
        10 => process().prop_map(Step::Drive),
        8 => (process(), answer, shown).prop_map(|(process, answer, shown)| Step::Answer(process, answer, shown)),
        3 => (0..SERVERS.len(), 0..TOOLS.len()).prop_map(|(server, tool)| Step::Change(server, tool)),
        1 => (0..SERVERS.len()).prop_map(Step::Move),
        1 => process().prop_map(Step::Crash),
        1 => process().prop_map(Step::Say),
    ]
}

/// A model whose calls all differ: their arguments tell them apart.
fn model(seed: usize) -> ScriptedModel {
    ScriptedModel::improvising(move |request: &Request| {
        let turns = request.conversation.turns();
        let begun = turns.iter().rposition(|turn| matches!(turn, Said::User(_)));
        let round = turns.len() - begun.map_or(0, |place| place + 1);
        let mut reply = Reply::default();
        reply.parts.push(AssistantPart::text("So."));
        let calls = if round < 3 { 1 + (seed + round) % 3 } else { 0 };
        for call in 0..calls {
            let pick = seed + 5 * round + call;
            let name = format!(
                "{}_{}",
                SERVERS[pick % SERVERS.len()],
                TOOLS[pick / 2 % TOOLS.len()]
            );
            let unique = format!(r#"{{"n":"{}.{round}.{call}"}}"#, turns.len());
            let id = format!("call_{}_{round}_{call}", turns.len());
            let call = ToolCall::new(id, name, Arguments::read(unique));
            reply.parts.push(AssistantPart::from(call));
        }
        let reason = if calls > 0 {
            StopReason::ToolUse
        } else {
            StopReason::End
        };
        reply.stop = Some(Stop::new(reason, "scripted"));
        reply
    })
}

enum Command {
    Drive,
    Answer(Box<(Approval, Decision)>),
    Say,
}

/// What came of a command.
#[derive(Debug)]
enum Told {
    /// It did something, or there was nothing to do.
    Done,
    /// The answer counts.
    Counts,
    /// The process ended, as after an error: what is in memory is not what is stored.
    Ended,
}

struct Stage {
    store: Arc<dyn Store>,
    world: Arc<World>,
    id: ConversationId,
    agent: Agent,
    rows: Vec<Server>,
}

impl Stage {
    /// A process: it loads the conversation, and does as it is told until it fails or is dropped.
    async fn process(
        self: Arc<Self>,
        mut commands: mpsc::Receiver<(Command, oneshot::Sender<Told>)>,
        shown: Arc<Mutex<Vec<Approval>>>,
        loaded: oneshot::Sender<()>,
    ) {
        let mut loaded = Some(loaded);
        loop {
            let (store, user) = (Arc::clone(&self.store), UserId::local());
            let Ok(mut talk) = Talk::load(store, &user, &self.id).await else {
                return;
            };
            let decided = Decided::read(&*self.store, &user).await.unwrap();
            let policy = decided.policy(Mode::Ask, &self.rows, &self.id);
            talk.govern(policy, Limits::default());
            let model = Model {
                name: "scripted",
                wire: Wire::OpenAiChat,
                servers: &self.rows,
            };
            let mut turn = talk.turn(&self.agent, model);
            drop(loaded.take());
            let said = loop {
                let Some((command, reply)) = commands.recv().await else {
                    return;
                };
                let told = match command {
                    Command::Drive => drive(&mut turn, &shown).await,
                    Command::Answer(answer) => {
                        let (approval, decision) = *answer;
                        match turn.answer(&approval.consent(), decision).await {
                            Ok(()) => Ok(Told::Counts),
                            Err(SessionError::Answer(error)) => {
                                if let AnswerError::Superseded(now) = error {
                                    shown.lock().push(*now);
                                }
                                Ok(Told::Done)
                            }
                            Err(error) => Err(error),
                        }
                    }
                    Command::Say => break reply,
                };
                match told {
                    Ok(told) => drop(reply.send(told)),
                    Err(_) => return drop(reply.send(Told::Ended)),
                }
            };
            drop(turn);
            let told = match talk.ask("Go on.").await {
                Ok(_) => Told::Done,
                Err(_) => Told::Ended,
            };
            let ended = matches!(told, Told::Ended);
            let _ = said.send(told);
            if ended {
                return;
            }
        }
    }
}

/// Does the next thing, unless everything waits for a person.
async fn drive(turn: &mut Turn<'_>, shown: &Mutex<Vec<Approval>>) -> Result<Told, SessionError> {
    for _ in 0..64 {
        if turn.ready().now_or_never().is_some() {
            if let Some(Event::Approval(approval)) = turn.next().await? {
                shown.lock().push(*approval);
            }
            return Ok(Told::Done);
        }
        tokio::task::yield_now().await;
    }
    // What was loaded waits as well.
    shown.lock().extend(turn.run().approvals());
    Ok(Told::Done)
}

struct Process {
    commands: mpsc::Sender<(Command, oneshot::Sender<Told>)>,
    task: tokio::task::JoinHandle<()>,
}

impl Process {
    /// Starts one, and returns when it has loaded the conversation, or failed to.
    async fn start(stage: &Arc<Stage>, shown: &Arc<Mutex<Vec<Approval>>>) -> Self {
        let (commands, queue) = mpsc::channel(1);
        let (loaded, wait) = oneshot::channel();
        let work = Arc::clone(stage).process(queue, Arc::clone(shown), loaded);
        let task = tokio::spawn(work);
        let _ = wait.await;
        Self { commands, task }
    }

    async fn order(&self, command: Command) -> Told {
        let (reply, told) = oneshot::channel();
        if self.commands.send((command, reply)).await.is_err() {
            return Told::Ended;
        }
        told.await.unwrap_or(Told::Ended)
    }
}

async fn begin(seed: usize) -> Arc<Stage> {
    let store = SqliteStore::in_memory(StoreLimits::default())
        .await
        .unwrap();
    let store: Arc<dyn Store> = Arc::new(store);
    let mut rows = Vec::new();
    for name in SERVERS {
        let mut row = Server::new(UserId::local(), name, ServerKind::Stdio);
        row.command = Some("run".to_owned());
        let put = vec![Change::PutServer(Box::new(row.clone()))];
        store.commit(put).await.unwrap();
        rows.push(row);
    }
    let conversation = Conversation::new(UserId::local(), "");
    let id = conversation.id.clone();
    let mut talk = Talk::begin(Arc::clone(&store), conversation, None);
    talk.ask("Go.").await.unwrap();
    let world = Arc::new(World::default());
    let tools: Arc<dyn Toolbox> = Arc::clone(&world) as Arc<dyn Toolbox>;
    let agent = Agent::shared(Arc::new(model(seed)), "scripted", tools);
    Arc::new(Stage {
        store,
        world,
        id,
        agent,
        rows,
    })
}

async fn play(seed: usize, steps: Vec<Step>) {
    let stage = begin(seed).await;
    let world = &stage.world;
    let shown: Arc<Mutex<Vec<Approval>>> = Arc::default();
    let mut processes = [
        Process::start(&stage, &shown).await,
        Process::start(&stage, &shown).await,
    ];
    let mut said = Oracle::default();
    let mut judged = 0;
    let mut begun = BTreeSet::new();
    for step in steps {
        let (process, command) = match &step {
            Step::Change(server, tool) => {
                world.change(*server, *tool);
                continue;
            }
            Step::Move(server) => {
                world.move_endpoint(*server);
                continue;
            }
            Step::Crash(process) => {
                processes[*process].task.abort();
                processes[*process] = Process::start(&stage, &shown).await;
                continue;
            }
            Step::Drive(process) => (*process, Command::Drive),
            Step::Say(process) => (*process, Command::Say),
            Step::Answer(process, answer, which) => {
                let picked = {
                    let seen = shown.lock();
                    match which {
                        Shown::Earlier => seen.first().cloned(),
                        _ => seen.last().cloned(),
                    }
                };
                let Some(approval) = picked else { continue };
                let mut decision = Decision::from(*answer);
                if matches!(which, Shown::Edited) {
                    let edited = format!(r#"{{"edited":{}}}"#, approval.record.arguments.text());
                    decision = decision.with_arguments(serde_json::from_str(&edited).unwrap());
                }
                (*process, Command::Answer(Box::new((approval, decision))))
            }
        };
        let answered = match &command {
            Command::Answer(answer) => Some((**answer).clone()),
            _ => None,
        };
        match (processes[process].order(command).await, answered) {
            (Told::Counts, Some((approval, decision))) => said.hear(&approval, &decision),
            (Told::Ended, _) => {
                processes[process] = Process::start(&stage, &shown).await;
            }
            _ => {}
        }
        let ran = world.ran.lock();
        for (call, now) in ran.iter().skip(judged) {
            assert!(
                begun.insert(call.arguments.get().to_owned()),
                "{call:?} ran twice"
            );
            said.judge(call, now);
        }
        judged = ran.len();
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    #[test]
    fn a_tool_runs_only_if_exactly_that_call_and_definition_were_approved(
        seed in 0..60usize,
        steps in prop::collection::vec(step(), 0..80),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(play(seed, steps));
    }
}
