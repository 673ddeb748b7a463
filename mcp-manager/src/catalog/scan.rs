//! A scan of all definitions for signs of an attack.

use std::collections::BTreeMap;

use mcp_config::ServerName;
use tool_policy::{Finding, Neighbours, scan_tool};

use super::Catalog;

/// The findings, by server and tool. Tools without findings are omitted.
pub(super) type Findings = BTreeMap<ServerName, BTreeMap<String, Vec<Finding>>>;

pub(super) fn scan(catalog: &Catalog) -> Findings {
    let mut found = Findings::new();
    for (server, listing) in &catalog.listings {
        let own = || listing.tools().iter().map(|entry| entry.name());
        let others = catalog
            .tools
            .iter()
            .filter(|entry| entry.server() != server);
        let neighbours = Neighbours::new(others.map(|entry| entry.name())).without(own());
        for entry in listing.tools() {
            let findings = scan_tool(entry.tool(), &neighbours);
            if !findings.is_empty() {
                let its = found.entry(server.clone()).or_default();
                its.insert(entry.name().to_owned(), findings);
            }
        }
    }
    found
}
