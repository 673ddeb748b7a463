//! Watches a user's servers: stores their state and appends events.

use std::collections::BTreeSet;
use std::sync::{Arc, Weak};

use futures_util::FutureExt as _;
use mcp_manager::{CatalogDiff, Events, ManagerEvent, ServerName, ServerState};
use serde_json::{Value, json};

use super::user_servers::UserServers;
use super::views::{event, tools_event};
use crate::servers::doctor::{Finding, Problem, diagnose};
use crate::servers::{ServerLog, is_built_in, scan, seen};
use crate::store::{Change, Server};

/// Runs until the manager or its user's servers are gone.
pub(super) async fn watch(user_servers: Weak<UserServers>, mut events: Events) {
    while let Some(event) = events.next().await {
        let Some(user_servers) = user_servers.upgrade() else {
            return;
        };
        user_servers.heard(event).await;
    }
}

impl UserServers {
    async fn heard(&self, happened: ManagerEvent) {
        match &happened {
            ManagerEvent::StateChanged {
                server, to, error, ..
            } => self.state_changed(server, *to, error.as_deref()).await,
            ManagerEvent::Reconnecting { server, .. }
            | ManagerEvent::Reconnected { server, .. }
            | ManagerEvent::ReconnectFailed { server, .. }
            | ManagerEvent::ServerRemoved { server, .. } => {
                if let Some(row) = self.row(server).await {
                    let mut data = happened.data();
                    if let Some(members) = data.as_object_mut() {
                        members.insert("serverId".to_owned(), json!(row.id));
                    }
                    self.keep(vec![event(&self.user, happened.name(), data)])
                        .await;
                }
            }
            ManagerEvent::CatalogChanged { diff, .. } => self.catalog_changed(diff).await,
            ManagerEvent::QuestionDeclined {
                server,
                conversations,
            } => {
                let message = format!(
                    "{server} asked something while several conversations were using it, without \
                     saying which one it is about. It was declined. From now on {server} serves \
                     one conversation at a time: ask again if you need it."
                );
                self.note(server, message.clone()).await;
                self.questions.notice(conversations, &message).await;
            }
            ManagerEvent::Log { server, message } => {
                if let Some(log) = self.log(server) {
                    let message = Arc::clone(message);
                    let _ = tokio::task::spawn_blocking(move || log.logged(&message)).await;
                }
            }
            ManagerEvent::Lagged { .. } => self.tell_all().await,
            _ => {}
        }
    }

    async fn state_changed(&self, server: &ServerName, to: ServerState, error: Option<&str>) {
        let Some(row) = self.row(server).await else {
            return;
        };
        let finding = self.finding(server, to, error);
        let mut changes = match to {
            // Nothing can be remembered of what is not stored.
            _ if is_built_in(&row) => {
                self.found(&row.id, finding.clone());
                Vec::new()
            }
            ServerState::Connected => {
                self.found(&row.id, None);
                let mut changes = seen(&row, &self.manager, None);
                changes.extend(self.suspected(&row));
                changes
            }
            _ => match &finding {
                Some(finding) => {
                    self.found(&row.id, Some(finding.clone()));
                    self.note(server, finding.message.clone()).await;
                    seen(&row, &self.manager, Some(finding))
                }
                None => Vec::new(),
            },
        };
        if !changes.is_empty() {
            changes.push(Change::prune_events(&self.user));
        }
        let mut row = row;
        row.last_error = match to {
            ServerState::Connected => None,
            _ => finding.map(|finding| finding.message).or(row.last_error),
        };
        // A lost event is harmless: the state is read on the next request.
        let _ = self.commit(&row, changes).await;
    }

    /// What is wrong with a server that came into such a state.
    fn finding(
        &self,
        server: &ServerName,
        to: ServerState,
        error: Option<&str>,
    ) -> Option<Finding> {
        match to {
            ServerState::Failed | ServerState::NeedsAuth => {
                let config = self.manager.server(server.as_str())?.config;
                // It says at once why it is not ready, unless it is being tried again already.
                let error = self.manager.ready(server).now_or_never()?.err()?;
                Some(diagnose(&config, &error))
            }
            ServerState::Reconnecting | ServerState::Degraded => {
                let advice = "It is being tried again.";
                let error = error.unwrap_or("it does not answer");
                Some(Finding::new(Problem::NoAnswer, error, advice))
            }
            _ => None,
        }
    }

    async fn catalog_changed(&self, diff: &CatalogDiff) {
        let changed = diff.changed.iter().map(|change| &change.new);
        let tools = diff.added.iter().chain(&diff.removed).chain(changed);
        let mut servers: BTreeSet<&ServerName> = tools.map(|tool| tool.server()).collect();
        servers.extend(diff.prompts.iter().chain(&diff.resources));
        for server in servers {
            let Some(row) = self.row(server).await else {
                continue;
            };
            let connected = self.manager.client(server.as_str()).is_some();
            let mut changes = match connected && !is_built_in(&row) {
                true => seen(&row, &self.manager, None),
                false => Vec::new(),
            };
            changes.push(tools_event(&self.user, &row.id));
            changes.extend(self.suspected(&row));
            self.keep(changes).await;
        }
    }

    /// The event for signs of an attack in what a server says, if they are not those of the last event.
    fn suspected(&self, row: &Server) -> Option<Change> {
        let name = row.name.parse().ok()?;
        let found = scan::of_server(&self.manager, &name);
        let found = Value::from(scan::all_to_json(&found));
        let before = self
            .suspicions
            .lock()
            .insert(row.id.clone(), found.clone())
            .unwrap_or_else(|| json!([]));
        let data = json!({"serverId": row.id, "server": row.name, "findings": found});
        (before != found).then(|| event(&self.user, "server.findings", data))
    }

    /// Events were missed: announces the current state of all servers.
    async fn tell_all(&self) {
        let rows = self.store.servers(&self.user).await.unwrap_or_default();
        for row in rows {
            let _ = self.commit(&row, Vec::new()).await;
            self.keep(vec![tools_event(&self.user, &row.id)]).await;
        }
    }

    /// Adds a line to the log of a server that is in use.
    pub(crate) async fn note(&self, server: &ServerName, text: String) {
        if let Some(log) = self.log(server) {
            let _ = tokio::task::spawn_blocking(move || log.note(&text)).await;
        }
    }

    fn log(&self, server: &ServerName) -> Option<ServerLog> {
        let info = self.manager.server(server.as_str())?;
        Some(ServerLog::of_config(&self.user, &info.config))
    }

    async fn keep(&self, changes: Vec<Change>) {
        // A lost event is harmless: the state is read on the next request.
        let _ = self.store.commit(changes).await;
    }
}
