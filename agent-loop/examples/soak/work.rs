//! Drives one run after the other, in every possible way.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use agent_loop::{
    Agent, Answer, Approval, CallNumber, Decision, Effect, Mode, Policy, Reason, Rule, Run,
    RunEvent, RunLimits, Session,
};
use mcp_jsonrpc::{RawMap, RawObject};
use serde_json::json;
use tokio::time::{Instant, sleep, sleep_until, timeout};

use crate::random::Random;
use crate::recorder::{Recorder, id_of};

/// No run takes longer, unless something hangs.
const LONGEST: Duration = Duration::from_secs(300);

/// The state that all workers share.
pub(crate) struct Desk {
    /// One agent that lists its tools, one that searches for them.
    pub(crate) agents: [Agent; 2],
    pub(crate) recorder: Arc<Recorder>,
    pub(crate) counts: Arc<Counts>,
}

/// Counts of events.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    pub(crate) runs: AtomicU64,
    pub(crate) finished: AtomicU64,
    pub(crate) limited: AtomicU64,
    pub(crate) cancelled: AtomicU64,
    pub(crate) left: AtomicU64,
    pub(crate) approved: AtomicU64,
    pub(crate) denied: AtomicU64,
    pub(crate) supplied: AtomicU64,
    pub(crate) stuck: AtomicU64,
    pub(crate) failed: AtomicU64,
}

pub(crate) fn count(counter: &AtomicU64) {
    counter.fetch_add(1, Ordering::Relaxed);
}

/// An interruption of a run.
#[derive(Clone, Copy, Eq, PartialEq)]
enum Whim {
    Nothing,
    /// It is cancelled from another task.
    Cancel,
    /// Its session is dropped; the run is stored, and resumed.
    Leave,
}

/// Drives runs until `end`.
pub(crate) async fn work(desk: Arc<Desk>, seed: u64, end: Instant) {
    let mut random = Random(seed);
    while Instant::now() < end {
        let mut run = Run::default()
            .with_policy(policy(&mut random))
            .with_limits(limits(&mut random));
        run.ask("Write some numbers down.");
        let driven = timeout(LONGEST, drive(&desk, &mut run, &mut random));
        if driven.await.is_err() {
            count(&desk.counts.stuck);
        }
        count(&desk.counts.runs);
        count(match run.reason() {
            Some(Reason::Limit(_)) => &desk.counts.limited,
            Some(Reason::Cancelled) => &desk.counts.cancelled,
            Some(Reason::Finished | Reason::Loop) => &desk.counts.finished,
            _ => &desk.counts.failed,
        });
        run.cancel("");
        desk.recorder.settled(&run.records());
        sleep(random.millis(10..200)).await;
    }
}

fn policy(random: &mut Random) -> Policy {
    match random.below(4) {
        0 => Policy::new(Mode::Ask),
        1 => Policy::new(Mode::AutoRead).with_rule(Rule::new(Effect::Deny, "deaf", "*")),
        2 => Policy::new(Mode::AutoRead).unattended(),
        _ => Policy::new(Mode::Auto),
    }
}

fn limits(random: &mut Random) -> RunLimits {
    let limits = RunLimits::default().with_call_idle_timeout(Duration::from_secs(60));
    match random.below(6) {
        0 => limits.with_rounds(2),
        1 => limits.with_calls(3),
        2 => limits.with_time(random.millis(200..4_000)),
        _ => limits.with_rounds(8),
    }
}

/// Drives a run to its end, through all interruptions.
async fn drive(desk: &Desk, run: &mut Run, random: &mut Random) {
    let agent = match random.below(4) {
        0 => &desk.agents[1],
        _ => &desk.agents[0],
    };
    let mut sitting = Sitting {
        whim: match random.below(6) {
            0 => Whim::Cancel,
            1 => Whim::Leave,
            _ => Whim::Nothing,
        },
        when: Instant::now() + random.millis(0..2_500),
        taken_up: false,
        seen: HashSet::new(),
    };
    while !listen(desk, agent.session(run), random, &mut sitting).await {
        // It was left: continue with its stored state.
        count(&desk.counts.left);
        sitting.whim = Whim::Nothing;
        sitting.taken_up = true;
        let stored = serde_json::to_string(run).unwrap_or_default();
        if let Ok(restored) = serde_json::from_str(&stored) {
            *run = restored;
        }
    }
}

/// One session of a run.
struct Sitting {
    whim: Whim,
    when: Instant,
    taken_up: bool,
    /// The calls seen so far.
    seen: HashSet<u64>,
}

/// Follows a session. True if the run has ended, false if it was left.
async fn listen(
    desk: &Desk,
    mut session: Session<'_>,
    random: &mut Random,
    sitting: &mut Sitting,
) -> bool {
    loop {
        let event = tokio::select! {
            event = session.next() => event,
            () = sleep_until(sitting.when), if sitting.whim != Whim::Nothing => match sitting.whim {
                Whim::Leave => return false,
                _ => {
                    sitting.whim = Whim::Nothing;
                    session.handle().cancel();
                    continue;
                }
            },
        };
        match event {
            None => return true,
            Some(RunEvent::Call(record)) => {
                if let Some(id) = id_of(record.arguments.text())
                    && sitting.seen.insert(id)
                {
                    desk.recorder.asked(id);
                }
            }
            Some(RunEvent::Approval(approval)) => {
                answer(desk, &mut session, &approval, random).await;
            }
            Some(RunEvent::Elicitation { number, .. }) => supply(desk, &mut session, number),
            // What a resumed run waits for was not reported yet.
            Some(RunEvent::Waiting { numbers }) if sitting.taken_up => {
                let approvals = session.run().approvals();
                for approval in &approvals {
                    answer(desk, &mut session, approval, random).await;
                }
                for number in numbers.into_iter().filter(|_| approvals.is_empty()) {
                    supply(desk, &mut session, number);
                }
            }
            Some(_) => {}
        }
    }
}

/// Fills in a server's form.
fn supply(desk: &Desk, session: &mut Session<'_>, number: CallNumber) {
    let mut answers = RawMap::new();
    let form = json!({"action": "accept", "content": {"name": "Ada"}});
    // Setting a member of an object always succeeds.
    let _ = answers.set("name", &form);
    if session.supply(number, answers).is_ok() {
        count(&desk.counts.supplied);
    }
}

/// Answers at once, or later and from elsewhere.
async fn answer(desk: &Desk, session: &mut Session<'_>, approval: &Approval, random: &mut Random) {
    let shown = approval.consent();
    let decision = match random.below(10) {
        0 => Decision::from(Answer::Deny).with_reason("Not now."),
        1 => Decision::from(Answer::AlwaysDeny),
        2 => Decision::from(Answer::ThisRun),
        3 => Decision::from(Answer::AlwaysTool),
        4 if approval.read_only => Decision::from(Answer::AlwaysServerReadOnly),
        5 => edited(approval),
        _ => Decision::from(Answer::Once),
    };
    count(match decision.answer {
        Answer::Deny | Answer::AlwaysDeny => &desk.counts.denied,
        _ => &desk.counts.approved,
    });
    if random.percent(50) {
        // The first answer, or a cancellation, wins.
        let _ = session.answer(&shown, decision).await;
        return;
    }
    let (handle, pause) = (session.handle(), random.millis(0..1_500));
    tokio::spawn(async move {
        sleep(pause).await;
        let _ = handle.answer(&shown, decision).await;
    });
}

/// Approves, with edited arguments.
fn edited(approval: &Approval) -> Decision {
    let id = id_of(approval.record.arguments.text());
    let arguments = RawObject::from_serialize(&json!({"id": id, "ms": 0}));
    match (id, arguments) {
        (Some(_), Ok(arguments)) => Decision::from(Answer::Once).with_arguments(arguments),
        _ => Decision::from(Answer::Once),
    }
}
