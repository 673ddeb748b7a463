//! The listing of one server.

use std::sync::Arc;

use mcp_config::{ServerName, ToolSettings};
use mcp_jsonrpc::model::{Prompt, Resource, ResourceTemplate, Tool};

use super::entry::Entry;
use super::problem::{ItemKind, ListProblem};

/// The tools, prompts and resources of one server: each list ordered by name, each name once.
#[derive(Clone, Debug)]
pub struct Listing {
    server: ServerName,
    title: Option<Arc<str>>,
    tools: Vec<Arc<Entry>>,
    prompts: Vec<Arc<Prompt>>,
    resources: Vec<Arc<Resource>>,
    resource_templates: Vec<Arc<ResourceTemplate>>,
    problems: Vec<ListProblem>,
}

impl Listing {
    /// Creates an empty listing.
    pub fn new(server: ServerName) -> Self {
        Self {
            server,
            title: None,
            tools: Vec::new(),
            prompts: Vec::new(),
            resources: Vec::new(),
            resource_templates: Vec::new(),
            problems: Vec::new(),
        }
    }

    /// Sets the server's title; set it before the tools.
    #[must_use]
    pub fn with_title(mut self, title: impl Into<Arc<str>>) -> Self {
        self.title = Some(title.into());
        self
    }

    /// Sets its tools, in the server's order, replacing the previous ones.
    #[must_use]
    pub fn with_tools(
        mut self,
        tools: impl IntoIterator<Item = Tool>,
        policy: &ToolSettings,
    ) -> Self {
        let entry = |tool| {
            let entry = Entry::new(&self.server, self.title.as_ref(), tool, policy);
            let known = self
                .tools
                .binary_search_by(|known| known.name().cmp(entry.name()));
            let known = known.ok().and_then(|at| self.tools.get(at));
            Arc::new(match known {
                Some(known) => entry.scanned_as(known),
                None => entry,
            })
        };
        let (tools, problems) = settle(ItemKind::Tool, tools, |tool| &tool.name, entry);
        self.tools = tools;
        self.report(ItemKind::Tool, problems)
    }

    /// The same tools under other settings.
    #[must_use]
    pub fn with_policy(mut self, policy: &ToolSettings) -> Self {
        for entry in &mut self.tools {
            if let Some(changed) = entry.under(policy) {
                *entry = Arc::new(changed);
            }
        }
        self
    }

    /// Sets its prompts, in the server's order, replacing the previous ones.
    #[must_use]
    pub fn with_prompts(mut self, prompts: impl IntoIterator<Item = Prompt>) -> Self {
        let (prompts, problems) = settle(ItemKind::Prompt, prompts, |item| &item.name, Arc::new);
        self.prompts = prompts;
        self.report(ItemKind::Prompt, problems)
    }

    /// Sets its resources, in the server's order, replacing the previous ones.
    #[must_use]
    pub fn with_resources(mut self, resources: impl IntoIterator<Item = Resource>) -> Self {
        let (resources, problems) =
            settle(ItemKind::Resource, resources, |item| &item.uri, Arc::new);
        self.resources = resources;
        self.report(ItemKind::Resource, problems)
    }

    /// Sets its resource templates, in the server's order, replacing the previous ones.
    #[must_use]
    pub fn with_resource_templates(
        mut self,
        templates: impl IntoIterator<Item = ResourceTemplate>,
    ) -> Self {
        let kind = ItemKind::ResourceTemplate;
        let (templates, problems) = settle(kind, templates, |item| &item.uri_template, Arc::new);
        self.resource_templates = templates;
        self.report(kind, problems)
    }

    /// Adds another problem with its lists. Set the list first: that clears its problems.
    #[must_use]
    pub fn with_problem(mut self, problem: ListProblem) -> Self {
        self.problems.push(problem);
        self
    }

    fn report(mut self, kind: ItemKind, problems: Vec<ListProblem>) -> Self {
        self.problems.retain(|problem| problem.kind() != kind);
        self.problems.extend(problems);
        self
    }

    /// Our name for the server.
    pub fn server(&self) -> &ServerName {
        &self.server
    }

    /// The server's title.
    pub fn title(&self) -> Option<&str> {
        self.title.as_deref()
    }

    /// Its tools.
    pub fn tools(&self) -> &[Arc<Entry>] {
        &self.tools
    }

    /// Its prompts.
    pub fn prompts(&self) -> &[Arc<Prompt>] {
        &self.prompts
    }

    /// Its resources.
    pub fn resources(&self) -> &[Arc<Resource>] {
        &self.resources
    }

    /// Its resource templates.
    pub fn resource_templates(&self) -> &[Arc<ResourceTemplate>] {
        &self.resource_templates
    }

    /// The items that could not be listed, and the reasons.
    pub fn problems(&self) -> &[ListProblem] {
        &self.problems
    }
}

/// Orders `items` by name and reports those that cannot be requested.
fn settle<T, U>(
    kind: ItemKind,
    items: impl IntoIterator<Item = T>,
    name: fn(&T) -> &str,
    make: impl FnMut(T) -> U,
) -> (Vec<U>, Vec<ListProblem>) {
    let mut items: Vec<T> = items.into_iter().collect();
    let mut problems = Vec::new();
    items.retain(|item| {
        let named = !name(item).is_empty();
        if !named {
            problems.push(ListProblem::Nameless { kind });
        }
        named
    });
    // Stable: of equal names the first stays first.
    items.sort_by(|a, b| name(a).cmp(name(b)));
    items.dedup_by(|later, first| {
        let same = name(later) == name(first);
        if same {
            let name = name(later).to_owned();
            problems.push(ListProblem::Duplicate { kind, name });
        }
        same
    });
    (items.into_iter().map(make).collect(), problems)
}
