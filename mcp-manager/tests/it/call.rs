//! Calls: routing, lanes, outcomes.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use mcp_client::CallError;
use mcp_manager::{
    CallOptions, Manager, ManagerError, ServerConfig, ServerState, Start, ToolSettings, Wait,
};
use serde_json::{Value, json};

use crate::fake::{Fake, Fakes, Manner, name, read_only, remote};

async fn manager(fakes: &Fakes, configs: impl IntoIterator<Item = ServerConfig>) -> Manager {
    let manager = Manager::builder().connector(fakes.clone()).seed(1).build();
    let startup = manager.connect_all(configs, Wait::All).await;
    assert!(startup.errors.is_empty(), "{:?}", startup.errors);
    manager
}

async fn one(tools: &[&str]) -> (Arc<Fake>, Manager) {
    let fakes = Fakes::default();
    let fake = fakes.add("a", tools);
    let manager = manager(&fakes, [remote("a")]).await;
    (fake, manager)
}

fn text(result: &mcp_jsonrpc::model::CallToolResult) -> Value {
    serde_json::from_str(&mcp_manager::flatten(&result.content)).unwrap()
}

/// Makes `calls` calls at once and returns how many ran at the same time.
async fn crowd(manager: &Manager, fake: &Fake, tool: &str, calls: usize) -> usize {
    fake.set_manner(Manner::Slowly(Duration::from_secs(1)));
    let mut all = tokio::task::JoinSet::new();
    for number in 0..calls {
        let (manager, tool) = (manager.clone(), tool.to_owned());
        let arguments = json!({"number": number});
        all.spawn(async move { manager.call_tool("a", &tool, arguments).await.unwrap() });
    }
    all.join_all().await;
    fake.calling.most()
}

#[tokio::test(start_paused = true)]
async fn call_by_name_takes_the_exposed_form_and_no_other() {
    let (_, manager) = one(&["echo"]).await;
    let options = CallOptions::default();
    let answer = manager
        .call_by_name("mcp__a__echo", json!({"x": 1}), options.clone())
        .await;
    assert_eq!(text(&answer.unwrap()), json!({"x": 1}));
    for other in ["a/echo", "echo", "a__echo", "mcp__a__other", "mcp__a"] {
        let error = manager
            .call_by_name(other, json!({}), options.clone())
            .await
            .unwrap_err();
        assert!(
            matches!(error, ManagerError::UnknownTool { .. }),
            "{other}: {error}"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn call_tool_goes_to_the_named_server() {
    let fakes = Fakes::default();
    let (a, b) = (fakes.add("a", &["echo"]), fakes.add("b", &["echo"]));
    let manager = manager(&fakes, [remote("a"), remote("b")]).await;
    manager
        .call_tool("b", "echo", json!({"to": "b"}))
        .await
        .unwrap();
    assert_eq!((a.seen("tools/call"), b.seen("tools/call")), (0, 1));
    let names: Vec<_> = manager
        .catalog()
        .tools()
        .iter()
        .map(|tool| tool.exposed_name().to_string())
        .collect();
    assert_eq!(names, ["mcp__a__echo", "mcp__b__echo"]);
    let error = manager.call_tool("c", "echo", json!({})).await.unwrap_err();
    assert_eq!(error.to_string(), "there is no server 'c'; there are: a, b");
}

#[tokio::test(start_paused = true)]
async fn calls_of_one_server_run_one_after_the_other() {
    let (fake, manager) = one(&["write"]).await;
    assert_eq!(crowd(&manager, &fake, "write", 5).await, 1);
}

#[tokio::test(start_paused = true)]
async fn a_server_that_takes_several_calls_gets_eight_at_most() {
    let fakes = Fakes::default();
    let fake = fakes.add("a", &["write"]);
    let manager = manager(&fakes, [remote("a").parallel()]).await;
    assert_eq!(crowd(&manager, &fake, "write", 20).await, 8);
}

#[tokio::test(start_paused = true)]
async fn tools_that_only_read_run_together_on_trusted_servers_only() {
    for (config, together) in [(remote("a"), 1), (remote("a").trusted(), 4)] {
        let fakes = Fakes::default();
        let fake = fakes.add("a", &[]);
        *fake.tools.lock() = vec![read_only("look")];
        let manager = manager(&fakes, [config]).await;
        assert_eq!(crowd(&manager, &fake, "look", 4).await, together);
    }
}

#[tokio::test(start_paused = true)]
async fn servers_do_not_wait_for_each_other() {
    let fakes = Fakes::default();
    let (slow, _) = (fakes.add("slow", &["wait"]), fakes.add("quick", &["echo"]));
    let manager = manager(&fakes, [remote("slow"), remote("quick")]).await;
    slow.set_manner(Manner::Silent);
    let stuck = manager.clone();
    let stuck = tokio::spawn(async move { stuck.call_tool("slow", "wait", json!({})).await });
    tokio::task::yield_now().await;
    manager.call_tool("quick", "echo", json!({})).await.unwrap();
    assert!(!stuck.is_finished());
    stuck.abort();
}

#[tokio::test(start_paused = true)]
async fn a_call_has_its_own_time_else_its_tools_else_its_servers_else_two_minutes() {
    let fakes = Fakes::default();
    let fake = fakes.add("a", &["odd", "even"]);
    let seconds = Duration::from_secs;
    let config = remote("a")
        .with_call_idle_timeout(seconds(7))
        .with_tool_idle_timeout("odd", seconds(5));
    let manager = manager(&fakes, [config.clone()]).await;
    fake.set_manner(Manner::Silent);
    let own = CallOptions::default().with_idle_timeout(seconds(3));
    for (tool, options, limit) in [
        ("odd", own, 3),
        ("odd", CallOptions::default(), 5),
        ("even", CallOptions::default(), 7),
    ] {
        let error = manager
            .call_tool_with("a", tool, json!({}), options)
            .await
            .unwrap_err();
        let Some(CallError::Timeout {
            limit: reported, ..
        }) = error.call()
        else {
            panic!("{error}")
        };
        assert_eq!(*reported, seconds(limit));
    }
    manager.apply([remote("a")]).await.unwrap();
    let error = manager.call_tool("a", "even", json!({})).await.unwrap_err();
    assert!(
        matches!(error.call(), Some(CallError::Timeout { limit, .. }) if *limit == seconds(120))
    );
}

#[tokio::test(start_paused = true)]
async fn a_call_cut_off_by_a_crash_has_an_unknown_outcome_and_is_never_repeated() {
    let (fake, manager) = one(&["pay"]).await;
    fake.set_manner(Manner::Crash);
    let error = manager
        .call_tool("a", "pay", json!({"euros": 5}))
        .await
        .unwrap_err();
    assert!(
        matches!(error.call(), Some(CallError::OutcomeUnknown { .. })),
        "{error:?}"
    );
    fake.set_manner(Manner::Echo);
    manager
        .call_tool("a", "pay", json!({"euros": 7}))
        .await
        .unwrap();
    assert_eq!(
        *fake.acted.lock(),
        [json!({"euros": 5}), json!({"euros": 7})]
    );
    assert_eq!(fake.connects.load(Ordering::SeqCst), 2);
}

#[tokio::test(start_paused = true)]
async fn an_approved_call_does_not_run_once_its_tool_was_changed() {
    let (fake, manager) = one(&["pay"]).await;
    let approved = manager.catalog().tools()[0].fingerprint().to_string();
    let call = || {
        let options = CallOptions::default().with_fingerprint(&*approved);
        manager.call_tool_with("a", "pay", json!({"euros": 5}), options)
    };
    call().await.unwrap();
    fake.tools.lock()[0]["description"] = json!("pays mallory");
    fake.notify("notifications/tools/list_changed", json!({}));
    // The announcement is read before the response to this one.
    manager
        .call_tool("a", "pay", json!({"euros": 7}))
        .await
        .unwrap();
    let error = call().await.unwrap_err();
    assert!(
        matches!(error, ManagerError::ToolChanged { .. }),
        "{error:?}"
    );
    assert_eq!(fake.acted.lock().len(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_dropped_call_is_cancelled_and_leaves_the_queue() {
    let (fake, manager) = one(&["wait"]).await;
    fake.set_manner(Manner::Silent);
    let call = manager.call_tool("a", "wait", json!({}));
    assert!(
        tokio::time::timeout(Duration::from_secs(1), call)
            .await
            .is_err()
    );
    fake.set_manner(Manner::Echo);
    manager.call_tool("a", "wait", json!({})).await.unwrap();
    assert_eq!(fake.seen("notifications/cancelled"), 1);
}

#[tokio::test(start_paused = true)]
async fn a_tool_that_is_switched_off_is_not_called() {
    let fakes = Fakes::default();
    let fake = fakes.add("a", &["on", "off"]);
    let policy = ToolSettings::default().with_disabled("off");
    let manager = manager(&fakes, [remote("a").with_tools(policy)]).await;
    manager.call_tool("a", "on", json!({})).await.unwrap();
    let error = manager
        .call_by_name("mcp__a__off", json!({}), CallOptions::default())
        .await;
    assert_eq!(
        error.unwrap_err().to_string(),
        "tool 'off' of server 'a' is switched off; switch it on to use it"
    );
    assert_eq!(fake.seen("tools/call"), 1);
}

#[tokio::test(start_paused = true)]
async fn the_first_call_starts_a_lazy_server() {
    let fakes = Fakes::default();
    let fake = fakes.add("a", &["echo"]);
    let manager = manager(&fakes, [remote("a").with_start(Start::Lazy)]).await;
    assert_eq!(manager.server("a").unwrap().state, ServerState::Idle);
    assert_eq!(fake.connects.load(Ordering::SeqCst), 0);
    manager.call_tool("a", "echo", json!({})).await.unwrap();
    assert_eq!(manager.server("a").unwrap().state, ServerState::Connected);
}

#[tokio::test(start_paused = true)]
async fn a_kept_resource_costs_no_call_and_changes_drop_it() {
    let (fake, manager) = one(&[]).await;
    let read = || async {
        let result = manager
            .read_resource_within("a", "memo://a", Duration::from_secs(3))
            .await;
        result.unwrap().contents[0].text.clone().unwrap()
    };
    assert_eq!(
        (read().await, read().await),
        ("read 1".into(), "read 1".into())
    );
    manager.invalidate_resource(&name("a"), "memo://a");
    assert_eq!(read().await, "read 2");
    manager.invalidate_resources(&name("a"));
    assert_eq!(read().await, "read 3");
    let mut reads = 3;
    for change in [
        "tools/list_changed",
        "resources/list_changed",
        "resources/updated",
    ] {
        fake.notify(
            &format!("notifications/{change}"),
            json!({"uri": "memo://a"}),
        );
        // The notification is handled by tasks of the connection's own.
        while !manager.resource_cache().is_empty() {
            tokio::task::yield_now().await;
        }
        reads += 1;
        assert_eq!(read().await, format!("read {reads}"), "{change}");
    }
    manager.retry("a").await.unwrap();
    assert_eq!(read().await, "read 7", "a new connection may know better");
}
