//! Tools: listing them and calling them.

use std::collections::BTreeMap;
use std::sync::Arc;

use mcp_jsonrpc::model::experimental_task::TaskSupport;
use mcp_jsonrpc::model::{
    CallTool, CallToolResult, ListTools, ListToolsResult, ParamHeader, Tool, param_headers,
};
use mcp_jsonrpc::{Method, RawMap, RawObject, TaskForm};
use serde::Serialize;
use tokio::time::Instant;

use crate::call::error::CallError;
use crate::call::mrtr::{Answer, MrtrState};
use crate::call::request::Call;
use crate::client::Client;
use crate::connection::snapshot::Snapshot;
use crate::dialect::ToolParams;
use crate::features::listing::{Listed, Skipped};
use crate::features::task::Started;

/// Whether a tool must be run as a task (2025-11-25).
fn task_only(tool: &Tool) -> bool {
    let execution = tool.execution.as_ref();
    execution.is_some_and(|execution| execution.task_support == Some(TaskSupport::Required))
}

impl Client {
    /// Lists the tools: all pages, within [`ClientLimits`](crate::ClientLimits).
    ///
    /// # Errors
    ///
    /// [`CallError::Unsupported`] if the server has no tools; else as for any call.
    pub async fn list_tools(&self) -> Result<Listed<Tool>, CallError> {
        self.require(ListTools::NAME, "tools", |can| can.tools.is_some())?;
        let mut listed = self.list::<ListToolsResult>(ListTools::NAME).await?;
        let connection = self.connection();
        if self.revision().has_tasks() == TaskForm::Experimental {
            let only = listed.items.iter().filter(|tool| task_only(tool));
            let only = only.map(|tool| tool.name.clone()).collect();
            connection.update(|snapshot| snapshot.task_tools = Arc::new(only));
        }
        if connection
            .session()
            .dialect
            .mirrors_params(connection.shape)
        {
            self.learn_headers(&mut listed);
        }
        Ok(listed)
    }

    /// Stores which arguments are sent as headers. Tools with invalid annotations are omitted, as the protocol
    /// requires.
    fn learn_headers(&self, listed: &mut Listed<Tool>) {
        let mut snapshot = BTreeMap::new();
        listed.items.retain(|tool| {
            let headers = match tool.input_schema.parse() {
                Ok(schema) => param_headers(&schema),
                Err(_) => Ok(Vec::new()),
            };
            match headers {
                Ok(headers) if headers.is_empty() => true,
                Ok(headers) => {
                    snapshot.insert(tool.name.clone(), Arc::from(headers));
                    true
                }
                Err(invalid) => {
                    let reason = invalid.to_string();
                    tracing::warn!(server = %self.name(), tool = %tool.name, %reason, "tool left out");
                    listed.skipped.push(Skipped { name: Some(tool.name.clone()), reason });
                    false
                }
            }
        });
        self.connection()
            .update(|all| all.param_headers = Arc::new(snapshot));
    }

    /// Calls a tool. `arguments` must serialize to a JSON object; `()` sends none.
    ///
    /// A tool that fails reports it in its result ([`CallToolResult::failed`]), which is meant for the model.
    ///
    /// # Errors
    ///
    /// [`CallError::InvalidRequest`] if `arguments` is anything but an object or `null`; nothing is sent then. For the
    /// other errors see [`CallError`]. Take care with [`CallError::OutcomeUnknown`]: the tool may have run.
    pub async fn call_tool(
        &self,
        name: &str,
        arguments: impl Serialize + Sync,
    ) -> Result<CallToolResult, CallError> {
        let (snapshot, began) = (self.connection().snapshot(), Instant::now());
        let finish = |id| {
            let mut call = self.call_name(CallTool::NAME);
            call.about = Some(name.into());
            self.finish_task(call, id, began)
        };
        // Boxed, so that the future of an ordinary call stays small.
        if snapshot.task_tools.contains(name)
            && let Started::Task(task) = Box::pin(self.start_tool(name, &arguments, None)).await?
        {
            return Box::pin(finish(task.ticket().task_id.clone())).await;
        }
        match self.answer_tool(snapshot, name, &arguments).await? {
            Answer::Result(result, _) => Ok(result),
            Answer::Task(task) => Box::pin(finish(task.task_id)).await,
        }
    }

    /// Calls a tool; returns the task if the call becomes one.
    pub(crate) async fn answer_tool(
        &self,
        snapshot: Arc<Snapshot>,
        name: &str,
        arguments: &(impl Serialize + Sync),
    ) -> Result<Answer<CallToolResult>, CallError> {
        self.require_of(&snapshot.session, CallTool::NAME, "tools", |can| {
            can.tools.is_some()
        })?;
        let params = ToolParams {
            name,
            arguments,
            task: None,
        };
        let headers = || self.param_headers(name, arguments);
        let call = Call {
            headers: &headers,
            ..Call::new(CallTool::NAME, &params)
        };
        self.answer(snapshot, &call.about(name), &mut MrtrState::default())
            .await
    }

    /// The arguments of a call that are sent as headers, according to the last list of tools.
    fn param_headers(&self, name: &str, arguments: &impl Serialize) -> Vec<(String, String)> {
        let snapshot = self.connection().snapshot();
        let Some(headers) = snapshot.param_headers.get(name) else {
            return Vec::new();
        };
        let Ok(arguments) = serde_json::to_value(arguments) else {
            return Vec::new();
        };
        let value = |header: &ParamHeader| Some((header.suffix.clone(), header.value(&arguments)?));
        headers.iter().filter_map(value).collect()
    }

    /// Like [`param_headers`](Self::param_headers), for the params of a call that continues.
    pub(crate) fn headers_of(&self, params: &RawObject) -> Vec<(String, String)> {
        let params = params.parse::<RawMap>().unwrap_or_default();
        let arguments = params.get("arguments");
        match (params.read_as::<String>("name"), arguments) {
            (Some(name), Some(arguments)) => self.param_headers(&name, arguments),
            _ => Vec::new(),
        }
    }
}
