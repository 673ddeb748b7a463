//! Calls that continue as tasks.

use mcp_client::{EraMode, Started};
use mcp_jsonrpc::model::Tool;
use mcp_jsonrpc::model::experimental_task::{TaskSupport, ToolExecution};
use mcp_server::{Context, Error};
use serde_json::Value;

use crate::kit::{Alive, ERAS, MODERN, any, arguments, connect, name_form, server, text, until};

fn with_tasks(name: &str) -> Tool {
    let mut tool = any(name);
    let mut execution = ToolExecution::default();
    execution.task_support = Some(TaskSupport::Optional);
    tool.execution = Some(execution);
    tool
}

#[tokio::test(start_paused = true)]
async fn a_detached_call_is_polled_for_and_asks_as_a_task_in_both_eras() {
    let service = server()
        .tool_with_schema(with_tasks("job"), |_: Value, cx: Context| async move {
            cx.detach().await;
            let answer = cx.ask("name", name_form()).await?;
            Ok::<_, Error>(format!(
                "{:?}",
                answer.content.unwrap_or_default().get("name")
            ))
        })
        .build();
    for era in ERAS {
        let client = connect(&service, era).await;
        let started = client.start_tool("job", arguments(), None).await.unwrap();
        let Started::Task(task) = started else {
            panic!("{era:?}: not a task");
        };
        let result = task.wait().await.unwrap();
        assert!(text(&result).contains("Ann"), "{era:?}: {result:?}");
    }
    // Without asking for a task, a legacy call just takes its time.
    let client = connect(&service, EraMode::Legacy).await;
    let result = client.call_tool("job", arguments()).await.unwrap();
    assert!(text(&result).contains("Ann"));
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_task_drops_its_handler() {
    let alive = Alive::default();
    let guard = alive.clone();
    let service = server()
        .tool_with_schema(with_tasks("job"), move |_: Value, cx: Context| {
            let guard = guard.enter();
            async move {
                let _guard = guard;
                cx.detach().await;
                std::future::pending::<()>().await;
            }
        })
        .build();
    for era in ERAS {
        let client = connect(&service, era).await;
        let Started::Task(task) = client.start_tool("job", arguments(), None).await.unwrap() else {
            panic!("{era:?}: not a task");
        };
        until(|| alive.count() == 1).await;
        task.cancel().await.unwrap();
        until(|| alive.count() == 0).await;
    }
}

#[tokio::test]
async fn a_client_without_tasks_gets_the_result_itself() {
    let service = server()
        .tool_with_schema(with_tasks("job"), |_: Value, cx: Context| async move {
            format!("task: {}", cx.detach().await)
        })
        .build();
    let client = mcp_client::Client::builder(crate::kit::listen(&service))
        .era(MODERN)
        .connect()
        .await
        .unwrap();
    let result = client.call_tool("job", arguments()).await.unwrap();
    assert_eq!(text(&result), "task: false");
}
