//! What a running gateway tells the store: that it runs, and how far its audit log is.

use std::collections::BTreeSet;

use mcp_gateway::Gateway;
use mcp_server::http::HttpService;

use super::approvals::{Question, Waiting};
use super::audit_file::AuditFile;
use super::audit_folder;
use super::process::{Process, ServedServer};
use super::records::{self, Kind, Records};
use super::source::{Served, Source};
use crate::store::{Change, Store, StoreError, Timestamp};

/// What the store knows of this process.
pub(crate) struct Presence {
    /// The name of its record.
    name: String,
    process: Process,
    reported: Option<Process>,
    audit: AuditFile,
    waiting: Waiting,
    /// The questions that the store knows.
    asked: BTreeSet<String>,
    http: Option<HttpService>,
}

impl Presence {
    pub(crate) fn new(
        source: &Source,
        audit: AuditFile,
        waiting: Waiting,
        http: Option<&(HttpService, String)>,
    ) -> Self {
        let now = Timestamp::now();
        let pid = std::process::id();
        let transport = if http.is_some() { "http" } else { "stdio" };
        Self {
            name: format!("{}-{pid}", now.rfc3339()),
            process: Process {
                pid,
                started: now,
                alive: now,
                transport: transport.to_owned(),
                url: http.map(|(_, url)| url.clone()),
                assistant: source.assistant.clone(),
                servers: Vec::new(),
                sessions: 0,
                calls: 0,
                running: Vec::new(),
            },
            reported: None,
            audit,
            waiting,
            asked: BTreeSet::new(),
            http: http.map(|(service, _)| service.clone()),
        }
    }

    /// Tells the store what it does not know yet.
    pub(crate) async fn tell(
        &mut self,
        store: &dyn Store,
        gateway: &Gateway,
        served: &Served,
    ) -> Result<(), StoreError> {
        self.waiting.sync(store, &mut self.asked).await?;
        let (running, calls) = self.audit.running();
        let now = Process {
            alive: Timestamp::now(),
            servers: servers(gateway, served),
            sessions: self.http.as_ref().map_or(1, HttpService::sessions),
            calls,
            running,
            ..self.process.clone()
        };
        let mut changes = Vec::new();
        if self.reported.is_none() {
            changes = leftovers(store).await?;
        }
        if self
            .reported
            .as_ref()
            .is_none_or(|reported| now.is_news(reported))
        {
            changes.push(records::put(Kind::Process, &self.name, &now));
        }
        let anchors = self.audit.anchors();
        changes.extend(audit_folder::changes(&anchors));
        if !changes.is_empty() {
            if let Err(error) = store.commit(changes).await {
                self.audit.keep(anchors);
                return Err(error);
            }
            self.reported = Some(now);
        }
        Ok(())
    }

    /// Takes leave: the audit log's chain has ended.
    pub(crate) async fn end(self, store: &dyn Store) -> Result<(), StoreError> {
        let mut changes = vec![records::delete(Kind::Process, &self.name)];
        changes.extend(
            self.asked
                .iter()
                .map(|id| records::delete(Kind::Question, id)),
        );
        changes.extend(audit_folder::changes(&self.audit.end()));
        store.commit(changes).await.map(drop)
    }
}

/// What gateways left behind that were killed, and the oldest files beyond the bound that no process writes to.
async fn leftovers(store: &dyn Store) -> Result<Vec<Change>, StoreError> {
    let now = Timestamp::now();
    let records = Records::read(store).await?;
    let gone = records.all::<Process>(Kind::Process).into_iter();
    let gone = gone.filter(|(_, process)| !process.is_alive(now));
    let mut changes: Vec<Change> = gone
        .map(|(name, _)| records::delete(Kind::Process, &name))
        .collect();
    let now = Timestamp::now();
    let questions = records.all::<Question>(Kind::Question).into_iter();
    for (id, _) in questions.filter(|(_, question)| question.expires <= now) {
        changes.push(records::delete(Kind::Question, &id));
        changes.push(records::delete(Kind::Answer, &id));
    }
    changes.extend(audit_folder::prune());
    Ok(changes)
}

/// All servers, those that cannot be served with the reason.
fn servers(gateway: &Gateway, served: &Served) -> Vec<ServedServer> {
    let configs = served.configs.iter();
    let known = configs.filter_map(|config| gateway.manager().server(config.name().as_str()));
    let mut servers: Vec<ServedServer> = known
        .map(|server| ServedServer {
            name: server.name.to_string(),
            state: server.state.as_str().to_owned(),
            problem: server.error.map(|error| error.to_string()),
        })
        .collect();
    servers.extend(served.findings.iter().map(|(name, finding)| ServedServer {
        name: name.clone(),
        state: "left out".to_owned(),
        problem: Some(finding.message.clone()),
    }));
    servers
}
