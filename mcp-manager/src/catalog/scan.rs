//! A scan of all definitions for signs of an attack.

use std::collections::BTreeMap;

use mcp_config::ServerName;
use tool_policy::{Finding, Neighbours};

use super::Catalog;

/// The findings, by server and tool. Tools without findings are omitted.
pub(super) type Findings = BTreeMap<ServerName, BTreeMap<String, Vec<Finding>>>;

pub(super) fn scan(catalog: &Catalog) -> Findings {
    let mut found = Findings::new();
    for (server, listing) in &catalog.listings {
        let neighbours = neighbours(catalog, server);
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

/// The tools of the other servers. A server may speak of its own, also where another has one of the name.
pub(super) fn neighbours(catalog: &Catalog, server: &ServerName) -> Neighbours {
    let names = |is_own| {
        let of = move |entry: &&std::sync::Arc<super::Entry>| (entry.server() == server) == is_own;
        catalog.tools.iter().filter(of).map(|entry| entry.name())
    };
    Neighbours::new(names(false)).without(names(true))
}
