//! The cache against a naive model, under a clock of the test's own.

use std::sync::Arc;
use std::time::{Duration, Instant};

use mcp_manager::{ResourceCache, ResourceCacheLimits};
use proptest::prelude::*;

use super::{name, result, text};

const CAP: usize = 4;

#[derive(Clone, Debug)]
enum Op {
    Get(u8, u8),
    Set(u8, u8, usize, Option<i64>),
    Invalidate(u8, u8),
    InvalidateServer(u8),
    Clear,
    Wait(u64),
    /// Begins a read; [`Op::Land`] puts it.
    Begin(u8, u8),
    Land,
}

fn ops() -> impl Strategy<Value = Op> {
    let (server, uri) = (0..2_u8, 0..5_u8);
    prop_oneof![
        4 => (server.clone(), uri.clone()).prop_map(|(s, u)| Op::Get(s, u)),
        4 => (server.clone(), uri.clone(), 0..600_usize, prop_oneof![Just(None), (-1..40_i64).prop_map(Some)])
            .prop_map(|(s, u, size, ttl)| Op::Set(s, u, size, ttl)),
        1 => (server.clone(), uri.clone()).prop_map(|(s, u)| Op::Invalidate(s, u)),
        1 => server.clone().prop_map(Op::InvalidateServer),
        1 => Just(Op::Clear),
        2 => (0..30_u64).prop_map(Op::Wait),
        1 => (server, uri).prop_map(|(s, u)| Op::Begin(s, u)),
        2 => Just(Op::Land),
    ]
}

/// What a cache should do, without any cleverness: newest use last.
#[derive(Default)]
struct Model(Vec<((u8, u8), String, Option<Instant>)>);

impl Model {
    fn get(&mut self, key: (u8, u8), now: Instant) -> Option<String> {
        let at = self.0.iter().position(|(k, ..)| *k == key)?;
        let entry = self.0.remove(at);
        let fresh = entry
            .2
            .is_none_or(|until| now < until)
            .then(|| entry.1.clone());
        self.0.push(entry);
        fresh
    }

    fn set(&mut self, key: (u8, u8), value: String, until: Option<Option<Instant>>) {
        self.0.retain(|(k, ..)| *k != key);
        let Some(until) = until else { return };
        if self.0.len() == CAP {
            self.0.remove(0);
        }
        self.0.push((key, value, until));
    }
}

fn run(ops: Vec<Op>, ttl: Duration, shards: usize, exact: bool) -> Result<(), TestCaseError> {
    let limits = ResourceCacheLimits::default()
        .with_entries(CAP)
        .with_ttl(ttl)
        .with_shards(shards);
    let cache = ResourceCache::new(limits);
    let mut model = Model::default();
    let mut now = Instant::now();
    let mut count = 0;
    let mut under_way = None;
    let server = |n: u8| name(&format!("s{n}"));
    let uri = |n: u8| format!("file:///{n}");
    for op in ops {
        match op {
            Op::Get(s, u) => {
                let got = cache
                    .get(&server(s), &uri(u), now)
                    .map(|it| text(&it).to_owned());
                let want = model.get((s, u), now);
                if exact {
                    prop_assert_eq!(got, want);
                } else if got.is_some() {
                    // More shards push out others, but never serve what one would not.
                    prop_assert!(want.is_none() || got == want);
                }
            }
            Op::Set(s, u, size, ttl_ms) => {
                count += 1;
                let value = format!("{count} {}", "x".repeat(size));
                let mut result = result(&value);
                result.ttl_ms = ttl_ms;
                let until = match ttl_ms {
                    Some(ms) if ms <= 0 => None,
                    Some(ms) => Some(Some(now + Duration::from_millis(ms as u64))),
                    None if ttl.is_zero() => Some(None),
                    None => Some(Some(now + ttl)),
                };
                cache.set(&server(s), &uri(u), Arc::new(result), now);
                model.set((s, u), value, until);
            }
            Op::Invalidate(s, u) => {
                cache.invalidate(&server(s), &uri(u));
                model.0.retain(|(k, ..)| *k != (s, u));
                under_way = None;
                prop_assert!(cache.get(&server(s), &uri(u), now).is_none());
            }
            Op::InvalidateServer(s) => {
                cache.invalidate_server(&server(s));
                model.0.retain(|((k, _), ..)| *k != s);
                under_way = None;
                for u in 0..5 {
                    prop_assert!(cache.get(&server(s), &uri(u), now).is_none());
                }
            }
            Op::Clear => {
                cache.clear();
                model.0.clear();
                under_way = None;
                prop_assert_eq!((cache.len(), cache.bytes()), (0, 0));
            }
            Op::Wait(ms) => now += Duration::from_millis(ms),
            Op::Begin(s, u) => under_way = Some((s, u, cache.ticket(&server(s), &uri(u)))),
            Op::Land => {
                if let Some((s, u, ticket)) = under_way.take() {
                    count += 1;
                    let value = format!("{count} ");
                    prop_assert!(cache.put(&ticket, Arc::new(result(&value)), now));
                    let until = if ttl.is_zero() { None } else { Some(now + ttl) };
                    model.set((s, u), value, Some(until));
                }
            }
        }
        prop_assert!(cache.len() <= CAP);
        if exact {
            prop_assert_eq!(cache.len(), model.0.len());
        }
    }
    Ok(())
}

proptest! {
    /// One shard is an exact LRU with expiry.
    #[test]
    fn one_shard_does_what_a_naive_map_does(
        ops in prop::collection::vec(ops(), 0..60),
        ttl in prop_oneof![Just(0_u64), 1..50_u64],
    ) {
        run(ops, Duration::from_millis(ttl), 1, true)?;
    }

    /// Many shards serve nothing expired, invalidated or replaced, and keep within the caps.
    #[test]
    fn many_shards_never_serve_what_they_should_not(
        ops in prop::collection::vec(ops(), 0..60),
        ttl in prop_oneof![Just(0_u64), 1..50_u64],
    ) {
        run(ops, Duration::from_millis(ttl), 4, false)?;
    }

    #[test]
    fn the_byte_cap_holds(sizes in prop::collection::vec(0..3000_usize, 0..60), shards in 1..5_usize) {
        let limits = ResourceCacheLimits::default().with_bytes(6000).with_entries(16).with_shards(shards);
        let cache = ResourceCache::new(limits);
        for (n, size) in sizes.into_iter().enumerate() {
            let uri = (n % 24).to_string();
            cache.set(&name("s"), &uri, Arc::new(result(&"x".repeat(size))), Instant::now());
            prop_assert!(cache.bytes() <= 6000 && cache.len() <= 16);
            prop_assert!(cache.get(&name("s"), &uri, Instant::now()).is_some());
        }
        cache.clear();
        prop_assert_eq!(cache.bytes(), 0);
    }
}

/// The caps hold for all threads together, and the books balance afterwards.
#[test]
fn threads_share_the_caps() {
    let limits = ResourceCacheLimits::default()
        .with_entries(8)
        .with_bytes(16 << 10);
    let cache = ResourceCache::new(limits);
    std::thread::scope(|scope| {
        for thread in 0..4_usize {
            let cache = &cache;
            scope.spawn(move || {
                for n in 0..2000_usize {
                    let uri = ((n * 7 + thread) % 20).to_string();
                    match n % 11 {
                        0 => cache.invalidate(&name("s"), &uri),
                        1 => cache.invalidate_server(&name("s")),
                        2..6 => drop(cache.get(&name("s"), &uri, Instant::now())),
                        _ => {
                            let value = result(&"x".repeat(n % 900));
                            cache.set(&name("s"), &uri, Arc::new(value), Instant::now());
                        }
                    }
                    assert!(cache.bytes() <= 16 << 10 && cache.len() <= 8);
                }
            });
        }
    });
    let kept = |uri: &usize| {
        let kept = cache.get(&name("s"), &uri.to_string(), Instant::now());
        kept.is_some()
    };
    assert_eq!(cache.len(), (0..20).filter(kept).count());
    cache.clear();
    assert_eq!((0..20).filter(kept).count(), 0);
    assert_eq!((cache.len(), cache.bytes()), (0, 0));
}
