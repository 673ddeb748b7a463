//! `tasks/*`, in the forms of the extension and of 2025-11-25.

use std::sync::Arc;

use mcp_jsonrpc::model::experimental_task::{ListTasksResult, RelatedTask};
use mcp_jsonrpc::model::task::{TaskIdParams, TaskUpdateParams};
use mcp_jsonrpc::model::{
    CallToolResult, EmptyResult, Meta, PageParams, ServerCapabilities, extension,
};
use mcp_jsonrpc::{Body, TaskForm};

use crate::dispatch::call::tasks_required;
use crate::dispatch::era;
use crate::dispatch::guarded::in_time;
use crate::dispatch::{Exchange, Outcome};
use crate::handler::error::Error;
use crate::registry::page;
use crate::session::Session;
use crate::task::{self, TaskCell};

/// Whether the experimental tasks are there for this client.
pub(crate) fn has_experimental(exchange: &Exchange, all: &ServerCapabilities) -> bool {
    exchange.client.revision.has_tasks() == TaskForm::Experimental
        && era::has_extension(all, extension::TASKS)
}

/// The methods of the extension.
pub(crate) async fn modern(exchange: &Exchange) -> Outcome {
    if !era::client_has_extension(&exchange.client.capabilities, extension::TASKS) {
        return Err(tasks_required());
    }
    let handler = Arc::clone(&exchange.shared.handler);
    let limits = &exchange.shared.limits;
    match exchange.method.as_str() {
        "tasks/get" => {
            let params: TaskIdParams = exchange.params()?;
            if let Ok(own) = find(exchange, &params.task_id) {
                return exchange.finished(own.view());
            }
            let cx = exchange.context(params.meta.clone());
            let work = async move { handler.get_task(params, cx).await };
            let mut task = in_time(work, limits).await??;
            task.result_type = None;
            exchange.finished(task)
        }
        "tasks/cancel" => {
            let params: TaskIdParams = exchange.params()?;
            if let Ok(own) = find(exchange, &params.task_id) {
                own.finish(task::Outcome::Cancelled);
                return exchange.finished(EmptyResult::default());
            }
            let cx = exchange.context(params.meta.clone());
            let work = async move { handler.cancel_task(params, cx).await };
            in_time(work, limits).await??;
            exchange.finished(EmptyResult::default())
        }
        _ => {
            let params: TaskUpdateParams = exchange.params()?;
            if let Ok(own) = find(exchange, &params.task_id) {
                own.update(params.input_responses);
                return exchange.finished(EmptyResult::default());
            }
            let cx = exchange.context(params.meta.clone());
            let work = async move { handler.update_task(params, cx).await };
            in_time(work, limits).await??;
            exchange.finished(EmptyResult::default())
        }
    }
}

/// The methods of 2025-11-25.
pub(crate) async fn legacy(exchange: &Exchange) -> Outcome {
    if exchange.method == "tasks/list" {
        let params: PageParams = exchange.params()?;
        let all = exchange.shared.tasks.list(&exchange.task_owner());
        let all: Vec<_> = all.iter().map(|cell| cell.experimental()).collect();
        let limit = exchange.shared.limits.page_len();
        let (tasks, next) = page::cut(&all, params.cursor.as_deref(), limit)?;
        let mut result = ListTasksResult::new(tasks.to_vec());
        result.next_cursor = next;
        return exchange.finished(result);
    }
    let params: TaskIdParams = exchange.params()?;
    let cell = find(exchange, &params.task_id)?;
    match exchange.method.as_str() {
        "tasks/get" => exchange.finished(cell.experimental()),
        "tasks/cancel" => {
            if cell.outcome().is_some() {
                return Err(Error::invalid_params("the task has ended already"));
            }
            cell.finish(task::Outcome::Cancelled);
            exchange.finished(cell.experimental())
        }
        _ => match &exchange.session {
            Some(session) => result(exchange, session, &cell).await,
            None => Err(Error::method_not_found("tasks/result")),
        },
    }
}

/// Waits for a task's result; meanwhile its questions go to the client, on this request's stream.
async fn result(exchange: &Exchange, session: &Session, cell: &Arc<TaskCell>) -> Outcome {
    let mut meta = Meta::default();
    meta.set_related_task(&RelatedTask::new(cell.id.clone()))?;
    loop {
        let changed = cell.changed.notified();
        if let Some(outcome) = cell.outcome() {
            return match outcome {
                task::Outcome::Result { result, .. } => {
                    let mut result = CallToolResult::read(result.as_json().as_ref())?;
                    result.meta = Some(meta);
                    exchange.finished(result)
                }
                task::Outcome::Error(error) => Err(error.into()),
                task::Outcome::Cancelled => Err(Error::invalid_request("the task was cancelled")),
            };
        }
        let next = cell.inputs().into_iter().next();
        let Some((key, question)) = next else {
            changed.await;
            continue;
        };
        let limit = exchange.shared.limits.answer_time();
        let asked = session
            .peer
            .ask(&question, Some(&meta), &*exchange.outlet, limit);
        tokio::select! {
            answer = asked => {
                let responses = [(key, answer?)].into_iter().collect();
                cell.update(responses);
            }
            () = changed => {}
        }
    }
}

fn find(exchange: &Exchange, id: &str) -> Result<Arc<TaskCell>, Error> {
    let found = exchange.shared.tasks.find(id, &exchange.task_owner());
    found.ok_or_else(|| Error::unknown_task(id))
}
