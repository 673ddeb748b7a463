//! Real processes: none is left, and those that had to be killed are named.

use std::time::Duration;

use mcp_client::CallError;
use mcp_manager::{
    DefaultConnector, Manager, ManagerLimits, RetryPolicy, ServerCommand, ServerConfig,
    ServerState, Wait,
};
use mcp_transport::ProcessTracker;
use serde_json::json;

use crate::fake::name;
use crate::watch::until;

/// The example `manager_fixture`, which is built along with the tests.
fn fixture() -> String {
    let mut path = std::env::current_exe().unwrap();
    path.pop();
    path.pop();
    path.push("examples");
    path.push(format!("manager_fixture{}", std::env::consts::EXE_SUFFIX));
    path.into_os_string().into_string().unwrap()
}

fn config(server: &str, fault: Option<&str>) -> ServerConfig {
    ServerConfig::stdio(name(server), ServerCommand::new(fixture()).with_args(fault))
}

fn manager() -> (Manager, ProcessTracker) {
    let tracker = ProcessTracker::new();
    let connector = DefaultConnector::new().with_tracker(tracker.clone());
    let retry = RetryPolicy::default().with_first_wait(Duration::from_millis(10));
    let limits = ManagerLimits::default().with_retry(retry);
    (
        Manager::builder()
            .connector(connector)
            .limits(limits)
            .build(),
        tracker,
    )
}

#[cfg(target_os = "linux")]
fn runs(id: u32) -> bool {
    std::path::Path::new(&format!("/proc/{id}")).exists()
}

#[cfg(target_os = "linux")]
#[tokio::test(flavor = "multi_thread")]
async fn shutdown_leaves_no_process_and_names_those_it_had_to_kill() {
    let (manager, tracker) = manager();
    let configs = [
        config("well", None),
        config("deaf", Some("ignore-sigterm")),
        config("slow", Some("slow-exit")),
        config("launcher", Some("grandchild-holds-stdout")),
    ];
    let startup = manager.connect_all(configs, Wait::All).await;
    assert_eq!(startup.connected.len(), 4, "{:?}", startup.errors);
    let ids: Vec<u32> = tracker
        .processes()
        .iter()
        .filter_map(|process| process.id)
        .collect();
    assert_eq!(ids.len(), 4);
    assert!(ids.iter().all(|id| runs(*id)));
    let ended = manager.shutdown().await;
    assert!(!ids.iter().any(|id| runs(*id)));
    assert!(tracker.processes().is_empty());
    assert_eq!(ended.killed.get("deaf"), Some(&vec![fixture()]));
    assert!(
        !ended.killed.contains_key("well") && !ended.killed.contains_key("slow"),
        "{ended:?}"
    );
}

#[cfg(target_os = "linux")]
#[tokio::test(flavor = "multi_thread")]
async fn closing_one_ends_its_process_and_no_other() {
    let (manager, tracker) = manager();
    manager
        .connect_all([config("a", None), config("b", None)], Wait::All)
        .await;
    assert_eq!(tracker.processes().len(), 2);
    manager.close_one("a").await.unwrap();
    assert_eq!(tracker.processes().len(), 1);
    manager
        .call_tool("b", "echo", json!({"text": "still here"}))
        .await
        .unwrap();
    manager.close_all().await;
    assert!(tracker.processes().is_empty());
}

#[cfg(unix)]
#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_dies_mid_call_is_started_again_and_the_call_is_not_repeated() {
    let (manager, tracker) = manager();
    manager
        .connect_all([config("a", Some("exit-mid-call"))], Wait::All)
        .await;
    let mut events = manager.events();
    let error = manager
        .call_tool("a", "echo", json!({"text": "x"}))
        .await
        .unwrap_err();
    assert!(
        matches!(error.call(), Some(CallError::OutcomeUnknown { .. })),
        "{error:?}"
    );
    until(&manager, &mut events, "a", ServerState::Connected).await;
    manager.shutdown().await;
    assert!(tracker.processes().is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_can_be_tried_out_while_it_runs() {
    let (manager, tracker) = manager();
    manager.connect_all([config("a", None)], Wait::All).await;
    let listing = manager.test_connection(config("a", None)).await.unwrap();
    assert!(!listing.tools().is_empty());
    assert_eq!(
        tracker.processes().len(),
        1,
        "the trial is over, the server is not"
    );
    manager
        .call_tool("a", "echo", json!({"text": "x"}))
        .await
        .unwrap();
    manager.shutdown().await;
    assert!(tracker.processes().is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_dying_server_wrote_reaches_the_user() {
    let (manager, _) = manager();
    let startup = manager
        .connect_all([config("a", Some("exit-at-start"))], Wait::All)
        .await;
    assert_eq!(startup.errors.len(), 1);
    let error = manager.server("a").unwrap().error.unwrap();
    assert!(
        error.contains("exited with code 3") && error.contains("API_KEY is not set"),
        "{error}"
    );
    manager.shutdown().await;
}

#[tokio::test]
async fn a_program_that_is_not_there_is_named_with_the_places_searched() {
    let (manager, _) = manager();
    let config = ServerConfig::stdio(name("a"), ServerCommand::new("no-such-program-anywhere"));
    let startup = manager.connect_all([config], Wait::All).await;
    assert_eq!(manager.server("a").unwrap().state, ServerState::Failed);
    let text = manager.server("a").unwrap().error.unwrap();
    assert!(
        text.contains("'no-such-program-anywhere' was not found; searched: "),
        "{text}"
    );
    assert_eq!(startup.errors.len(), 1);
}
