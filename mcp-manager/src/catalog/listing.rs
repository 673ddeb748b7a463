//! The listing of one server.

use std::sync::Arc;
use std::time::Duration;

use mcp_config::{ServerName, ToolSettings};
use mcp_jsonrpc::model::{CacheScope, Prompt, Resource, ResourceTemplate, Tool};

use super::entry::Entry;
use super::problem::{ItemKind, ListProblem};

/// The tools, prompts and resources of one server: each list ordered by name, each name once.
#[derive(Clone, Debug)]
pub struct Listing {
    server: ServerName,
    title: Option<Arc<str>>,
    tools: List<Entry>,
    prompts: List<Prompt>,
    resources: List<Resource>,
    resource_templates: List<ResourceTemplate>,
    problems: Vec<ListProblem>,
}

/// One list.
#[derive(Clone, Debug)]
struct List<T> {
    /// In the order of their names.
    items: Vec<Arc<T>>,
    /// Their places in `items`, in the server's own order.
    order: Vec<usize>,
    cache_hints: Option<CacheHints>,
}

/// What a server says of one of its lists to those who keep it.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct CacheHints {
    /// How long the list stays fresh, if the server sent a TTL.
    pub ttl: Option<Duration>,
    /// Whether a cache may share it between users.
    pub scope: CacheScope,
}

impl CacheHints {
    /// A list that stays fresh for `ttl`.
    pub fn new(ttl: Option<Duration>, scope: CacheScope) -> Self {
        Self { ttl, scope }
    }
}

impl<T> Default for List<T> {
    fn default() -> Self {
        Self {
            items: Vec::new(),
            order: Vec::new(),
            cache_hints: None,
        }
    }
}

impl<T> List<T> {
    fn in_order(&self) -> impl Iterator<Item = &Arc<T>> {
        self.order.iter().filter_map(|at| self.items.get(*at))
    }

    fn is_kept_like(&self, other: &Self) -> bool {
        self.order == other.order && self.cache_hints == other.cache_hints
    }
}

impl Listing {
    /// Creates an empty listing.
    pub fn new(server: ServerName) -> Self {
        Self {
            server,
            title: None,
            tools: List::default(),
            prompts: List::default(),
            resources: List::default(),
            resource_templates: List::default(),
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
            let known = &self.tools.items;
            let at = known.binary_search_by(|known| known.name().cmp(entry.name()));
            let known = at.ok().and_then(|at| known.get(at));
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
        for entry in &mut self.tools.items {
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

    /// What the server says of a list of this kind to those who keep it. Set the list first: that
    /// forgets it.
    #[must_use]
    pub fn with_cache_hints(mut self, kind: ItemKind, cache_hints: CacheHints) -> Self {
        *match kind {
            ItemKind::Tool => &mut self.tools.cache_hints,
            ItemKind::Prompt => &mut self.prompts.cache_hints,
            ItemKind::Resource => &mut self.resources.cache_hints,
            ItemKind::ResourceTemplate => &mut self.resource_templates.cache_hints,
        } = Some(cache_hints);
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
        &self.tools.items
    }

    /// Its prompts.
    pub fn prompts(&self) -> &[Arc<Prompt>] {
        &self.prompts.items
    }

    /// Its resources.
    pub fn resources(&self) -> &[Arc<Resource>] {
        &self.resources.items
    }

    /// Its resource templates.
    pub fn resource_templates(&self) -> &[Arc<ResourceTemplate>] {
        &self.resource_templates.items
    }

    /// Its tools, in the server's own order.
    pub fn tools_in_order(&self) -> impl Iterator<Item = &Arc<Entry>> {
        self.tools.in_order()
    }

    /// Its prompts, in the server's own order.
    pub fn prompts_in_order(&self) -> impl Iterator<Item = &Arc<Prompt>> {
        self.prompts.in_order()
    }

    /// Its resources, in the server's own order.
    pub fn resources_in_order(&self) -> impl Iterator<Item = &Arc<Resource>> {
        self.resources.in_order()
    }

    /// Its resource templates, in the server's own order.
    pub fn resource_templates_in_order(&self) -> impl Iterator<Item = &Arc<ResourceTemplate>> {
        self.resource_templates.in_order()
    }

    /// What it says of its list of this kind to those who keep it; `None` if it has no such list.
    pub fn cache_hints(&self, kind: ItemKind) -> Option<&CacheHints> {
        match kind {
            ItemKind::Tool => self.tools.cache_hints.as_ref(),
            ItemKind::Prompt => self.prompts.cache_hints.as_ref(),
            ItemKind::Resource => self.resources.cache_hints.as_ref(),
            ItemKind::ResourceTemplate => self.resource_templates.cache_hints.as_ref(),
        }
    }

    /// Whether its lists have the order and the cache_hints of another's.
    pub(super) fn is_kept_like(&self, other: &Self) -> bool {
        self.tools.is_kept_like(&other.tools)
            && self.prompts.is_kept_like(&other.prompts)
            && self.resources.is_kept_like(&other.resources)
            && self
                .resource_templates
                .is_kept_like(&other.resource_templates)
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
    mut make: impl FnMut(T) -> Arc<U>,
) -> (List<U>, Vec<ListProblem>) {
    let mut items: Vec<(usize, T)> = items.into_iter().enumerate().collect();
    let mut problems = Vec::new();
    items.retain(|(_, item)| {
        let named = !name(item).is_empty();
        if !named {
            problems.push(ListProblem::Nameless { kind });
        }
        named
    });
    // Stable: of equal names the first stays first.
    items.sort_by(|(_, a), (_, b)| name(a).cmp(name(b)));
    items.dedup_by(|(_, later), (_, first)| {
        let same = name(later) == name(first);
        if same {
            let name = name(later).to_owned();
            problems.push(ListProblem::Duplicate { kind, name });
        }
        same
    });
    let places = items.iter().enumerate();
    let mut order: Vec<(usize, usize)> = places.map(|(at, (listed, _))| (*listed, at)).collect();
    order.sort_unstable();
    let list = List {
        items: items.into_iter().map(|(_, item)| make(item)).collect(),
        order: order.into_iter().map(|(_, at)| at).collect(),
        cache_hints: None,
    };
    (list, problems)
}
