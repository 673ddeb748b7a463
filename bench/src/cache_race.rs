//! Hits of the resource cache, of `moka` and of mutexed maps: same keys, same values, same order.
//!
//! The others are given their keys ready made, where ours makes its own from server and URI; each
//! looks at the clock for every hit, as it must to know what is fresh.

use std::collections::HashMap;
use std::hint::black_box;
use std::num::NonZeroUsize;
use std::sync::{Arc, Barrier};
use std::time::{Duration, Instant};

use lru::LruCache;
use mcp_jsonrpc::model::{ReadResourceResult, ResourceContents};
use mcp_manager::{ResourceCache, ResourceCacheLimits, ServerName};
use parking_lot::Mutex;

use crate::contest::{Contest, Plan};
use crate::cpu_time::cpu_time;
use crate::table::{Table, is_wanted, number};

const SERVERS: usize = 4;
const RESOURCES: usize = 200;
const HITS: usize = 1000;
const TTL: Duration = Duration::from_secs(300);

type Kept = Arc<ReadResourceResult>;

/// Something that can be hit: the key by number, whether it was there.
trait Cache: Send + Sync {
    fn hit(&self, key: &Key) -> bool;
}

struct Key {
    server: ServerName,
    uri: String,
    glued: String,
}

struct Moka(moka::sync::Cache<String, Kept>);
struct MutexedMap(Mutex<HashMap<String, (Kept, Instant)>>);
struct MutexedLru(Mutex<LruCache<String, (Kept, Instant)>>);

impl Cache for ResourceCache {
    fn hit(&self, key: &Key) -> bool {
        self.get(&key.server, &key.uri, Instant::now()).is_some()
    }
}

impl Cache for Moka {
    fn hit(&self, key: &Key) -> bool {
        self.0.get(&key.glued).is_some()
    }
}

impl Cache for MutexedMap {
    fn hit(&self, key: &Key) -> bool {
        let now = Instant::now();
        let map = self.0.lock();
        let fresh = map.get(&key.glued).filter(|(_, until)| now < *until);
        fresh.map(|(kept, _)| Arc::clone(kept)).is_some()
    }
}

impl Cache for MutexedLru {
    fn hit(&self, key: &Key) -> bool {
        let now = Instant::now();
        let mut map = self.0.lock();
        let fresh = map.get(&key.glued).filter(|(_, until)| now < *until);
        fresh.map(|(kept, _)| Arc::clone(kept)).is_some()
    }
}

/// One thread hits.
pub fn one_thread() {
    let (keys, entrants) = field();
    let mut contest = Contest::new(format!("resource cache: {HITS} hits, one thread"));
    for (name, cache) in &entrants {
        let (mut order, keys) = (Shuffle(1), &keys);
        contest = contest.entrant(name, move || {
            let hits = (0..HITS).filter(|_| cache.hit(&keys[order.next()]));
            assert_eq!(hits.count(), HITS);
        });
    }
    contest.rate("million hits/s", HITS as f64 / 1e6).run(Plan::default());
}

/// Two threads hit: by the time each of them had the processor, which other programs hardly change,
/// and by the clock, which says something about locks only where nothing else runs.
pub fn two_threads() {
    let title = "resource cache: hits of two threads, best of 15 rounds";
    if !is_wanted(title) {
        return;
    }
    let (keys, entrants) = field();
    let mut best = vec![(0.0_f64, 0.0_f64); entrants.len()];
    for round in 0..15 {
        for turn in 0..entrants.len() {
            let at = (round + turn) % entrants.len();
            let (cpu, clock) = race(entrants[at].1.as_ref(), &keys);
            best[at] = (best[at].0.max(cpu), best[at].1.max(clock));
        }
    }
    let mut table = Table::new(title, &["million hits/s of CPU time", "million hits/s"]);
    for ((name, _), (cpu, clock)) in entrants.iter().zip(best) {
        table.row(name, [number(cpu), number(clock)]);
    }
    table.print();
}

fn race(cache: &dyn Cache, keys: &[Key]) -> (f64, f64) {
    const EACH: usize = 400_000;
    let barrier = Barrier::new(2);
    let run = |seed: u64| {
        let mut order = Shuffle(seed);
        barrier.wait();
        let (start, begun) = (cpu_time(), Instant::now());
        for _ in 0..EACH {
            black_box(cache.hit(&keys[order.next()]));
        }
        (cpu_time() - start, begun.elapsed())
    };
    let (one, other) = std::thread::scope(|scope| {
        let other = scope.spawn(|| run(2));
        (run(1), other.join().unwrap())
    });
    let rate = |a: Duration, b: Duration| 2.0 * EACH as f64 / a.max(b).as_secs_f64() / 1e6;
    (rate(one.0, other.0), rate(one.1, other.1))
}

/// The keys and the entrants, all filled alike; ours first.
fn field() -> (Vec<Key>, Vec<(&'static str, Box<dyn Cache>)>) {
    let keys: Vec<Key> = (0..RESOURCES)
        .map(|n| {
            let server: ServerName = format!("server-{}", n % SERVERS).parse().unwrap();
            let uri = format!("file:///home/me/project/src/module_{n}/main.rs");
            let glued = format!("{server}:{uri}");
            Key { server, uri, glued }
        })
        .collect();
    let mut part = ResourceContents::new("file:///x");
    part.text = Some("x".repeat(1000));
    let value: Kept = Arc::new(ReadResourceResult::new([part]));
    let (now, until) = (Instant::now(), Instant::now() + TTL);

    let sharded = ResourceCache::new(ResourceCacheLimits::default());
    let single = ResourceCache::new(ResourceCacheLimits::default().with_shards(1));
    let moka = moka::sync::Cache::builder()
        .max_capacity(256)
        .time_to_live(TTL)
        .build();
    let map = Mutex::new(HashMap::new());
    let lru = Mutex::new(LruCache::new(NonZeroUsize::new(256).unwrap()));
    for key in &keys {
        sharded.set(&key.server, &key.uri, value.clone(), now);
        single.set(&key.server, &key.uri, value.clone(), now);
        moka.insert(key.glued.clone(), value.clone());
        map.lock().insert(key.glued.clone(), (value.clone(), until));
        lru.lock().put(key.glued.clone(), (value.clone(), until));
    }
    moka.run_pending_tasks();
    let entrants: Vec<(_, Box<dyn Cache>)> = vec![
        ("ours, 8 shards", Box::new(sharded)),
        ("ours, 1 shard", Box::new(single)),
        ("moka", Box::new(Moka(moka))),
        ("mutexed HashMap, no LRU", Box::new(MutexedMap(map))),
        ("mutexed LruCache", Box::new(MutexedLru(lru))),
    ];
    (keys, entrants)
}

/// Keys in an order that no branch predictor learns.
struct Shuffle(u64);

impl Shuffle {
    fn next(&mut self) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % RESOURCES as u64) as usize
    }
}
