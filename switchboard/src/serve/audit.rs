//! What a team's audit log has of logins and of changes to settings, users, servers and tokens.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use crate::gateway::audit_file::{Anchor, AuditFile};
use crate::gateway::audit_folder;
use crate::store::{Store, Timestamp};

/// The audit log, if there is one: a team has.
#[derive(Clone, Debug, Default)]
pub(crate) struct Audit(Option<AuditFile>);

impl Audit {
    /// A log that is kept.
    pub(crate) fn open() -> std::io::Result<Self> {
        AuditFile::create().map(|file| Self(Some(file)))
    }

    /// Records that something was done or refused, and anchors it in the store.
    ///
    /// A log that cannot be written never keeps anyone out: what it misses is missing at its end.
    pub(crate) async fn record(&self, store: &dyn Store, event: &Event<'_>) {
        let Some(file) = &self.0 else {
            return;
        };
        if let Err(error) = file.event(event.members()) {
            tracing::error!(%error, "the audit log cannot be written");
            return;
        }
        self.anchor(store, file.anchors()).await;
    }

    /// Ends the log's file.
    pub(crate) async fn end(&self, store: &dyn Store) {
        if let Some(file) = &self.0 {
            self.anchor(store, file.end()).await;
        }
    }

    async fn anchor(&self, store: &dyn Store, anchors: BTreeMap<String, Anchor>) {
        let changes = audit_folder::changes(&anchors);
        if changes.is_empty() {
            return;
        }
        if let (Err(_), Some(file)) = (store.commit(changes).await, &self.0) {
            // With the next one.
            file.keep(anchors);
        }
    }
}

/// Records what someone did who has the database, by the command line.
pub(crate) async fn by_hand(store: &dyn Store, event: &str, detail: &str) {
    let event = Event {
        event,
        user: "",
        by: "command line",
        outcome: "done",
        detail,
    };
    match AuditFile::by_hand().map(|file| Audit(Some(file))) {
        Ok(audit) => {
            audit.record(store, &event).await;
            audit.end(store).await;
        }
        Err(error) => tracing::error!(%error, "the audit log cannot be written"),
    }
}

/// Something that was done or refused.
#[derive(Debug)]
pub(crate) struct Event<'a> {
    /// What: `login`, `logout`, or the method and the path of a request.
    pub(crate) event: &'a str,
    /// Who, as far as that is known.
    pub(crate) user: &'a str,
    /// By a session, a token or a link.
    pub(crate) by: &'a str,
    /// What became of it.
    pub(crate) outcome: &'a str,
    /// What else there is to say. Never a secret.
    pub(crate) detail: &'a str,
}

impl Event<'_> {
    fn members(&self) -> Map<String, Value> {
        let value = json!({
            "time": Timestamp::now().rfc3339(),
            "event": self.event,
            "user": self.user,
            "by": self.by,
            "outcome": self.outcome,
            "detail": self.detail,
        });
        match value {
            Value::Object(members) => members,
            _ => Map::new(),
        }
    }
}
