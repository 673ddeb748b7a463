//! Consent is a value: whatever changes, crashes or is answered in whatever order by two processes on
//! one file, a tool runs only if a person or a grant covered exactly that call, its arguments and
//! its definition, at most once; a denied call never runs; and every question ends. In mode auto nothing
//! that is not as it was approved runs unasked, in mode auto-read nothing that writes does either, in mode
//! plan nothing does at all, and what was forbidden or taken back stays so.

mod process;
mod world;

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use agent_loop::{Agent, Answer, Approval, Decision, Deferral, Definition, Mode, Toolbox};
use proptest::prelude::*;
use proptest::sample::select;
use switchboard::conversation::DurableConversation;
use switchboard::store::{
    ApprovedDefinition, CallStatus, Change, Conversation, Decision as Allowed, DefinitionKind,
    Rule, RuleScope, Server, ServerKind, Span, Store, UserId,
};

use crate::mortal::{Moment, Mortal};
use process::{Command, Process, Reported, Shown, Stage};
use world::{Oracle, SERVERS, TOOLS, World, calls, model};

#[derive(Clone, Debug)]
enum Step {
    /// A process does the next thing.
    Drive(usize),
    /// A process answers what it, or the other one, showed last.
    Answer(usize, Answer, Which),
    Change(usize, usize),
    Move(usize),
    /// A process dies between two steps.
    Crash(usize),
    /// A process dies around one of its next commits.
    Fuse(usize, usize, Moment),
    /// From here on, a process waits for no other one's lease, or does again.
    Haste(usize, bool),
    Say(usize),
    Cancel(usize),
    /// Approvals for good are taken back, and both processes learn of it.
    Withdraw,
}

#[derive(Clone, Copy, Debug)]
enum Which {
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
        4 => Just(Which::Now),
        2 => Just(Which::Earlier),
        1 => Just(Which::Edited),
    ];
    let moment = prop_oneof![Just(Moment::Before), Just(Moment::After)];
    let process = || 0..2usize;
    prop_oneof![
        10 => process().prop_map(Step::Drive),
        8 => (process(), answer, shown).prop_map(|(process, answer, shown)| Step::Answer(process, answer, shown)),
        3 => (0..SERVERS.len(), 0..TOOLS.len()).prop_map(|(server, tool)| Step::Change(server, tool)),
        1 => (0..SERVERS.len()).prop_map(Step::Move),
        1 => process().prop_map(Step::Crash),
        2 => (process(), 0..6usize, moment)
            .prop_map(|(process, commits, moment)| Step::Fuse(process, commits, moment)),
        1 => (process(), any::<bool>()).prop_map(|(process, haste)| Step::Haste(process, haste)),
        1 => process().prop_map(Step::Say),
        1 => process().prop_map(Step::Cancel),
        1 => Just(Step::Withdraw),
    ]
}

/// Approves a tool for good, as it is.
fn approve(row: &Server, definition: &Definition) -> [Change; 2] {
    let (identity, hash) = (&definition.server_identity, &definition.fingerprint);
    let mut rule = Rule::new(UserId::local(), RuleScope::Tool, Allowed::Allow);
    (rule.server, rule.tool) = (definition.server.clone(), definition.tool.clone());
    (rule.server_identity, rule.def_hash) = (Some(identity.clone()), Some(hash.clone()));
    let (id, kind) = (row.id.clone(), DefinitionKind::Pinned);
    let pin = ApprovedDefinition::new(id, &definition.tool, kind, identity, hash);
    [Change::PutRule(rule), Change::PutDefinition(pin)]
}

async fn begin(seed: usize, mode: Mode, folder: &Path) -> Arc<Stage> {
    let path = folder.join("switchboard.db");
    let store = Mortal::open(&path).await;
    let store: Arc<dyn Store> = store;
    let mut rows = Vec::new();
    for name in SERVERS {
        let mut row = Server::new(UserId::local(), name, ServerKind::Stdio);
        row.command = Some("run".to_owned());
        let put = vec![Change::PutServer(Box::new(row.clone()))];
        store.commit(put).await.unwrap();
        rows.push(row);
    }
    let world = Arc::new(World::default());
    if matches!(mode, Mode::Auto | Mode::AutoRead) {
        // Only what was approved once is asked for.
        let approved = world.definitions();
        let its = |definition: &Definition| rows.iter().find(|row| row.name == definition.server);
        let put = approved.iter().flat_map(|it| approve(its(it).unwrap(), it));
        store.commit(put.collect()).await.unwrap();
    }
    let conversation = Conversation::new(UserId::local(), "");
    let id = conversation.id.clone();
    let mut talk = DurableConversation::begin(Arc::clone(&store), conversation, None);
    talk.ask("Go.").await.unwrap();
    drop(talk);
    store.close().await.unwrap();
    let tools: Arc<dyn Toolbox> = Arc::clone(&world) as Arc<dyn Toolbox>;
    let agent = Agent::new(Arc::new(model(seed)))
        .with_model_name("scripted")
        .tools(tools);
    let agent = match seed % 3 {
        0 => agent.with_deferral(Deferral::default().with_tools(0)),
        _ => agent,
    };
    let shown = Shown::default();
    Arc::new(Stage {
        path,
        mode,
        world,
        id,
        agent,
        rows,
        shown,
    })
}

/// What ran is held against what people said.
struct Judge {
    said: Oracle,
    judged: usize,
    begun: BTreeSet<String>,
}

impl Judge {
    fn hear(&mut self, reported: &Reported, command: &Command) {
        let Command::Answer(answer) = command else {
            return;
        };
        let (approval, decision) = &**answer;
        let denies = matches!(decision.answer, Answer::Deny | Answer::AlwaysDeny);
        // A yes that no one confirmed may count; a no that no one confirmed may not.
        let is_certain = matches!(reported, Reported::Counts);
        if is_certain || matches!(reported, Reported::Died) && !denies {
            self.said.hear(approval, decision, is_certain);
        }
    }

    fn look(&mut self, world: &World) {
        let ran = world.ran.lock();
        for (call, now) in ran.iter().skip(self.judged) {
            let first = self.begun.insert(call.arguments.get().to_owned());
            assert!(first, "{call:?} ran twice");
            self.said.judge(call, now);
        }
        self.judged = ran.len();
    }
}

/// How many calls ran.
async fn play(seed: usize, mode: Mode, steps: Vec<Step>) -> usize {
    let folder = tempfile::tempdir().unwrap();
    let stage = begin(seed, mode, folder.path()).await;
    let mut processes = [Process::start(&stage).await, Process::start(&stage).await];
    let mut judge = Judge {
        said: match mode {
            Mode::Auto | Mode::AutoRead => Oracle::new(mode, &World::default().definitions()),
            _ => Oracle::new(mode, &[]),
        },
        judged: 0,
        begun: BTreeSet::new(),
    };
    for step in steps {
        let (process, command) = match &step {
            Step::Change(server, tool) => {
                stage.world.change(*server, *tool);
                continue;
            }
            Step::Move(server) => {
                stage.world.move_endpoint(*server);
                continue;
            }
            Step::Crash(process) => {
                processes[*process].replace(&stage).await;
                continue;
            }
            Step::Fuse(process, commits, moment) => {
                processes[*process].store.light(*commits, *moment);
                continue;
            }
            Step::Haste(process, haste) => {
                processes[*process].store.hasten(*haste);
                continue;
            }
            Step::Withdraw => {
                withdraw(&stage.path).await;
                for process in &mut processes {
                    process.replace(&stage).await;
                }
                judge.said.withdraw();
                continue;
            }
            Step::Drive(process) => (*process, Command::Drive),
            Step::Cancel(process) => (*process, Command::Cancel),
            Step::Say(process) => (*process, Command::Say),
            Step::Answer(process, answer, which) => match answer_to(&stage, *answer, *which) {
                Some(answer) => (*process, Command::Answer(Box::new(answer))),
                None => continue,
            },
        };
        let reported = processes[process].order(command.clone()).await;
        judge.hear(&reported, &command);
        if let (Reported::Counts, Command::Answer(answer)) = (&reported, &command)
            && answer.1.answer == Answer::AlwaysDeny
        {
            let running = running(&stage).await;
            judge.said.forbid(&answer.0, running);
        }
        if matches!(reported, Reported::Died) {
            processes[process].replace(&stage).await;
        }
        judge.look(&stage.world);
    }
    for process in processes {
        process.kill().await;
    }
    finish(&stage, &mut judge).await;
    judge.judged
}

/// Takes back what was approved for good.
async fn withdraw(path: &Path) {
    let (store, user) = (Mortal::open(path).await, UserId::local());
    let rules = store.rules(&user).await.unwrap().into_iter();
    let allowed = rules.filter(|rule| rule.decision == Allowed::Allow);
    let gone = allowed.map(|rule| Change::DeleteRule(user.clone(), rule.id));
    store.commit(gone.collect()).await.unwrap();
    store.close().await.unwrap();
}

/// The arguments of the calls that have started.
async fn running(stage: &Stage) -> BTreeSet<String> {
    let store = Mortal::open(&stage.path).await;
    let messages = store.messages(&stage.id, Span::Last(200)).await.unwrap();
    store.close().await.unwrap();
    let calls = messages.into_iter().flat_map(|message| message.tool_calls);
    let running = calls.filter(|call| call.status == CallStatus::Invoking);
    running.map(|call| call.arguments.to_string()).collect()
}

/// Whoever comes next gets to the end of it, if people say yes to everything: every question has
/// its end, and every call.
async fn finish(stage: &Arc<Stage>, judge: &mut Judge) {
    let process = Process::start(stage).await;
    let mut left = 500;
    loop {
        left -= 1;
        assert!(left > 0, "it never ends");
        match process.order(Command::Drive).await {
            Reported::Over => break,
            Reported::Idle => {
                let answer = answer_to(stage, Answer::Once, Which::Now);
                let command = Command::Answer(Box::new(answer.expect("it waits for something")));
                let reported = process.order(command.clone()).await;
                judge.hear(&reported, &command);
            }
            Reported::Done => {}
            reported => panic!("no one else is there: {reported:?}"),
        }
        judge.look(&stage.world);
    }
    let store = &process.store;
    let open = store.open_questions(&stage.id).await.unwrap();
    assert!(open.is_empty(), "{open:?}");
    let standing = store.standings(std::slice::from_ref(&stage.id)).await;
    assert!(!standing.unwrap()[0].open);
    for message in store.messages(&stage.id, Span::Last(200)).await.unwrap() {
        for call in message.tool_calls {
            let over = matches!(
                call.status,
                CallStatus::Done | CallStatus::Error | CallStatus::Denied | CallStatus::Cancelled
            );
            assert!(over, "{call:?}");
        }
    }
    process.kill().await;
}

fn answer_to(stage: &Stage, answer: Answer, which: Which) -> Option<(Approval, Decision)> {
    let seen = stage.shown.lock();
    let picked = match which {
        Which::Earlier => seen.first(),
        _ => seen.last(),
    };
    let approval = picked?.clone();
    let mut decision = Decision::from(answer);
    if matches!(which, Which::Edited) {
        let edited = format!(r#"{{"edited":{}}}"#, approval.record.arguments.text());
        decision = decision.with_arguments(serde_json::from_str(&edited).unwrap());
    }
    Some((approval, decision))
}

fn run<T>(play: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    runtime.unwrap().block_on(play)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn only_exactly_what_was_approved_runs_nothing_denied_runs_and_every_question_ends(
        seed in 0..60usize,
        mode in select(vec![Mode::Ask, Mode::AutoRead, Mode::Auto, Mode::Plan]),
        steps in prop::collection::vec(step(), 0..80),
    ) {
        run(play(seed, mode, steps));
    }
}

#[test]
fn what_is_approved_to_the_end_runs_to_the_end() {
    for seed in 0..3 {
        let all: usize = (0..3).map(|round| calls(seed, round)).sum();
        assert_eq!(run(play(seed, Mode::Ask, Vec::new())), all);
        assert_eq!(run(play(seed, Mode::AutoRead, Vec::new())), all);
        assert_eq!(run(play(seed, Mode::Auto, Vec::new())), all);
        assert_eq!(run(play(seed, Mode::Plan, Vec::new())), 0);
    }
}

#[test]
fn what_has_changed_since_its_approval_is_asked_for_and_runs_after_a_yes() {
    for seed in 0..3 {
        let all: usize = (0..3).map(|round| calls(seed, round)).sum();
        let tools =
            (0..SERVERS.len()).flat_map(|server| (0..TOOLS.len()).map(move |it| (server, it)));
        let change = tools.map(|(server, tool)| Step::Change(server, tool));
        let change: Vec<Step> = change.collect();
        for mode in [Mode::AutoRead, Mode::Auto] {
            assert_eq!(run(play(seed, mode, change.clone())), all);
        }
    }
}
