//! Tools that continue as tasks.

use std::error::Error;
use std::time::Duration;

use mcp_jsonrpc::model::Tool;
use mcp_jsonrpc::model::experimental_task::{TaskSupport, ToolExecution};
use mcp_server::{Context, Server};
use serde_json::{Value, json};

use crate::questions::form;
use crate::{plain, strings, tool};

fn with_tasks(mut tool: Tool, support: TaskSupport) -> Tool {
    let mut execution = ToolExecution::default();
    execution.task_support = Some(support);
    tool.execution = Some(execution);
    tool
}

type Done = Result<String, mcp_server::Error>;

async fn confirm(cx: &Context, key: &str, message: &str) -> Result<bool, mcp_server::Error> {
    let question = form(
        message,
        json!({"confirm": {"type": "boolean", "default": false}}),
        &[],
    );
    let answer = cx.ask(key, question).await?;
    Ok(answer
        .content
        .is_some_and(|content| content.get("confirm") == Some(&json!(true))))
}

/// Adds them all.
pub(crate) fn add(server: Server) -> Result<Server, Box<dyn Error>> {
    let optional = |tool| with_tasks(tool, TaskSupport::Optional);
    let required = |tool| with_tasks(tool, TaskSupport::Required);
    let slow = tool(
        "slow_compute",
        "Computes for some seconds",
        &json!({
            "type": "object",
            "properties": {"seconds": {"type": "number"}, "label": {"type": "string"}},
        }),
    )?;
    Ok(server
        .tool_with_schema(optional(slow), |arguments: Value, cx: Context| async move {
            cx.detach().await;
            let seconds = arguments["seconds"]
                .as_f64()
                .unwrap_or(1.0)
                .clamp(0.0, 60.0);
            tokio::time::sleep(Duration::from_secs_f64(seconds)).await;
            format!("Computed {}", arguments["label"].as_str().unwrap_or("it"))
        })
        .tool_with_schema(
            required(plain("failing_job", "Fails after a second")?),
            |_: Value, cx: Context| async move {
                cx.detach().await;
                tokio::time::sleep(Duration::from_secs(1)).await;
                Err::<(), _>(mcp_server::Error::failed("The job failed, as it should."))
            },
        )
        .tool_with_schema(
            optional(plain("protocol_error_job", "Ends in a protocol error")?),
            |_: Value, cx: Context| async move {
                cx.detach().await;
                tokio::time::sleep(Duration::from_millis(100)).await;
                Err::<(), _>(mcp_server::Error::internal("The job broke, as it should."))
            },
        )
        .tool_with_schema(
            optional(strings(
                "confirm_delete",
                "Asks before it deletes",
                &["filename"],
            )?),
            |arguments: Value, cx: Context| async move {
                cx.detach().await;
                let file = arguments["filename"].as_str().unwrap_or_default();
                let agreed = confirm(&cx, "confirm", &format!("Delete {file}?")).await?;
                let what = if agreed { "Deleted" } else { "Kept" };
                Done::Ok(format!("{what} {file}"))
            },
        )
        .tool_with_schema(
            optional(plain("multi_input", "Asks two things at once")?),
            |_: Value, cx: Context| async move {
                cx.detach().await;
                let (one, two) = tokio::join!(
                    confirm(&cx, "first", "First?"),
                    confirm(&cx, "second", "Second?")
                );
                Done::Ok(format!("{} and {}", one?, two?))
            },
        )
        .tool_with_schema(
            required(plain(
                "test_tool_with_task",
                "Asks, then continues as a task",
            )?),
            |_: Value, cx: Context| async move {
                let question = form(
                    "What is your name?",
                    json!({"name": {"type": "string"}}),
                    &["name"],
                );
                let answer = cx.ask("user_name", question).await?;
                cx.detach().await;
                tokio::time::sleep(Duration::from_millis(100)).await;
                Done::Ok(format!(
                    "The task is for {}",
                    serde_json::to_string(&answer.content)?
                ))
            },
        ))
}
