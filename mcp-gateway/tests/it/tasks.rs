//! Tasks of upstream servers pass through the gateway under sealed handles.

use mcp_client::{Client, EraMode, Started, TaskTicket};
use mcp_gateway::Gateway;
use mcp_jsonrpc::model::experimental_task::{TaskSupport, ToolExecution};
use mcp_jsonrpc::model::task::TaskStatus;
use mcp_jsonrpc::model::{Implementation, Tool, extension};
use mcp_server::{Context, Eras, Error, Server, Service};
use serde_json::{Value, json};

use crate::kit::{
    Alive, MODERN, Obliging, any, everything, gateway, gateway_with, listen, name, text, until,
};

fn task_tool(name: &str, support: TaskSupport) -> Tool {
    let mut tool = any(name);
    let mut execution = ToolExecution::default();
    execution.task_support = Some(support);
    tool.execution = Some(execution);
    tool
}

/// A server with a tool that asks as a task, and one that never ends.
fn upstream(eras: Eras, alive: &Alive) -> Service {
    let alive = alive.clone();
    Server::new(Implementation::new("upstream", "1"))
        .tool_with_schema(
            task_tool("job", TaskSupport::Required),
            |_: Value, cx: Context| async move {
                let first = name(&cx).await?;
                cx.detach().await;
                let answer = cx.ask("again", crate::kit::name_form()).await?;
                let content = answer.content.unwrap_or_default();
                Ok::<_, Error>(format!("{first} {}", content["name"]))
            },
        )
        .tool_with_schema(
            task_tool("hang", TaskSupport::Optional),
            move |_: Value, cx: Context| {
                let guard = alive.enter();
                async move {
                    let _guard = guard;
                    cx.detach().await;
                    std::future::pending::<()>().await;
                }
            },
        )
        .eras(eras)
        .build()
}

async fn with_tasks(gateway: &Gateway, era: EraMode) -> Client {
    Client::builder(listen(gateway.service()))
        .era(era)
        .tasks()
        .host(Obliging::default(), everything())
        .connect()
        .await
        .unwrap()
}

fn has_tasks(client: &Client) -> bool {
    let extensions = client.server().capabilities.extensions;
    extensions.is_some_and(|all| all.contains_key(extension::TASKS))
}

#[tokio::test(start_paused = true)]
async fn a_task_of_a_modern_server_is_asked_answered_and_finished_through_the_gateway() {
    let upstream = upstream(Eras::Modern, &Alive::default());
    let gateway = gateway(&[("up", None, &upstream)]).await;
    let client = with_tasks(&gateway, MODERN).await;
    assert!(has_tasks(&client));
    let started = client.start_tool("up__job", json!({}), None).await.unwrap();
    let Started::Task(task) = started else {
        panic!("not a task");
    };
    let result = task.wait().await.unwrap();
    assert_eq!(text(&result), "Ann \"Ann\"");
    let view = task.get().await.unwrap();
    assert_eq!(view.status, TaskStatus::Completed);
    assert_eq!(view.task_id, task.ticket().task_id);
    gateway.shutdown().await;
}

#[tokio::test(start_paused = true)]
async fn a_legacy_client_waits_for_the_task_as_for_any_call() {
    for eras in [Eras::Legacy, Eras::Modern] {
        let upstream = upstream(eras, &Alive::default());
        let gateway = gateway(&[("up", None, &upstream)]).await;
        let client = with_tasks(&gateway, EraMode::Legacy).await;
        let result = client.call_tool("up__job", json!({})).await.unwrap();
        assert_eq!(text(&result), "Ann \"Ann\"", "{eras:?}");
        gateway.shutdown().await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_client_without_tasks_is_refused_a_tool_that_needs_them_and_served_one_that_does_not() {
    let alive = Alive::default();
    let upstream = upstream(Eras::Modern, &alive);
    let gateway = gateway(&[("up", None, &upstream)]).await;
    let client = Client::builder(listen(gateway.service()))
        .era(MODERN)
        .host(Obliging::default(), everything())
        .connect()
        .await
        .unwrap();
    let error = client.call_tool("up__job", json!({})).await.unwrap_err();
    let peer = error.peer().unwrap();
    assert_eq!(peer.code, mcp_jsonrpc::ErrorCode::MISSING_CLIENT_CAPABILITY);
    assert!(
        serde_json::to_string(&peer.data)
            .unwrap()
            .contains(extension::TASKS),
        "{peer:?}"
    );
    let calling = {
        let client = client.clone();
        tokio::spawn(async move { client.call_tool("up__hang", json!({})).await })
    };
    until(|| alive.count() == 1).await;
    calling.abort();
    until(|| alive.count() == 0).await;
    gateway.shutdown().await;
}

#[tokio::test(start_paused = true)]
async fn a_handle_opens_in_a_process_with_the_same_key_and_nowhere_else() {
    let alive = Alive::default();
    let upstream = upstream(Eras::Modern, &alive);
    let servers = [("up", None, &upstream)];
    let first = gateway_with(&servers, |it| it.state_key([7; 32])).await;
    let replica = gateway_with(&servers, |it| it.state_key([7; 32])).await;
    let stranger = gateway_with(&servers, |it| it.state_key([8; 32])).await;
    let client = with_tasks(&first, MODERN).await;
    let started = client
        .start_tool("up__hang", json!({}), None)
        .await
        .unwrap();
    let Started::Task(task) = started else {
        panic!("not a task");
    };
    let id = &*task.ticket().task_id;
    let at = |client: &Client| client.task(TaskTicket::new("gateway", id));
    let elsewhere = with_tasks(&stranger, MODERN).await;
    let error = at(&elsewhere).state().await.unwrap_err();
    assert!(
        error.peer().unwrap().message.contains("unknown task"),
        "{error}"
    );
    let forged = format!("{id}A");
    let error = client
        .task(TaskTicket::new("gateway", forged))
        .state()
        .await;
    assert!(error.is_err());
    let other = with_tasks(&replica, MODERN).await;
    assert_eq!(
        at(&other).state().await.unwrap().status,
        TaskStatus::Working
    );
    at(&other).cancel().await.unwrap();
    until(|| alive.count() == 0).await;
    assert_eq!(task.state().await.unwrap().status, TaskStatus::Cancelled);
    for gateway in [first, replica, stranger] {
        gateway.shutdown().await;
    }
}

#[tokio::test]
async fn the_extension_is_declared_only_if_a_server_has_it() {
    let plain = Server::new(Implementation::new("upstream", "1"))
        .tool_with_schema(any("a"), |_: Value, _: Context| async {})
        .build();
    let without = gateway(&[("plain", None, &plain)]).await;
    let client = with_tasks(&without, MODERN).await;
    assert!(!has_tasks(&client));
    let upstream = upstream(Eras::Modern, &Alive::default());
    let with = gateway(&[("plain", None, &plain), ("up", None, &upstream)]).await;
    let client = with_tasks(&with, MODERN).await;
    assert!(has_tasks(&client));
    without.shutdown().await;
    with.shutdown().await;
}
