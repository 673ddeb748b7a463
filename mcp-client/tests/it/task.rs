//! Calls that become tasks, in both of their forms.

use std::time::Duration;

use mcp_client::{CallError, Client, Started, TaskHandle, TaskTicket};
use mcp_jsonrpc::model::task::TaskStatus;
use mcp_jsonrpc::model::{CallToolResult, ContentBlock};
use mcp_testkit::{Running, Script, Step, TaskSupport, Tool};
use serde_json::json;

use crate::kit::{ERAS, client, server};

fn script() -> Script {
    let result =
        |_: &mcp_testkit::Called<'_>| json!({"content": [{"type": "text", "text": "done"}]});
    let chore = Tool::new("chore").answering(result);
    let endless = Tool::new("endless").with_step(Step::Hang).answering(result);
    Script::standard()
        .with_task_poll(Duration::from_millis(50))
        .with_tool(chore.as_task(TaskSupport::Required))
        .with_tool(endless.as_task(TaskSupport::Required))
}

fn text(result: &CallToolResult) -> &str {
    match &result.content[..] {
        [ContentBlock::Text(text)] => &text.text,
        other => panic!("{other:?}"),
    }
}

async fn start(client: &Client, tool: &str) -> TaskHandle {
    client.list_tools().await.unwrap();
    match client.start_tool(tool, json!({}), None).await.unwrap() {
        Started::Task(task) => task,
        Started::Done(result) => panic!("no task: {result:?}"),
    }
}

async fn over(client: Client, server: Running) {
    client.close().await;
    server.shutdown().await;
}

#[tokio::test]
async fn a_call_that_becomes_a_task_is_waited_for_like_any_other() {
    for era in ERAS {
        let server = server(script(), era).await;
        let client = client(&server).await;
        client.list_tools().await.unwrap();
        let result = client.call_tool("chore", json!({})).await.unwrap();
        assert_eq!(text(&result), "done", "{era}");
        over(client, server).await;
    }
}

#[tokio::test]
async fn a_ticket_takes_a_task_up_again_on_another_connection() {
    for era in ERAS {
        let server = server(script(), era).await;
        let first = client(&server).await;
        let task = start(&first, "chore").await;
        let stored = serde_json::to_string(task.ticket()).unwrap();
        let second = first.reconnect().await.unwrap();
        let ticket: TaskTicket = serde_json::from_str(&stored).unwrap();
        // Sessions of older servers keep their tasks to themselves.
        let heir = if era == mcp_testkit::Era::Modern {
            &second
        } else {
            &first
        };
        let result = heir.task(ticket).wait().await.unwrap();
        assert_eq!(text(&result), "done", "{era}");
        second.close().await;
        over(first, server).await;
    }
}

#[tokio::test]
async fn a_cancelled_task_is_an_error_for_its_waiter() {
    for era in ERAS {
        let server = server(script(), era).await;
        let client = client(&server).await;
        let task = start(&client, "endless").await;
        assert_eq!(task.state().await.unwrap().status, TaskStatus::Working);
        task.cancel().await.unwrap();
        let error = task.wait().await.unwrap_err();
        assert!(
            matches!(error, CallError::TaskCancelled { .. }),
            "{era}: {error}"
        );
        over(client, server).await;
    }
}

#[tokio::test]
async fn a_caller_that_goes_away_takes_its_task_along() {
    for era in ERAS {
        let server = server(script(), era).await;
        let client = client(&server).await;
        client.list_tools().await.unwrap();
        let call = client.call_tool("endless", json!({}));
        tokio::select! {
            result = call => panic!("{result:?}"),
            _ = server.log().wait_for_method("tasks/get") => {}
        }
        server.log().wait_for_method("tasks/cancel").await;
        over(client, server).await;
    }
}

#[tokio::test]
async fn a_servers_tasks_are_listed_where_supported() {
    for era in ERAS {
        let server = server(script(), era).await;
        let client = client(&server).await;
        let task = start(&client, "endless").await;
        match client.list_tasks().await {
            Ok(listed) => {
                let tickets: Vec<_> = listed.items.iter().map(TaskHandle::ticket).collect();
                assert_eq!(tickets, [task.ticket()], "{era}");
            }
            Err(CallError::Unsupported { .. }) => assert!(client.revision().is_modern(), "{era}"),
            Err(error) => panic!("{era}: {error}"),
        }
        over(client, server).await;
    }
}
