//! What happens to the replicas meanwhile, and how long it takes until others go on.

use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use nix::sys::signal::Signal;
use tokio_postgres::{Client, NoTls};

use crate::proxy::Proxy;
use crate::replica::Replica;
use crate::{Plan, Random};

/// The pause between two disturbances.
const PAUSE: Duration = Duration::from_millis(600);
const LOOK: Duration = Duration::from_millis(50);
/// The kinds of disturbances.
const KINDS: [&str; 5] = ["kill", "pause", "restart", "cut", "end"];
/// How many kills may hit a replica that drives nothing, for each that counts.
const MISSES: usize = 10;

/// What disturbs the replicas, and what was seen.
pub(crate) struct Disturbance<'a> {
    pub(crate) replicas: &'a [Replica],
    pub(crate) plan: &'a Plan,
    pub(crate) proxy: &'a Proxy,
    pub(crate) database: &'a str,
    pub(crate) runtime: &'a tokio::runtime::Runtime,
    /// How long after a replica fell silent another one had each of its runs.
    pub(crate) claims: Vec<Duration>,
    /// How long after that moment each of them went on.
    pub(crate) takeovers: Vec<Duration>,
    /// The slowest of them: how long it took, until it was taken over, and what had happened before.
    pub(crate) slowest: Option<(Duration, Option<Duration>, &'static str)>,
    /// What happened last.
    pub(crate) last: &'static str,
    /// The same after a replica was ended as a service is.
    pub(crate) handovers: Vec<Duration>,
    pub(crate) done: [usize; 5],
    /// Kills of replicas that drove nothing just then: they do not count.
    pub(crate) missed: usize,
    /// How many there were that count.
    pub(crate) disturbed: &'a AtomicUsize,
}

/// A run that a replica drove, and how far it was.
struct Driven {
    conversation: String,
    revision: i64,
    holder: String,
    /// When another replica had it.
    claimed: Option<Duration>,
}

impl Disturbance<'_> {
    /// Disturbs until everything planned has happened.
    pub(crate) fn run(&mut self, seed: u64) {
        let mut random = Random::new(seed);
        let plan = self.plan;
        let wanted = [
            plan.kills,
            plan.pauses,
            plan.restarts,
            plan.cuts,
            plan.drains,
        ];
        while let Some(kind) = self.next(&mut random, &wanted) {
            std::thread::sleep(PAUSE);
            // The last replica is the one that can be cut off.
            let place = random.below(self.replicas.len());
            let lease = Duration::from_secs(plan.lease);
            match kind {
                0 => {
                    let process = self.replicas[place].kill();
                    let driven = self.driven(&process);
                    let hit = !driven.is_empty();
                    self.watch(driven, lease * 4, false);
                    self.revive(place);
                    if !hit {
                        self.missed += 1;
                        assert!(self.missed <= plan.kills * MISSES, "nothing is ever driven");
                        continue;
                    }
                }
                1 => {
                    let process = self.replicas[place].signal(Signal::SIGSTOP);
                    let driven = self.driven(&process);
                    let began = Instant::now();
                    self.watch(driven, lease * 4, false);
                    let rest = (lease * 2).saturating_sub(began.elapsed());
                    std::thread::sleep(rest);
                    self.replicas[place].signal(Signal::SIGCONT);
                }
                2 => self.restart_database(),
                3 => {
                    self.proxy.cut(true);
                    std::thread::sleep(lease * 3);
                    self.proxy.cut(false);
                }
                _ => {
                    let process = self.replicas[place].signal(Signal::SIGCONT);
                    let driven = self.driven(&process);
                    self.replicas[place].terminate();
                    self.watch(driven, lease * 4, true);
                    self.revive(place);
                }
            }
            self.done[kind] += 1;
            self.last = KINDS[kind];
            self.disturbed.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// What happens next, spread evenly.
    fn next(&self, random: &mut Random, wanted: &[usize; 5]) -> Option<usize> {
        let left = wanted.iter().zip(self.done);
        let left: Vec<usize> = left.map(|(wanted, done)| wanted - done).collect();
        let total: usize = left.iter().sum();
        if total == 0 {
            return None;
        }
        let mut drawn = random.below(total);
        left.iter().position(|count| {
            let hit = drawn < *count;
            drawn = drawn.saturating_sub(*count);
            hit
        })
    }

    fn revive(&self, place: usize) {
        while !self.replicas[place].is_running() {
            self.replicas[place].start();
        }
    }

    /// Waits until each run has gone on, and notes how long that took.
    fn watch(&mut self, driven: Vec<Driven>, longest: Duration, handed_over: bool) {
        let began = Instant::now();
        let mut left = driven;
        while !left.is_empty() && began.elapsed() < longest {
            std::thread::sleep(LOOK);
            let Some(client) = self.connect() else {
                continue;
            };
            let mut waiting = Vec::new();
            for mut run in left {
                let sql = "SELECT r.revision, COALESCE(l.holder, '') FROM runs r
                     LEFT JOIN leases l ON l.conversation_id = r.conversation_id
                     WHERE r.conversation_id = $1 ORDER BY r.seq DESC LIMIT 1";
                let row = self
                    .runtime
                    .block_on(client.query_one(sql, &[&run.conversation]));
                let row = row.map(|row| (row.get::<_, i64>(0), row.get::<_, String>(1)));
                if row.as_ref().is_ok_and(|(_, holder)| *holder != run.holder)
                    && !run.holder.is_empty()
                    && !handed_over
                {
                    self.claims.push(began.elapsed());
                    run.claimed = Some(began.elapsed());
                    run.holder.clear();
                }
                match row {
                    Ok((revision, _)) if revision > run.revision => {
                        let took = began.elapsed();
                        if handed_over {
                            self.handovers.push(took);
                            continue;
                        }
                        self.takeovers.push(took);
                        if self.slowest.is_none_or(|(slowest, ..)| slowest < took) {
                            self.slowest = Some((took, run.claimed, self.last));
                        }
                    }
                    _ => waiting.push(run),
                }
            }
            left = waiting;
        }
        assert!(left.is_empty(), "{} runs did not go on", left.len());
    }

    fn connect(&self) -> Option<Client> {
        self.runtime.block_on(async {
            let (client, connection) = tokio_postgres::connect(self.database, NoTls).await.ok()?;
            tokio::spawn(connection);
            Some(client)
        })
    }

    /// The runs that a process drives. One that waits for its user goes on once there is an answer, not by itself.
    fn driven(&self, process: &str) -> Vec<Driven> {
        let Some(client) = self.connect() else {
            return Vec::new();
        };
        let sql = "SELECT r.conversation_id, r.revision FROM leases l
             JOIN runs r ON r.conversation_id = l.conversation_id
             WHERE l.holder = $1 AND r.finish IS NULL AND NOT EXISTS (
                 SELECT 1 FROM pending_interactions p
                 WHERE p.conversation_id = r.conversation_id AND p.state = 'open')";
        let rows = self.runtime.block_on(client.query(sql, &[&process]));
        let driven = |row: &tokio_postgres::Row| Driven {
            conversation: row.get(0),
            revision: row.get(1),
            holder: process.to_owned(),
            claimed: None,
        };
        rows.unwrap_or_default().iter().map(driven).collect()
    }

    fn restart_database(&self) {
        // Every other time it has no time to end, and recovers.
        let how = match self.done[2] % 2 {
            0 => self.plan.restart.clone(),
            _ => self.plan.restart.replace("-m fast", "-m immediate"),
        };
        let words: Vec<&str> = how.split(' ').collect();
        let [program, words @ ..] = words.as_slice() else {
            return;
        };
        let status = Command::new(program)
            .args(words)
            .stdout(std::process::Stdio::null())
            .status()
            .unwrap();
        assert!(status.success(), "the database was not restarted");
    }
}
