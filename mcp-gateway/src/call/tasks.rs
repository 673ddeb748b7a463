//! Tasks of upstream servers. Their handles are sealed: each contains its server and the task there, and opens only for
//! the caller it was made for, in any process with the same key.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use mcp_client::{CallError, Client, TaskHandle, TaskTicket};
use mcp_jsonrpc::RawObject;
use mcp_jsonrpc::model::task::{Task, TaskStatus};
use mcp_jsonrpc::model::{CallToolResult, InputResponses};
use mcp_server::{Context, Error};
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};

use crate::audit::{CallDecision, CallEnd, CallOutcome, CallRecord, digest};
use crate::call::admitted::record_end;
use crate::call::gate::seconds;
use crate::call::leg::capabilities;
use crate::error;
use crate::gateway::Shared;

const PURPOSE: &str = "task";

/// Tasks whose end is known to be recorded; the oldest are forgotten first.
const MAX_ENDED: usize = 1_000;

/// What a handle holds: the task, and what the records of its call have in common.
#[derive(Deserialize, Serialize)]
struct Handle {
    server: String,
    task: String,
    tool: String,
    call: String,
    fingerprint: String,
    arguments: String,
    decision: CallDecision,
    /// When the task was made, in seconds since 1970.
    began: u64,
}

/// The tasks whose end was recorded, by their calls: clients may ask again for what they have.
#[derive(Default)]
pub(crate) struct EndedTasks(Mutex<VecDeque<String>>);

impl EndedTasks {
    /// Whether this is the first time that the end of this call's task is seen.
    fn is_news(&self, call: &str) -> bool {
        let mut ended = self.0.lock();
        if ended.iter().any(|known| known == call) {
            return false;
        }
        if ended.len() >= MAX_ENDED {
            ended.pop_front();
        }
        ended.push_back(call.to_owned());
        true
    }
}

impl Shared {
    /// A server's task under a handle of the gateway's.
    pub(crate) fn expose_task(
        &self,
        record: &CallRecord,
        mut task: Task,
        cx: &Context,
    ) -> Result<Task, Error> {
        let handle = Handle {
            server: record.server.clone(),
            task: task.task_id,
            tool: record.tool.clone(),
            call: record.call.clone(),
            fingerprint: record.fingerprint.clone(),
            arguments: record.arguments.clone(),
            decision: record.decision,
            began: seconds(),
        };
        task.task_id = cx
            .seal(PURPOSE, &handle)
            .ok_or_else(|| Error::internal("the task's id is too long"))?;
        Ok(task)
    }

    /// Where a task stands, as its server has it. Its result is treated as that of a call.
    pub(crate) async fn get_task(&self, id: &str, cx: &Context) -> Result<Task, Error> {
        let get = |task: TaskHandle| async move { task.get().await };
        let (handle, mut task) = self.with_task(id, cx, get).await?;
        id.clone_into(&mut task.task_id);
        let result: Option<CallToolResult> = match &task.result {
            Some(result) => Some(result.parse()?),
            None => None,
        };
        if task.status.is_terminal() {
            let outcome = match (task.status, &result) {
                (TaskStatus::Completed, Some(result)) => CallOutcome::of(result),
                (TaskStatus::Cancelled, _) => CallOutcome::Cancelled,
                _ => CallOutcome::Error,
            };
            let output = result.as_ref().and_then(|it| serde_json::to_vec(it).ok());
            self.task_ended(&handle, outcome, output.map(digest), cx);
        }
        if let Some(result) = result {
            let mut result = self.gate.screened(result);
            if let Some(outputs) = &self.meta_tools.outputs {
                result = outputs.fit(result, cx)?;
            }
            task.result = Some(RawObject::from_serialize(&result)?);
        }
        Ok(task)
    }

    /// Records the end of a call that went on as a task, once.
    fn task_ended(
        &self,
        handle: &Handle,
        outcome: CallOutcome,
        result: Option<String>,
        cx: &Context,
    ) {
        if !self.ended_tasks.is_news(&handle.call) {
            return;
        }
        let duration = Duration::from_secs(seconds().saturating_sub(handle.began));
        let record = CallRecord {
            call: handle.call.clone(),
            caller: cx.caller().map(|it| it.id.clone()).unwrap_or_default(),
            client: cx.client_info().map(|it| it.name.clone()),
            server: handle.server.clone(),
            tool: handle.tool.clone(),
            fingerprint: handle.fingerprint.clone(),
            arguments: handle.arguments.clone(),
            decision: handle.decision,
            end: Some(CallEnd {
                outcome,
                result,
                duration,
            }),
        };
        record_end(self.audit.as_deref(), &record);
    }

    pub(crate) async fn update_task(
        &self,
        id: &str,
        answers: InputResponses,
        cx: &Context,
    ) -> Result<(), Error> {
        let answers = &answers;
        let update = |task: TaskHandle| async move { task.update(answers.clone()).await };
        self.with_task(id, cx, update).await.map(drop)
    }

    pub(crate) async fn cancel_task(&self, id: &str, cx: &Context) -> Result<(), Error> {
        let cancel = |task: TaskHandle| async move { task.cancel().await };
        let (handle, ()) = self.with_task(id, cx, cancel).await?;
        self.task_ended(&handle, CallOutcome::Cancelled, None, cx);
        Ok(())
    }

    async fn with_task<T, F>(
        &self,
        id: &str,
        cx: &Context,
        run: impl Fn(TaskHandle) -> F,
    ) -> Result<(Handle, T), Error>
    where
        F: Future<Output = Result<T, CallError>>,
    {
        let handle: Handle = cx
            .open_sealed(PURPOSE, id)
            .ok_or_else(|| Error::unknown_task(id))?;
        let known = self.upstreams();
        let server = known.iter().find(|it| it.name.as_str() == handle.server);
        let Some(server) = server else {
            return Err(self.gone(&handle.server));
        };
        self.permit(&server.name, cx)?;
        let declared = Arc::new(capabilities(cx));
        let (run, declared, task) = (&run, &declared, &handle);
        let done = self
            .manager
            .call(&handle.server, |client: Client| {
                let options = mcp_client::CallOptions::default();
                let client = client.with(options.with_capabilities(Arc::clone(declared)));
                run(client.task(TaskTicket::new(&*task.server, &*task.task)))
            })
            .await;
        let done = done.map_err(|error| error::upstream(&server.name, &error, cx))?;
        Ok((handle, done))
    }
}
