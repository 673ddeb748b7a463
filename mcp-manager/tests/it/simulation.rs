//! Fifty servers for a day, in virtual time, from a seed: they crash, hang, flap, lock up and change
//! what they offer at random, while callers call. In the end every server that can be connected is,
//! and every call has had exactly one outcome.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use mcp_client::CallError;
use mcp_manager::{CallOptions, Manager, ManagerError, ManagerEvent, ServerState, Wait};
use parking_lot::Mutex;
use serde_json::json;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep};

use crate::fake::{Door, Fake, Fakes, Manner, remote, stdio};

const SERVERS: usize = 50;
const DAY: Duration = Duration::from_secs(24 * 60 * 60);
const MINUTE: u64 = 60;

/// Numbers that look random and are the same for the same seed.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % bound
    }

    async fn pause(&mut self, seconds: std::ops::Range<u64>) {
        let millis = 1000 * seconds.start + self.below(1000 * (seconds.end - seconds.start));
        sleep(Duration::from_millis(millis)).await;
    }
}

/// What a day does to a server.
async fn misfortune(fake: Arc<Fake>, mut random: Random, end: Instant) {
    while Instant::now() < end {
        random.pause(MINUTE..40 * MINUTE).await;
        match random.below(9) {
            0 => fake.crash(),
            1 | 2 => {
                let door = match random.below(4) {
                    0 => Door::Dead,
                    1 => Door::Busy(Duration::from_secs(random.below(120))),
                    2 => Door::Wrong,
                    _ => Door::Shut,
                };
                fake.set_door(door);
                fake.crash();
                random.pause(1..5 * MINUTE).await;
                fake.set_door(Door::Open);
            }
            3 => {
                fake.set_manner(Manner::Silent);
                fake.lists.store(false, Ordering::SeqCst);
                random.pause(1..20 * MINUTE).await;
                fake.set_manner(Manner::Echo);
                fake.lists.store(true, Ordering::SeqCst);
            }
            4 => {
                for _ in 0..random.below(12) {
                    fake.crash();
                    random.pause(0..10).await;
                }
            }
            5 => {
                fake.set_manner(Manner::Crash);
                random.pause(1..2 * MINUTE).await;
                fake.set_manner(Manner::Echo);
            }
            6 => {
                fake.set_manner(Manner::Slowly(Duration::from_secs(random.below(60))));
                random.pause(1..10 * MINUTE).await;
                fake.set_manner(Manner::Echo);
            }
            _ => {
                let names: Vec<String> = (0..random.below(6))
                    .map(|_| format!("tool_{}", random.below(20)))
                    .collect();
                fake.set_tools(&names.iter().map(String::as_str).collect::<Vec<_>>());
                for _ in 0..random.below(50) {
                    fake.notify("notifications/tools/list_changed", json!({}));
                }
            }
        }
    }
    fake.set_door(Door::Open);
    fake.set_manner(Manner::Echo);
    fake.lists.store(true, Ordering::SeqCst);
}

#[derive(Debug, Default)]
struct Tally {
    begun: usize,
    answered: usize,
    unknown: usize,
    not_made: usize,
}

/// Someone who uses a server, and keeps the books.
async fn calls(
    manager: Manager,
    server: String,
    fake: Arc<Fake>,
    mut random: Random,
    end: Instant,
) -> Tally {
    let mut tally = Tally::default();
    while Instant::now() < end {
        random.pause(0..20 * MINUTE).await;
        let arguments = json!({"number": tally.begun});
        tally.begun += 1;
        let options = CallOptions::default().with_idle_timeout(Duration::from_secs(30));
        let outcome = manager
            .call_tool_with(&server, "any", &arguments, options)
            .await;
        // One call at a time: what the server did is settled, unless it still works on this one.
        let acted = fake
            .acted
            .lock()
            .iter()
            .filter(|did| **did == arguments)
            .count();
        match outcome {
            Ok(_) => {
                tally.answered += 1;
                assert_eq!(acted, 1, "{server}: answered, so it was done once");
            }
            Err(ManagerError::Call(
                CallError::OutcomeUnknown { .. } | CallError::Timeout { .. },
            )) => {
                tally.unknown += 1;
                assert!(acted <= 1, "{server}: done twice");
            }
            Err(
                ManagerError::NotYet { .. }
                | ManagerError::Unavailable { .. }
                | ManagerError::Call(CallError::NotSent { .. } | CallError::Closed { .. }),
            ) => {
                tally.not_made += 1;
                assert_eq!(acted, 0, "{server}: not made, and yet done");
            }
            Err(other) => panic!("{server}: {other:?}"),
        }
        if tally.begun.is_multiple_of(50) {
            sleep(Duration::from_secs(60)).await;
            let mut acted = fake.acted.lock();
            let mut seen: Vec<String> = acted.iter().map(ToString::to_string).collect();
            seen.sort_unstable();
            let done = seen.len();
            seen.dedup();
            assert_eq!(done, seen.len(), "{server}: something was done twice");
            acted.clear();
        }
    }
    tally
}

/// Someone who presses the button now and then.
async fn user(manager: Manager, end: Instant) {
    while Instant::now() < end {
        sleep(Duration::from_secs(10 * MINUTE)).await;
        for server in manager.servers() {
            if server.state == ServerState::Failed {
                let _ = manager.retry(server.name.as_str()).await;
            }
        }
    }
}

/// When each server was tried again.
type Tries = Arc<Mutex<BTreeMap<String, VecDeque<Instant>>>>;

/// Checks that no server is tried more often than its budget allows.
async fn budget(manager: Manager, tries: Tries) {
    let (window, most) = (
        manager.limits().retry().window(),
        manager.limits().retry().window_tries(),
    );
    let mut events = manager.events();
    drop(manager);
    while let Some(event) = events.next().await {
        match event {
            ManagerEvent::Reconnecting {
                server,
                attempt,
                max_attempts,
            } => {
                assert!(attempt <= max_attempts);
                let mut tries = tries.lock();
                let tries = tries.entry(server.to_string()).or_default();
                tries.push_back(Instant::now());
                while tries.front().is_some_and(|at| at.elapsed() > window) {
                    tries.pop_front();
                }
                assert!(
                    tries.len() <= most + 1,
                    "{server}: {} tries in a window",
                    tries.len()
                );
            }
            ManagerEvent::Lagged { missed } => panic!("{missed} events missed"),
            _ => {}
        }
    }
}

/// What this process has in memory, in KiB.
#[cfg(target_os = "linux")]
fn resident() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status
        .lines()
        .find(|line| line.starts_with("VmRSS:"))
        .unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

#[cfg(not(target_os = "linux"))]
fn resident() -> u64 {
    0
}

#[tokio::test(start_paused = true)]
async fn fifty_servers_survive_a_day_of_misfortune() {
    let fakes = Fakes::default();
    let seed = std::env::var("PROPTEST_RNG_SEED").ok();
    let seed: u64 = seed.and_then(|seed| seed.parse().ok()).unwrap_or(2026);
    let manager = Manager::builder()
        .connector(fakes.clone())
        .seed(seed)
        .build();
    let draw = |number: u64| Random(seed.wrapping_mul(1000).wrapping_add(number));
    let end = Instant::now() + DAY;
    let (mut day, mut callers) = (JoinSet::new(), JoinSet::new());
    let (mut servers, mut configs) = (Vec::new(), Vec::new());
    for number in 0..SERVERS {
        let name = format!("server-{number:02}");
        let fake = fakes.add(&name, &["any", "other"]);
        configs.push(if number % 2 == 0 {
            stdio(&name)
        } else {
            remote(&name)
        });
        servers.push((name, fake));
    }
    let tries = Tries::default();
    let watching = tokio::spawn(budget(manager.clone(), Arc::clone(&tries)));
    manager.connect_all(configs, Wait::All).await;
    for (number, (name, fake)) in servers.iter().enumerate() {
        let number = number as u64;
        day.spawn(misfortune(Arc::clone(fake), draw(2 * number), end));
        let random = draw(2 * number + 1);
        callers.spawn(calls(
            manager.clone(),
            name.clone(),
            Arc::clone(fake),
            random,
            end,
        ));
    }
    day.spawn(user(manager.clone(), end));

    sleep(DAY / 4).await;
    let early = resident();
    day.join_all().await;
    let late = resident();
    let mut sum = Tally::default();
    for tally in callers.join_all().await {
        sum.begun += tally.begun;
        sum.answered += tally.answered;
        sum.unknown += tally.unknown;
        sum.not_made += tally.not_made;
    }
    assert_eq!(
        sum.begun,
        sum.answered + sum.unknown + sum.not_made,
        "every call ended once"
    );
    assert!(
        sum.answered > sum.begun / 2 && sum.unknown > 100 && sum.not_made > 100,
        "{sum:?}"
    );

    // Peace: failed servers are retried by hand, the others come back by themselves.
    sleep(Duration::from_secs(10 * MINUTE)).await;
    for server in manager.servers() {
        if server.state == ServerState::Failed {
            manager.retry(server.name.as_str()).await.unwrap();
        }
    }
    for (name, fake) in &servers {
        manager
            .call_tool(name, "any", json!({"last": true}))
            .await
            .unwrap();
        assert_eq!(manager.server(name).unwrap().state, ServerState::Connected);
        assert_eq!(
            fake.open_links(),
            1,
            "{name}: one connection, none forgotten"
        );
        let offered = fake
            .tools
            .lock()
            .iter()
            .map(|tool| tool["name"].to_string())
            .collect::<std::collections::BTreeSet<_>>();
        let catalog = manager.catalog();
        let listed = catalog
            .tools()
            .iter()
            .filter(|tool| tool.server().as_str() == name);
        assert_eq!(
            listed.count(),
            offered.len(),
            "{name}: the catalogue tells the truth"
        );
    }
    let made: usize = servers
        .iter()
        .map(|(_, fake)| fake.connects.load(Ordering::SeqCst))
        .sum();
    assert!(
        made > 20 * SERVERS,
        "the day was eventful: {made} connections"
    );
    assert!(
        late < early + 8 * 1024,
        "memory grew from {early} to {late} KiB"
    );
    manager.shutdown().await;
    for (_, fake) in &servers {
        assert_eq!(fake.open_links(), 0);
    }
    drop(manager);
    watching.await.unwrap();
    assert_eq!(
        tries.lock().len(),
        SERVERS,
        "every server was lost at some time"
    );
}
