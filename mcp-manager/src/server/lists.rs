//! Requests for a server's lists.

use std::time::Duration;

use mcp_client::{CallError, CallOptions, Client, Listed};
use mcp_config::ToolSettings;
use mcp_jsonrpc::ErrorCode;
use mcp_jsonrpc::model::{
    ListCapability, Prompt, Resource, ResourceTemplate, ServerCapabilities, Tool,
};

use crate::catalog::{ItemKind, ListProblem, Listing};
use crate::server::list_refresh::{ListKind, Offer};

/// One list, as received.
pub(crate) struct Found {
    list: List,
    problems: Vec<ListProblem>,
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
    let mut problems = Vec::new();
    let (list, ttl) = match kind {
        ListKind::Tools => {
            let listed = client.list_tools().await;
            let (items, ttl) = take(ItemKind::Tool, listed, &mut problems)?;
            (List::Tools(items), ttl)
        }
        ListKind::Prompts => {
            let listed = client.list_prompts().await;
            let (items, ttl) = take(ItemKind::Prompt, listed, &mut problems)?;
            (List::Prompts(items), ttl)
        }
        ListKind::Resources => {
            let listed = client.list_resources().await;
            let (items, ttl) = take(ItemKind::Resource, listed, &mut problems)?;
            let listed = client.list_resource_templates().await;
            let (patterns, second) = take(ItemKind::ResourceTemplate, listed, &mut problems)?;
            (List::Resources(items, patterns), ttl.min(second))
        }
    };
    Ok(Found {
        list,
        problems,
        ttl,
    })
}

/// Many servers declare a list and then do not know the method: their list is empty.
fn take<T>(
    kind: ItemKind,
    listed: Result<Listed<T>, CallError>,
    problems: &mut Vec<ListProblem>,
) -> Result<(Vec<T>, Option<Duration>), CallError> {
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
    Ok((listed.items, listed.ttl))
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
        self.problems
            .into_iter()
            .fold(listing, Listing::with_problem)
    }
}
