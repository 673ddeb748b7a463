//! The gateway's instructions: what its servers offer together, and which are missing and why.

use std::sync::Arc;

use mcp_client::Client;
use mcp_jsonrpc::RawMap;
use mcp_jsonrpc::model::{
    FlagCapability, ListCapability, ResourcesCapability, ServerCapabilities, extension,
};
use mcp_manager::{ServerName, ServerState};
use mcp_server::{Caller, Context, Error};

use crate::catalog::profile::Profile;
use crate::catalog::routes::{Item, Merged};
use crate::gateway::Shared;

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
                let text = self.gate.instructions(text);
                sections.push(format!("# {server}\n\n{text}"));
            }
        }
        let unavailable = self.unavailable(caller);
        if !unavailable.is_empty() {
            sections.push(format!("Not available: {}", unavailable.join(", ")));
        }
        let hidden = self.hidden(&profile);
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
        let absent = self.missing.lock().clone();
        let absent = absent
            .into_iter()
            .map(|(name, reason)| match profile.allows_server(&name) {
                true => format!("{name} ({reason})"),
                false => format!("{name} (not permitted for this caller)"),
            });
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
        missing.chain(absent).collect()
    }

    /// The items that the caller may use, but not reach under their names.
    fn hidden(&self, profile: &Profile) -> Vec<String> {
        fn of<T>(merged: Option<Arc<Merged<T>>>) -> Vec<(ServerName, String)> {
            merged.map_or_else(Vec::new, |merged| merged.hidden.clone())
        }
        let kinds = [
            ("the tool", of(self.tools.last())),
            ("the prompt", of(self.prompts.last())),
            ("the resource", of(self.resources.last())),
        ];
        let mut all: Vec<String> = Vec::new();
        for (kind, hidden) in kinds {
            let visible = hidden.iter().filter(|(server, name)| match kind {
                "the tool" => profile.allows_tool(server.as_str(), name),
                _ => profile.allows_server(server.as_str()),
            });
            all.extend(visible.map(|(server, name)| format!("{kind} {name} of {server}")));
        }
        if all.len() > SHOWN_HIDDEN {
            let more = all.len() - SHOWN_HIDDEN;
            all.truncate(SHOWN_HIDDEN);
            all.push(format!("and {more} more"));
        }
        all
    }

    /// The error for a name that no connected server has.
    pub(crate) fn unknown(&self, kind: &str, name: &str, cx: &Context) -> Error {
        let missing = self.missing_note(cx);
        let separator = if missing.is_empty() { "" } else { "; " };
        Error::invalid_params(format!("unknown {kind}: {name}{separator}{missing}"))
    }

    /// The error for a resource that no connected server has.
    pub(crate) fn unknown_resource(&self, uri: String, cx: &Context) -> Error {
        Error::resource_not_found_with(uri, self.missing_note(cx))
    }

    /// The servers that might have what is unknown.
    fn missing_note(&self, cx: &Context) -> String {
        match self.unavailable(cx.caller()) {
            none if none.is_empty() => String::new(),
            some => format!("not available: {}", some.join(", ")),
        }
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

    /// The items of the servers that the caller may use.
    pub(crate) fn visible<T: Item>(&self, merged: &Merged<T>, cx: &Context) -> Vec<T> {
        let profile = self.profile(cx.caller());
        let items = merged.items.iter().filter(|item| {
            let route = merged.route(item.key());
            route.is_some_and(|(server, _)| profile.allows_server(server.as_str()))
        });
        items.cloned().collect()
    }

    /// The server that a resource belongs to: the one that lists it, the one whose skill it is part
    /// of, the one whose template it fits, or the only one that has resources at all.
    pub(crate) async fn owner(&self, uri: &str) -> Option<ServerName> {
        let resources = self.known(&self.resources);
        if let Some((server, _)) = resources.route(uri) {
            return Some(server.clone());
        }
        if let Some(server) = self.skill_keeper(uri).await {
            return Some(server);
        }
        let templates = self.known(&self.templates);
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
