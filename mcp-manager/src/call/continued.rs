//! Calls that go on: tasks, and calls that were parked.

use mcp_client::{CallError, Client, Parked, Started, TaskHandle, TaskTicket};
use mcp_jsonrpc::Method;
use mcp_jsonrpc::model::{CallToolResult, InputResponses};

use crate::call::admission::Concurrency;
use crate::call::options::CallOptions;
use crate::error::ManagerError;
use crate::manager::Manager;

impl Manager {
    /// Takes up a task again, by what was stored of it.
    ///
    /// # Errors
    ///
    /// If its server cannot be connected.
    pub async fn task(&self, ticket: TaskTicket) -> Result<TaskHandle, ManagerError> {
        let handle = self.shared().handle(&ticket.server)?;
        let _in_use = handle.usage.call();
        let client = handle.ready(self.connect_timeout(&handle)).await?;
        Ok(client.task(ticket))
    }

    /// Waits for a task's result, by what was stored of the task.
    ///
    /// # Errors
    ///
    /// As [`call_tool`](Self::call_tool).
    pub async fn wait_for_task(
        &self,
        ticket: &TaskTicket,
        options: CallOptions,
    ) -> Result<CallToolResult, ManagerError> {
        let options = &options;
        self.background(&ticket.server, options, |client| async move {
            client.task(ticket.clone()).wait().await
        })
        .await
    }

    /// Continues a call that was made before: it does not queue.
    async fn background<T, F>(
        &self,
        server: &str,
        options: &CallOptions,
        call: impl Fn(Client) -> F,
    ) -> Result<T, ManagerError>
    where
        F: Future<Output = Result<T, CallError>>,
    {
        let handle = self.shared().handle(server)?;
        let background = Some(Concurrency::Background);
        self.call_in_turn(&handle, None, options, background, call)
            .await
    }

    /// Takes up a parked call with the answers to its open questions. `M` is its method.
    ///
    /// # Errors
    ///
    /// As [`call_tool`](Self::call_tool).
    pub async fn resume<M: Method>(
        &self,
        parked: Parked,
        answers: InputResponses,
    ) -> Result<M::Output, ManagerError> {
        self.resume_with::<M>(parked, answers, CallOptions::default())
            .await
    }

    /// As [`resume`](Self::resume), with a caller, progress or `_meta` of its own.
    ///
    /// # Errors
    ///
    /// As [`call_tool`](Self::call_tool).
    pub async fn resume_with<M: Method>(
        &self,
        parked: Parked,
        answers: InputResponses,
        options: CallOptions,
    ) -> Result<M::Output, ManagerError> {
        let (parked, answers) = (&parked, &answers);
        self.background(&parked.server, &options, |client| async move {
            client.resume::<M>(parked.clone(), answers.clone()).await
        })
        .await
    }

    /// As [`resume_with`](Self::resume_with), for a call of a tool that may become a task now.
    ///
    /// # Errors
    ///
    /// As [`call_tool`](Self::call_tool).
    pub async fn resume_tool_with(
        &self,
        parked: Parked,
        answers: InputResponses,
        options: CallOptions,
    ) -> Result<Started, ManagerError> {
        let (parked, answers) = (&parked, &answers);
        self.background(&parked.server, &options, |client| async move {
            client.resume_tool(parked.clone(), answers.clone()).await
        })
        .await
    }
}
