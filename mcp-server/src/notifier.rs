//! Announcements of changes: their subscribers, and the handle that makes them.

pub(crate) mod listen;
pub(crate) mod queue;

use std::collections::{BTreeSet, HashMap};
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};

use mcp_jsonrpc::model::task::Task;
use mcp_jsonrpc::model::{
    ElicitationComplete, ElicitationCompleteParams, EmptyParams, LogMessageParams, Meta,
    ResourceUpdatedParams, SubscriptionFilter,
};
use mcp_jsonrpc::{NotificationMethod as _, RequestId, encode_notification};
use parking_lot::Mutex;
use tokio::sync::Notify;

use crate::handler::caller::Caller;
use crate::handler::context::LevelGate;
use crate::pipe::outlet::Outlet;
use crate::server::shared::Shared;

/// Announces changes to every subscribed client. Cheap to clone; does not keep the server alive.
#[derive(Clone)]
pub struct Notifier(Weak<Shared>);

impl Notifier {
    pub(crate) fn new(shared: &Arc<Shared>) -> Self {
        Self(Arc::downgrade(shared))
    }

    /// The list of tools changed.
    pub fn tools_changed(&self) {
        self.announce(&Change::Tools);
    }

    /// The list of prompts changed.
    pub fn prompts_changed(&self) {
        self.announce(&Change::Prompts);
    }

    /// The list of resources changed.
    pub fn resources_changed(&self) {
        self.announce(&Change::Resources);
    }

    /// A resource changed.
    pub fn resource_updated(&self, uri: impl Into<String>) {
        self.announce(&Change::Resource(uri.into()));
    }

    /// Sends a log message that belongs to no request to every session with a matching level.
    pub fn log(&self, message: LogMessageParams) {
        self.log_to(message, |_| true);
    }

    /// As [`log`](Self::log), to the sessions of these callers only; `None` is one that is not authenticated.
    pub fn log_to(&self, message: LogMessageParams, to: impl Fn(Option<&Caller>) -> bool) {
        if let Some(shared) = self.0.upgrade() {
            let change = Change::Log(Box::new(message));
            shared.subscribers.announce_to(&change, &to);
        }
    }

    /// The user of this session ([`Context::session_id`](crate::Context::session_id)) has completed the action at the
    /// URL of the elicitation with this id.
    pub fn elicitation_complete(&self, session: u64, elicitation_id: impl Into<String>) {
        self.announce(&Change::ElicitationComplete {
            session,
            id: elicitation_id.into(),
        });
    }

    fn announce(&self, change: &Change) {
        if let Some(shared) = self.0.upgrade() {
            shared.subscribers.announce(change);
        }
    }
}

impl fmt::Debug for Notifier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Notifier")
    }
}

/// What can change.
pub(crate) enum Change {
    Tools,
    Prompts,
    Resources,
    Resource(String),
    Task(Box<Task>),
    Log(Box<LogMessageParams>),
    ElicitationComplete { session: u64, id: String },
}

/// Everyone who listens.
#[derive(Default)]
pub(crate) struct Subscribers {
    next: AtomicU64,
    listeners: Mutex<Listeners>,
}

#[derive(Default)]
struct Listeners {
    all: HashMap<u64, Listener>,
    /// How many of them are subscriptions.
    subscriptions: usize,
}

struct Listener {
    interests: Interests,
    outlet: Arc<dyn Outlet>,
    lagged: Arc<Notify>,
}

/// What a listener wants to hear of.
pub(crate) enum Interests {
    /// A legacy session: every list, and the resources it has subscribed to.
    /// Also log messages, from its level on, and what is for it alone.
    Session {
        id: u64,
        caller: Option<Caller>,
        watched: Arc<Mutex<BTreeSet<String>>>,
        level: LevelGate,
    },
    /// A modern subscription: what its filter names, marked with its id.
    Subscription(SubscriptionFilter, RequestId),
}

impl Interests {
    fn are_a_subscription(&self) -> bool {
        matches!(self, Self::Subscription(..))
    }
}

/// One registration. Dropping it ends it.
pub(crate) struct Listening {
    shared: Weak<Shared>,
    key: u64,
    /// Notified when a message was lost because the reader is too slow.
    pub(crate) lagged: Arc<Notify>,
}

impl Subscribers {
    /// Registers a listener; `None` beyond the limit of subscriptions. Sessions are bounded by themselves.
    pub(crate) fn listen(
        shared: &Arc<Shared>,
        interests: Interests,
        outlet: Arc<dyn Outlet>,
    ) -> Option<Listening> {
        let subscribers = &shared.subscribers;
        let key = subscribers.next.fetch_add(1, Ordering::Relaxed);
        let lagged = Arc::new(Notify::new());
        let mut listeners = subscribers.listeners.lock();
        if interests.are_a_subscription() {
            if listeners.subscriptions >= shared.limits.subscriptions() {
                return None;
            }
            listeners.subscriptions += 1;
        }
        let listener = Listener {
            interests,
            outlet,
            lagged: Arc::clone(&lagged),
        };
        listeners.all.insert(key, listener);
        Some(Listening {
            shared: Arc::downgrade(shared),
            key,
            lagged,
        })
    }

    fn remove(&self, key: u64) {
        let mut listeners = self.listeners.lock();
        let removed = listeners.all.remove(&key);
        if removed.is_some_and(|listener| listener.interests.are_a_subscription()) {
            listeners.subscriptions -= 1;
        }
    }

    pub(crate) fn announce(&self, change: &Change) {
        self.announce_to(change, &|_| true);
    }

    /// As [`announce`](Self::announce); log messages go to the sessions of these callers only.
    fn announce_to(&self, change: &Change, to: &dyn Fn(Option<&Caller>) -> bool) {
        for listener in self.listeners.lock().all.values() {
            let message = match &listener.interests {
                Interests::Session {
                    id,
                    caller,
                    watched,
                    level,
                } => {
                    let wanted = match change {
                        Change::Log(message) => {
                            level.lets_through(message.level) && to(caller.as_ref())
                        }
                        Change::Tools | Change::Prompts | Change::Resources => true,
                        Change::Resource(uri) => watched.lock().contains(uri),
                        Change::Task(_) => false,
                        Change::ElicitationComplete { session, .. } => session == id,
                    };
                    wanted.then(|| change.encode(None)).flatten()
                }
                Interests::Subscription(filter, id) if change.is_wanted(filter) => {
                    change.encode(Some(id))
                }
                Interests::Subscription(..) => None,
            };
            if message.is_some_and(|message| !listener.outlet.push(message)) {
                listener.lagged.notify_one();
            }
        }
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        if let Some(shared) = self.shared.upgrade() {
            shared.subscribers.remove(self.key);
        }
    }
}

impl Change {
    fn is_wanted(&self, filter: &SubscriptionFilter) -> bool {
        let names = |names: &Option<Vec<String>>, name: &str| {
            names.iter().flatten().any(|wanted| wanted == name)
        };
        match self {
            Self::Tools => filter.tools_list_changed == Some(true),
            Self::Prompts => filter.prompts_list_changed == Some(true),
            Self::Resources => filter.resources_list_changed == Some(true),
            Self::Resource(uri) => names(&filter.resource_subscriptions, uri),
            Self::Task(task) => names(&filter.task_ids, &task.task_id),
            // Modern clients get them with their requests.
            Self::Log(_) => false,
            // The modern era has none.
            Self::ElicitationComplete { .. } => false,
        }
    }

    fn encode(&self, subscription: Option<&RequestId>) -> Option<Vec<u8>> {
        let meta = subscription.map(|id| {
            let mut meta = Meta::default();
            let _ = meta.set_subscription_id(id);
            meta
        });
        let mut out = Vec::new();
        let lists = |method: &str, out: &mut Vec<u8>| {
            let mut params = EmptyParams::default();
            params.meta = meta.clone();
            encode_notification(out, method, &params)
        };
        match self {
            Self::Tools => lists("notifications/tools/list_changed", &mut out),
            Self::Prompts => lists("notifications/prompts/list_changed", &mut out),
            Self::Resources => lists("notifications/resources/list_changed", &mut out),
            Self::Resource(uri) => {
                let mut params = ResourceUpdatedParams::new(uri.as_str());
                params.meta = meta;
                encode_notification(&mut out, "notifications/resources/updated", &params)
            }
            Self::Log(message) => encode_notification(&mut out, "notifications/message", message),
            Self::ElicitationComplete { id, .. } => {
                let params = ElicitationCompleteParams::new(id.as_str());
                encode_notification(&mut out, ElicitationComplete::NAME, &params)
            }
            Self::Task(task) => {
                let mut params = Task::clone(task);
                params.meta = meta;
                params.result_type = None;
                encode_notification(&mut out, "notifications/tasks", &params)
            }
        }
        .ok()?;
        Some(out)
    }
}
