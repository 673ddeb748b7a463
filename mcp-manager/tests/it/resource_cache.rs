//! The resource cache: caps, freshness, one fetch at a time.

mod model;
mod single_flight;

use std::sync::Arc;
use std::time::{Duration, Instant};

use mcp_jsonrpc::model::{ReadResourceResult, ResourceContents};
use mcp_manager::{ResourceCache, ResourceCacheLimits};

use crate::catalog::name;

const SECOND: Duration = Duration::from_secs(1);

fn result(text: &str) -> ReadResourceResult {
    let mut part = ResourceContents::new("file:///x");
    part.text = Some(text.to_owned());
    ReadResourceResult::new([part])
}

fn text(result: &ReadResourceResult) -> &str {
    result.contents[0].text.as_deref().unwrap()
}

fn one_shard() -> ResourceCacheLimits {
    ResourceCacheLimits::default().with_shards(1)
}

/// What is expired is a miss, is still counted, and can be set again.
#[test]
fn an_expired_entry_is_a_miss_and_stays() {
    let cache = ResourceCache::new(one_shard().with_ttl(SECOND));
    let (server, now) = (name("s"), Instant::now());
    cache.set(&server, "u", Arc::new(result("1")), now);
    assert!(
        cache
            .get(&server, "u", now + SECOND - Duration::from_nanos(1))
            .is_some()
    );
    assert!(cache.get(&server, "u", now + SECOND).is_none());
    assert_eq!(cache.len(), 1, "not deleted");
    cache.set(&server, "u", Arc::new(result("2")), now + SECOND);
    let fresh = cache.get(&server, "u", now + SECOND).unwrap();
    assert_eq!((text(&fresh), cache.len()), ("2", 1));
}

/// A time of zero is for ever.
#[test]
fn without_a_time_nothing_expires() {
    let cache = ResourceCache::new(one_shard().with_ttl(Duration::ZERO));
    let (server, now) = (name("s"), Instant::now());
    cache.set(&server, "u", Arc::new(result("1")), now);
    assert!(cache.get(&server, "u", now + 1_000_000 * SECOND).is_some());
}

/// Get and set both count as uses; the one unused for longest goes.
#[test]
fn the_least_recently_used_entry_goes_first() {
    let cache = ResourceCache::new(one_shard().with_entries(2));
    let (server, now) = (name("s"), Instant::now());
    let has = |uri: &str| cache.get(&server, uri, now).is_some();
    cache.set(&server, "a", Arc::new(result("")), now);
    cache.set(&server, "b", Arc::new(result("")), now);
    assert!(has("a"));
    cache.set(&server, "c", Arc::new(result("")), now);
    assert!(has("a") && has("c") && !has("b"));
    cache.set(&server, "a", Arc::new(result("again")), now);
    assert_eq!(cache.len(), 2, "replacing pushes no one out");
    cache.set(&server, "d", Arc::new(result("")), now);
    assert!(has("a") && has("d") && !has("c"));
}

/// (server, uri) is the key, not a text glued together.
#[test]
fn servers_do_not_share_uris() {
    let cache = ResourceCache::default();
    let now = Instant::now();
    cache.set(&name("a"), "b:c", Arc::new(result("1")), now);
    assert!(cache.get(&name("a:b"), "c", now).is_none());
    cache.set(&name("b"), "b:c", Arc::new(result("2")), now);
    cache.invalidate_server(&name("a"));
    assert!(cache.get(&name("a"), "b:c", now).is_none());
    assert_eq!(text(&cache.get(&name("b"), "b:c", now).unwrap()), "2");
    cache.clear();
    assert!(cache.is_empty());
    assert_eq!(cache.bytes(), 0);
}

/// `ttlMs`: the server's word counts, within a day; what is stale at once is not kept.
#[test]
fn the_servers_own_time_counts() {
    let cache = ResourceCache::new(one_shard().with_ttl(Duration::ZERO));
    let (server, now) = (name("s"), Instant::now());
    let keep = |ttl_ms: i64| {
        let mut result = result("1");
        result.ttl_ms = Some(ttl_ms);
        cache.set(&server, "u", Arc::new(result), now);
    };
    let fresh_after = |time: Duration| cache.get(&server, "u", now + time).is_some();
    keep(1500);
    assert!(fresh_after(SECOND) && !fresh_after(2 * SECOND));
    keep(i64::MAX);
    assert!(fresh_after(86_399 * SECOND) && !fresh_after(86_400 * SECOND));
    for stale in [0, -1] {
        keep(stale);
        assert!(
            !fresh_after(Duration::ZERO),
            "and the older one is gone, too"
        );
    }
}

#[test]
fn a_read_that_began_before_an_invalidation_is_not_kept() {
    let cache = ResourceCache::default();
    let (server, now) = (name("s"), Instant::now());
    let invalidations: [&dyn Fn(); 3] = [
        &|| cache.invalidate(&server, "u"),
        &|| cache.invalidate_server(&server),
        &|| cache.clear(),
    ];
    for invalidate in invalidations {
        let ticket = cache.ticket(&server, "u");
        invalidate();
        assert!(!cache.put(&ticket, Arc::new(result("old")), now));
        assert!(cache.get(&server, "u", now).is_none());
    }
    let ticket = cache.ticket(&server, "u");
    assert!(cache.put(&ticket, Arc::new(result("new")), now));
}

#[test]
fn what_is_larger_than_the_cache_is_not_kept() {
    let cache = ResourceCache::new(one_shard().with_bytes(4096));
    let (server, now) = (name("s"), Instant::now());
    cache.set(&server, "small", Arc::new(result("1")), now);
    cache.set(&server, "large", Arc::new(result(&"x".repeat(5000))), now);
    assert!(cache.get(&server, "large", now).is_none());
    assert!(
        cache.get(&server, "small", now).is_some(),
        "and pushes no one out"
    );
}
