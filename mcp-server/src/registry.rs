//! The typed server: its registrations, as a [`Handler`].

pub(crate) mod page;
pub(crate) mod prompt;
pub(crate) mod resource;
pub(crate) mod schema;
#[cfg(feature = "skills")]
pub(crate) mod skill;
pub(crate) mod tool;

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use mcp_jsonrpc::model::experimental_task::TaskSupport;
use mcp_jsonrpc::model::{
    CallToolParams, CallToolResult, CompleteParams, CompleteResult, Completion, FlagCapability,
    GetPromptParams, GetPromptResult, Implementation, ListCapability, ListPromptsResult,
    ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, PageParams,
    ReadResourceParams, ReadResourceResult, ResourcesCapability, ServerCapabilities, Tool,
    extension,
};
use mcp_jsonrpc::{RawJson, RawMap};

use crate::handler::Handler;
use crate::handler::context::Context;
use crate::handler::error::Error;
use crate::registry::prompt::PromptEntry;
use crate::registry::resource::{ResourceEntry, TemplateEntry};
#[cfg(feature = "skills")]
use crate::registry::skill::SkillShelf;
use crate::registry::tool::{BoxFuture, ToolEntry};

/// Most proposals a completion may have.
const MAX_COMPLETIONS: usize = 100;

type CompleteFn =
    dyn Fn(CompleteParams, Context) -> BoxFuture<Result<Vec<String>, Error>> + Send + Sync;

type FilterFn = dyn Fn(&Tool, &Context) -> bool + Send + Sync;
pub(crate) type RootsFn = dyn Fn(u64) + Send + Sync;

/// The registrations of a [`Server`](crate::Server).
pub struct Registry {
    pub(crate) info: Implementation,
    pub(crate) instructions: Option<String>,
    pub(crate) tools: Vec<ToolEntry>,
    pub(crate) tool_index: HashMap<String, usize>,
    pub(crate) resources: Vec<ResourceEntry>,
    pub(crate) templates: Vec<TemplateEntry>,
    pub(crate) prompts: Vec<PromptEntry>,
    pub(crate) completion: Option<Arc<CompleteFn>>,
    /// Which tools a request sees; all, without it.
    pub(crate) tool_filter: Option<Arc<FilterFn>>,
    pub(crate) roots_changed: Option<Arc<RootsFn>>,
    #[cfg(feature = "skills")]
    pub(crate) skills: SkillShelf,
}

impl Registry {
    pub(crate) fn new(info: Implementation) -> Self {
        Self {
            info,
            instructions: None,
            tools: Vec::new(),
            tool_index: HashMap::new(),
            resources: Vec::new(),
            templates: Vec::new(),
            prompts: Vec::new(),
            completion: None,
            tool_filter: None,
            roots_changed: None,
            #[cfg(feature = "skills")]
            skills: SkillShelf::default(),
        }
    }

    /// Adds a tool; one of the same name is replaced.
    pub(crate) fn add_tool(&mut self, entry: ToolEntry) {
        let name = entry.tool.name.clone();
        match self
            .tool_index
            .get(&name)
            .and_then(|at| self.tools.get_mut(*at))
        {
            Some(old) => *old = entry,
            None => {
                self.tool_index.insert(name, self.tools.len());
                self.tools.push(entry);
            }
        }
    }

    fn tool(&self, name: &str, cx: &Context) -> Option<&ToolEntry> {
        let entry = self.tools.get(*self.tool_index.get(name)?)?;
        self.is_visible(&entry.tool, cx).then_some(entry)
    }

    fn is_visible(&self, tool: &Tool, cx: &Context) -> bool {
        let filter = self.tool_filter.as_ref();
        filter.is_none_or(|is_visible| is_visible(tool, cx))
    }

    fn has_resources(&self) -> bool {
        #[cfg(feature = "skills")]
        if !self.skills.is_empty() {
            return true;
        }
        !self.resources.is_empty() || !self.templates.is_empty()
    }

    fn page<T: Clone, E>(
        entries: &[E],
        item: impl Fn(&E) -> &T,
        params: &PageParams,
        cx: &Context,
    ) -> Result<(Vec<T>, Option<String>), Error> {
        let (page, next) = page::cut(entries, params.cursor.as_deref(), page_len(cx))?;
        Ok((page.iter().map(|entry| item(entry).clone()).collect(), next))
    }
}

#[async_trait]
impl Handler for Registry {
    fn info(&self) -> Implementation {
        self.info.clone()
    }

    fn capabilities(&self) -> ServerCapabilities {
        let list = || {
            let mut list = ListCapability::default();
            list.list_changed = Some(true);
            list
        };
        let mut all = ServerCapabilities::default();
        all.tools = (!self.tools.is_empty()).then(list);
        all.prompts = (!self.prompts.is_empty()).then(list);
        all.resources = self.has_resources().then(|| {
            let mut resources = ResourcesCapability::default();
            resources.list_changed = Some(true);
            resources.subscribe = Some(true);
            resources
        });
        all.completions = self.completion.is_some().then(FlagCapability::default);
        all.logging = Some(FlagCapability::default());
        let mut extensions = RawMap::new();
        let supports = |entry: &ToolEntry| {
            let support = entry
                .tool
                .execution
                .as_ref()
                .and_then(|it| it.task_support.as_ref());
            support.is_some_and(|support| *support != TaskSupport::Forbidden)
        };
        if self.tools.iter().any(supports) {
            extensions.insert(extension::TASKS, empty_object());
        }
        #[cfg(feature = "skills")]
        if !self.skills.is_empty() {
            let _ = extensions.set(
                extension::SKILLS,
                &serde_json::json!({"directoryRead": true}),
            );
        }
        all.extensions = (!extensions.is_empty()).then_some(extensions);
        all
    }

    fn instructions(&self) -> Option<String> {
        self.instructions.clone()
    }

    async fn list_tools(&self, params: PageParams, cx: Context) -> Result<ListToolsResult, Error> {
        if self.tools.is_empty() {
            return Err(Error::method_not_found("tools/list"));
        }
        let all = self.tools.iter().map(|entry| &*entry.tool);
        let visible: Vec<&Tool> = all.filter(|tool| self.is_visible(tool, &cx)).collect();
        let (tools, next) = Self::page(&visible, |tool| *tool, &params, &cx)?;
        let mut result = ListToolsResult::new(tools);
        result.next_cursor = next;
        Ok(result)
    }

    fn has_fixed_tools(&self) -> bool {
        self.tool_filter.is_none()
    }

    async fn find_tool(&self, name: &str, cx: &Context) -> Option<Arc<Tool>> {
        self.tool(name, cx).map(|entry| Arc::clone(&entry.tool))
    }

    async fn call_tool(
        &self,
        params: CallToolParams,
        cx: Context,
    ) -> Result<CallToolResult, Error> {
        let entry = self
            .tool(&params.name, &cx)
            .ok_or_else(|| Error::unknown_tool(&params.name))?;
        entry.call(params.arguments, cx).await
    }

    async fn list_resources(
        &self,
        params: PageParams,
        cx: Context,
    ) -> Result<ListResourcesResult, Error> {
        if !self.has_resources() {
            return Err(Error::method_not_found("resources/list"));
        }
        let own = self.resources.iter().map(|entry| &entry.resource);
        #[cfg(feature = "skills")]
        let own = own.chain(self.skills.resources());
        let all: Vec<_> = own.collect();
        let (page, next) = page::cut(&all, params.cursor.as_deref(), page_len(&cx))?;
        let resources: Vec<_> = page.iter().copied().cloned().collect();
        let mut result = ListResourcesResult::new(resources);
        result.next_cursor = next;
        Ok(result)
    }

    async fn list_resource_templates(
        &self,
        params: PageParams,
        cx: Context,
    ) -> Result<ListResourceTemplatesResult, Error> {
        if !self.has_resources() {
            return Err(Error::method_not_found("resources/templates/list"));
        }
        let (templates, next) = Self::page(&self.templates, |entry| &entry.template, &params, &cx)?;
        let mut result = ListResourceTemplatesResult::new(templates);
        result.next_cursor = next;
        Ok(result)
    }

    async fn read_resource(
        &self,
        params: ReadResourceParams,
        cx: Context,
    ) -> Result<ReadResourceResult, Error> {
        let uri = &params.uri;
        if let Some(entry) = self
            .resources
            .iter()
            .find(|entry| entry.resource.uri == *uri)
        {
            return (entry.read)((), cx).await;
        }
        #[cfg(feature = "skills")]
        if let Some(found) = self.skills.read(uri) {
            return Ok(found);
        }
        let found = self
            .templates
            .iter()
            .find_map(|entry| entry.try_read(uri, &cx));
        match found {
            Some(reading) => reading.await,
            None => Err(Error::resource_not_found(params.uri)),
        }
    }

    async fn can_watch(&self, uri: &str, _: &Context) -> bool {
        self.resources.iter().any(|entry| entry.resource.uri == uri)
            || self.templates.iter().any(|entry| entry.matches(uri))
    }

    async fn list_prompts(
        &self,
        params: PageParams,
        cx: Context,
    ) -> Result<ListPromptsResult, Error> {
        if self.prompts.is_empty() {
            return Err(Error::method_not_found("prompts/list"));
        }
        let (prompts, next) = Self::page(&self.prompts, |entry| &entry.prompt, &params, &cx)?;
        let mut result = ListPromptsResult::new(prompts);
        result.next_cursor = next;
        Ok(result)
    }

    async fn get_prompt(
        &self,
        params: GetPromptParams,
        cx: Context,
    ) -> Result<GetPromptResult, Error> {
        let found = self
            .prompts
            .iter()
            .find(|entry| entry.prompt.name == params.name);
        match found {
            Some(entry) => entry.get(params.arguments, cx).await,
            None => Err(Error::invalid_params(format!(
                "unknown prompt: {}",
                params.name
            ))),
        }
    }

    fn roots_changed(&self, session: u64) {
        if let Some(changed) = &self.roots_changed {
            changed(session);
        }
    }

    async fn complete(&self, params: CompleteParams, cx: Context) -> Result<CompleteResult, Error> {
        let Some(complete) = &self.completion else {
            return Err(Error::method_not_found("completion/complete"));
        };
        let mut values = complete(params, cx).await?;
        let total = values.len();
        values.truncate(MAX_COMPLETIONS);
        let mut completion = Completion::new(values);
        completion.total = i64::try_from(total).ok();
        completion.has_more = Some(total > MAX_COMPLETIONS);
        Ok(CompleteResult::new(completion))
    }

    #[cfg(feature = "skills")]
    async fn list_skills(
        &self,
        params: PageParams,
        cx: Context,
    ) -> Result<mcp_jsonrpc::model::ListSkillsResult, Error> {
        self.skills.list(params.cursor.as_deref(), page_len(&cx))
    }

    #[cfg(feature = "skills")]
    async fn get_skill(
        &self,
        params: mcp_jsonrpc::model::GetSkillParams,
        _: Context,
    ) -> Result<mcp_jsonrpc::model::GetSkillResult, Error> {
        self.skills.get(&params.uri)
    }

    #[cfg(feature = "skills")]
    async fn read_directory(
        &self,
        params: mcp_jsonrpc::model::ReadDirectoryParams,
        cx: Context,
    ) -> Result<ListResourcesResult, Error> {
        self.skills
            .directory(&params.uri, params.cursor.as_deref(), page_len(&cx))
    }
}

fn page_len(cx: &Context) -> usize {
    cx.0.shared.limits.page_len()
}

fn empty_object() -> RawJson {
    mcp_jsonrpc::RawObject::empty().into()
}

impl fmt::Debug for Registry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Registry")
            .field("info", &self.info)
            .field("tools", &self.tools.len())
            .field("resources", &self.resources.len())
            .field("templates", &self.templates.len())
            .field("prompts", &self.prompts.len())
            .finish_non_exhaustive()
    }
}
