//! Servers come, go, crash and change.

use std::sync::atomic::Ordering;
use std::time::Duration;

use mcp_manager::{
    CallOptions, Listing, Manager, ManagerError, ManagerEvent, RemoteEndpoint, ServerConfig,
    ServerState, Start, Wait,
};
use serde_json::json;
use tokio::time::Instant;

use crate::fake::{Door, Fakes, name, remote, stdio};
use crate::watch::{manager, state, until};

#[tokio::test(start_paused = true)]
async fn all_connect_at_once_two_programs_and_five_remote_servers_at_a_time() {
    let fakes = Fakes::default();
    let mut configs = Vec::new();
    for number in 0..6 {
        let (program, server) = (format!("program-{number}"), format!("server-{number}"));
        for name in [&program, &server] {
            fakes
                .add(name, &["echo"])
                .set_door(Door::Slow(Duration::from_secs(1)));
        }
        configs.extend([stdio(&program), remote(&server)]);
    }
    let shut = fakes.add("shut", &[]);
    shut.set_door(Door::Wrong);
    configs.push(remote("shut"));
    let manager = manager(&fakes);
    let startup = manager.connect_all(configs, Wait::All).await;
    assert_eq!(startup.connected.len(), 12);
    let (name, error) = &startup.errors[0];
    assert_eq!((name.as_str(), startup.errors.len()), ("shut", 1));
    assert!(matches!(
        error,
        ManagerError::Unavailable {
            state: ServerState::Failed,
            ..
        }
    ));
    assert_eq!((fakes.stdio.most(), fakes.remote.most()), (2, 5));
    assert_eq!(manager.connected().len(), 12);
    assert_eq!(manager.catalog().tools().len(), 12);
    manager.close_one("server-0").await.unwrap();
    assert_eq!(manager.connected().len(), 11);
    assert!(manager.client("server-0").is_none() && manager.client("server-1").is_some());
    manager.close_all().await;
    assert!(manager.connected().is_empty() && manager.catalog().tools().is_empty());
}

/// A server that hangs keeps its place until its time to connect is up, and no longer.
#[tokio::test(start_paused = true)]
async fn no_more_than_two_programs_are_ever_under_way_however_slow_they_are() {
    let fakes = Fakes::default();
    let mut configs = Vec::new();
    for number in 0..6 {
        let program = format!("program-{number}");
        let door = match number {
            0 | 1 => Door::Dead,
            _ => Door::Slow(Duration::from_secs(12)),
        };
        fakes.add(&program, &["echo"]).set_door(door);
        configs.push(stdio(&program));
    }
    let manager = manager(&fakes);
    let startup = manager.connect_all(configs, Wait::All).await;
    assert_eq!(fakes.stdio.most(), 2);
    assert_eq!((startup.connected.len(), startup.errors.len()), (4, 2));
}

#[tokio::test(start_paused = true)]
async fn a_lost_server_comes_back_and_each_try_is_an_event() {
    let fakes = Fakes::default();
    let fake = fakes.add("a", &["echo"]);
    let manager = manager(&fakes);
    manager.connect_all([remote("a")], Wait::All).await;
    let mut events = manager.events();
    fake.set_door(Door::Shut);
    fake.crash();
    let mut reported = Vec::new();
    while !reported
        .last()
        .is_some_and(|last: &String| last.starts_with("mcp_reconnected"))
    {
        let event = events.next().await.unwrap();
        match &event {
            ManagerEvent::ReconnectFailed { attempt: 2, .. } => fake.set_door(Door::Open),
            ManagerEvent::StateChanged { .. } | ManagerEvent::CatalogChanged { .. } => continue,
            _ => {}
        }
        reported.push(format!("{} {}", event.name(), event.data()));
    }
    insta::assert_snapshot!(reported.join("\n"));
}

#[tokio::test(start_paused = true)]
async fn after_five_tries_a_server_is_removed_and_a_manual_retry_brings_it_back() {
    let fakes = Fakes::default();
    let (fake, _) = (fakes.add("a", &["echo"]), fakes.add("b", &["echo"]));
    let manager = manager(&fakes);
    manager
        .connect_all([remote("a"), remote("b")], Wait::All)
        .await;
    let mut events = manager.events();
    fake.set_door(Door::Shut);
    fake.crash();
    until(&manager, &mut events, "a", ServerState::Failed).await;
    assert_eq!(fake.connects.load(Ordering::SeqCst), 1 + 5);
    let removed =
        std::iter::from_fn(|| events.try_next()).find(|event| event.name() == "mcp_server_removed");
    let reason =
        "could not connect to server 'a': connecting to the fake server failed: no one is there";
    assert_eq!(
        removed.unwrap().data(),
        json!({"server": "a", "reason": reason})
    );
    let names: Vec<_> = manager
        .catalog()
        .tools()
        .iter()
        .map(|tool| tool.exposed_name().to_string())
        .collect();
    assert_eq!(names, ["mcp__b__echo"]);
    let error = manager.call_tool("a", "echo", json!({})).await.unwrap_err();
    assert!(matches!(
        error,
        ManagerError::Unavailable {
            state: ServerState::Failed,
            ..
        }
    ));
    assert_eq!(manager.server("a").unwrap().error.unwrap(), reason);

    fake.set_door(Door::Open);
    tokio::time::sleep(Duration::from_secs(24 * 60 * 60)).await;
    assert_eq!(
        state(&manager, "a"),
        ServerState::Failed,
        "only a person brings it back"
    );
    manager.retry("a").await.unwrap();
    assert_eq!(manager.catalog().tools().len(), 2);
}

#[tokio::test(start_paused = true)]
async fn closing_a_server_ends_its_tries_and_nothing_revives_it() {
    let fakes = Fakes::default();
    let fake = fakes.add("a", &["echo"]);
    let manager = manager(&fakes);
    manager.connect_all([remote("a")], Wait::All).await;
    fake.set_door(Door::Shut);
    fake.crash();
    until(
        &manager,
        &mut manager.events(),
        "a",
        ServerState::Reconnecting,
    )
    .await;
    manager.close_one("a").await.unwrap();
    fake.set_door(Door::Open);
    tokio::time::sleep(Duration::from_secs(3600)).await;
    assert_eq!(state(&manager, "a"), ServerState::Disabled);
    assert_eq!(fake.connects.load(Ordering::SeqCst), 1);
    let error = manager.call_tool("a", "echo", json!({})).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "server 'a' is switched off; connect it first"
    );
    manager.connect_one(remote("a")).await.unwrap();
    manager.call_tool("a", "echo", json!({})).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_server_that_asks_for_time_gets_it() {
    let fakes = Fakes::default();
    let fake = fakes.add("a", &[]);
    fake.set_door(Door::Busy(Duration::from_secs(90)));
    let manager = manager(&fakes);
    let mut events = manager.events();
    let began = Instant::now();
    let startup = manager.connect_all([remote("a")], Wait::All).await;
    assert!(matches!(startup.errors[0].1, ManagerError::NotYet { .. }));
    fake.set_door(Door::Open);
    until(&manager, &mut events, "a", ServerState::Connected).await;
    assert_eq!(began.elapsed().as_secs(), 90);
}

#[tokio::test(start_paused = true)]
async fn a_server_that_wants_authorization_waits_for_it() {
    let fakes = Fakes::default();
    let fake = fakes.add("a", &["echo"]);
    fake.set_door(Door::Locked);
    let manager = manager(&fakes);
    manager.connect_all([remote("a")], Wait::All).await;
    assert_eq!(state(&manager, "a"), ServerState::NeedsAuth);
    let error = manager.call_tool("a", "echo", json!({})).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "server 'a' requires authorization; log in to it, then retry"
    );
    fake.set_door(Door::Open);
    manager.retry("a").await.unwrap();
    assert_eq!(
        fake.connects.load(Ordering::SeqCst),
        2,
        "it was not tried in between"
    );
}

#[tokio::test(start_paused = true)]
async fn no_one_waits_longer_for_servers_than_they_want_to() {
    let seconds = Duration::from_secs;
    for (wait, waited, connected) in [
        (Wait::None, 0, 0),
        (Wait::Required, 2, 1),
        (Wait::UpTo(seconds(3)), 3, 1),
        (Wait::All, 4, 2),
    ] {
        let fakes = Fakes::default();
        fakes.add("quick", &["a"]).set_door(Door::Slow(seconds(2)));
        fakes.add("slow", &["b"]).set_door(Door::Slow(seconds(4)));
        let manager = manager(&fakes);
        let began = Instant::now();
        let configs = [remote("quick").required(), remote("slow")];
        let startup = manager.connect_all(configs, wait).await;
        assert_eq!(
            (began.elapsed().as_secs(), startup.connected.len()),
            (waited, connected),
            "{wait:?}"
        );
        assert_eq!(startup.pending.len(), 2 - connected);
        let mut events = manager.events();
        until(&manager, &mut events, "slow", ServerState::Connected).await;
        assert_eq!(
            manager.catalog().tools().len(),
            2,
            "late tools join the catalogue"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn servers_that_hang_keep_the_others_waiting_for_no_longer_than_connecting_may_take() {
    let fakes = Fakes::default();
    let mut configs = Vec::new();
    for number in 0..6 {
        let name = format!("a-hung-{number}");
        fakes.add(&name, &[]).set_door(Door::Dead);
        configs.push(stdio(&name));
    }
    fakes.add("well", &["echo"]);
    configs.push(stdio("well"));
    let manager = manager(&fakes);
    let began = Instant::now();
    manager.connect_all(configs, Wait::None).await;
    until(
        &manager,
        &mut manager.events(),
        "well",
        ServerState::Connected,
    )
    .await;
    assert_eq!(
        began.elapsed().as_secs(),
        90,
        "three rounds of thirty seconds"
    );
}

#[tokio::test(start_paused = true)]
async fn a_server_no_one_uses_rests_after_half_an_hour_and_the_next_call_wakes_it() {
    let fakes = Fakes::default();
    let fake = fakes.add("a", &["echo"]);
    let manager = manager(&fakes);
    manager.connect_all([remote("a")], Wait::All).await;
    let mut events = manager.events();
    tokio::time::sleep(Duration::from_secs(20 * 60)).await;
    manager.call_tool("a", "echo", json!({})).await.unwrap();
    let called = Instant::now();
    until(&manager, &mut events, "a", ServerState::Idle).await;
    assert_eq!(called.elapsed().as_secs(), 30 * 60);
    assert_eq!(fake.open_links(), 0);
    assert_eq!(
        manager.catalog().tools().len(),
        1,
        "what it offers is still known"
    );
    manager.call_tool("a", "echo", json!({})).await.unwrap();
    assert_eq!(state(&manager, "a"), ServerState::Connected);
}

#[tokio::test(start_paused = true)]
async fn a_new_configuration_touches_only_what_it_changes() {
    let fakes = Fakes::default();
    let [keep, restart, stop, start] =
        ["keep", "restart", "stop", "start"].map(|name| fakes.add(name, &["echo"]));
    let manager = manager(&fakes);
    manager
        .connect_all(["keep", "restart", "stop"].map(remote), Wait::All)
        .await;
    let elsewhere = RemoteEndpoint::new("http://127.0.0.1/elsewhere");
    let configs = [
        remote("keep").with_call_idle_timeout(Duration::from_secs(9)),
        ServerConfig::remote(name("restart"), elsewhere),
        remote("start"),
    ];
    let applied = manager.apply(configs.clone()).await.unwrap();
    let names = |names: &[mcp_manager::ServerName]| {
        names
            .iter()
            .map(ToString::to_string)
            .collect::<Vec<_>>()
            .join(" ")
    };
    assert_eq!(
        [
            &applied.kept,
            &applied.restarted,
            &applied.started,
            &applied.stopped
        ]
        .map(|list| names(list)),
        ["keep", "restart", "start", "stop"]
    );
    manager.connect_all(configs, Wait::All).await;
    let connects = [keep, restart, stop, start].map(|fake| fake.connects.load(Ordering::SeqCst));
    assert_eq!(connects, [1, 2, 1, 1]);
    assert_eq!(manager.connected().len(), 3);
    assert!(manager.server("stop").is_none());

    manager.apply([remote("keep").disabled()]).await.unwrap();
    assert_eq!(state(&manager, "keep"), ServerState::Disabled);
    manager.apply([remote("keep")]).await.unwrap();
    manager.ready(&name("keep")).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn after_shutdown_nothing_is_left_and_nothing_starts() {
    let fakes = Fakes::default();
    let (up, down) = (fakes.add("up", &["echo"]), fakes.add("down", &[]));
    down.set_door(Door::Dead);
    let manager = manager(&fakes);
    manager
        .connect_all(
            [remote("up"), remote("down")],
            Wait::UpTo(Duration::from_secs(1)),
        )
        .await;
    let ended = manager.shutdown().await;
    assert!(ended.killed.is_empty());
    assert_eq!((up.open_links(), down.open_links()), (0, 0));
    assert!(manager.servers().is_empty() && manager.catalog().tools().is_empty());
    let error = manager
        .call_tool("up", "echo", json!({}))
        .await
        .unwrap_err();
    assert!(matches!(error, ManagerError::ShutDown));
    assert!(matches!(
        manager.connect_one(remote("up")).await,
        Err(ManagerError::ShutDown)
    ));
}

#[tokio::test(start_paused = true)]
async fn dropping_the_last_handle_ends_all_connections() {
    let fakes = Fakes::default();
    let fake = fakes.add("a", &[]);
    let manager = manager(&fakes);
    manager.connect_all([remote("a")], Wait::All).await;
    assert_eq!(fake.open_links(), 1);
    drop(manager);
    while fake.open_links() > 0 {
        tokio::task::yield_now().await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_server_can_be_tried_out_without_being_taken_in() {
    let fakes = Fakes::default();
    let fake = fakes.add("a", &["one", "two"]);
    let manager = manager(&fakes);
    let listing = manager.test_connection(remote("a")).await.unwrap();
    assert_eq!((listing.tools().len(), fake.open_links()), (2, 0));
    fake.set_door(Door::Shut);
    let error = manager.test_connection(remote("a")).await.unwrap_err();
    assert!(matches!(error, ManagerError::Unavailable { .. }), "{error}");
    assert!(manager.servers().is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_lazy_server_that_was_seen_before_is_in_the_catalogue_before_it_runs() {
    let fakes = Fakes::default();
    let fake = fakes.add("a", &["echo"]);
    let seen = manager(&fakes).test_connection(remote("a")).await.unwrap();
    let builder = Manager::builder().connector(fakes.clone());
    let manager = builder.known([Listing::clone(&seen)]).build();
    let lazy = remote("a").with_start(Start::Lazy);
    manager.connect_all([lazy], Wait::All).await;
    assert_eq!(
        fake.connects.load(Ordering::SeqCst),
        1,
        "only the earlier look"
    );
    let options = CallOptions::default();
    manager
        .call_by_name("mcp__a__echo", json!({}), options)
        .await
        .unwrap();
    assert_eq!(state(&manager, "a"), ServerState::Connected);
}
