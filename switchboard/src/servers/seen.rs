//! What is remembered of a server while it is not connected.

use mcp_manager::Manager;
use mcp_transport::TransportKind;

use crate::servers::doctor::Finding;
use crate::servers::tool_policy::identity;
use crate::store::{ApprovedDefinition, Change, DefinitionKind, Server, ServerTool};

/// The changes that keep in mind how a server is seen now: what is wrong with it, or else what it
/// offers and how it is spoken to.
pub(crate) fn seen(row: &Server, manager: &Manager, finding: Option<&Finding>) -> Vec<Change> {
    let transport = manager
        .client(&row.name)
        .map(|client| client.transport_kind());
    let mut changes = vec![Change::SawServer {
        id: row.id.clone(),
        transport: transport.map(|shape| self::transport(shape).to_owned()),
        error: finding.map(|finding| finding.message.clone()),
    }];
    let catalog = manager.catalog();
    let mut listings = catalog.listings();
    let listing = listings.find(|listing| listing.server().as_str() == row.name);
    if let (Some(listing), None) = (listing, finding) {
        changes.extend(auto_approved(row, manager));
        let tools = listing.tools().iter().map(|entry| {
            let definition = serde_json::to_value(&**entry.tool()).unwrap_or_default();
            let hash = entry.fingerprint().to_string();
            let tokens = entry.tokens() as u64;
            ServerTool::new(row.id.clone(), entry.name(), definition, hash, tokens)
        });
        changes.push(Change::PutServerTools(row.id.clone(), tools.collect()));
    }
    changes
}

/// A kind of connection, as rows name it.
pub(crate) fn transport(shape: TransportKind) -> &'static str {
    match shape {
        TransportKind::Http => "streamableHttp",
        TransportKind::LegacySse => "sse",
        _ => "stdio",
    }
}

/// What a server's settings approve by name, bound to what the names stand for when they are first
/// seen: a tool that is another one later is asked for.
pub(crate) fn auto_approved(row: &Server, manager: &Manager) -> Vec<Change> {
    let info = manager.server(&row.name);
    let identity = identity(row);
    // What is connected may still be the endpoint before the settings were changed.
    let Some(info) = info.filter(|info| info.config.identity() == identity) else {
        return Vec::new();
    };
    let catalog = manager.catalog();
    let named = row.auto_approve_tools.iter();
    let tools = named.filter_map(|name| catalog.find(info.config.name(), name));
    let approved = tools.map(|tool| {
        ApprovedDefinition::new(
            row.id.clone(),
            tool.name(),
            DefinitionKind::AutoApproved,
            &identity,
            tool.fingerprint().to_string(),
        )
        .with_tool(tool.tool())
    });
    approved.map(Change::PutDefinition).collect()
}
