//! Misses: one fetches, the others wait.

use std::convert::Infallible;
use std::future::pending;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use mcp_jsonrpc::model::ReadResourceResult;
use mcp_manager::{ReadThroughError, ResourceCache};
use tokio::sync::Notify;

use super::{name, result, text};

const LONG: Duration = Duration::from_secs(3);

/// A hit asks no one; a miss asks once and keeps the answer.
#[tokio::test(start_paused = true)]
async fn a_hit_costs_no_request() {
    let cache = ResourceCache::default();
    let (server, asked) = (name("s"), AtomicUsize::new(0));
    let read = || {
        cache.read_through(&server, "u", LONG, || async {
            asked.fetch_add(1, Ordering::Relaxed);
            Ok::<_, Infallible>(result("1"))
        })
    };
    for _ in 0..3 {
        assert_eq!(text(&read().await.unwrap()), "1");
    }
    assert_eq!(asked.load(Ordering::Relaxed), 1);
    tokio::time::advance(Duration::from_secs(300)).await;
    read().await.unwrap();
    assert_eq!(
        asked.load(Ordering::Relaxed),
        2,
        "five minutes later it is stale"
    );
}

/// The caller's deadline covers the miss.
#[tokio::test(start_paused = true)]
async fn the_callers_deadline_ends_a_miss() {
    let cache = ResourceCache::default();
    let server = name("s");
    let read = cache.read_through(&server, "u", LONG, pending::<Result<_, Infallible>>);
    let error = read.await.unwrap_err();
    assert!(matches!(error, ReadThroughError::TimedOut { limit: LONG }));
    assert_eq!(error.to_string(), "the resource was not read within 3s");
    let next = cache.read_through(&server, "u", LONG, || async {
        Ok::<_, Infallible>(result("2"))
    });
    assert_eq!(text(&next.await.unwrap()), "2", "nothing is left behind");
}

#[tokio::test(start_paused = true)]
async fn many_callers_share_one_fetch() {
    let cache = Arc::new(ResourceCache::default());
    let asked = Arc::new(AtomicUsize::new(0));
    let gate = Arc::new(Notify::new());
    let callers: Vec<_> = (0..50)
        .map(|_| {
            let (cache, asked, gate) = (cache.clone(), asked.clone(), gate.clone());
            tokio::spawn(async move {
                let fetch = || async {
                    asked.fetch_add(1, Ordering::Relaxed);
                    gate.notified().await;
                    Ok::<_, Infallible>(result("shared"))
                };
                cache.read_through(&name("s"), "u", LONG, fetch).await
            })
        })
        .collect();
    tokio::task::yield_now().await;
    gate.notify_one();
    for caller in callers {
        assert_eq!(text(&caller.await.unwrap().unwrap()), "shared");
    }
    assert_eq!(asked.load(Ordering::Relaxed), 1);
}

#[tokio::test(start_paused = true)]
async fn a_failure_is_shared_and_not_kept() {
    #[derive(Debug, PartialEq)]
    struct Down;
    let cache = ResourceCache::default();
    let server = name("s");
    let fail = || async {
        tokio::time::sleep(Duration::from_millis(1)).await;
        Err::<ReadResourceResult, _>(Down)
    };
    let (a, b) = tokio::join!(
        cache.read_through(&server, "u", LONG, fail),
        cache.read_through(&server, "u", LONG, || async { panic!("joined the first") }),
    );
    for error in [a.unwrap_err(), b.unwrap_err()] {
        assert!(matches!(error, ReadThroughError::Fetch(error) if *error == Down));
    }
    let next = cache.read_through(&server, "u", LONG, || async { Ok::<_, Down>(result("up")) });
    assert_eq!(text(&next.await.unwrap()), "up");
}

#[tokio::test(start_paused = true)]
async fn when_the_fetcher_is_cancelled_the_next_one_fetches() {
    let cache = ResourceCache::default();
    let server = name("s");
    let short = Duration::from_millis(10);
    let (first, second) = tokio::join!(
        cache.read_through(&server, "u", short, pending::<Result<_, Infallible>>),
        cache.read_through(&server, "u", LONG, || async {
            Ok::<_, Infallible>(result("mine"))
        }),
    );
    assert!(matches!(first, Err(ReadThroughError::TimedOut { .. })));
    assert_eq!(text(&second.unwrap()), "mine");
}

#[tokio::test(start_paused = true)]
async fn no_one_joins_a_fetch_that_began_before_an_invalidation() {
    let cache = ResourceCache::default();
    let server = name("s");
    let gate = Notify::new();
    let old = cache.read_through(&server, "u", LONG, || async {
        gate.notified().await;
        Ok::<_, Infallible>(result("old"))
    });
    let new = async {
        cache.invalidate(&server, "u");
        let read = cache.read_through(&server, "u", LONG, || async {
            Ok::<_, Infallible>(result("new"))
        });
        let read = read.await;
        gate.notify_one();
        read
    };
    let (old, new) = tokio::join!(old, new);
    assert_eq!((text(&old.unwrap()), text(&new.unwrap())), ("old", "new"));
    let kept = cache.get(&server, "u", tokio::time::Instant::now().into_std());
    assert_eq!(text(&kept.unwrap()), "new");
}
