//! Whatever happens: the run ends, every call has one result, nothing runs twice, and every
//! provider accepts the history.

use std::collections::BTreeSet;
use std::sync::Arc;

use agent_loop::{
    Answer, CallNumber, Decision, FailureKind, Invocation, Mode, Offer, Outcome, Policy, Reason,
    Run, RunLimits, Start, Status, Step, ToolInfo,
};
use mcp_jsonrpc::RawMap;
use proptest::prelude::*;
use provider_adapters::{
    Arguments, AssistantPart, CallProblem, ErrorKind, ProviderError, Reply, Stop, StopReason,
    ToolCall, Turn,
};
use serde_json::json;

use crate::accepted::accepted;
use crate::kit::{offer, tool};

const TOOLS: [&str; 5] = ["read", "write", "list", "push", "no_such_tool"];

fn tools() -> Vec<ToolInfo> {
    vec![
        tool("files", "read").read_only(),
        tool("files", "write"),
        tool("files", "list").read_only(),
        tool("git", "push"),
    ]
}

#[derive(Clone, Debug)]
enum Said {
    Text,
    Nothing,
    Calls(Vec<Wish>),
    Stopped(StopReason),
    Failed,
    Unreachable,
}

#[derive(Clone, Debug)]
struct Wish {
    tool: usize,
    arguments: &'static str,
    problem: Option<CallProblem>,
    id: usize,
}

#[derive(Clone, Debug)]
enum Came {
    Text,
    Error,
    Failure(FailureKind),
    Parked,
    Task,
}

#[derive(Clone, Copy, Debug)]
enum Chaos {
    Crash,
    Cancel,
    Restore,
    Late,
    Ask,
}

fn said() -> impl Strategy<Value = Said> {
    let problem = prop_oneof![
        6 => Just(None),
        1 => Just(Some(CallProblem::Cut)),
        1 => Just(Some(CallProblem::Malformed { reason: "odd".to_owned() })),
    ];
    let arguments = prop_oneof![
        4 => Just("{}"),
        2 => Just(r#"{"n":1}"#),
        1 => Just(r#"{"n":"one"}"#),
        1 => Just("{\"n\":"),
    ];
    let wish = (0..TOOLS.len(), arguments, problem, 0_usize..6).prop_map(
        |(tool, arguments, problem, id)| Wish {
            tool,
            arguments,
            problem,
            id,
        },
    );
    prop_oneof![
        1 => Just(Said::Text),
        1 => Just(Said::Nothing),
        12 => prop::collection::vec(wish, 1..5).prop_map(Said::Calls),
        1 => prop_oneof![
            Just(StopReason::Pause),
            Just(StopReason::MaxTokens),
            Just(StopReason::Refusal),
            Just(StopReason::MalformedToolCall),
        ].prop_map(Said::Stopped),
        1 => Just(Said::Failed),
        1 => Just(Said::Unreachable),
    ]
}

fn came() -> impl Strategy<Value = Came> {
    prop_oneof![
        6 => Just(Came::Text),
        1 => Just(Came::Error),
        1 => prop_oneof![
            Just(FailureKind::Timeout),
            Just(FailureKind::Unknown),
            Just(FailureKind::Crashed),
        ].prop_map(Came::Failure),
        1 => Just(Came::Parked),
        1 => Just(Came::Task),
    ]
}

fn answers() -> impl Strategy<Value = Vec<Answer>> {
    let answer = prop_oneof![
        Just(Answer::Once),
        Just(Answer::ThisRun),
        Just(Answer::AlwaysTool),
        Just(Answer::AlwaysServerReadOnly),
        Just(Answer::Deny),
        Just(Answer::AlwaysDeny),
    ];
    prop::collection::vec(answer, 1..6)
}

fn chaos() -> impl Strategy<Value = Vec<(usize, Chaos)>> {
    let kind = prop_oneof![
        3 => Just(Chaos::Crash),
        1 => Just(Chaos::Cancel),
        3 => Just(Chaos::Restore),
        2 => Just(Chaos::Late),
        1 => Just(Chaos::Ask),
    ];
    prop::collection::vec((0_usize..60, kind), 0..6)
}

#[derive(Clone, Debug)]
struct Script {
    said: Vec<Said>,
    came: Vec<Came>,
    answers: Vec<Answer>,
    chaos: Vec<(usize, Chaos)>,
    mode: Mode,
    unattended: bool,
    rounds: u32,
    calls: u64,
    summary: bool,
    parallel: usize,
    order: usize,
}

fn script() -> impl Strategy<Value = Script> {
    let mode = prop_oneof![
        Just(Mode::Ask),
        Just(Mode::AutoRead),
        Just(Mode::Auto),
        Just(Mode::Plan)
    ];
    let scenes = (
        prop::collection::vec(said(), 0..10),
        prop::collection::vec(came(), 1..8),
        answers(),
        chaos(),
    );
    let setting = (
        mode,
        any::<bool>(),
        0_u32..8,
        0_u64..6,
        any::<bool>(),
        1_usize..4,
        0_usize..7,
    );
    (scenes, setting).prop_map(
        |(
            (said, came, answers, chaos),
            (mode, unattended, rounds, calls, summary, parallel, order),
        )| {
            Script {
                said,
                came,
                answers,
                chaos,
                mode,
                unattended,
                rounds,
                calls,
                summary,
                parallel,
                order,
            }
        },
    )
}

fn reply(said: &Said) -> Reply {
    let mut reply = Reply::default();
    let mut reason = StopReason::End;
    match said {
        Said::Text | Said::Unreachable => reply.parts.push(AssistantPart::text("Words.")),
        Said::Nothing => {}
        Said::Stopped(why) => {
            reply.parts.push(AssistantPart::text("Words"));
            reason = *why;
        }
        Said::Failed => {
            reply.parts.push(AssistantPart::text("Wo"));
            reply.error = Some(ProviderError::new(ErrorKind::Truncated, "gone"));
        }
        Said::Calls(wishes) => {
            reason = StopReason::ToolUse;
            reply.parts.push(AssistantPart::reasoning("Hm."));
            for wish in wishes {
                let arguments = Arguments::read(wish.arguments);
                let id = format!("call_{}", wish.id);
                let mut call = ToolCall::new(id, TOOLS[wish.tool], arguments);
                call.problem = wish.problem.clone().or(call.problem);
                reply.parts.push(call.into());
            }
        }
    }
    reply.stop = Some(Stop::new(reason, "raw"));
    reply
}

fn outcome(came: &Came, call: &Invocation) -> Outcome {
    match came {
        Came::Text => Outcome::text("fine"),
        Came::Error => Outcome::error("not fine"),
        Came::Failure(kind) => Outcome::failed(*kind, "gone"),
        Came::Parked => {
            let parked = json!({
                "server": call.server, "method": "tools/call", "params": {}, "questions": {},
                "answers": {}, "rounds": 1,
            });
            let parked = serde_json::from_value(parked).unwrap();
            Outcome::Parked(Box::new(parked))
        }
        Came::Task => {
            let ticket = json!({"server": call.server, "task_id": "t"});
            Outcome::Task(serde_json::from_value(ticket).unwrap())
        }
    }
}

/// Plays a script on the bare machine, and keeps watch.
struct Stage {
    run: Run,
    offer: Arc<Offer>,
    script: Script,
    running: Vec<Invocation>,
    begun: BTreeSet<CallNumber>,
    answered: BTreeSet<CallNumber>,
    replies: usize,
    events: usize,
    /// What the process was doing when it died.
    late: Vec<Invocation>,
}

impl Stage {
    fn new(script: Script) -> Self {
        let mut policy = Policy::new(script.mode);
        if script.unattended {
            policy = policy.unattended();
        }
        let mut limits = RunLimits::default()
            .with_rounds(script.rounds)
            .with_calls(script.calls)
            .with_parallel(script.parallel);
        if script.summary {
            limits = limits.with_summary();
        }
        let mut run = Run::default().with_policy(policy).with_limits(limits);
        run.ask("Do it.");
        Self {
            run,
            offer: offer(&tools()),
            script,
            running: Vec::new(),
            begun: BTreeSet::new(),
            answered: BTreeSet::new(),
            replies: 0,
            events: 0,
            late: Vec::new(),
        }
    }

    fn crash(&mut self) {
        let stored = serde_json::to_string(&self.run).unwrap();
        self.run = serde_json::from_str(&stored).unwrap();
        self.late = std::mem::take(&mut self.running);
    }

    fn disturb(&mut self, at: usize) {
        let now: Vec<Chaos> = self
            .script
            .chaos
            .iter()
            .filter(|(when, _)| *when == at)
            .map(|(_, chaos)| *chaos)
            .collect();
        for chaos in now {
            match chaos {
                Chaos::Crash => self.crash(),
                // Between two steps at which nothing runs, a stored run is the same run.
                Chaos::Restore if self.running.is_empty() => {
                    self.run.take_events();
                    let before = self.run.clone();
                    self.crash();
                    assert_eq!(self.run, before);
                }
                Chaos::Restore => {}
                Chaos::Cancel => {
                    self.run.cancel("Some wo");
                    self.late.append(&mut self.running);
                }
                Chaos::Ask => {
                    self.run.ask("Something else.");
                    self.late.append(&mut self.running);
                }
                // What a dead process still hears of its calls counts for nothing.
                Chaos::Late => {
                    for call in std::mem::take(&mut self.late) {
                        if !self.running.iter().any(|other| other.number == call.number) {
                            let before = self.run.clone();
                            self.run.finished(call.number, Outcome::text("late"));
                            assert_eq!(self.run, before);
                        }
                    }
                }
            }
        }
    }

    fn step(&mut self) -> Option<Reason> {
        match self.run.next(&self.offer) {
            Step::CallModel { .. } => {
                let said = self
                    .script
                    .said
                    .get(self.replies)
                    .cloned()
                    .unwrap_or(Said::Text);
                self.replies += 1;
                match said {
                    Said::Unreachable => self.run.failed("unreachable"),
                    said => self.run.replied(reply(&said), &self.offer, None),
                }
            }
            Step::RunTools(calls) => {
                assert!(!calls.is_empty());
                for call in calls {
                    if call.start == Start::Call {
                        assert!(self.begun.insert(call.number), "{call:?} began twice");
                    }
                    assert!(self.begun.contains(&call.number), "{call:?} never began");
                    self.running.push(call);
                }
                assert!(self.running.len() <= self.script.parallel);
            }
            Step::Wait => {
                assert!(!self.running.is_empty(), "nothing runs");
                let call = self.running.remove(self.script.order % self.running.len());
                let came = &self.script.came[self.events % self.script.came.len()];
                self.events += 1;
                self.run.finished(call.number, outcome(came, &call));
            }
            Step::AskApproval(approvals) => {
                let number = approvals[0].record.number;
                assert!(self.answered.insert(number), "{number} was asked twice");
                let at = self.answered.len() % self.script.answers.len();
                let answer = match self.script.answers[at] {
                    Answer::AlwaysServerReadOnly if !approvals[0].read_only => Answer::Once,
                    answer => answer,
                };
                let answer = Decision::from(answer);
                let shown = approvals[0].consent();
                self.run
                    .answer(&shown, answer.clone(), &self.offer)
                    .unwrap();
                assert!(self.run.answer(&shown, answer, &self.offer).is_err());
            }
            Step::Park(numbers) => {
                self.run.supply(numbers[0], RawMap::new()).unwrap();
            }
            Step::Done(reason) => return Some(reason),
            step => panic!("{step:?}"),
        }
        None
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn whatever_happens_the_run_ends_and_nothing_is_lost_or_done_twice(script in script()) {
        let mut stage = Stage::new(script);
        let mut reason = None;
        for at in 0..2_000 {
            stage.disturb(at);
            reason = stage.step();
            if reason.is_some() && at >= 60 {
                break;
            }
        }
        prop_assert!(reason.is_some(), "the run does not end");
        let run = &stage.run;
        let turns = run.conversation().turns();
        let calls = turns.iter().filter_map(|turn| match turn {
            Turn::Assistant(turn) => Some(turn.exchanges().count()),
            _ => None,
        });
        let records = run.records();
        prop_assert_eq!(records.len(), calls.sum::<usize>());
        prop_assert!(records.iter().all(|record| record.status.is_over()));
        prop_assert!(records.iter().all(|record| record.response.is_some()));
        for record in &records {
            let ran = record.status == Status::Done;
            prop_assert!(!ran || stage.begun.contains(&record.number));
        }
        if let Err(problem) = accepted(run.conversation()) {
            prop_assert!(false, "{}", problem);
        }
    }
}
