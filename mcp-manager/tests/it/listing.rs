//! What servers offer changes.

use std::sync::atomic::Ordering;
use std::time::Duration;

use mcp_manager::{ManagerEvent, ServerState, Wait};
use serde_json::json;
use tokio::time::Instant;

use crate::fake::{Fakes, Manner, remote};
use crate::watch::{manager, until};

#[tokio::test(start_paused = true)]
async fn announced_changes_are_fetched_together_and_swapped_whole() {
    let fakes = Fakes::default();
    let fake = fakes.add("a", &["one"]);
    let manager = manager(&fakes);
    manager.connect_all([remote("a")], Wait::All).await;
    tokio::time::sleep(Duration::from_secs(10)).await;
    let mut events = manager.events();
    let before = manager.catalog();
    fake.set_tools(&["one", "two"]);
    for _ in 0..500 {
        fake.notify("notifications/tools/list_changed", json!({}));
    }
    let changed = loop {
        if let ManagerEvent::CatalogChanged { epoch, diff } = events.next().await.unwrap() {
            break (epoch, diff.added.len(), diff.removed.len());
        }
    };
    assert_eq!(changed, (before.epoch() + 1, 1, 0));
    assert_eq!(
        (before.tools().len(), manager.catalog().tools().len()),
        (1, 2)
    );
    tokio::time::sleep(Duration::from_secs(600)).await;
    assert!(
        fake.seen("tools/list") <= 3,
        "{} lists for 500 changes",
        fake.seen("tools/list")
    );
    assert_eq!(manager.catalog().epoch(), before.epoch() + 1);
}

#[tokio::test(start_paused = true)]
async fn the_catalogue_is_fresh_right_after_a_change_was_announced() {
    let fakes = Fakes::default();
    let fake = fakes.add("a", &["one"]);
    fakes.add("still", &["one"]);
    let manager = manager(&fakes);
    let all = [remote("a"), remote("still")];
    manager.connect_all(all, Wait::All).await;
    for tools in [["one", "two"], ["one", "three"], ["one", "four"]] {
        fake.set_tools(&tools);
        fake.notify("notifications/tools/list_changed", json!({}));
        // Its reply comes after the notification.
        manager.call_tool("a", "one", json!({})).await.unwrap();
        let catalog = manager.fresh_catalog().await;
        let name = format!("mcp__a__{}", tools[1]);
        assert!(catalog.tool(&name).is_some(), "{name}");
    }
    let asked = fake.seen("tools/list");
    manager.fresh_catalog().await;
    assert_eq!(fake.seen("tools/list"), asked, "nothing was announced");
}

#[tokio::test(start_paused = true)]
async fn a_changed_list_that_does_not_come_is_not_waited_for_for_ever() {
    let fakes = Fakes::default();
    let fake = fakes.add("a", &["one"]);
    let toolless = fakes.add("toolless", &[]);
    let manager = manager(&fakes);
    let all = [remote("a"), remote("toolless")];
    manager.connect_all(all, Wait::All).await;
    fake.lists.store(false, Ordering::SeqCst);
    for fake in [&fake, &toolless] {
        fake.notify("notifications/tools/list_changed", json!({}));
    }
    manager.call_tool("a", "one", json!({})).await.unwrap();
    let catalog = manager.fresh_catalog().await;
    assert!(catalog.tool("mcp__a__one").is_some(), "the last good one");
}

#[tokio::test(start_paused = true)]
async fn lists_no_one_announces_are_asked_for_every_five_minutes() {
    let fakes = Fakes::default();
    let fake = fakes.add("a", &["one"]);
    fake.announces.store(false, Ordering::SeqCst);
    let manager = manager(&fakes);
    manager.connect_all([remote("a")], Wait::All).await;
    fake.set_tools(&["two"]);
    tokio::time::sleep(Duration::from_secs(299)).await;
    assert_eq!(fake.seen("tools/list"), 1);
    tokio::time::sleep(Duration::from_secs(2)).await;
    assert_eq!(fake.seen("tools/list"), 2);
    assert!(manager.catalog().tool("mcp__a__two").is_some());
}

#[tokio::test(start_paused = true)]
async fn a_failed_list_keeps_the_last_good_one_and_is_asked_for_again() {
    let fakes = Fakes::default();
    let fake = fakes.add("a", &["one"]);
    let manager = manager(&fakes);
    manager.connect_all([remote("a")], Wait::All).await;
    let mut events = manager.events();
    fake.lists.store(false, Ordering::SeqCst);
    manager.refresh("a").unwrap();
    until(&manager, &mut events, "a", ServerState::Degraded).await;
    assert!(manager.catalog().tool("mcp__a__one").is_some());
    manager.call_tool("a", "one", json!({})).await.unwrap();
    let failed = Instant::now();
    fake.lists.store(true, Ordering::SeqCst);
    until(&manager, &mut events, "a", ServerState::Connected).await;
    assert_eq!(failed.elapsed().as_secs(), 30);
}

#[tokio::test(start_paused = true)]
async fn whoever_asks_for_the_newest_lists_gets_them() {
    let fakes = Fakes::default();
    let fake = fakes.add("a", &["one"]);
    fakes.add("bare", &[]);
    let manager = manager(&fakes);
    let all = [remote("a"), remote("bare")];
    manager.connect_all(all, Wait::All).await;
    fake.set_tools(&["one", "two"]);
    manager.refreshed("a").await.unwrap();
    assert!(manager.catalog().tool("mcp__a__two").is_some());
    // Two at once, the second while the first is asked for.
    fake.set_tools(&["three"]);
    let (first, second) = tokio::join!(manager.refreshed("a"), manager.refreshed("a"));
    first.and(second).unwrap();
    assert!(manager.catalog().tool("mcp__a__three").is_some());
    manager.refreshed("bare").await.unwrap();
    fake.lists.store(false, Ordering::SeqCst);
    manager.refreshed("a").await.unwrap();
    let kept = manager.catalog();
    assert!(kept.tool("mcp__a__three").is_some(), "the last good one");
    manager.close_one("a").await.unwrap();
    manager.refreshed("a").await.unwrap();
    assert!(manager.refreshed("none").await.is_err());
}

#[tokio::test(start_paused = true)]
async fn a_server_that_fell_silent_is_connected_anew_unless_it_is_at_work() {
    let fakes = Fakes::default();
    let fake = fakes.add("a", &["work"]);
    let config = remote("a").with_call_idle_timeout(Duration::from_secs(3600));
    let manager = manager(&fakes);
    manager.connect_all([config], Wait::All).await;
    let mut events = manager.events();
    fake.lists.store(false, Ordering::SeqCst);
    fake.set_manner(Manner::Slowly(Duration::from_secs(1200)));
    manager.refresh("a").unwrap();
    manager.call_tool("a", "work", json!({})).await.unwrap();
    assert_eq!(fake.connects.load(Ordering::SeqCst), 1, "it was only busy");
    until(&manager, &mut events, "a", ServerState::Reconnecting).await;
    fake.lists.store(true, Ordering::SeqCst);
    until(&manager, &mut events, "a", ServerState::Connected).await;
}

#[tokio::test(start_paused = true)]
async fn one_servers_flood_does_not_wash_anothers_events_away() {
    let fakes = Fakes::default();
    let (loud, quiet) = (fakes.add("loud", &[]), fakes.add("quiet", &[]));
    let manager = manager(&fakes);
    manager
        .connect_all([remote("loud"), remote("quiet")], Wait::All)
        .await;
    let mut events = manager.events();
    let log = json!({"level": "info", "data": "x"});
    for _ in 0..100 {
        for _ in 0..1000 {
            loud.notify("notifications/message", log.clone());
        }
        tokio::task::yield_now().await;
    }
    quiet.notify("notifications/message", log);
    let mut from_loud = 0;
    loop {
        match events.next().await.unwrap() {
            ManagerEvent::Lagged { missed } => panic!("{missed} events washed away"),
            ManagerEvent::Log { server, .. } if server.as_str() == "quiet" => break,
            ManagerEvent::Log { .. } => from_loud += 1,
            _ => {}
        }
    }
    assert!(from_loud <= 128, "{from_loud}");
}
