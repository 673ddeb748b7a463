//! Tasks of upstream servers. Their handles are sealed: each contains its server and the task there, and opens only for
//! the caller it was made for, in any process with the same key.

use std::sync::Arc;

use mcp_client::{CallError, Client, TaskHandle, TaskTicket};
use mcp_jsonrpc::model::InputResponses;
use mcp_jsonrpc::model::task::Task;
use mcp_manager::ServerName;
use mcp_server::{Context, Error};
use serde::{Deserialize, Serialize};

use crate::error;
use crate::gateway::Shared;
use crate::leg::capabilities;

const PURPOSE: &str = "task";

/// What a handle holds.
#[derive(Deserialize, Serialize)]
struct Handle {
    server: String,
    task: String,
}

impl Shared {
    /// A server's task under a handle of the gateway's.
    pub(crate) fn expose_task(
        &self,
        server: &ServerName,
        mut task: Task,
        cx: &Context,
    ) -> Result<Task, Error> {
        let handle = Handle {
            server: server.as_str().to_owned(),
            task: task.task_id,
        };
        task.task_id = cx
            .seal(PURPOSE, &handle)
            .ok_or_else(|| Error::internal("the task's id is too long"))?;
        Ok(task)
    }

    /// Where a task stands, as its server has it.
    pub(crate) async fn get_task(&self, id: &str, cx: &Context) -> Result<Task, Error> {
        let get = |task: TaskHandle| async move { task.get().await };
        let mut task = self.with_task(id, cx, get).await?;
        id.clone_into(&mut task.task_id);
        if let Some(outputs) = &self.meta_tools.outputs {
            outputs.fit_task(&mut task, cx)?;
        }
        Ok(task)
    }

    pub(crate) async fn update_task(
        &self,
        id: &str,
        answers: InputResponses,
        cx: &Context,
    ) -> Result<(), Error> {
        let answers = &answers;
        let update = |task: TaskHandle| async move { task.update(answers.clone()).await };
        self.with_task(id, cx, update).await
    }

    pub(crate) async fn cancel_task(&self, id: &str, cx: &Context) -> Result<(), Error> {
        let cancel = |task: TaskHandle| async move { task.cancel().await };
        self.with_task(id, cx, cancel).await
    }

    async fn with_task<T, F>(
        &self,
        id: &str,
        cx: &Context,
        run: impl Fn(TaskHandle) -> F,
    ) -> Result<T, Error>
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
        let (run, declared, handle) = (&run, &declared, &handle);
        let done = self
            .manager
            .call(&handle.server, |client: Client| {
                let options = mcp_client::CallOptions::default();
                let client = client.with(options.with_capabilities(Arc::clone(declared)));
                run(client.task(TaskTicket::new(&*handle.server, &*handle.task)))
            })
            .await;
        done.map_err(|error| error::upstream(&server.name, &error, cx))
    }
}
