//! Requests of downstream clients, answered by upstream servers.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use futures_util::future::join_all;
use mcp_client::Client;
use mcp_jsonrpc::RawObject;
use mcp_jsonrpc::model::task::{Task, TaskIdParams, TaskUpdateParams};
use mcp_jsonrpc::model::{
    CallToolParams, CompleteParams, CompleteResult, CompletionReference, GetPrompt,
    GetPromptParams, GetPromptResult, GetSkillParams, GetSkillResult, Implementation,
    ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult, ListSkillsResult,
    ListToolsResult, LoggingLevel, PageParams, ReadDirectoryParams, ReadResource,
    ReadResourceParams, ReadResourceResult, ServerCapabilities, Tool,
};
use mcp_manager::ServerName;
use mcp_server::{Caller, Context, Error, Handler, ToolReply};

use crate::call::relay::Relay;
use crate::catalog::lists::{Listable, Lists};
use crate::catalog::routes::Merged;
use crate::error;
use crate::gateway::Shared;

/// How long a client waits until servers have taken its log level.
const LEVEL_TIMEOUT: Duration = Duration::from_secs(5);

pub(crate) struct GatewayHandler(pub(crate) Arc<Shared>);

/// A page of what a caller may see of a merged list, as a result.
macro_rules! listed {
    ($shared:expr, $merged:expr, $items:expr, $params:expr, $Result:ident) => {{
        let (page, next) = mcp_server::page(&$items, $params.cursor.as_deref(), $shared.page_len)?;
        let mut result = $Result::new(page.to_vec());
        result.next_cursor = next;
        let ttl = $merged.ttl.unwrap_or(Duration::ZERO);
        result.ttl_ms = i64::try_from(ttl.as_millis()).ok();
        result.cache_scope = Some($shared.scope($merged.scope.clone()));
        Ok::<_, Error>(result)
    }};
}

impl Shared {
    /// A merged list that includes every change announced so far.
    async fn fresh<T: Listable>(&self, lists: &Lists<T>) -> Arc<Merged<T>> {
        let catalog = self.manager.fresh_catalog().await;
        lists.merged(&self.upstreams(), &catalog)
    }

    /// A merged list as it is known now.
    pub(crate) fn known<T: Listable>(&self, lists: &Lists<T>) -> Arc<Merged<T>> {
        lists.merged(&self.upstreams(), &self.manager.catalog())
    }

    pub(crate) fn relay<'a>(
        self: &'a Arc<Self>,
        server: &'a ServerName,
        cx: &'a Context,
    ) -> Relay<'a> {
        Relay {
            shared: self,
            server,
            cx,
        }
    }
}

#[async_trait]
impl Handler for GatewayHandler {
    fn info(&self) -> Implementation {
        self.0.info.clone()
    }

    fn capabilities(&self) -> ServerCapabilities {
        self.0.capabilities()
    }

    fn instructions(&self) -> Option<String> {
        self.0.instructions(None)
    }

    fn instructions_for(&self, caller: Option<&Caller>) -> Option<String> {
        self.0.instructions(caller)
    }

    async fn list_tools(&self, page: PageParams, cx: Context) -> Result<ListToolsResult, Error> {
        let merged = self.0.fresh(&self.0.tools).await;
        let mut tools = merged.items.clone();
        self.0.retain_offered(&mut tools, &cx);
        self.0.meta_tools.adjust(&mut tools);
        listed!(self.0, merged, tools, page, ListToolsResult)
    }

    async fn find_tool(&self, name: &str, _: &Context) -> Option<Arc<Tool>> {
        let found = self.0.known(&self.0.tools);
        found.find(name).cloned().map(Arc::new)
    }

    async fn call_tool_or_task(
        &self,
        params: CallToolParams,
        cx: Context,
    ) -> Result<ToolReply, Error> {
        self.0.call_tool(params, &cx).await
    }

    async fn get_task(&self, params: TaskIdParams, cx: Context) -> Result<Task, Error> {
        self.0.get_task(&params.task_id, &cx).await
    }

    async fn update_task(&self, params: TaskUpdateParams, cx: Context) -> Result<(), Error> {
        let answers = params.input_responses;
        self.0.update_task(&params.task_id, answers, &cx).await
    }

    async fn cancel_task(&self, params: TaskIdParams, cx: Context) -> Result<(), Error> {
        self.0.cancel_task(&params.task_id, &cx).await
    }

    /// Servers of the modern era get the level with each call.
    async fn log_level_changed(&self, level: LoggingLevel, _: &Context) {
        let lowering = self.0.connected_clients().into_iter();
        let lowering = lowering.map(|(server, client)| async move {
            if let Err(error) = client.lower_log_level(level).await {
                tracing::debug!(%server, %error, "the log level was not set");
            }
        });
        // No server makes the client wait for its answer for long.
        let _ = tokio::time::timeout(LEVEL_TIMEOUT, join_all(lowering)).await;
    }

    fn roots_changed(&self, session: u64) {
        self.0.connections.roots_changed(session);
    }

    async fn list_skills(&self, page: PageParams, cx: Context) -> Result<ListSkillsResult, Error> {
        let merged = self.0.listed_skills().await;
        let skills = self.0.visible(&merged, &cx);
        listed!(self.0, merged, skills, page, ListSkillsResult)
    }

    async fn get_skill(
        &self,
        params: GetSkillParams,
        cx: Context,
    ) -> Result<GetSkillResult, Error> {
        self.0.get_skill(params, &cx).await
    }

    async fn read_directory(
        &self,
        params: ReadDirectoryParams,
        cx: Context,
    ) -> Result<ListResourcesResult, Error> {
        self.0.read_directory(params, &cx).await
    }

    async fn list_resources(
        &self,
        page: PageParams,
        cx: Context,
    ) -> Result<ListResourcesResult, Error> {
        let merged = self.0.fresh(&self.0.resources).await;
        let resources = self.0.visible(&merged, &cx);
        listed!(self.0, merged, resources, page, ListResourcesResult)
    }

    async fn list_resource_templates(
        &self,
        page: PageParams,
        cx: Context,
    ) -> Result<ListResourceTemplatesResult, Error> {
        let merged = self.0.fresh(&self.0.templates).await;
        let templates = self.0.visible(&merged, &cx);
        listed!(self.0, merged, templates, page, ListResourceTemplatesResult)
    }

    async fn read_resource(
        &self,
        params: ReadResourceParams,
        cx: Context,
    ) -> Result<ReadResourceResult, Error> {
        let uri = params.uri;
        let Some(server) = self.0.owner(&uri).await else {
            return Err(self.0.unknown_resource(uri, &cx));
        };
        self.0.permit(&server, &cx)?;
        let bare = RawObject::from_serialize(&serde_json::json!({"uri": uri}))?;
        let (manager, name) = (self.0.manager.clone(), server.clone());
        let read = self
            .0
            .relay(&server, &cx)
            .call::<ReadResource>(
                &bare,
                Box::new(move |options, _| {
                    Box::pin(async move {
                        let uri = uri.as_str();
                        let read = |client: Client| async move { client.read_resource(uri).await };
                        manager.call_with(name.as_str(), &options, read).await
                    })
                }),
            )
            .await;
        let mut read = read?;
        read.cache_scope = read.cache_scope.map(|scope| self.0.scope(scope));
        Ok(read)
    }

    async fn can_watch(&self, uri: &str, cx: &Context) -> bool {
        match self.0.owner(uri).await {
            Some(server) if self.0.permit(&server, cx).is_ok() => {
                self.0.watches.add(&self.0.manager, &server, uri, cx).await
            }
            _ => false,
        }
    }

    fn unwatched(&self, uri: &str) {
        self.0.watches.remove(uri);
    }

    async fn list_prompts(
        &self,
        page: PageParams,
        cx: Context,
    ) -> Result<ListPromptsResult, Error> {
        let merged = self.0.fresh(&self.0.prompts).await;
        let prompts = self.0.visible(&merged, &cx);
        listed!(self.0, merged, prompts, page, ListPromptsResult)
    }

    async fn get_prompt(
        &self,
        params: GetPromptParams,
        cx: Context,
    ) -> Result<GetPromptResult, Error> {
        let prompts = self.0.known(&self.0.prompts);
        let Some((server, prompt)) = prompts.route(&params.name) else {
            return Err(self.0.unknown("prompt", &params.name, &cx));
        };
        self.0.permit(server, &cx)?;
        let arguments = params.arguments.unwrap_or_default();
        let bare = RawObject::from_serialize(&serde_json::json!({
            "name": prompt, "arguments": arguments,
        }))?;
        let (manager, name) = (self.0.manager.clone(), server.clone());
        let prompt = prompt.to_owned();
        self.0
            .relay(server, &cx)
            .call::<GetPrompt>(
                &bare,
                Box::new(move |options, _| {
                    Box::pin(async move {
                        let (prompt, arguments) = (prompt.as_str(), &arguments);
                        let get = |client: Client| async move {
                            let arguments = arguments.iter();
                            let pairs = arguments.map(|(name, value)| (name, value.as_str()));
                            client.get_prompt(prompt, pairs).await
                        };
                        manager.call_with(name.as_str(), &options, get).await
                    })
                }),
            )
            .await
    }

    async fn complete(
        &self,
        mut params: CompleteParams,
        cx: Context,
    ) -> Result<CompleteResult, Error> {
        let server = match &mut params.reference {
            CompletionReference::Prompt(reference) => {
                let prompts = self.0.known(&self.0.prompts);
                let Some((server, name)) = prompts.route(&reference.name) else {
                    return Err(self.0.unknown("prompt", &reference.name, &cx));
                };
                reference.name = name.to_owned();
                server.clone()
            }
            CompletionReference::Resource(reference) => {
                let templates = self.0.known(&self.0.templates);
                match templates.route(&reference.uri) {
                    Some((server, _)) => server.clone(),
                    None => self
                        .0
                        .owner(&reference.uri)
                        .await
                        .ok_or_else(|| self.0.unknown("resource", &reference.uri, &cx))?,
                }
            }
            _ => return Err(Error::invalid_params("unknown kind of reference")),
        };
        self.0.permit(&server, &cx)?;
        params.meta = None;
        let completed = self.0.manager.complete(server.as_str(), &params).await;
        completed.map_err(|error| error::upstream(&server, &error, &cx))
    }
}
