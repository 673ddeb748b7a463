//! Connections to the servers of a verb, for its duration.

use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::future::join_all;
use mcp_manager::{
    Catalog, ElicitationHandler, Events, Listing, Manager, ManagerError, ManagerEvent,
    ManagerLimits, ServerConfig, ServerInfo, ServerName,
};

use super::ad_hoc::AdHoc;
use super::connector::{NetworkOf, Reaching, connector};
use super::log::ServerLog;
use super::seen::seen;
use super::select::{Chosen, select};
use crate::chat::Interrupts;
use crate::cli::Global;
use crate::display::out::Out;
use crate::exit::{Exit, Failure};
use crate::servers::doctor::{Finding, diagnose};
use crate::store::{Server, Store, UserId};

/// Connections to servers.
#[derive(Debug)]
pub(crate) struct Connection {
    pub(crate) manager: Manager,
    /// The servers that are connected, by name.
    pub(crate) servers: Vec<ConnectedServer>,
    /// What is wrong with the others, by name.
    pub(crate) findings: Vec<(String, Finding)>,
    /// How those were to be reached that could not be.
    pub(crate) failed: Vec<ServerConfig>,
    /// Where they are stored, if they are.
    pub(crate) store: Option<Arc<dyn Store>>,
}

/// A server that is connected.
#[derive(Debug)]
pub(crate) struct ConnectedServer {
    pub(crate) name: ServerName,
    /// How long it took.
    pub(crate) took: Duration,
    /// As it is stored, if it is.
    pub(crate) row: Option<Server>,
}

impl Connection {
    /// Connects to the servers, lets `work` use them, and leaves no process behind: neither after
    /// a failure nor after Ctrl-C.
    pub(crate) async fn with<T>(
        global: &Global,
        name: Option<&str>,
        ad_hoc: &AdHoc,
        forms: impl ElicitationHandler + 'static,
        work: impl AsyncFnOnce(&Self) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let chosen = select(global, name, ad_hoc).await?;
        let manager = reaching(&UserId::local(), forms, ad_hoc.reaching().await?);
        tokio::spawn(keep_log(manager.clone(), manager.events()));
        let done = interruptible(async {
            let connection = Self::open(manager.clone(), chosen).await;
            let done = work(&connection).await;
            if let Some(store) = &connection.store {
                // Everything committed is durable either way.
                let _ = store.close().await;
            }
            done
        });
        let done = done.await;
        manager.shutdown().await;
        done
    }

    /// Connects to servers, as many at once as the manager starts, and keeps in mind what they
    /// offer.
    async fn open(manager: Manager, chosen: Chosen) -> Self {
        let mut connection = Self {
            manager,
            servers: Vec::new(),
            findings: chosen.findings,
            failed: Vec::new(),
            store: chosen.store,
        };
        let manager = &connection.manager;
        let connecting = chosen.servers.into_iter().map(|(config, row)| async move {
            let began = Instant::now();
            let result = manager.connect_one(config.clone()).await;
            (config, row, result, began.elapsed())
        });
        let mut changes = Vec::new();
        for (config, row, result, took) in join_all(connecting).await {
            let name = config.name().clone();
            let finding = result.err().map(|error| diagnose(&config, &error));
            if let Some(row) = &row {
                if let Some(finding) = &finding {
                    ServerLog::of(row).note(&finding.message);
                }
                changes.extend(seen(row, &connection.manager, finding.as_ref()));
            }
            match finding {
                None => connection.servers.push(ConnectedServer { name, took, row }),
                Some(finding) => {
                    connection.findings.push((name.to_string(), finding));
                    connection.failed.push(config);
                }
            }
        }
        connection.servers.sort_by(|a, b| a.name.cmp(&b.name));
        connection.findings.sort_by(|a, b| a.0.cmp(&b.0));
        if let Some(store) = &connection.store {
            // Only the next look at the list misses it.
            let _ = store.commit(changes).await;
        }
        connection
    }

    /// What all connected servers offer.
    pub(crate) fn catalog(&self) -> Arc<Catalog> {
        self.manager.catalog()
    }

    /// What a connected server offers.
    pub(crate) fn listing(&self, server: &ServerName) -> Arc<Listing> {
        let listing = self.catalog().listing(server).cloned();
        listing.unwrap_or_else(|| Arc::new(Listing::new(server.clone())))
    }

    /// What a connected server says about itself.
    pub(crate) fn info(&self, server: &ServerName) -> Option<ServerInfo> {
        self.manager.server(server.as_str())
    }

    /// The one server a verb is about.
    pub(crate) fn only(&self) -> Result<&ConnectedServer, Failure> {
        match (self.servers.first(), self.findings.first()) {
            (Some(server), _) => Ok(server),
            (None, Some((name, finding))) => Err(finding.failure(name)),
            (None, None) => Err(Failure::new(Exit::Other, "there is no server")
                .with_hint("`switchboard servers add` and `switchboard import` bring some in.")),
        }
    }

    /// Reports what is wrong with servers that could not be reached, and returns the exit code.
    pub(crate) fn tell(&self, out: &Out) -> Exit {
        for (name, finding) in &self.findings {
            out.failure(&finding.failure(name));
        }
        let first = self.findings.first();
        first.map_or(Exit::Done, |(_, finding)| finding.problem.exit())
    }

    /// An error of a server as a failure with a hint.
    pub(crate) fn failure(&self, server: &ConnectedServer, error: &ManagerError) -> Failure {
        let config = self.info(&server.name).map(|info| info.config);
        match config {
            Some(config) => diagnose(&config, error).failure(server.name.as_str()),
            None => Failure::new(Exit::Other, error.to_string()),
        }
    }
}

/// A manager of a user's servers for a short while.
pub(crate) fn one_off(
    user: &UserId,
    forms: impl ElicitationHandler + 'static,
    network: NetworkOf,
) -> Manager {
    let how = Reaching {
        network,
        ..Reaching::default()
    };
    reaching(user, forms, how)
}

/// As [`one_off`], with the servers reached in this way.
fn reaching(
    user: &UserId,
    forms: impl ElicitationHandler + 'static,
    reaching: Reaching,
) -> Manager {
    let limits = ManagerLimits::default();
    // Users see a failure at once and retry themselves.
    let retry = limits.retry().clone().with_tries(0);
    Manager::builder()
        .connector(connector(user, reaching))
        .elicitation(forms)
        .limits(limits.with_retry(retry))
        .build()
}

/// Keeps what servers log, until they are gone.
async fn keep_log(manager: Manager, mut events: Events) {
    while let Some(event) = events.next().await {
        if let ManagerEvent::Log { server, message } = event
            && let Some(info) = manager.server(server.as_str())
        {
            ServerLog::of_config(&UserId::local(), &info.config).logged(&message);
        }
    }
}

/// Ends at Ctrl-C.
pub(crate) async fn interruptible<T>(
    work: impl Future<Output = Result<T, Failure>>,
) -> Result<T, Failure> {
    let mut interrupts = Interrupts::new();
    tokio::select! {
        // Registered first, so that Ctrl-C works as soon as output appears.
        biased;
        () = interrupts.next() => Err(Failure::new(Exit::Cancelled, "cancelled")),
        done = work => done,
    }
}
