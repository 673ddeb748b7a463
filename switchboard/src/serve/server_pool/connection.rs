//! Connecting and disconnecting one server, and listing its tools.

use std::sync::Arc;
use std::time::Duration;

use mcp_manager::{Entry, ItemKind, ListProblem, ManagerError, ServerConfig, ServerState, Wait};

use super::user_servers::UserServers;
use crate::servers::doctor::{Examination, Finding, Problem, diagnose};
use crate::servers::{pending, reach};
use crate::store::{Server, StoreError, Timestamp, Trust};

/// How long the tools of a server that is not connected count as known.
const FRESH: Duration = Duration::from_secs(300);

/// What a server offers.
#[derive(Debug)]
pub(crate) struct Tools {
    pub(crate) entries: Vec<Arc<Entry>>,
    /// Whether it offers them now; else it did so when it was last seen.
    pub(crate) live: bool,
    /// Why it cannot be asked.
    pub(crate) problem: Option<Finding>,
    /// Why it offers more than is here.
    pub(crate) incomplete: Option<String>,
}

/// How new an answer must be.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Wanted {
    /// What is known.
    Known,
    /// What the server says now.
    Newest,
}

impl UserServers {
    /// How a server is reached: one that is switched on and agreed to.
    pub(super) async fn allowed(&self, row: &Server) -> Result<ServerConfig, Finding> {
        if row.trust == Trust::Pending {
            return Err(pending(row));
        }
        if !row.is_active {
            let message = "it is switched off";
            return Err(Finding::new(Problem::Disabled, message, "Switch it on."));
        }
        self.reach(row).await
    }

    /// How a server is reached, whoever switched it off.
    pub(crate) async fn reach(&self, row: &Server) -> Result<ServerConfig, Finding> {
        if row.shared_id.is_some() {
            // What cannot be read now is not reached where it may not be.
            let _ = self.people.networks().learn_team(&*self.store).await;
        }
        reach(row, self.host()).await
    }

    /// Connects a server, now.
    pub(crate) async fn connect(&self, row: &Server) -> Result<(), Finding> {
        let config = match self.allowed(row).await {
            Ok(config) => config,
            Err(finding) => {
                if !matches!(finding.problem, Problem::Pending | Problem::Disabled) {
                    self.found(&row.id, Some(finding.clone()));
                }
                return Err(finding);
            }
        };
        let state = self.manager.server(&row.name).map(|info| info.state);
        let connected = match state {
            // An explicit request does not wait for the next retry.
            Some(ServerState::Reconnecting) => self.manager.retry(&row.name).await,
            _ => self.manager.connect_one(config.clone()).await,
        };
        let finding = connected.err().map(|error| diagnose(&config, &error));
        self.found(&row.id, finding.clone());
        finding.map_or(Ok(()), Err)
    }

    /// Keeps in mind what a trial of a server found, and shows it as the server's state.
    pub(crate) async fn tried(&self, row: &Server, trial: &Examination) -> Result<(), StoreError> {
        if self.is_connected(row) || !row.is_active {
            return Ok(());
        }
        let failed = trial.seen.is_none();
        self.found(&row.id, trial.findings.first().cloned().filter(|_| failed));
        self.commit(row, Vec::new()).await
    }

    /// Connects a server that is not connected.
    pub(crate) async fn ready(&self, row: &Server) -> Result<(), Finding> {
        // One that was switched off a moment ago may still be there.
        self.allowed(row).await?;
        match self.is_connected(row) {
            true => Ok(()),
            false => self.connect(row).await,
        }
    }

    fn is_connected(&self, row: &Server) -> bool {
        let info = self.manager.server(&row.name);
        info.is_some_and(|info| info.state.is_connected())
    }

    /// Closes a server's connection, and returns when its process is gone. The next use brings it
    /// back.
    pub(crate) async fn disconnect(&self, row: &Server) {
        self.found(&row.id, None);
        self.manager.remove(&row.name).await;
    }

    /// Closes all connections.
    pub(crate) async fn disconnect_all(&self) {
        let rows = self.store.servers(&self.user).await.unwrap_or_default();
        for info in self.manager.servers() {
            let name = info.config.name().as_str();
            self.manager.remove(name).await;
            if let Some(row) = rows.iter().find(|row| row.name == name) {
                // Who looks again sees.
                let _ = self.commit(row, Vec::new()).await;
            }
        }
    }

    /// Makes what is stored of a server that was called `old` count at once.
    pub(crate) async fn apply(&self, old: &str, row: &Server) {
        let _one_at_a_time = self.applying.acquire().await;
        // Another change may have been stored meanwhile, and applied already.
        let now = self.store.server(&self.user, &row.id).await;
        let row = now.ok().flatten().unwrap_or_else(|| row.clone());
        self.found(&row.id, None);
        let known = self.manager.server(old).is_some();
        if old != row.name {
            self.manager.remove(old).await;
        }
        if !known {
            return;
        }
        match self.allowed(&row).await {
            Ok(config) => {
                self.manager.connect_all([config], Wait::None).await;
            }
            Err(_) => {
                self.manager.remove(&row.name).await;
            }
        }
    }

    /// A server's tools. One that is not connected is connected, unless it was seen just now.
    pub(crate) async fn tools(&self, row: &Server, wanted: Wanted) -> Result<Tools, StoreError> {
        if wanted == Wanted::Newest && self.is_connected(row) {
            // A server that does not respond keeps its last list.
            let _ = self.manager.refreshed(&row.name).await;
        }
        if !self.is_connected(row) {
            let known = self.store.server_tools(&row.id).await?;
            let since = Timestamp::now().minus(FRESH);
            let fresh = known.first().is_some_and(|tool| tool.seen_at >= since);
            let entries = self.remembered(row).await?;
            if fresh && wanted == Wanted::Known {
                return Ok(Tools {
                    incomplete: kept_in_part(entries.len()),
                    entries,
                    live: false,
                    problem: None,
                });
            }
            if let Err(finding) = self.connect(row).await {
                return Ok(Tools {
                    incomplete: kept_in_part(entries.len()),
                    entries,
                    live: false,
                    problem: Some(finding),
                });
            }
        }
        Ok(Tools {
            entries: self.offered(row),
            live: true,
            problem: None,
            incomplete: self.incomplete(row),
        })
    }

    /// Why the list of a connected server's tools is not all of it.
    fn incomplete(&self, row: &Server) -> Option<String> {
        let catalog = self.manager.catalog();
        let mut listings = catalog.listings();
        let listing = listings.find(|listing| listing.server().as_str() == row.name)?;
        listing.problems().iter().find_map(|problem| match problem {
            ListProblem::Incomplete { kind, reason } if *kind == ItemKind::Tool => {
                Some(reason.clone())
            }
            _ => None,
        })
    }

    /// What an error of a server means.
    pub(crate) fn diagnose(&self, row: &Server, error: &ManagerError) -> Finding {
        match self.manager.server(&row.name) {
            Some(info) => diagnose(&info.config, error),
            None => Finding::new(
                Problem::Disabled,
                error.to_string(),
                "It was removed or closed meanwhile.",
            ),
        }
    }
}

/// What is remembered of a list ends where the list of a connected server does.
fn kept_in_part(tools: usize) -> Option<String> {
    let limit = mcp_client::ClientLimits::default().list_items();
    (tools >= limit).then(|| format!("only {limit} tools of a server are kept"))
}
