//! The lists of all upstream servers: fetched from connected servers, and cached until the manager reports a change.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use mcp_client::{CallError, Client, Listed};
use mcp_jsonrpc::ErrorCode;
use mcp_jsonrpc::model::{Prompt, Resource, ResourceTemplate, Skill, Tool, extension};
use mcp_manager::{Catalog, Listing, Manager, ServerName};
use parking_lot::Mutex;

use crate::gateway::Upstreams;
use crate::routes::{Item, Merged, Part};

/// Time that a server has to list its items; one that takes longer is left out.
const LIST_TIMEOUT: Duration = Duration::from_secs(30);

/// A kind of item that servers list.
pub(crate) trait Listable: Item + Send + Sync + 'static {
    /// Lists the server's items; `None` if it does not offer this kind.
    fn list(client: Client)
    -> impl Future<Output = Result<Option<Listed<Self>>, CallError>> + Send;
}

macro_rules! listable {
    ($($Item:ty: $capability:ident, $list:ident;)*) => {$(
        impl Listable for $Item {
            async fn list(client: Client) -> Result<Option<Listed<Self>>, CallError> {
                if client.server().capabilities.$capability.is_none() {
                    return Ok(None);
                }
                match client.$list().await {
                    Err(error) if is_unknown_method(&error) => Ok(None),
                    listed => listed.map(Some),
                }
            }
        }
    )*};
}

listable! {
    Tool: tools, list_tools;
    Prompt: prompts, list_prompts;
    Resource: resources, list_resources;
    ResourceTemplate: resources, list_resource_templates;
}

impl Listable for Skill {
    async fn list(client: Client) -> Result<Option<Listed<Self>>, CallError> {
        if !has_extension(&client, extension::SKILLS) {
            return Ok(None);
        }
        client.list_skills().await.map(Some)
    }
}

/// Whether a server declares an extension.
pub(crate) fn has_extension(client: &Client, id: &str) -> bool {
    let extensions = client.server().capabilities.extensions;
    extensions.is_some_and(|extensions| extensions.contains_key(id))
}

fn is_unknown_method(error: &CallError) -> bool {
    error
        .peer()
        .is_some_and(|error| error.code == ErrorCode::METHOD_NOT_FOUND)
}

/// What a server listed, with the manager's listing of that moment: as long as that is the current
/// one, nothing has changed.
type Fetched<T> = (Arc<Listing>, Option<Arc<Listed<T>>>);

/// A merged list, with the servers and the epoch of the catalogue that it belongs to.
type Current<T> = (Upstreams, u64, Arc<Merged<T>>);

/// One kind of list of all servers.
pub(crate) struct Lists<T> {
    merged: Mutex<Option<Current<T>>>,
    fetched: Mutex<HashMap<ServerName, Fetched<T>>>,
}

impl<T> Default for Lists<T> {
    fn default() -> Self {
        Self {
            merged: Mutex::default(),
            fetched: Mutex::default(),
        }
    }
}

impl<T: Listable> Lists<T> {
    /// The merged list, as of this catalogue.
    pub(crate) async fn merged(
        &self,
        manager: &Manager,
        upstreams: &Upstreams,
        catalog: &Catalog,
    ) -> Arc<Merged<T>> {
        if let Some((of, epoch, merged)) = &*self.merged.lock()
            && *epoch == catalog.epoch()
            && Arc::ptr_eq(of, upstreams)
        {
            return Arc::clone(merged);
        }
        let lists = join_all(upstreams.iter().map(|upstream| async move {
            let listing = catalog.listing(&upstream.name)?;
            Some(self.one(manager, &upstream.name, listing).await)
        }));
        let lists = lists.await;
        let complete = !lists.iter().any(|list| matches!(list, Some(Err(()))));
        let parts = upstreams.iter().zip(&lists).filter_map(|(upstream, list)| {
            let listed = list.as_ref()?.as_ref().ok()?.as_deref()?;
            Some(Part {
                server: &upstream.name,
                prefix: &upstream.prefix,
                items: &listed.items,
                ttl: listed.ttl,
                scope: listed.scope.clone(),
            })
        });
        let merged = Arc::new(Merged::new(parts));
        for (server, name) in &merged.hidden {
            tracing::warn!(%server, name, "hidden: another server has this name");
        }
        if complete {
            let of = (Arc::clone(upstreams), catalog.epoch(), Arc::clone(&merged));
            *self.merged.lock() = Some(of);
        }
        merged
    }

    /// The last merged list, if there is one.
    pub(crate) fn last(&self) -> Option<Arc<Merged<T>>> {
        self.merged
            .lock()
            .as_ref()
            .map(|(_, _, merged)| Arc::clone(merged))
    }

    /// Has the lists fetched again: for a kind whose changes are not announced.
    pub(crate) fn forget(&self) {
        *self.merged.lock() = None;
        self.fetched.lock().clear();
    }

    /// The list of one server; `Err` if it could not be fetched.
    async fn one(
        &self,
        manager: &Manager,
        server: &ServerName,
        listing: &Arc<Listing>,
    ) -> Result<Option<Arc<Listed<T>>>, ()> {
        if let Some((known, listed)) = self.fetched.lock().get(server)
            && Arc::ptr_eq(known, listing)
        {
            return Ok(listed.clone());
        }
        let listing_call = manager.call(server.as_str(), T::list);
        let listed = match tokio::time::timeout(LIST_TIMEOUT, listing_call).await {
            Ok(Ok(listed)) => listed.map(Arc::new),
            Ok(Err(error)) => {
                tracing::warn!(%server, %error, "a list is missing");
                return Err(());
            }
            Err(_) => {
                tracing::warn!(%server, "a list is missing: the server did not answer in time");
                return Err(());
            }
        };
        let entry = (Arc::clone(listing), listed.clone());
        self.fetched.lock().insert(server.clone(), entry);
        Ok(listed)
    }
}
