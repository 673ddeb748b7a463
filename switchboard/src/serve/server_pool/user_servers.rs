//! One user's servers.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use agent_loop::ManagedTools;
use mcp_manager::{Catalog, Entry, Listing, Manager, ServerName};
use parking_lot::Mutex;
use serde_json::Value;
use tokio::sync::Semaphore;
use tokio::task::AbortHandle;

use super::status::ServerStatus;
use super::views::{self, Sight, status_event};
use super::watch::watch;
use crate::serve::error::ApiError;
use crate::serve::people::People;
use crate::serve::questions::Questions;
use crate::servers::doctor::Finding;
use crate::servers::suggest::Offered;
use crate::servers::{
    Host, NetworkOf, Updated, built_in, is_built_in, make_own, to_config, transport, update,
};
use crate::store::{Change, Server, ServerId, ServerTool, Store, StoreError, UserId};

/// One user's servers.
pub(crate) struct UserServers {
    pub(super) user: UserId,
    pub(super) store: Arc<dyn Store>,
    pub(super) manager: Manager,
    pub(super) questions: Questions,
    /// Whether the user may use this machine.
    pub(super) people: People,
    tools: Arc<ManagedTools>,
    /// What is wrong with servers.
    findings: Mutex<BTreeMap<ServerId, Finding>>,
    /// What the scanner found, as the last event has it.
    pub(super) suspicions: Mutex<BTreeMap<ServerId, Value>>,
    /// The logins under way.
    pub(super) logins: Mutex<BTreeMap<ServerId, AbortHandle>>,
    watcher: Mutex<Option<AbortHandle>>,
    /// One permit: changes are applied to what runs one after the other.
    pub(super) applying: Semaphore,
}

impl UserServers {
    pub(super) fn new(
        user: &UserId,
        store: &Arc<dyn Store>,
        manager: Manager,
        questions: Questions,
        people: People,
    ) -> Arc<Self> {
        let events = manager.events();
        let user_servers = Arc::new(Self {
            user: user.clone(),
            store: Arc::clone(store),
            tools: Arc::new(ManagedTools::new(manager.clone())),
            manager,
            questions,
            people,
            findings: Mutex::default(),
            suspicions: Mutex::default(),
            logins: Mutex::default(),
            watcher: Mutex::default(),
            applying: Semaphore::new(1),
        });
        let watcher = tokio::spawn(watch(Arc::downgrade(&user_servers), events));
        *user_servers.watcher.lock() = Some(watcher.abort_handle());
        user_servers
    }

    /// The user's tools, always the same.
    pub(super) fn toolbox(&self) -> Arc<ManagedTools> {
        Arc::clone(&self.tools)
    }

    /// Whether the user may use this machine.
    pub(crate) fn host(&self) -> Host {
        self.people.host(&self.user)
    }

    /// Where requests to the user's servers may go.
    pub(crate) fn network(&self) -> NetworkOf {
        self.people.network_of(&self.user)
    }

    /// The manager of the user's servers.
    pub(crate) fn manager(&self) -> &Manager {
        &self.manager
    }

    /// The server of this name: a stored one, or the demo server.
    pub(super) async fn row(&self, name: &ServerName) -> Option<Server> {
        let rows = self.store.servers(&self.user).await.ok()?;
        if rows.is_empty() && self.host() == Host::Allowed {
            return built_in(&self.user).filter(|row| row.name == name.as_str());
        }
        rows.into_iter().find(|row| row.name == name.as_str())
    }

    /// What a server is suggested for: the tools that are switched on, and the prompts.
    pub(crate) async fn suggested(&self, row: &Server) -> Result<Vec<Offered>, StoreError> {
        let tools = match self.offered(row) {
            live if live.is_empty() && !is_built_in(row) => self.remembered(row).await?,
            live => live,
        };
        let tools = tools.iter().filter(|tool| {
            let mut off = row.disabled_tools.iter();
            !off.any(|name| name == tool.name())
        });
        let tools = tools.map(|tool| {
            let schema: Value = serde_json::from_str(tool.input_schema().get()).unwrap_or_default();
            let required = schema.get("required").and_then(Value::as_array);
            Offered {
                name: tool.name().to_owned(),
                title: tool.tool().title.clone(),
                description: tool.description().map(str::to_owned),
                is_prompt: false,
                reads: tool.annotations().and_then(|it| it.read_only_hint) == Some(true),
                required: required.map_or(0, Vec::len),
            }
        });
        let catalog = self.manager.catalog();
        let mut listings = catalog.listings();
        let listing = listings.find(|listing| listing.server().as_str() == row.name);
        let prompts = listing.map(|listing| listing.prompts()).unwrap_or_default();
        let prompts = prompts.iter().map(|prompt| Offered {
            name: prompt.name.clone(),
            title: prompt.title.clone(),
            description: prompt.description.clone(),
            is_prompt: true,
            reads: true,
            required: prompt.arguments.iter().flatten().count(),
        });
        Ok(tools.chain(prompts).collect())
    }

    /// Records what is wrong with a server, or that nothing is.
    pub(super) fn found(&self, server: &ServerId, finding: Option<Finding>) {
        let mut findings = self.findings.lock();
        match finding {
            Some(finding) => findings.insert(server.clone(), finding),
            None => findings.remove(server),
        };
    }

    /// A server's JSON view.
    pub(crate) async fn shown(&self, row: &Server) -> Result<Value, StoreError> {
        let state = self.manager.server(&row.name).map(|info| info.state);
        let finding = self.findings.lock().get(&row.id).cloned();
        let finding = self.host().objection(row).or(finding);
        let status = match ServerStatus::of(row, state) {
            // It did not get as far as being started.
            ServerStatus::Idle if finding.is_some() => ServerStatus::Failed,
            status => status,
        };
        // Name and cost of each.
        let tools: Vec<(String, u64)> = match self.offered(row) {
            live if live.is_empty() => {
                let known = self.store.server_tools(&row.id).await?.into_iter();
                known.map(|tool| (tool.name, tool.tokens)).collect()
            }
            live => {
                let live = live.iter();
                live.map(|tool| (tool.name().to_owned(), tool.tokens() as u64))
                    .collect()
            }
        };
        let enabled = tools
            .iter()
            .filter(|(name, _)| !row.disabled_tools.contains(name));
        let client = self.manager.client(&row.name);
        let sight = Sight {
            status,
            finding: finding.filter(|_| status.is_trouble()),
            transport: client.map(|client| transport(client.transport_kind())),
            tools: tools.len(),
            tokens: enabled.map(|(_, tokens)| tokens).sum(),
        };
        Ok(views::server(row, &sight))
    }

    /// Changes a server, with an event: the demo server becomes the user's own by it. What
    /// `change` gets is what is stored, and so is what it does not change.
    pub(crate) async fn update<C, F>(&self, row: Server, mut change: C) -> Result<Updated, ApiError>
    where
        C: FnMut(Server) -> F,
        F: Future<Output = Result<(Server, Vec<Change>), ApiError>>,
    {
        let changed = update(&*self.store, row, |row| {
            let changed = change(row);
            async move {
                let (mut row, mut changes) = changed.await?;
                make_own(&mut row);
                changes.push(status_event(&self.user, self.shown(&row).await?));
                Ok::<_, ApiError>((row, changes))
            }
        });
        let changed = changed.await?;
        self.apply(&changed.before.name, &changed.row).await;
        Ok(changed)
    }

    /// Stores changes of a server, with an event.
    pub(crate) async fn commit(
        &self,
        row: &Server,
        mut changes: Vec<Change>,
    ) -> Result<(), StoreError> {
        changes.push(status_event(&self.user, self.shown(row).await?));
        self.store.commit(changes).await.map(drop)
    }

    /// The tools that a server offers now, if it is connected.
    pub(super) fn offered(&self, row: &Server) -> Vec<Arc<Entry>> {
        let catalog = self.manager.catalog();
        let tools = catalog.tools().iter();
        let its = tools.filter(|tool| tool.server().as_str() == row.name);
        its.cloned().collect()
    }

    /// The tools that a server was last seen with, as if they were offered now.
    pub(super) async fn remembered(&self, row: &Server) -> Result<Vec<Arc<Entry>>, StoreError> {
        let tools = self.store.server_tools(&row.id).await?;
        Ok(listed(row, tools))
    }
}

/// Stored tools as entries of a catalogue.
fn listed(row: &Server, tools: Vec<ServerTool>) -> Vec<Arc<Entry>> {
    let Ok(config) = to_config(row) else {
        return Vec::new();
    };
    let definitions = tools.into_iter().map(|tool| tool.definition);
    let tools = definitions.filter_map(|definition| serde_json::from_value(definition).ok());
    let listing = Listing::new(config.name().clone()).with_tools(tools, config.tools());
    Catalog::empty().with(Arc::new(listing)).tools().to_vec()
}

impl Drop for UserServers {
    fn drop(&mut self) {
        let watcher = self.watcher.lock().take();
        let logins = std::mem::take(&mut *self.logins.lock());
        for task in watcher.into_iter().chain(logins.into_values()) {
            task.abort();
        }
    }
}

impl fmt::Debug for UserServers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("UserServers")
            .field("user", &self.user)
            .finish_non_exhaustive()
    }
}
