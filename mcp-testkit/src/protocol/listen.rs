//! Listeners for changes: legacy sessions, and modern `subscriptions/listen` streams.

use std::collections::BTreeMap;
use std::sync::Arc;

use parking_lot::Mutex;
use serde_json::{Map, Value, json};

use super::dialect::SUBSCRIPTION;
use super::session::Session;
use super::world::Change;
use super::{Out, notification};
use crate::Refusal;

/// All listeners.
#[derive(Debug, Default)]
pub(crate) struct Listeners {
    table: Arc<Mutex<Table>>,
}

#[derive(Debug, Default)]
struct Table {
    next: u64,
    entries: BTreeMap<u64, Listener>,
}

#[derive(Debug)]
enum Listener {
    Session(std::sync::Weak<Session>),
    Stream { id: Value, wanted: Value, out: Out },
}

/// Listens until dropped.
#[derive(Debug)]
pub(crate) struct Listening {
    table: Arc<Mutex<Table>>,
    key: u64,
}

impl Listeners {
    /// Adds a legacy session, which receives every change on its general stream.
    pub(super) fn add_session(&self, session: &Arc<Session>) -> Listening {
        self.add(Listener::Session(Arc::downgrade(session)))
    }

    fn add(&self, listener: Listener) -> Listening {
        let mut table = self.table.lock();
        table.next += 1;
        let key = table.next;
        table.entries.insert(key, listener);
        drop(table);
        Listening {
            table: Arc::clone(&self.table),
            key,
        }
    }

    pub(super) fn announce(&self, change: Change<'_>) {
        // Notify outside the lock: dropping a session's last handle takes it again.
        let mut sessions = Vec::new();
        for listener in self.table.lock().entries.values() {
            match listener {
                Listener::Session(session) => sessions.extend(session.upgrade()),
                Listener::Stream { id, wanted, out } if wants(wanted, change) => {
                    out.try_send(&tagged(change.message(), id));
                }
                Listener::Stream { .. } => {}
            }
        }
        for session in sessions {
            session.hear(change);
        }
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        self.table.lock().entries.remove(&self.key);
    }
}

/// Serves one `subscriptions/listen` until the server stops; cancelling drops the future.
pub(super) async fn listen(
    session: &Session,
    request: &Value,
    out: &Out,
) -> Result<Value, Refusal> {
    let id = request.get("id").cloned().unwrap_or_default();
    let script = session.world.script();
    let asked = request
        .pointer("/params/notifications")
        .cloned()
        .unwrap_or_default();
    let mut wanted = Map::new();
    for (kind, offered) in [
        ("toolsListChanged", !script.tools.is_empty()),
        ("promptsListChanged", !script.prompts.is_empty()),
        ("resourcesListChanged", !script.resources.is_empty()),
    ] {
        if offered && asked.get(kind).is_some_and(|on| on == true) {
            wanted.insert(kind.to_owned(), true.into());
        }
    }
    for list in ["resourceSubscriptions", "taskIds"] {
        if let Some(entries) = asked.get(list) {
            wanted.insert(list.to_owned(), entries.clone());
        }
    }
    let wanted = Value::Object(wanted);
    let acknowledged = notification(
        "notifications/subscriptions/acknowledged",
        json!({"notifications": wanted}),
    );
    out.send(&tagged(acknowledged, &id)).await;
    let _listening = session.world.listeners.add(Listener::Stream {
        id: id.clone(),
        wanted,
        out: out.clone(),
    });
    tokio::select! {
        () = session.world.stopped() => {}
        () = out.closed() => {}
    }
    Ok(json!({"_meta": {SUBSCRIPTION: id}}))
}

fn wants(wanted: &Value, change: Change<'_>) -> bool {
    match change {
        Change::List(kind) => wanted.get(format!("{kind}ListChanged")).is_some(),
        Change::Resource(uri) => wanted
            .get("resourceSubscriptions")
            .and_then(Value::as_array)
            .is_some_and(|uris| uris.iter().any(|wanted| wanted == uri)),
        Change::Other(..) => true,
        Change::Task(task) => wanted
            .get("taskIds")
            .and_then(Value::as_array)
            .is_some_and(|ids| ids.iter().any(|id| task.get("taskId") == Some(id))),
    }
}

fn tagged(mut message: Value, id: &Value) -> Value {
    if let Some(params) = message
        .pointer_mut("/params")
        .and_then(Value::as_object_mut)
    {
        params.insert("_meta".to_owned(), json!({SUBSCRIPTION: id}));
    }
    message
}
