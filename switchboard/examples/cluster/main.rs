//! Replicas of `switchboard serve` on one PostgreSQL database: killed, paused, cut off, ended and
//! their database restarted, while users have calls made and answer questions at any of them. No call
//! may be lost or made twice, no question asked twice, and each call has an outcome. `cargo xtask
//! cluster` builds and runs it.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::print_stdout,
    clippy::panic,
    reason = "an example that judges"
)]

mod disturbance;
mod proxy;
mod recorder;
mod replica;
mod workload;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use serde_json::json;
use tokio_postgres::NoTls;

use disturbance::Disturbance;
use proxy::Proxy;
use recorder::Recorder;
use replica::Replica;
use workload::Workload;

const REPLICAS: usize = 3;
const USERS: u64 = 12;
/// How much longer than the lease it may take until others go on.
const BEYOND_LEASE: Duration = Duration::from_secs(2);
/// How long leases of dead replicas may stay after the last run has ended.
const CLEAN_UP: Duration = Duration::from_secs(30);
/// How many kills it takes to judge that.
const MANY_KILLS: usize = 100;

/// What is to happen.
pub(crate) struct Plan {
    calls: usize,
    kills: usize,
    pauses: usize,
    restarts: usize,
    cuts: usize,
    drains: usize,
    /// Seconds until a silent replica's runs are taken over.
    lease: u64,
    /// The command that restarts the database.
    restart: String,
}

impl Plan {
    /// From `NAME=NUMBER` arguments.
    fn read() -> Self {
        let mut numbers: BTreeMap<String, usize> = BTreeMap::new();
        for argument in std::env::args().skip(1) {
            let (name, number) = argument.split_once('=').unwrap();
            numbers.insert(name.to_owned(), number.parse().unwrap());
        }
        let number = |name| *numbers.get(name).unwrap_or(&0);
        Self {
            calls: number("calls"),
            kills: number("kills"),
            pauses: number("pauses"),
            restarts: number("restarts"),
            cuts: number("cuts"),
            drains: number("drains"),
            lease: number("lease").max(1) as u64,
            restart: std::env::var("SWITCHBOARD_RESTART_POSTGRES").unwrap(),
        }
    }
}

/// Reproducible numbers.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub(crate) fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % bound as u64) as usize
    }
}

fn main() {
    let plan = Plan::read();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let (database, host) = runtime.block_on(database());
    let proxy = runtime.block_on(Proxy::start(host.clone()));
    let recorder = Recorder::default();
    let server = runtime.block_on(recorder.serve());
    let folder = tempfile::tempdir().unwrap();
    let cut = database.replace(&host, &proxy.address.to_string());
    let replicas: Vec<Replica> = (1..=REPLICAS)
        .map(|number| match number == REPLICAS {
            true => Replica::new(folder.path(), cut.clone(), plan.lease),
            false => Replica::new(folder.path(), database.clone(), plan.lease),
        })
        .collect();
    replicas.iter().for_each(Replica::start);
    let row = json!({"name": "recorder", "type": "streamableHttp",
        "baseUrl": format!("http://{server}/mcp")});
    let (status, added) = replicas[0]
        .ask("POST", "/api/mcp-servers", Some(&row))
        .unwrap();
    assert_eq!(status, 201, "{added}");
    let workload = Workload {
        replicas: &replicas,
        calls: plan.calls,
        begun: AtomicUsize::new(0),
        outcomes: Mutex::default(),
        conversations: Mutex::default(),
        answered: AtomicU64::new(0),
        ended: AtomicBool::new(false),
        disturbed: AtomicUsize::new(0),
        disturbances: plan.kills + plan.pauses + plan.restarts + plan.cuts + plan.drains,
    };
    let mut disturbance = Disturbance {
        replicas: &replicas,
        plan: &plan,
        proxy: &proxy,
        database: &database,
        runtime: &runtime,
        claims: Vec::new(),
        takeovers: Vec::new(),
        slowest: None,
        last: "start",
        handovers: Vec::new(),
        done: [0; 5],
        missed: 0,
        disturbed: &workload.disturbed,
    };
    let began = Instant::now();
    let read = std::thread::scope(|scope| {
        let users: Vec<_> = (1..=USERS)
            .map(|seed| {
                scope.spawn({
                    let workload = &workload;
                    move || workload.user(seed)
                })
            })
            .collect();
        let reader = scope.spawn(|| workload.read_events(99));
        let disturbed = scope.spawn(|| {
            let _all = Disturbed(&workload);
            disturbance.run(7);
        });
        let ended = users
            .into_iter()
            .map(|user| user.join())
            .collect::<Vec<_>>();
        let disturbed = disturbed.join();
        workload.ended.store(true, Ordering::Relaxed);
        assert!(disturbed.is_ok() && ended.iter().all(Result::is_ok));
        reader.join().unwrap()
    });
    let took = began.elapsed();
    let [kills, pauses, restarts, cuts, drains] = disturbance.done;
    println!(
        "{} calls at {REPLICAS} replicas in {took:.1?}: {kills} kills of replicas that drove runs \
         ({} of idle ones), {pauses} pauses, {restarts} restarts of the database, {cuts} cuts, \
         {drains} ends",
        workload.begun.load(Ordering::Relaxed),
        disturbance.missed,
    );
    let lease = Duration::from_secs(plan.lease);
    report(
        "taken over after a replica fell silent",
        &mut disturbance.claims,
    );
    let late = report(
        "gone on after a replica fell silent",
        &mut disturbance.takeovers,
    );
    if let Some((took, claimed, last)) = disturbance.slowest {
        println!(
            "the slowest went on after {took:.2?}, taken over after {claimed:.2?}; before it, a {last}"
        );
    }
    report(
        "gone on after a replica was ended",
        &mut disturbance.handovers,
    );
    let mut outcomes: BTreeMap<String, usize> = BTreeMap::new();
    for status in workload.outcomes.lock().values() {
        *outcomes.entry(status.clone()).or_default() += 1;
    }
    println!("outcomes: {outcomes:?}");
    // What dead replicas have left behind is removed before long.
    let until = Instant::now() + CLEAN_UP;
    let stored = loop {
        let stored = runtime.block_on(look(&database));
        if stored.leases == 0 || Instant::now() > until {
            break stored;
        }
        std::thread::sleep(Duration::from_millis(500));
    };
    judge(&stored, &workload, &recorder, &read);
    // Only a long run has enough of them, and a machine of its own.
    let counts = plan.kills >= MANY_KILLS;
    assert!(
        !counts || late.is_none_or(|late| late <= lease + BEYOND_LEASE),
        "it took longer than {:?} until runs went on",
        lease + BEYOND_LEASE
    );
    println!("0 lost, 0 doubled, 0 asked twice, 0 without an outcome");
}

/// Lets the users end when the disturbances have, even if one of them has failed.
struct Disturbed<'a>(&'a Workload<'a>);

impl Drop for Disturbed<'_> {
    fn drop(&mut self) {
        let all = self.0.disturbances;
        self.0.disturbed.store(all, Ordering::Relaxed);
    }
}

/// Prints the times, and returns the 99th percentile.
fn report(what: &str, times: &mut [Duration]) -> Option<Duration> {
    times.sort();
    let at = |percent: usize| times.get((times.len() * percent / 100).min(times.len().max(1) - 1));
    let (half, late) = (at(50)?, at(99)?);
    println!(
        "{what}: {} runs, p50 {half:.2?}, p99 {late:.2?}",
        times.len()
    );
    Some(*late)
}

/// A new database on the server that is given; its address, and the server's host and port.
async fn database() -> (String, String) {
    let url = std::env::var("SWITCHBOARD_TEST_POSTGRES").unwrap();
    let (client, connection) = tokio_postgres::connect(&url, NoTls).await.unwrap();
    tokio::spawn(connection);
    let name = format!("cluster_{}", std::process::id());
    let sql = format!("DROP DATABASE IF EXISTS {name}");
    client.batch_execute(&sql).await.unwrap();
    let sql = format!("CREATE DATABASE {name}");
    client.batch_execute(&sql).await.unwrap();
    let (server, _) = url.rsplit_once('/').unwrap();
    let host = server.rsplit(['@', '/']).next().unwrap().to_owned();
    (format!("{server}/{name}"), host)
}

/// What is in the database at the end.
struct Stored {
    /// Calls by their status.
    statuses: BTreeMap<String, i64>,
    unfinished: i64,
    leases: i64,
    asked_twice: i64,
    events: Vec<i64>,
}

async fn look(database: &str) -> Stored {
    let (client, connection) = tokio_postgres::connect(database, NoTls).await.unwrap();
    tokio::spawn(connection);
    let number = async |sql: &str| client.query_one(sql, &[]).await.unwrap().get::<_, i64>(0);
    let sql = "SELECT status, COUNT(*) FROM tool_calls GROUP BY status";
    let rows = client.query(sql, &[]).await.unwrap();
    let statuses = rows.iter().map(|row| (row.get(0), row.get(1))).collect();
    let unfinished = "SELECT COUNT(*) FROM runs WHERE finish IS NULL";
    let asked_twice = "SELECT COUNT(*) FROM pending_interactions a JOIN pending_interactions b
         ON a.message_id = b.message_id AND a.call_id = b.call_id AND a.id < b.id
         AND a.payload::JSONB ->> 'digest' = b.payload::JSONB ->> 'digest'
         WHERE a.kind = 'approval' AND b.kind = 'approval'";
    let rows = client
        .query("SELECT seq FROM events ORDER BY seq", &[])
        .await
        .unwrap();
    Stored {
        statuses,
        unfinished: number(unfinished).await,
        leases: number("SELECT COUNT(*) FROM leases").await,
        asked_twice: number(asked_twice).await,
        events: rows.iter().map(|row| row.get(0)).collect(),
    }
}

fn judge(stored: &Stored, workload: &Workload<'_>, recorder: &Recorder, read: &[u64]) {
    let over = ["done", "error", "denied", "cancelled"];
    let open: Vec<_> = stored
        .statuses
        .iter()
        .filter(|(status, _)| !over.contains(&status.as_str()))
        .collect();
    assert!(open.is_empty(), "lost: {open:?}");
    let seen = recorder.seen();
    let doubled: Vec<_> = seen.iter().filter(|(_, times)| **times > 1).collect();
    assert!(doubled.is_empty(), "doubled: {doubled:?}");
    assert_eq!(stored.asked_twice, 0, "asked twice");
    assert_eq!(stored.unfinished, 0, "without an outcome");
    assert_eq!(stored.leases, 0, "still driven");
    let outcomes = workload.outcomes.lock();
    let begun = workload.begun.load(Ordering::Relaxed);
    assert_eq!(outcomes.len(), begun, "without an outcome");
    let missing: Vec<_> = outcomes
        .iter()
        .filter(|(id, status)| *status == "done" && !seen.contains_key(*id))
        .collect();
    assert!(
        missing.is_empty(),
        "done, but never seen by the server: {missing:?}"
    );
    assert!(
        read.windows(2).all(|two| two[0] < two[1]),
        "events out of order"
    );
    let read: std::collections::BTreeSet<u64> = read.iter().copied().collect();
    let last = read.last().copied().unwrap_or(0);
    let unread = stored.events.iter().filter(|seq| {
        let seq = **seq as u64;
        seq <= last && !read.contains(&seq)
    });
    assert_eq!(unread.count(), 0, "events that a reader missed");
    println!(
        "{} events were read once, in order, at all replicas",
        read.len()
    );
}
