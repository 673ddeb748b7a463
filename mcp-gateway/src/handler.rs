//! Requests of downstream clients, answered by upstream servers.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use mcp_client::Client;
use mcp_jsonrpc::RawObject;
use mcp_jsonrpc::model::{
    CallToolParams, CallToolResult, CompleteParams, CompleteResult, CompletionReference,
    FlagCapability, GetPrompt, GetPromptParams, GetPromptResult, Implementation, ListCapability,
    ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult, ListToolsResult,
    PageParams, ReadResource, ReadResourceParams, ReadResourceResult, ResourcesCapability,
    ServerCapabilities, Tool,
};
use mcp_manager::{ServerName, ServerState};
use mcp_server::{Context, Error, Handler};

use crate::error;
use crate::gateway::Shared;
use crate::lists::Lists;
use crate::relay::Relay;
use crate::routes::Merged;

pub(crate) struct GatewayHandler(pub(crate) Arc<Shared>);

/// Copies the items of a merged list into a result.
macro_rules! listed {
    ($merged:expr, $Result:ident) => {{
        let merged = $merged;
        let mut result = $Result::new(merged.items.clone());
        let ttl = merged.ttl.unwrap_or(Duration::ZERO);
        result.ttl_ms = i64::try_from(ttl.as_millis()).ok();
        result.cache_scope = Some(merged.scope.clone());
        Ok::<_, Error>(result)
    }};
}

impl Shared {
    /// A merged list that includes every change announced so far.
    async fn fresh<T: crate::lists::Listable>(&self, lists: &Lists<T>) -> Arc<Merged<T>> {
        let catalog = self.manager.fresh_catalog().await;
        lists
            .merged(&self.manager, &self.upstreams(), &catalog)
            .await
    }

    /// A merged list as it is known now.
    pub(crate) async fn known<T: crate::lists::Listable>(
        &self,
        lists: &Lists<T>,
    ) -> Arc<Merged<T>> {
        let catalog = self.manager.catalog();
        lists
            .merged(&self.manager, &self.upstreams(), &catalog)
            .await
    }

    pub(crate) fn relay<'a>(&'a self, server: &'a ServerName, cx: &'a Context) -> Relay<'a> {
        Relay {
            manager: &self.manager,
            calls: &self.calls,
            ids: &self.ids,
            server,
            cx,
        }
    }

    /// The server that a resource belongs to: the one that lists it, the one whose template it
    /// fits, or the only one that has resources at all.
    async fn owner(&self, uri: &str) -> Option<ServerName> {
        let resources = self.known(&self.resources).await;
        if let Some((server, _)) = resources.route(uri) {
            return Some(server.clone());
        }
        let templates = self.known(&self.templates).await;
        if let Some(server) = templates.maker(uri) {
            return Some(server.clone());
        }
        let upstreams = self.upstreams();
        let mut serving = upstreams.iter().filter(|upstream| {
            let client = self.manager.client(upstream.name.as_str());
            client.is_some_and(|client| client.server().capabilities.resources.is_some())
        });
        let only = serving.next().filter(|_| serving.next().is_none());
        only.map(|upstream| upstream.name.clone())
    }

    /// The servers that are not connected, with the reason.
    fn unavailable(&self) -> Vec<String> {
        let upstreams = self.upstreams();
        let names = upstreams.iter();
        let servers = names.filter_map(|upstream| self.manager.server(upstream.name.as_str()));
        let down = servers.filter(|server| !server.state.is_connected());
        down.map(|server| match (server.state, server.error) {
            (ServerState::Idle, _) => format!("{} (starts when it is called)", server.name),
            (_, Some(error)) => format!("{} ({error})", server.name),
            (state, None) => format!("{} ({})", server.name, state.as_str()),
        })
        .collect()
    }

    /// Whether a server is in the caller's profile.
    pub(crate) fn may_reach(&self, server: &ServerName, cx: &Context) -> bool {
        self.profile(cx.caller()).allows_server(server.as_str())
    }

    /// Whether an item's server is in the caller's profile.
    fn may_use<T: crate::routes::Item>(&self, merged: &Merged<T>, key: &str, cx: &Context) -> bool {
        let route = merged.route(key);
        route.is_some_and(|(server, _)| self.may_reach(server, cx))
    }

    /// The error for a name that no connected server has.
    pub(crate) fn unknown(&self, kind: &str, name: &str) -> Error {
        let mut message = format!("unknown {kind}: {name}");
        let unavailable = self.unavailable();
        if !unavailable.is_empty() {
            message.push_str("; not available: ");
            message.push_str(&unavailable.join(", "));
        }
        Error::invalid_params(message)
    }
}

#[async_trait]
impl Handler for GatewayHandler {
    fn info(&self) -> Implementation {
        self.0.info.clone()
    }

    /// What any server offers; what a server that is not connected would offer is not known, so
    /// everything is declared until all are.
    fn capabilities(&self) -> ServerCapabilities {
        let upstreams = self.0.upstreams();
        let clients: Vec<_> = upstreams
            .iter()
            .map(|upstream| self.0.manager.client(upstream.name.as_str()))
            .collect();
        let any = |has: fn(&ServerCapabilities) -> bool| {
            clients.iter().any(|client| match client {
                Some(client) => has(&client.server().capabilities),
                None => true,
            })
        };
        let list = || {
            let mut list = ListCapability::default();
            list.list_changed = Some(true);
            list
        };
        let mut all = ServerCapabilities::default();
        all.tools = any(|it| it.tools.is_some()).then(list);
        all.prompts = any(|it| it.prompts.is_some()).then(list);
        all.resources = any(|it| it.resources.is_some()).then(|| {
            let mut resources = ResourcesCapability::default();
            resources.list_changed = Some(true);
            resources.subscribe = Some(true);
            resources
        });
        all.completions = any(|it| it.completions.is_some()).then(FlagCapability::default);
        all
    }

    fn instructions(&self) -> Option<String> {
        let mut sections = Vec::new();
        for upstream in &*self.0.upstreams() {
            let client = self.0.manager.client(upstream.name.as_str());
            if let Some(text) = client.and_then(|client| client.server().instructions) {
                sections.push(format!("# {}\n\n{text}", upstream.name));
            }
        }
        let unavailable = self.0.unavailable();
        if !unavailable.is_empty() {
            sections.push(format!("Not available: {}", unavailable.join(", ")));
        }
        (!sections.is_empty()).then(|| sections.join("\n\n"))
    }

    async fn list_tools(&self, _: PageParams, cx: Context) -> Result<ListToolsResult, Error> {
        let mut result: ListToolsResult =
            listed!(self.0.fresh(&self.0.tools).await, ListToolsResult)?;
        self.0.retain_offered(&mut result.tools, &cx).await;
        Ok(result)
    }

    async fn find_tool(&self, name: &str, _: &Context) -> Option<Tool> {
        self.0.known(&self.0.tools).await.find(name).cloned()
    }

    async fn call_tool(
        &self,
        params: CallToolParams,
        cx: Context,
    ) -> Result<CallToolResult, Error> {
        self.0.call_tool(params, &cx).await
    }

    async fn list_resources(
        &self,
        _: PageParams,
        cx: Context,
    ) -> Result<ListResourcesResult, Error> {
        let merged = self.0.fresh(&self.0.resources).await;
        let mut result = listed!(Arc::clone(&merged), ListResourcesResult)?;
        result
            .resources
            .retain(|it| self.0.may_use(&*merged, &it.uri, &cx));
        Ok(result)
    }

    async fn list_resource_templates(
        &self,
        _: PageParams,
        cx: Context,
    ) -> Result<ListResourceTemplatesResult, Error> {
        let merged = self.0.fresh(&self.0.templates).await;
        let mut result = listed!(Arc::clone(&merged), ListResourceTemplatesResult)?;
        let templates = &mut result.resource_templates;
        templates.retain(|it| self.0.may_use(&*merged, &it.uri_template, &cx));
        Ok(result)
    }

    async fn read_resource(
        &self,
        params: ReadResourceParams,
        cx: Context,
    ) -> Result<ReadResourceResult, Error> {
        let uri = params.uri;
        let server = self.0.owner(&uri).await;
        let Some(server) = server.filter(|server| self.0.may_reach(server, &cx)) else {
            return Err(Error::resource_not_found(uri));
        };
        let bare = RawObject::from_serialize(&serde_json::json!({"uri": uri}))?;
        let (manager, name) = (self.0.manager.clone(), server.clone());
        self.0
            .relay(&server, &cx)
            .call::<ReadResource>(
                &bare,
                Box::new(move |options| {
                    Box::pin(async move {
                        let (uri, options) = (uri.as_str(), &options.for_client());
                        let read = |client: Client| async move {
                            client.with(options.clone()).read_resource(uri).await
                        };
                        manager.call(name.as_str(), read).await
                    })
                }),
            )
            .await
    }

    async fn can_watch(&self, uri: &str, cx: &Context) -> bool {
        match self.0.owner(uri).await {
            Some(server) if self.0.may_reach(&server, cx) => {
                self.0.watches.add(&self.0.manager, &server, uri, cx).await
            }
            _ => false,
        }
    }

    async fn list_prompts(&self, _: PageParams, cx: Context) -> Result<ListPromptsResult, Error> {
        let merged = self.0.fresh(&self.0.prompts).await;
        let mut result = listed!(Arc::clone(&merged), ListPromptsResult)?;
        result
            .prompts
            .retain(|it| self.0.may_use(&*merged, &it.name, &cx));
        Ok(result)
    }

    async fn get_prompt(
        &self,
        params: GetPromptParams,
        cx: Context,
    ) -> Result<GetPromptResult, Error> {
        let prompts = self.0.known(&self.0.prompts).await;
        let route = prompts.route(&params.name);
        let Some((server, prompt)) = route.filter(|(server, _)| self.0.may_reach(server, &cx))
        else {
            return Err(self.0.unknown("prompt", &params.name));
        };
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
                Box::new(move |options| {
                    Box::pin(async move {
                        let (prompt, arguments) = (prompt.as_str(), &arguments);
                        let options = &options.for_client();
                        let get = |client: Client| async move {
                            let arguments = arguments.iter();
                            let pairs = arguments.map(|(name, value)| (name, value.as_str()));
                            let client = client.with(options.clone());
                            client.get_prompt(prompt, pairs).await
                        };
                        manager.call(name.as_str(), get).await
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
                let prompts = self.0.known(&self.0.prompts).await;
                let Some((server, name)) = prompts.route(&reference.name) else {
                    return Err(self.0.unknown("prompt", &reference.name));
                };
                reference.name = name.to_owned();
                server.clone()
            }
            CompletionReference::Resource(reference) => {
                let templates = self.0.known(&self.0.templates).await;
                match templates.route(&reference.uri) {
                    Some((server, _)) => server.clone(),
                    None => self
                        .0
                        .owner(&reference.uri)
                        .await
                        .ok_or_else(|| self.0.unknown("resource", &reference.uri))?,
                }
            }
            _ => return Err(Error::invalid_params("unknown kind of reference")),
        };
        if !self.0.may_reach(&server, &cx) {
            return Err(Error::invalid_params("unknown reference"));
        }
        params.meta = None;
        let completed = self.0.manager.complete(server.as_str(), &params).await;
        completed.map_err(|error| error::upstream(&server, &error))
    }
}
