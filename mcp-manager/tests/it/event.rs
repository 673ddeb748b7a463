//! The stream of events.

use std::time::Duration;

use mcp_manager::{Manager, ManagerEvent, ManagerLimits, ServerState, Wait};

use crate::fake::{Door, Fakes, remote};
use crate::watch::{manager, state};

#[tokio::test(start_paused = true)]
async fn a_slow_listener_learns_what_it_missed_and_blocks_no_other() {
    let fakes = Fakes::default();
    fakes.add("a", &["echo"]);
    let limits = ManagerLimits::default().with_queued_events(4);
    let manager = Manager::builder().connector(fakes).limits(limits).build();
    let mut slow = manager.events();
    manager.connect_all([remote("a")], Wait::All).await;
    for _ in 0..10 {
        manager.retry("a").await.unwrap();
    }
    let Some(ManagerEvent::Lagged { missed }) = slow.next().await else {
        panic!("nothing was missed")
    };
    assert!(missed > 10, "{missed}");
    let kept = std::iter::from_fn(|| slow.try_next());
    assert_eq!(kept.count(), 4, "the newest ones are there");
    manager.shutdown().await;
}

#[tokio::test(start_paused = true)]
async fn the_stream_ends_with_the_manager() {
    let fakes = Fakes::default();
    fakes.add("a", &[]);
    let manager = manager(&fakes);
    let mut events = manager.events();
    manager.connect_all([remote("a")], Wait::All).await;
    manager.shutdown().await;
    drop(manager);
    let mut states = Vec::new();
    while let Some(event) = events.next().await {
        if let ManagerEvent::StateChanged { to, .. } = event {
            states.push(to);
        }
    }
    let [connecting, connected] = [ServerState::Connecting, ServerState::Connected];
    assert_eq!(states, [connecting, connected, ServerState::Disabled]);
}

#[tokio::test(start_paused = true)]
async fn every_change_of_state_is_an_event_with_its_status() {
    let fakes = Fakes::default();
    let fake = fakes.add("a", &["echo"]);
    fake.set_door(Door::Shut);
    let manager = manager(&fakes);
    let mut events = manager.events();
    manager.connect_all([remote("a")], Wait::All).await;
    fake.set_door(Door::Open);
    while state(&manager, "a") != ServerState::Connected {
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    manager.shutdown().await;
    let mut reported = Vec::new();
    while let Some(event) = events.try_next() {
        reported.push(format!("{} {}", event.name(), event.data()));
    }
    insta::assert_snapshot!(reported.join("\n"));
}
