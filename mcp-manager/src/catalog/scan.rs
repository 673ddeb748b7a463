//! A scan of all definitions for signs of an attack.

use std::collections::BTreeMap;

use mcp_config::ServerName;
use tool_policy::{Finding, Neighbours};

use super::Catalog;

/// The findings, by server and tool. Tools without findings are omitted.
pub(super) type Findings = BTreeMap<ServerName, BTreeMap<String, Vec<Finding>>>;

pub(super) fn scan(catalog: &Catalog) -> Findings {
    let all = neighbours(catalog);
    let mut found = Findings::new();
    for (server, listing) in &catalog.listings {
        let neighbours = all.of(server.as_str());
        for entry in listing.tools() {
            let findings = entry.scan().beside(&neighbours);
            if !findings.is_empty() {
                let its = found.entry(server.clone()).or_default();
                its.insert(entry.name().to_owned(), findings);
            }
        }
    }
    found
}

/// The tools of all servers, indexed once.
pub(super) fn neighbours(catalog: &Catalog) -> Neighbours {
    let tools = catalog.tools.iter();
    Neighbours::of_all(tools.map(|entry| (entry.server().as_str(), entry.name())))
}
