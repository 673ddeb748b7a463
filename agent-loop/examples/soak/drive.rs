//! The soak itself: starts everything, monitors it, ends it, and judges.

use std::collections::HashMap;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use agent_loop::{Agent, Deferral, ManagedTools};
use mcp_manager::{Manager, ManagerLimits, RetryPolicy, Wait};
use parking_lot::Mutex;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep};

use crate::claim::{Claim, table};
use crate::model::Caller;
use crate::random::Random;
use crate::recorder::{Ending, Recorder, Verdict};
use crate::role::{ROLES, Reach};
use crate::tools::Witness;
use crate::user::{self, Answers, Sights};
use crate::vitals::{Doctor, Vitals, thirds};
use crate::work::{Counts, Desk, work};

type Failure = Box<dyn std::error::Error>;

/// The number of concurrent runs.
const WORKERS: u64 = 24;
/// The interval between two samples.
const BETWEEN: Duration = Duration::from_secs(2);
/// The time limit for everything to end.
const RECOVERY_TIMEOUT: Duration = Duration::from_secs(20);
/// The growth of memory allowed, in KiB.
const MEMORY: u64 = 8 << 10;

/// Soaks for this long. Returns the exit status: 0 if every claim holds.
pub(crate) fn run(time: Duration) -> Result<i32, Failure> {
    let folder = tempfile::Builder::new().prefix("soak-").tempdir()?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()?;
    let claims = runtime.block_on(soak(folder.path(), time))?;
    print!("\n{}", table(&claims));
    Ok(i32::from(!claims.iter().all(Claim::holds)))
}

async fn soak(folder: &Path, time: Duration) -> Result<Vec<Claim>, Failure> {
    let doctor = Doctor::new(folder);
    let recorder = Arc::new(Recorder::open(folder)?);
    let mut host = Remote::start(folder)?;
    let before = doctor.look();
    let begin = Instant::now();
    let soaked = under_load(folder, &doctor, &host, Arc::clone(&recorder), time).await?;
    let took = begin.elapsed();
    let after = doctor
        .until(|now| is_back(&before, now), RECOVERY_TIMEOUT)
        .await;
    host.end()?;
    let gone = doctor
        .until(|now| now.processes == 0, RECOVERY_TIMEOUT)
        .await;
    let verdict = recorder.judge()?;
    report(&soaked, &verdict, took);
    Ok(claims(&soaked, &verdict, [&before, &after, &gone]))
}

fn is_back(before: &Vitals, now: &Vitals) -> bool {
    now.tasks <= before.tasks
        && now.descriptors <= before.descriptors
        && now.processes <= before.processes
}

/// The observations.
struct Soaked {
    samples: Vec<Vitals>,
    counts: Arc<Counts>,
    sights: Arc<Sights>,
}

async fn under_load(
    folder: &Path,
    doctor: &Doctor,
    host: &Remote,
    recorder: Arc<Recorder>,
    time: Duration,
) -> Result<Soaked, Failure> {
    let retry = RetryPolicy::default()
        .with_first_wait(Duration::from_millis(200))
        .with_longest_wait(Duration::from_secs(5))
        .with_healthy_after(Duration::from_secs(5))
        .with_window(Duration::from_secs(60));
    let manager = Manager::builder()
        .limits(ManagerLimits::default().with_retry(retry))
        .elicitation(Answers(Mutex::new(Random(3))))
        .seed(2026)
        .build();
    let sights = Arc::new(Sights::default());
    let watching = {
        let (manager, sights) = (manager.clone(), Arc::clone(&sights));
        tokio::spawn(async move { user::watch(&manager, sights).await })
    };
    let program = std::env::current_exe()?;
    let mut configs = Vec::new();
    for role in ROLES {
        let url = host.urls.get(role.name).map(String::as_str);
        let (program, folder) = (program.to_string_lossy(), folder.to_string_lossy());
        configs.push(role.config(&program, &folder, url)?);
    }
    let startup = manager.connect_all(configs, Wait::All).await;
    println!(
        "{} of {} servers connected",
        startup.connected.len(),
        ROLES.len()
    );

    let witness = Arc::new(Witness {
        tools: ManagedTools::new(manager.clone()),
        recorder: Arc::clone(&recorder),
    });
    let agent = Agent::new(Arc::new(Caller::new(1)))
        .with_model_name("soak")
        .tools(witness)
        .with_store(agent_loop::MemoryStore::new(4 << 20));
    let desk = Arc::new(Desk {
        agents: [
            agent.clone().with_deferral(Deferral::never()),
            agent.with_deferral(Deferral::default().with_tools(10)),
        ],
        recorder,
        counts: Arc::default(),
    });
    let end = Instant::now() + time;
    let mut workers = JoinSet::new();
    for number in 0..WORKERS {
        workers.spawn(work(Arc::clone(&desk), 100 + number, end));
    }
    workers.spawn(user::press_buttons(manager.clone(), end));
    let samples = sample(doctor, &desk, end).await;
    println!("the time is over; {} are still at work", workers.len());
    while let Some(ended) = workers.join_next().await {
        ended?;
    }
    let killed = manager.shutdown().await.killed;
    println!("shut down; had to be killed: {:?}", killed.keys());
    watching.abort();
    let _ = watching.await;
    Ok(Soaked {
        samples,
        counts: Arc::clone(&desk.counts),
        sights,
    })
}

/// Samples every few seconds, and reports every minute.
async fn sample(doctor: &Doctor, desk: &Desk, end: Instant) -> Vec<Vitals> {
    let mut samples = Vec::new();
    let mut reported = Instant::now();
    while Instant::now() < end {
        sleep(BETWEEN).await;
        let now = doctor.look();
        samples.push(now);
        if reported.elapsed() > Duration::from_secs(60) {
            reported = Instant::now();
            let runs = desk.counts.runs.load(Ordering::Relaxed);
            println!(
                "{} KiB, {} descriptors, {} tasks, {} processes, {runs} runs, {} stuck",
                now.memory,
                now.descriptors,
                now.tasks,
                now.processes,
                desk.counts.stuck.load(Ordering::Relaxed),
            );
        }
    }
    samples
}

fn read(counter: &AtomicU64) -> u64 {
    counter.load(Ordering::Relaxed)
}

fn report(soaked: &Soaked, verdict: &Verdict, took: Duration) {
    let ticks = |at: Option<&Vitals>| at.map_or(0, |vitals| vitals.ticks);
    let used = ticks(soaked.samples.last()).saturating_sub(ticks(soaked.samples.first()));
    println!(
        "\n{:.1} minutes; the driver used {} s of processor time\nruns: {:?}\nservers: {:?}\ncalls: {}, executed {}, never made {}, {:?}",
        took.as_secs_f64() / 60.0,
        used / 100,
        soaked.counts,
        soaked.sights,
        verdict.calls,
        verdict.acted,
        verdict.not_made,
        verdict.endings,
    );
}

fn claims(soaked: &Soaked, verdict: &Verdict, [before, after, gone]: [&Vitals; 3]) -> Vec<Claim> {
    let samples = &soaked.samples;
    let counts = &soaked.counts;
    let sights = &soaked.sights;
    let ended = |ending| verdict.endings.get(&ending).copied().unwrap_or(0);
    let minutes = u64::try_from(samples.len()).unwrap_or(0) * BETWEEN.as_secs() / 60;
    vec![
        Claim::flat(
            "memory is flat (KiB)",
            thirds(samples, |v| v.memory),
            MEMORY,
        ),
        Claim::flat(
            "descriptors are flat",
            thirds(samples, |v| v.descriptors),
            4,
        ),
        Claim::flat("tasks are flat", thirds(samples, |v| v.tasks), 8),
        Claim::flat("processes are flat", thirds(samples, |v| v.processes), 1),
        Claim::back(
            "descriptors return to what they were",
            before.descriptors,
            after.descriptors,
        ),
        Claim::back("tasks return to what they were", before.tasks, after.tasks),
        Claim::back(
            "no process of the manager's is left",
            before.processes,
            after.processes,
        ),
        Claim::back("no process at all is left", 0, gone.processes),
        Claim::none("every call ended in an outcome; not so", &verdict.lost),
        Claim::none(
            "in one outcome, and the true one; not so",
            &verdict.settled_twice,
        ),
        Claim::none(
            "no call was made or executed twice; but these",
            &verdict.doubled,
        ),
        Claim::none(
            "answered means executed once; not so",
            &verdict.answered_wrongly,
        ),
        Claim::none(
            "not made means not executed; not so",
            &verdict.acted_wrongly,
        ),
        Claim::none(
            "steady servers' calls are answered; not so",
            &verdict.troubled,
        ),
        Claim::back("no run hung", 0, read(&counts.stuck)),
        Claim::back("no run failed", 0, read(&counts.failed)),
        Claim::happened(
            "calls were answered",
            ended(Ending::Answered),
            100 * minutes,
        ),
        Claim::happened("calls broke off", ended(Ending::Unknown), minutes),
        Claim::happened("calls timed out", ended(Ending::Timeout), minutes),
        Claim::happened("calls were taken back", ended(Ending::Dropped), minutes),
        Claim::happened("calls were denied", read(&counts.denied), minutes),
        Claim::happened("calls were approved", read(&counts.approved), minutes),
        Claim::happened(
            "parked calls were taken up again",
            read(&counts.supplied),
            minutes,
        ),
        Claim::happened("runs were cancelled", read(&counts.cancelled), minutes),
        Claim::happened(
            "runs were left and taken up again",
            read(&counts.left),
            minutes,
        ),
        Claim::happened("runs came to a limit", read(&counts.limited), minutes),
        Claim::happened("servers were lost", read(&sights.lost), minutes),
        Claim::happened("servers returned", read(&sights.returned), minutes),
        Claim::happened("catalogues were made", read(&sights.catalogs), minutes),
    ]
}

/// The process of the remote servers.
struct Remote {
    child: Child,
    urls: HashMap<String, String>,
}

impl Remote {
    fn start(folder: &Path) -> Result<Self, Failure> {
        let mut child = Command::new(std::env::current_exe()?)
            .arg("host")
            .arg(folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let output = child.stdout.take().ok_or("the host has no output")?;
        let mut urls = HashMap::new();
        for line in BufReader::new(output).lines() {
            match line?.split_once(' ') {
                Some((name, url)) => urls.insert(name.to_owned(), url.to_owned()),
                None => break,
            };
        }
        let remote = ROLES.iter().filter(|role| role.reach != Reach::Stdio);
        if urls.len() != remote.count() {
            return Err("a remote server did not start".into());
        }
        Ok(Self { child, urls })
    }

    /// It ends with its input.
    fn end(&mut self) -> std::io::Result<()> {
        drop(self.child.stdin.take());
        self.child.wait().map(drop)
    }
}
