//! The state that all of a server's connections share.

use std::collections::BTreeMap;
use std::sync::Arc;

use parking_lot::{Mutex, RwLock};
use serde_json::{Value, json};
use tokio::sync::watch;

use super::listen::Listeners;
use super::notification;
use super::task::Tasks;
use crate::fault::Kind;
use crate::{Fault, Log, Script};

/// One server, with any number of connections.
#[derive(Debug)]
pub(crate) struct World {
    script: RwLock<Arc<Script>>,
    pub(crate) log: Log,
    fault: Option<Fault>,
    pub(super) tasks: Tasks,
    pub(super) listeners: Listeners,
    counts: Mutex<BTreeMap<String, u64>>,
    stopping: watch::Sender<bool>,
    exiting: watch::Sender<Option<i32>>,
}

/// A change that clients are notified of.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Change<'a> {
    /// `tools`, `prompts` or `resources`.
    List(&'a str),
    /// A resource's URI.
    Resource(&'a str),
    /// Any notification: its method and params.
    Other(&'a str, &'a Value),
    /// A task, in the form of the extension.
    Task(&'a Value),
}

impl World {
    pub(crate) fn new(script: Script, log: Log, fault: Option<Fault>) -> Self {
        let script = match fault.map(|fault| fault.kind) {
            Some(Kind::Script(edit)) => edit(script),
            _ => script,
        };
        Self {
            script: RwLock::new(Arc::new(script)),
            log,
            fault,
            tasks: Tasks::default(),
            listeners: Listeners::default(),
            counts: Mutex::default(),
            stopping: watch::Sender::new(false),
            exiting: watch::Sender::new(None),
        }
    }

    /// The kind of its fault, if it has one.
    pub(crate) fn fault_kind(&self) -> Option<Kind> {
        self.fault.map(|fault| fault.kind)
    }

    pub(crate) fn script(&self) -> Arc<Script> {
        Arc::clone(&self.script.read())
    }

    pub(crate) fn edit(&self, edit: impl FnOnce(Script) -> Script) {
        let mut script = self.script.write();
        *script = Arc::new(edit(Script::clone(&script)));
    }

    /// Counts an event and returns the number so far, including this one.
    pub(crate) fn nth(&self, what: &str) -> u64 {
        let mut counts = self.counts.lock();
        let count = counts.entry(what.to_owned()).or_default();
        *count += 1;
        *count
    }

    /// The number of such events so far.
    pub(crate) fn count(&self, what: &str) -> u64 {
        self.counts.lock().get(what).copied().unwrap_or(0)
    }

    /// Notifies every listener.
    pub(crate) fn announce(&self, change: Change<'_>) {
        self.listeners.announce(change);
    }

    /// Ends all streams normally.
    pub(crate) fn stop(&self) {
        self.stopping.send_replace(true);
    }

    /// Ends the server at once, like a crash.
    pub(crate) fn exit(&self, status: i32) {
        self.exiting.send_replace(Some(status));
    }

    /// Returns the exit status once the server has crashed.
    pub(crate) async fn exited(&self) -> i32 {
        let mut exiting = self.exiting.subscribe();
        // The sender lives in `self`, so this cannot fail.
        let status = exiting.wait_for(Option::is_some).await;
        status.ok().and_then(|status| *status).unwrap_or_default()
    }

    /// Returns once the server must end.
    pub(crate) async fn stopped(&self) {
        // The sender lives in `self`, so this cannot fail.
        let _ = self.stopping.subscribe().wait_for(|stop| *stop).await;
    }
}

impl Change<'_> {
    pub(super) fn message(self) -> Value {
        match self {
            Self::List(kind) => {
                notification(&format!("notifications/{kind}/list_changed"), json!({}))
            }
            Self::Resource(uri) => {
                notification("notifications/resources/updated", json!({"uri": uri}))
            }
            Self::Other(method, params) => notification(method, params.clone()),
            Self::Task(task) => notification("notifications/tasks", task.clone()),
        }
    }
}
