//! The gateway's instructions: what its servers offer together, and which are missing and why.

use mcp_client::Client;
use mcp_jsonrpc::RawMap;
use mcp_jsonrpc::model::{
    FlagCapability, ListCapability, ResourcesCapability, ServerCapabilities, extension,
};
use mcp_manager::{ServerName, ServerState};
use mcp_server::{Caller, Context, Error};

use crate::gateway::Shared;
use crate::routes::{Item, Merged};

/// How many hidden names the instructions list.
const SHOWN_HIDDEN: usize = 20;

impl Shared {
    /// The servers that are connected, in their order.
    pub(crate) fn connected_clients(&self) -> Vec<(ServerName, Client)> {
        let upstreams = self.upstreams();
        let clients = upstreams.iter().filter_map(|upstream| {
            let client = self.manager.client(upstream.name.as_str())?;
            Some((upstream.name.clone(), client))
        });
        clients.collect()
    }

    /// What any server offers. What a server that is not connected would offer is not known, so lists
    /// are declared until all are; an extension only if a server has it.
    pub(crate) fn capabilities(&self) -> ServerCapabilities {
        let clients = self.connected_clients();
        let complete = clients.len() == self.upstreams().len();
        let known: Vec<ServerCapabilities> = clients
            .iter()
            .map(|(_, client)| client.server().capabilities)
            .collect();
        let any = |has: fn(&ServerCapabilities) -> bool| !complete || known.iter().any(&has);
        let list = || {
            let mut list = ListCapability::default();
            list.list_changed = Some(true);
            list
        };
        let mut all = ServerCapabilities::default();
        all.tools = any(|it| it.tools.is_some()).then(list);
        all.prompts = any(|it| it.prompts.is_some()).then(list);
        all.resources = any(|it| it.resources.is_some()).then(|| {
            let mut resources = ResourcesCapability::default();
            resources.list_changed = Some(true);
            resources.subscribe = Some(true);
            resources
        });
        all.completions = any(|it| it.completions.is_some()).then(FlagCapability::default);
        all.logging = any(|it| it.logging.is_some()).then(FlagCapability::default);
        let mut extensions = RawMap::new();
        for id in [extension::TASKS, extension::SKILLS] {
            let mut settings = known
                .iter()
                .filter_map(|can| can.extensions.as_ref()?.get(id));
            if let Some(first) = settings.next() {
                extensions.insert(id, first.clone());
            }
        }
        all.extensions = (!extensions.is_empty()).then_some(extensions);
        all
    }

    /// The servers' own instructions, and what is missing.
    pub(crate) fn instructions(&self, caller: Option<&Caller>) -> Option<String> {
        let profile = self.profile(caller);
        let mut sections = Vec::new();
        for (server, client) in self.connected_clients() {
            if let Some(text) = client.server().instructions
                && profile.allows_server(server.as_str())
            {
                sections.push(format!("# {server}\n\n{text}"));
            }
        }
        let unavailable = self.unavailable(caller);
        if !unavailable.is_empty() {
            sections.push(format!("Not available: {}", unavailable.join(", ")));
        }
        let hidden = self.hidden();
        if !hidden.is_empty() {
            sections.push(format!(
                "Hidden, because an earlier server has the same name: {}",
                hidden.join(", ")
            ));
        }
        (!sections.is_empty()).then(|| sections.join("\n\n"))
    }

    /// The servers that are not connected or not permitted, with the reason.
    pub(crate) fn unavailable(&self, caller: Option<&Caller>) -> Vec<String> {
        let profile = self.profile(caller);
        let upstreams = self.upstreams();
        let missing = upstreams.iter().filter_map(|upstream| {
            let name = &upstream.name;
            if !profile.allows_server(name.as_str()) {
                return Some(format!("{name} (not permitted for this caller)"));
            }
            let Some(server) = self.manager.server(name.as_str()) else {
                return Some(format!("{name} (shut down)"));
            };
            match (server.state, server.error) {
                (state, _) if state.is_connected() => None,
                (ServerState::Idle, _) => Some(format!("{name} (starts when it is called)")),
                (_, Some(error)) => Some(format!("{name} ({error})")),
                (state, None) => Some(format!("{name} ({})", state.as_str())),
            }
        });
        missing.collect()
    }

    /// The items that cannot be reached under their names.
    fn hidden(&self) -> Vec<String> {
        fn of<T>(merged: Option<std::sync::Arc<Merged<T>>>, kind: &str, all: &mut Vec<String>) {
            let hidden = merged.iter().flat_map(|merged| &merged.hidden);
            all.extend(hidden.map(|(server, name)| format!("{kind} {name} of {server}")));
        }
        let mut all = Vec::new();
        of(self.tools.last(), "the tool", &mut all);
        of(self.prompts.last(), "the prompt", &mut all);
        of(self.resources.last(), "the resource", &mut all);
        if all.len() > SHOWN_HIDDEN {
            let more = all.len() - SHOWN_HIDDEN;
            all.truncate(SHOWN_HIDDEN);
            all.push(format!("and {more} more"));
        }
        all
    }

    /// The error for a name that no connected server has.
    pub(crate) fn unknown(&self, kind: &str, name: &str, cx: &Context) -> Error {
        let mut message = format!("unknown {kind}: {name}");
        let unavailable = self.unavailable(cx.caller());
        if !unavailable.is_empty() {
            message.push_str("; not available: ");
            message.push_str(&unavailable.join(", "));
        }
        Error::invalid_params(message)
    }

    /// The error for a server that is not configured any more.
    pub(crate) fn gone(&self, server: &str) -> Error {
        Error::invalid_params(format!(
            "server '{server}' is not behind this gateway any more"
        ))
    }

    /// Refuses what belongs to a server that the caller may not use.
    pub(crate) fn permit(&self, server: &ServerName, cx: &Context) -> Result<(), Error> {
        match self.profile(cx.caller()).allows_server(server.as_str()) {
            true => Ok(()),
            false => Err(Error::invalid_params(format!(
                "server '{server}' is not permitted for this caller; nothing was sent to it"
            ))),
        }
    }

    /// Leaves out the items of servers that the caller may not use.
    pub(crate) fn retain_visible<T: Item>(
        &self,
        items: &mut Vec<T>,
        merged: &Merged<T>,
        cx: &Context,
    ) {
        let profile = self.profile(cx.caller());
        items.retain(|item| {
            let route = merged.route(item.key());
            route.is_some_and(|(server, _)| profile.allows_server(server.as_str()))
        });
    }

    /// The server that a resource belongs to: the one that lists it, the one whose skill it is part
    /// of, the one whose template it fits, or the only one that has resources at all.
    pub(crate) async fn owner(&self, uri: &str) -> Option<ServerName> {
        let resources = self.known(&self.resources).await;
        if let Some((server, _)) = resources.route(uri) {
            return Some(server.clone());
        }
        if let Some(server) = self.skill_keeper(uri).await {
            return Some(server);
        }
        let templates = self.known(&self.templates).await;
        if let Some(server) = templates.maker(uri) {
            return Some(server.clone());
        }
        let clients = self.connected_clients();
        let mut serving = clients
            .iter()
            .filter(|(_, client)| client.server().capabilities.resources.is_some());
        let only = serving.next().filter(|_| serving.next().is_none());
        only.map(|(server, _)| server.clone())
    }
}
