//! Requests for a server's lists.

use std::time::Duration;

use mcp_client::{CallError, CallOptions, Client, Listed};
use mcp_config::ToolSettings;
use mcp_jsonrpc::ErrorCode;
use mcp_jsonrpc::model::{
    ListCapability, Prompt, Resource, ResourceTemplate, ServerCapabilities, Tool,
};

use crate::catalog::{CacheHints, ItemKind, ListProblem, Listing};
use crate::server::list_refresh::{ListKind, Offer};

/// One list, as received.
pub(crate) struct Found {
    list: List,
    problems: Vec<ListProblem>,
    cache_hints: Vec<(ItemKind, CacheHints)>,
    /// Its TTL.
    pub(crate) ttl: Option<Duration>,
}

enum List {
    Tools(Vec<Tool>),
    Prompts(Vec<Prompt>),
    Resources(Vec<Resource>, Vec<ResourceTemplate>),
}

/// The outcome of each requested list.
pub(crate) type Outcomes = Vec<(ListKind, Result<Found, CallError>)>;

/// Whether a server has a list, and announces its changes.
pub(crate) fn offer(can: &ServerCapabilities, kind: ListKind) -> Offer {
    let announced = |list: &ListCapability| list.list_changed;
    let announced = match kind {
        ListKind::Tools => can.tools.as_ref().map(announced),
        ListKind::Prompts => can.prompts.as_ref().map(announced),
        ListKind::Resources => can.resources.as_ref().map(|list| list.list_changed),
    };
    match announced {
        None => Offer::None,
        Some(Some(true)) => Offer::Announced,
        Some(_) => Offer::Silent,
    }
}

/// Requests these lists, one after the other: a server is not burdened more than by one call.
pub(crate) async fn fetch(client: &Client, kinds: Vec<ListKind>, limit: Duration) -> Outcomes {
    let client = client.with(
        CallOptions::default()
            .with_idle_timeout(limit)
            .with_deadline(limit),
    );
    let mut outcomes = Vec::with_capacity(kinds.len());
    for kind in kinds {
        outcomes.push((kind, fetch_one(&client, kind).await));
    }
    outcomes
}

async fn fetch_one(client: &Client, kind: ListKind) -> Result<Found, CallError> {
    let (mut problems, mut cache_hints) = (Vec::new(), Vec::new());
    let mut take = |kind, fresh: Option<CacheHints>| {
        let ttl = fresh.as_ref().and_then(|fresh| fresh.ttl);
        cache_hints.extend(fresh.map(|fresh| (kind, fresh)));
        ttl
    };
    let (list, ttl) = match kind {
        ListKind::Tools => {
            let kind = ItemKind::Tool;
            let (items, fresh) = items(kind, client.list_tools().await, &mut problems)?;
            (List::Tools(items), take(kind, fresh))
        }
        ListKind::Prompts => {
            let kind = ItemKind::Prompt;
            let (items, fresh) = items(kind, client.list_prompts().await, &mut problems)?;
            (List::Prompts(items), take(kind, fresh))
        }
        ListKind::Resources => {
            let kind = ItemKind::Resource;
            let (found, fresh) = items(kind, client.list_resources().await, &mut problems)?;
            let ttl = take(kind, fresh);
            let kind = ItemKind::ResourceTemplate;
            let listed = client.list_resource_templates().await;
            let (patterns, fresh) = items(kind, listed, &mut problems)?;
            (List::Resources(found, patterns), ttl.min(take(kind, fresh)))
        }
    };
    Ok(Found {
        list,
        problems,
        cache_hints,
        ttl,
    })
}

/// Many servers declare a list and then do not know the method: their list is empty.
fn items<T>(
    kind: ItemKind,
    listed: Result<Listed<T>, CallError>,
    problems: &mut Vec<ListProblem>,
) -> Result<(Vec<T>, Option<CacheHints>), CallError> {
    let listed = match listed {
        Ok(listed) => listed,
        Err(error) if is_unknown_method(&error) => return Ok((Vec::new(), None)),
        Err(error) => return Err(error),
    };
    for skipped in listed.skipped {
        problems.push(ListProblem::Unreadable {
            kind,
            name: skipped.name,
            reason: skipped.reason,
        });
    }
    if let Some(truncated) = listed.truncated {
        problems.push(ListProblem::Incomplete {
            kind,
            reason: truncated.to_string(),
        });
    }
    let cache_hints = CacheHints::new(listed.ttl, listed.scope);
    Ok((listed.items, Some(cache_hints)))
}

fn is_unknown_method(error: &CallError) -> bool {
    let error = error.peer();
    error.is_some_and(|error| error.code == ErrorCode::METHOD_NOT_FOUND)
}

impl Found {
    /// `listing`, with this list in place of its previous one.
    pub(crate) fn put_into(self, listing: Listing, policy: &ToolSettings) -> Listing {
        let listing = match self.list {
            List::Tools(tools) => listing.with_tools(tools, policy),
            List::Prompts(prompts) => listing.with_prompts(prompts),
            List::Resources(resources, templates) => listing
                .with_resources(resources)
                .with_resource_templates(templates),
        };
        let problems = self.problems.into_iter();
        let listing = problems.fold(listing, Listing::with_problem);
        let cache_hints = self.cache_hints.into_iter();
        cache_hints.fold(listing, |listing, (kind, cache_hints)| {
            listing.with_cache_hints(kind, cache_hints)
        })
    }
}

/// `listing` without the lists that the server does not have.
pub(crate) fn offered(can: &ServerCapabilities, mut listing: Listing) -> Listing {
    let none = |kind| offer(can, kind) == Offer::None;
    if none(ListKind::Tools) {
        listing = listing.with_tools([], &ToolSettings::default());
    }
    if none(ListKind::Prompts) {
        listing = listing.with_prompts([]);
    }
    if none(ListKind::Resources) {
        listing = listing.with_resources([]).with_resource_templates([]);
    }
    listing
}
