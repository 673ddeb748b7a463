//! Several users, several agents.

use std::sync::atomic::Ordering;
use std::time::Duration;

use mcp_manager::{CallOptions, Manager, Pool, ServerState};
use serde_json::json;

use crate::fake::{Fakes, remote};

fn pool(fakes: &Fakes) -> Pool {
    let fakes = fakes.clone();
    Pool::new(move |_| Manager::builder().connector(fakes.clone()))
}

#[tokio::test(start_paused = true)]
async fn agents_of_one_user_share_a_server_and_users_do_not() {
    let fakes = Fakes::default();
    let fake = fakes.add("a", &["echo"]);
    let pool = pool(&fakes);
    let leases = [
        pool.lease("ann", remote("a")).await.unwrap(),
        pool.lease("ann", remote("a")).await.unwrap(),
        pool.lease("bob", remote("a")).await.unwrap(),
    ];
    assert_eq!(fake.connects.load(Ordering::SeqCst), 2);
    for lease in &leases {
        lease
            .call_tool("echo", json!({}), CallOptions::default())
            .await
            .unwrap();
    }
    let ended = pool.shutdown().await;
    assert_eq!(ended.into_keys().collect::<Vec<_>>(), ["ann", "bob"]);
    assert_eq!(fake.open_links(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_leased_server_stays_and_rests_half_an_hour_after_the_last_lease() {
    let fakes = Fakes::default();
    let (fake, _) = (fakes.add("a", &["echo"]), fakes.add("b", &[]));
    let pool = pool(&fakes);
    let (first, second) = (
        pool.lease("ann", remote("a")).await.unwrap(),
        pool.lease("ann", remote("a")).await.unwrap(),
    );
    tokio::time::sleep(Duration::from_secs(3 * 3600)).await;
    drop(first);
    tokio::time::sleep(Duration::from_secs(3 * 3600)).await;
    let state = || pool.manager("ann").server("a").map(|server| server.state);
    assert_eq!(
        (state(), fake.connects.load(Ordering::SeqCst)),
        (Some(ServerState::Connected), 1)
    );
    drop(second);
    tokio::time::sleep(Duration::from_secs(29 * 60)).await;
    assert_eq!(state(), Some(ServerState::Connected));
    tokio::time::sleep(Duration::from_secs(31 * 60)).await;
    assert_eq!(state(), Some(ServerState::Idle));
    // Whoever comes next finds what is unused swept away.
    let _other = pool.lease("bob", remote("b")).await.unwrap();
    assert_eq!(state(), None);
}
