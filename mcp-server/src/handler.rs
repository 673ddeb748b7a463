//! The dynamic interface of a server.

pub(crate) mod ask;
pub(crate) mod caller;
pub(crate) mod context;
pub(crate) mod error;

use std::sync::Arc;

use async_trait::async_trait;
use mcp_jsonrpc::model::task::{Task, TaskIdParams, TaskUpdateParams};
use mcp_jsonrpc::model::{
    CallToolParams, CallToolResult, CompleteParams, CompleteResult, GetPromptParams,
    GetPromptResult, GetSkillParams, GetSkillResult, Implementation, ListPromptsResult,
    ListResourceTemplatesResult, ListResourcesResult, ListSkillsResult, ListToolsResult,
    LoggingLevel, PageParams, ReadDirectoryParams, ReadResourceParams, ReadResourceResult,
    ServerCapabilities, Tool,
};

use crate::handler::caller::Caller;
use crate::handler::context::Context;
use crate::handler::error::Error;

/// The outcome of a tool call.
#[derive(Debug)]
#[allow(clippy::exhaustive_enums, reason = "it is done or it is not")]
pub enum ToolReply {
    /// Its result.
    Result(Box<CallToolResult>),
    /// A task kept by the handler that will have the result, for a client that [takes tasks](Context::takes_tasks). The
    /// handler is responsible for it from now on.
    Task(Box<Task>),
}

/// Answers the requests of clients.
///
/// [`Server::new`](crate::Server::new) has typed registrations and does not need this trait. Implement it for a server
/// whose tools are known only at run time, such as a gateway, and serve it with
/// [`Server::with_handler`](crate::Server::with_handler).
///
/// Futures may be dropped at any time: when the client cancels, at a time-out, or when a question has to be answered
/// first.
#[async_trait]
pub trait Handler: Send + Sync + 'static {
    /// Names the server.
    fn info(&self) -> Implementation;

    /// The server's capabilities. Methods of undeclared capabilities are not found. The tasks extension here also
    /// declares the experimental tasks of 2025-11-25 to its clients.
    fn capabilities(&self) -> ServerCapabilities;

    /// How to use the server, for a model.
    fn instructions(&self) -> Option<String> {
        None
    }

    /// As [`instructions`](Self::instructions), for one caller.
    fn instructions_for(&self, caller: Option<&Caller>) -> Option<String> {
        let _ = caller;
        self.instructions()
    }

    /// Lists tools.
    async fn list_tools(&self, params: PageParams, cx: Context) -> Result<ListToolsResult, Error> {
        let _ = (params, cx);
        Err(Error::method_not_found("tools/list"))
    }

    /// Whether [`list_tools`](Self::list_tools) tells everyone the same for as long as the server
    /// runs. Its pages are then kept, and it is not called for them again.
    fn has_fixed_tools(&self) -> bool {
        false
    }

    /// One tool by its name: its schema tells which arguments come as headers, its `execution`
    /// whether calls may become tasks.
    async fn find_tool(&self, name: &str, cx: &Context) -> Option<Arc<Tool>> {
        let _ = (name, cx);
        None
    }

    /// Calls a tool.
    async fn call_tool(
        &self,
        params: CallToolParams,
        cx: Context,
    ) -> Result<CallToolResult, Error> {
        let _ = cx;
        Err(Error::unknown_tool(&params.name))
    }

    /// Like [`call_tool`](Self::call_tool), for a handler that keeps its own tasks, for instance tasks of another
    /// server. Tasks created by [`Context::detach`] are kept by the server and do not need this method.
    async fn call_tool_or_task(
        &self,
        params: CallToolParams,
        cx: Context,
    ) -> Result<ToolReply, Error> {
        let result = self.call_tool(params, cx).await?;
        Ok(ToolReply::Result(Box::new(result)))
    }

    /// Where a task of the handler's own stands.
    async fn get_task(&self, params: TaskIdParams, cx: Context) -> Result<Task, Error> {
        let _ = cx;
        Err(Error::unknown_task(&params.task_id))
    }

    /// Takes the input of a task of the handler's own.
    async fn update_task(&self, params: TaskUpdateParams, cx: Context) -> Result<(), Error> {
        let _ = cx;
        Err(Error::unknown_task(&params.task_id))
    }

    /// Cancels a task of the handler's own.
    async fn cancel_task(&self, params: TaskIdParams, cx: Context) -> Result<(), Error> {
        let _ = cx;
        Err(Error::unknown_task(&params.task_id))
    }

    /// A session requests log messages of this level and above from now on. Other messages are never sent to it.
    async fn log_level_changed(&self, level: LoggingLevel, cx: &Context) {
        let _ = (level, cx);
    }

    /// The roots of this session's client ([`Context::session_id`]) changed. Ask for them in the next call; do not wait
    /// here.
    fn roots_changed(&self, session: u64) {
        let _ = session;
    }

    /// Lists resources.
    async fn list_resources(
        &self,
        params: PageParams,
        cx: Context,
    ) -> Result<ListResourcesResult, Error> {
        let _ = (params, cx);
        Err(Error::method_not_found("resources/list"))
    }

    /// Lists resource templates.
    async fn list_resource_templates(
        &self,
        params: PageParams,
        cx: Context,
    ) -> Result<ListResourceTemplatesResult, Error> {
        let _ = (params, cx);
        Err(Error::method_not_found("resources/templates/list"))
    }

    /// Reads a resource.
    async fn read_resource(
        &self,
        params: ReadResourceParams,
        cx: Context,
    ) -> Result<ReadResourceResult, Error> {
        let _ = cx;
        Err(Error::resource_not_found(params.uri))
    }

    /// Whether a resource can be watched. [`Notifier::resource_updated`](crate::Notifier::resource_updated) notifies
    /// its watchers.
    async fn can_watch(&self, uri: &str, cx: &Context) -> bool {
        let _ = (uri, cx);
        true
    }

    /// One who was let watch a resource does so no longer: called once for every
    /// [`can_watch`](Self::can_watch) that was answered with `true`.
    fn unwatched(&self, uri: &str) {
        let _ = uri;
    }

    /// Lists prompts.
    async fn list_prompts(
        &self,
        params: PageParams,
        cx: Context,
    ) -> Result<ListPromptsResult, Error> {
        let _ = (params, cx);
        Err(Error::method_not_found("prompts/list"))
    }

    /// Fills a prompt in.
    async fn get_prompt(
        &self,
        params: GetPromptParams,
        cx: Context,
    ) -> Result<GetPromptResult, Error> {
        let _ = cx;
        Err(Error::invalid_params(format!(
            "unknown prompt: {}",
            params.name
        )))
    }

    /// Completes an argument.
    async fn complete(&self, params: CompleteParams, cx: Context) -> Result<CompleteResult, Error> {
        let _ = (params, cx);
        Err(Error::method_not_found("completion/complete"))
    }

    /// Lists skills (the skills extension).
    async fn list_skills(
        &self,
        params: PageParams,
        cx: Context,
    ) -> Result<ListSkillsResult, Error> {
        let _ = (params, cx);
        Err(Error::method_not_found("skills/list"))
    }

    /// One skill (the skills extension).
    async fn get_skill(
        &self,
        params: GetSkillParams,
        cx: Context,
    ) -> Result<GetSkillResult, Error> {
        let _ = cx;
        Err(Error::invalid_params(format!(
            "unknown skill: {}",
            params.uri
        )))
    }

    /// Lists a directory of a skill (the skills extension).
    async fn read_directory(
        &self,
        params: ReadDirectoryParams,
        cx: Context,
    ) -> Result<ListResourcesResult, Error> {
        let _ = (params, cx);
        Err(Error::method_not_found("resources/directory/read"))
    }
}
