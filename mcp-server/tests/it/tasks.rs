//! Calls that continue as tasks.

use http::StatusCode;
use mcp_client::{EraMode, Started};
use mcp_jsonrpc::model::Tool;
use mcp_jsonrpc::model::experimental_task::{TaskSupport, ToolExecution};
use mcp_server::http::HttpService;
use mcp_server::{Context, Error};
use serde_json::{Value, json};

use crate::http_kit::{ByHeader, initialize, post};
use crate::kit::{Alive, ERAS, MODERN, any, arguments, connect, name_form, server, text, until};

pub(crate) fn with_tasks(name: &str) -> Tool {
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

/// A client of one session over HTTP, as this user.
struct InSession<'a>(&'a HttpService, String, &'static str);

impl<'a> InSession<'a> {
    async fn open(service: &'a HttpService, user: &'static str) -> Self {
        let reply = post(service, &[("x-user", user)], &initialize("2025-11-25")).await;
        assert_eq!(reply.status, StatusCode::OK);
        Self(service, reply.session(), user)
    }

    async fn ask(&self, method: &str, params: Value) -> Value {
        let headers = [("mcp-session-id", self.1.as_str()), ("x-user", self.2)];
        let request = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
        post(self.0, &headers, &request).await.json().await
    }

    async fn tasks(&self) -> usize {
        let listed = self.ask("tasks/list", json!({})).await;
        listed["result"]["tasks"].as_array().unwrap().len()
    }
}

#[tokio::test]
async fn a_task_belongs_to_its_session_or_to_its_authenticated_caller() {
    let service = server()
        .tool_with_schema(with_tasks("job"), |_: Value, _| {
            std::future::pending::<()>()
        })
        .build();
    let open = HttpService::new(&service);
    let (owner, other) = (
        InSession::open(&open, "").await,
        InSession::open(&open, "").await,
    );
    let started = owner
        .ask("tools/call", json!({"name": "job", "task": {}}))
        .await;
    let task = json!({"taskId": started["result"]["task"]["taskId"].as_str().unwrap()});
    assert_eq!((owner.tasks().await, other.tasks().await), (1, 0));
    for method in ["tasks/get", "tasks/cancel", "tasks/result"] {
        let refused = other.ask(method, task.clone()).await;
        assert_eq!(refused["error"]["code"], -32602, "{method}: {refused}");
    }
    let status = owner.ask("tasks/get", task).await;
    assert_eq!(status["result"]["status"], "working");

    let closed = HttpService::new(&service).authenticator(ByHeader);
    let ann = InSession::open(&closed, "ann").await;
    ann.ask("tools/call", json!({"name": "job", "task": {}}))
        .await;
    let (again, bob) = (
        InSession::open(&closed, "ann").await,
        InSession::open(&closed, "bob").await,
    );
    assert_eq!((again.tasks().await, bob.tasks().await), (1, 0));
}
