//! Calls that continue as tasks: their state, their input, and how long they are kept.

pub(crate) mod methods;

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Weak};
use std::time::{Duration, SystemTime};

use mcp_jsonrpc::model::task::{Task, TaskStatus, Ttl};
use mcp_jsonrpc::model::{InputRequest, InputRequests, InputResponses, experimental_task};
use mcp_jsonrpc::{ErrorObject, RawJson, RawObject};
use parking_lot::Mutex;
use tokio::sync::{Notify, oneshot};
use tokio::task::AbortHandle;
use tokio::time::Instant;

use crate::handler::ask::AskError;
use crate::notifier::Change;
use crate::server::limits::ServerLimits;
use crate::server::random;
use crate::server::shared::Shared;
use crate::server::shares::Share;
use crate::server::timestamp::iso8601;

/// How often clients are asked to poll.
const POLL_INTERVAL_MS: i64 = 500;

/// All tasks of a server.
#[derive(Default)]
pub(crate) struct TaskTable(Mutex<HashMap<String, Arc<TaskCell>>>);

/// Who may see and steer a task.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum Owner {
    /// An authenticated caller, in whatever session.
    Caller(String),
    /// A legacy session of an unauthenticated client: it can list its tasks, and only those.
    Session(u64),
    /// Whoever knows the task's id, which cannot be guessed: the modern era lists no tasks.
    Bearer,
}

/// One task.
pub(crate) struct TaskCell {
    pub(crate) id: String,
    owner: Owner,
    _share: Share,
    created: SystemTime,
    ttl: Duration,
    expires: Instant,
    shared: Weak<Shared>,
    state: Mutex<State>,
    /// Notified on every change.
    pub(crate) changed: Notify,
}

struct State {
    updated: SystemTime,
    outcome: Option<Outcome>,
    open: Vec<OpenInput>,
    /// Every key that was asked for so far.
    used: BTreeSet<String>,
    abort: Option<AbortHandle>,
}

/// How a task ended.
#[derive(Clone)]
pub(crate) enum Outcome {
    /// With the result of its request; `is_error` if that is a tool's failure.
    Result {
        result: RawObject,
        is_error: bool,
    },
    Error(ErrorObject),
    Cancelled,
}

struct OpenInput {
    key: String,
    request: InputRequest,
    answer: oneshot::Sender<RawJson>,
}

impl TaskTable {
    /// Opens a task; `None` beyond the limit.
    pub(crate) fn open(
        shared: &Arc<Shared>,
        owner: Owner,
        ttl: Option<Duration>,
    ) -> Option<Arc<TaskCell>> {
        let limit = shared.limits.task_time();
        let ttl = ttl.map_or(limit, |ttl| ttl.min(limit));
        let now = SystemTime::now();
        let mut tasks = shared.tasks.0.lock();
        sweep(&mut tasks);
        if tasks.len() >= shared.limits.tasks() {
            return None;
        }
        let caller = match &owner {
            Owner::Caller(id) => Some(id.as_str()),
            Owner::Session(_) | Owner::Bearer => None,
        };
        let share = shared.shares.tasks.take(caller)?;
        let cell = Arc::new(TaskCell {
            id: random::token(),
            owner,
            _share: share,
            created: now,
            ttl,
            expires: Instant::now() + ttl,
            shared: Arc::downgrade(shared),
            state: Mutex::new(State {
                updated: now,
                outcome: None,
                open: Vec::new(),
                used: BTreeSet::new(),
                abort: None,
            }),
            changed: Notify::new(),
        });
        tasks.insert(cell.id.clone(), Arc::clone(&cell));
        Some(cell)
    }

    /// The owner's task of this id.
    pub(crate) fn find(&self, id: &str, owner: &Owner) -> Option<Arc<TaskCell>> {
        let mut tasks = self.0.lock();
        sweep(&mut tasks);
        let cell = tasks.get(id).filter(|cell| cell.owner == *owner);
        cell.map(Arc::clone)
    }

    /// The owner's tasks, oldest first.
    pub(crate) fn list(&self, owner: &Owner) -> Vec<Arc<TaskCell>> {
        let mut tasks = self.0.lock();
        sweep(&mut tasks);
        let mut all: Vec<_> = tasks
            .values()
            .filter(|cell| cell.owner == *owner)
            .cloned()
            .collect();
        all.sort_by(|a, b| (a.created, &a.id).cmp(&(b.created, &b.id)));
        all
    }
}

/// Ends and forgets what has outlived its time.
fn sweep(tasks: &mut HashMap<String, Arc<TaskCell>>) {
    let now = Instant::now();
    tasks.retain(|_, cell| {
        let keep = now < cell.expires;
        if !keep {
            cell.finish(Outcome::Cancelled);
        }
        keep
    });
}

impl TaskCell {
    /// The handle that stops its handler.
    pub(crate) fn set_abort(&self, abort: AbortHandle) {
        let mut state = self.state.lock();
        if state.outcome.is_some() {
            abort.abort();
        } else {
            state.abort = Some(abort);
        }
    }

    /// Asks for input and waits for it.
    pub(crate) async fn ask(
        &self,
        key: &str,
        request: InputRequest,
        limits: &ServerLimits,
    ) -> Result<RawJson, AskError> {
        struct Withdraw<'a>(&'a TaskCell, String);
        impl Drop for Withdraw<'_> {
            fn drop(&mut self) {
                self.0.state.lock().open.retain(|input| input.key != self.1);
            }
        }
        let (answer, answered) = oneshot::channel();
        let withdraw = {
            let mut state = self.state.lock();
            if state.open.len() >= limits.questions() {
                return Err(AskError::TooMany {
                    limit: limits.questions(),
                });
            }
            // Clients answer each key once, so no key is used twice.
            let mut key = key.to_owned();
            if !state.used.insert(key.clone()) {
                key = format!("{key}-{}", state.used.len());
                state.used.insert(key.clone());
            }
            state.open.push(OpenInput {
                key: key.clone(),
                request,
                answer,
            });
            Withdraw(self, key)
        };
        self.touch();
        let answered = tokio::time::timeout(limits.answer_time(), answered).await;
        drop(withdraw);
        self.touch();
        match answered {
            Ok(Ok(raw)) => Ok(raw),
            Ok(Err(_)) => Err(AskError::Disconnected),
            Err(_) => Err(AskError::TimedOut),
        }
    }

    /// Takes answers by key; unknown keys are ignored.
    pub(crate) fn update(&self, responses: InputResponses) {
        {
            let mut state = self.state.lock();
            for (key, raw) in responses {
                if let Some(at) = state.open.iter().position(|input| input.key == key) {
                    let _ = state.open.remove(at).answer.send(raw);
                }
            }
        }
        self.touch();
    }

    /// Ends the task, unless it has ended.
    pub(crate) fn finish(&self, outcome: Outcome) {
        {
            let mut state = self.state.lock();
            if state.outcome.is_some() {
                return;
            }
            if let (Outcome::Cancelled, Some(abort)) = (&outcome, state.abort.take()) {
                abort.abort();
            }
            state.outcome = Some(outcome);
            state.open.clear();
        }
        self.touch();
    }

    fn touch(&self) {
        self.state.lock().updated = SystemTime::now();
        self.changed.notify_waiters();
        if let Some(shared) = self.shared.upgrade() {
            shared
                .subscribers
                .announce(&Change::Task(Box::new(self.view())));
        }
    }

    pub(crate) fn outcome(&self) -> Option<Outcome> {
        self.state.lock().outcome.clone()
    }

    /// What it waits for.
    pub(crate) fn inputs(&self) -> InputRequests {
        let state = self.state.lock();
        let pairs = state.open.iter();
        pairs
            .map(|input| (input.key.clone(), input.request.clone()))
            .collect()
    }

    /// All of it, as the tasks extension has it.
    pub(crate) fn view(&self) -> Task {
        let mut task = self.handle();
        let inputs = self.inputs();
        match self.outcome() {
            Some(Outcome::Result { result, .. }) => {
                task.status = TaskStatus::Completed;
                task.result = Some(result);
            }
            Some(Outcome::Error(error)) => {
                task.status = TaskStatus::Failed;
                task.error = Some(error);
            }
            Some(Outcome::Cancelled) => task.status = TaskStatus::Cancelled,
            None if inputs.is_empty() => {}
            None => {
                task.status = TaskStatus::InputRequired;
                task.input_requests = Some(inputs);
            }
        }
        task
    }

    /// As the reply that creates it has it.
    pub(crate) fn handle(&self) -> Task {
        let updated = self.state.lock().updated;
        let ttl = Ttl::Millis(millis(self.ttl));
        let mut task = Task::new(
            self.id.clone(),
            TaskStatus::Working,
            iso8601(self.created),
            iso8601(updated),
            ttl,
        );
        task.poll_interval_ms = Some(POLL_INTERVAL_MS);
        task
    }

    /// As 2025-11-25 has it, where a tool's failure is the task's.
    pub(crate) fn experimental(&self) -> experimental_task::Task {
        let modern = self.view();
        let status = match self.outcome() {
            Some(Outcome::Result { is_error: true, .. }) => TaskStatus::Failed,
            _ => modern.status,
        };
        let mut task = experimental_task::Task::new(
            modern.task_id,
            status,
            modern.created_at,
            modern.last_updated_at,
            modern.ttl,
        );
        task.poll_interval = modern.poll_interval_ms;
        task
    }
}

fn millis(duration: Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)
}
