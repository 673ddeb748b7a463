//! Continued calls: tasks, and calls that were parked.

use mcp_client::{CallError, Client, Parked, Started, TaskHandle, TaskTicket};
use mcp_jsonrpc::Method;
use mcp_jsonrpc::model::{CallToolResult, InputResponses};

use crate::call::admission::Concurrency;
use crate::call::options::CallOptions;
use crate::error::ManagerError;
use crate::manager::Manager;

impl Manager {
    /// Resumes a task by its stored ticket.
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

    /// Waits for a task's result, by the task's stored ticket.
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

    /// Continues a call that has already started: it is not queued.
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

    /// Resumes a parked call with the answers to its open questions. `M` is its method.
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

    /// Like [`resume`](Self::resume), with its own caller, progress handler or `_meta`.
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

    /// Like [`resume_with`](Self::resume_with), for a tool call that may now become a task.
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
