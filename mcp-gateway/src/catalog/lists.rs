//! The lists of all upstream servers, made of what the manager knows of them.

use std::sync::Arc;
use std::time::Duration;

use mcp_jsonrpc::model::{CacheScope, Prompt, Resource, ResourceTemplate, Tool};
use mcp_manager::{Catalog, ItemKind, Listing};
use parking_lot::Mutex;

use crate::catalog::routes::{Item, Merged, Part};
use crate::gateway::Upstreams;

/// A kind of item that the manager lists.
pub(crate) trait Listable: Item + Send + Sync + 'static {
    const KIND: ItemKind;

    /// A server's items, in its own order.
    fn of(listing: &Listing) -> Vec<&Self>;
}

macro_rules! listable {
    ($($Item:ty: $KIND:ident, |$listing:ident| $items:expr;)*) => {$(
        impl Listable for $Item {
            const KIND: ItemKind = ItemKind::$KIND;

            fn of($listing: &Listing) -> Vec<&Self> {
                $items.collect()
            }
        }
    )*};
}

listable! {
    Tool: Tool, |listing| listing.tools_in_order().map(|entry| &**entry.tool());
    Prompt: Prompt, |listing| listing.prompts_in_order().map(|item| &**item);
    Resource: Resource, |listing| listing.resources_in_order().map(|item| &**item);
    ResourceTemplate: ResourceTemplate, |listing| listing.resource_templates_in_order().map(|item| &**item);
}

/// A merged list, with the servers and the epoch of the catalogue that it belongs to.
pub(crate) type Current<T> = (Upstreams, u64, Arc<Merged<T>>);

/// One kind of list of all servers.
pub(crate) struct Lists<T>(Mutex<Option<Current<T>>>);

impl<T> Default for Lists<T> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<T: Listable> Lists<T> {
    /// The merged list, as of this catalogue. Nothing is asked of a server: one that is away makes no caller wait.
    pub(crate) fn merged(&self, upstreams: &Upstreams, catalog: &Catalog) -> Arc<Merged<T>> {
        let mut current = self.0.lock();
        if let Some((of, epoch, merged)) = &*current
            && *epoch == catalog.epoch()
            && Arc::ptr_eq(of, upstreams)
        {
            return Arc::clone(merged);
        }
        let parts = upstreams.iter().filter_map(|upstream| {
            let listing = catalog.listing(&upstream.name)?;
            let hints = listing.cache_hints(T::KIND);
            Some(Part {
                server: &upstream.name,
                prefix: &upstream.prefix,
                items: T::of(listing),
                // A server without this list makes it no older.
                ttl: hints.map_or(Some(Duration::MAX), |hints| hints.ttl),
                scope: hints.map_or(CacheScope::Public, |hints| hints.scope.clone()),
            })
        });
        let merged = Arc::new(Merged::new(parts));
        for (server, name) in &merged.hidden {
            tracing::warn!(%server, name, "hidden: another server has this name");
        }
        *current = Some((Arc::clone(upstreams), catalog.epoch(), Arc::clone(&merged)));
        merged
    }

    /// The last merged list, if there is one.
    pub(crate) fn last(&self) -> Option<Arc<Merged<T>>> {
        let current = self.0.lock();
        current.as_ref().map(|(_, _, merged)| Arc::clone(merged))
    }
}
