//! The differences between two snapshots.

use std::cmp::Ordering;
use std::collections::BTreeSet;
use std::sync::Arc;

use mcp_config::ServerName;

use super::{Catalog, Entry, Listing};

/// The differences between two [`Catalog`]s, in catalogue order.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct CatalogDiff {
    /// New tools.
    pub added: Vec<Arc<Entry>>,
    /// Removed tools, with their last definition.
    pub removed: Vec<Arc<Entry>>,
    /// Changed tools: another definition, name or flag.
    pub changed: Vec<ChangedEntry>,
    /// Servers whose prompts changed.
    pub prompts: Vec<ServerName>,
    /// Servers whose resources or resource templates changed.
    pub resources: Vec<ServerName>,
}

/// A changed tool.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ChangedEntry {
    /// The previous entry.
    pub old: Arc<Entry>,
    /// The current entry.
    pub new: Arc<Entry>,
}

impl CatalogDiff {
    /// Whether nothing changed.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

impl ChangedEntry {
    /// Whether the definition changed, not only the name or the flags.
    pub fn is_redefined(&self) -> bool {
        self.old.fingerprint() != self.new.fingerprint()
    }
}

pub(super) fn diff(old: &Catalog, new: &Catalog) -> CatalogDiff {
    let mut diff = CatalogDiff::default();
    diff.tools(&old.tools, &new.tools);
    let servers: BTreeSet<&ServerName> = old.listings.keys().chain(new.listings.keys()).collect();
    for server in servers {
        let (old, new) = (old.listing(server), new.listing(server));
        if let (Some(old), Some(new)) = (old, new)
            && Arc::ptr_eq(old, new)
        {
            continue;
        }
        if !same(old, new, Listing::prompts) {
            diff.prompts.push(server.clone());
        }
        let templates = same(old, new, Listing::resource_templates);
        if !templates || !same(old, new, Listing::resources) {
            diff.resources.push(server.clone());
        }
    }
    diff
}

impl CatalogDiff {
    /// Walks both lists in parallel: they have the same order.
    fn tools(&mut self, old: &[Arc<Entry>], new: &[Arc<Entry>]) {
        let (mut old, mut new) = (old.iter().peekable(), new.iter().peekable());
        loop {
            let order = match (old.peek(), new.peek()) {
                (None, None) => return,
                (Some(_), None) => Ordering::Less,
                (None, Some(_)) => Ordering::Greater,
                (Some(a), Some(b)) => (a.server(), a.name()).cmp(&(b.server(), b.name())),
            };
            let gone = old.next_if(|_| order.is_le());
            let come = new.next_if(|_| order.is_ge());
            match (gone.cloned(), come.cloned()) {
                (Some(old), Some(new)) if !Arc::ptr_eq(&old, &new) && old != new => {
                    self.changed.push(ChangedEntry { old, new });
                }
                (Some(old), None) => self.removed.push(old),
                (None, Some(new)) => self.added.push(new),
                _ => {}
            }
        }
    }
}

fn same<T: PartialEq>(
    old: Option<&Arc<Listing>>,
    new: Option<&Arc<Listing>>,
    items: fn(&Listing) -> &[Arc<T>],
) -> bool {
    let old = old.map_or(&[][..], |listing| items(listing));
    old == new.map_or(&[][..], |listing| items(listing))
}
