//! Calls that run as tasks: the experimental form of 2025-11-25 and the extension of 2026-07-28.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use parking_lot::Mutex;
use serde_json::{Map, Value, json};
use tokio::sync::{Notify, oneshot};
use tokio::task::AbortHandle;

use super::play::{Play, Way, input_request};
use super::session::Session;
use super::world::Change;
use super::{Out, World, dialect};
use crate::script::{Ask, Tool};
use crate::{Era, Refusal};

/// The number of tasks remembered; the oldest are dropped first.
const MAX_TASKS: usize = 1_000;

/// All tasks of a server.
#[derive(Debug, Default)]
pub(crate) struct Tasks {
    table: Mutex<BTreeMap<String, Arc<Task>>>,
}

/// A call that runs independently.
#[derive(Debug)]
pub(super) struct Task {
    id: String,
    ttl: Value,
    poll_ms: u64,
    created: String,
    state: Mutex<State>,
    changed: Notify,
}

#[derive(Debug)]
struct State {
    updated: String,
    outcome: Outcome,
    asks: Vec<(Ask, oneshot::Sender<Value>)>,
    running: Option<AbortHandle>,
}

#[derive(Clone, Debug)]
enum Outcome {
    Running,
    Cancelled,
    Done(Result<Value, Refusal>),
}

impl Tasks {
    pub(super) fn find(&self, request: &Value) -> Result<Arc<Task>, Refusal> {
        let id = request
            .pointer("/params/taskId")
            .and_then(Value::as_str)
            .unwrap_or_default();
        let found = self.table.lock().get(id).cloned();
        found.ok_or_else(|| Refusal::new(-32602, format!("Unknown task: {id}")))
    }

    pub(super) fn list(&self) -> Vec<Value> {
        self.table
            .lock()
            .values()
            .map(|task| task.legacy())
            .collect()
    }
}

/// Starts a task; the result describes it to the client.
pub(super) fn start(session: &Arc<Session>, era: Era, tool: &Tool, request: &Value) -> Value {
    let world = Arc::clone(&session.world);
    let poll = world.script().task_poll;
    let now = timestamp();
    let task = Arc::new(Task {
        id: format!("task-{:06}", world.nth("task")),
        ttl: request
            .pointer("/params/task/ttl")
            .cloned()
            .unwrap_or_default(),
        poll_ms: u64::try_from(poll.as_millis()).unwrap_or(u64::MAX),
        created: now.clone(),
        state: Mutex::new(State {
            updated: now,
            outcome: Outcome::Running,
            asks: Vec::new(),
            running: None,
        }),
        changed: Notify::new(),
    });
    {
        let mut table = world.tasks.table.lock();
        table.insert(task.id.clone(), Arc::clone(&task));
        if table.len() > MAX_TASKS {
            table.pop_first();
        }
    }
    let (job, tool, request, session) = (
        Arc::clone(&task),
        tool.clone(),
        request.clone(),
        Arc::clone(session),
    );
    let running = tokio::spawn(async move {
        // The progress and log messages of a task have no stream here.
        let (out, _) = Out::channel();
        let play = Play {
            session: &session,
            request: &request,
            out: &out,
            way: Way::Task(&job),
        };
        let outcome = play.run(&tool).await;
        job.update(&session.world, |state| {
            state.outcome = Outcome::Done(outcome)
        });
    });
    task.state.lock().running = Some(running.abort_handle());
    match era {
        Era::Legacy => json!({"task": task.legacy()}),
        Era::Modern => {
            let mut view = task.modern();
            if let Some(members) = view.as_object_mut() {
                members.insert("resultType".to_owned(), "task".into());
            }
            view
        }
    }
}

/// `tasks/result` of 2025-11-25: waits for the end, and asks the task's questions on the way.
pub(super) async fn result(
    session: &Session,
    request: &Value,
    out: &Out,
) -> Result<Value, Refusal> {
    let task = session.world.tasks.find(request)?;
    loop {
        let changed = task.changed.notified();
        tokio::pin!(changed);
        changed.as_mut().enable();
        let (outcome, ask) = {
            let mut state = task.state.lock();
            (state.outcome.clone(), state.asks.pop())
        };
        if let Some((ask, asker)) = ask {
            let mut params = ask.params.clone();
            relate(&mut params, &task.id);
            let answer = session.ask(out, &ask.method, &params).await;
            task.answered(
                &session.world,
                asker,
                answer.get("result").cloned().unwrap_or_default(),
            );
            continue;
        }
        match outcome {
            Outcome::Running => changed.await,
            Outcome::Cancelled => return Err(Refusal::new(-32602, "The task was cancelled")),
            Outcome::Done(outcome) => {
                let mut result = outcome?;
                relate(&mut result, &task.id);
                return Ok(result);
            }
        }
    }
}

impl Task {
    /// Asks the client through the task's input requests.
    pub(super) async fn ask(&self, world: &World, ask: &Ask) -> Value {
        let (asker, answer) = oneshot::channel();
        self.update(world, |state| state.asks.push((ask.clone(), asker)));
        answer.await.unwrap_or_default()
    }

    fn answered(&self, world: &World, asker: oneshot::Sender<Value>, answer: Value) {
        // A cancelled task no longer waits.
        let _ = asker.send(answer);
        self.update(world, |_| {});
    }

    /// `tasks/update`: responses by key; unknown keys are ignored.
    pub(super) fn input(&self, world: &World, responses: &Value) {
        for (key, answer) in responses.as_object().into_iter().flatten() {
            let asked = {
                let mut state = self.state.lock();
                let at = state.asks.iter().position(|(ask, _)| ask.key == *key);
                at.map(|at| state.asks.remove(at))
            };
            if let Some((_, asker)) = asked {
                self.answered(world, asker, answer.clone());
            }
        }
    }

    /// Stops it; `false` if it has already ended.
    pub(super) fn cancel(&self, world: &World) -> bool {
        let mut stopped = false;
        self.update(world, |state| {
            if matches!(state.outcome, Outcome::Running) {
                state.outcome = Outcome::Cancelled;
                state.asks.clear();
                if let Some(running) = state.running.take() {
                    running.abort();
                }
                stopped = true;
            }
        });
        stopped
    }

    fn update(&self, world: &World, change: impl FnOnce(&mut State)) {
        {
            let mut state = self.state.lock();
            change(&mut state);
            state.updated = timestamp();
        }
        self.changed.notify_waiters();
        world.announce(Change::Task(&self.modern()));
    }

    /// The task in the form of 2025-11-25.
    pub(super) fn legacy(&self) -> Value {
        let state = self.state.lock();
        let status = match &state.outcome {
            Outcome::Done(Ok(result)) if result.get("isError").is_some_and(|e| e == true) => {
                "failed"
            }
            _ => state.status(),
        };
        json!({
            "taskId": self.id, "status": status, "createdAt": self.created,
            "lastUpdatedAt": state.updated, "ttl": self.ttl, "pollInterval": self.poll_ms,
        })
    }

    /// The task in the form of the extension, with result, error or input requests inline.
    pub(super) fn modern(&self) -> Value {
        let state = self.state.lock();
        let mut view = json!({
            "taskId": self.id, "status": state.status(), "createdAt": self.created,
            "lastUpdatedAt": state.updated, "ttlMs": self.ttl, "pollIntervalMs": self.poll_ms,
        });
        let more = match &state.outcome {
            Outcome::Done(Ok(result)) => Some(("result", result.clone())),
            Outcome::Done(Err(refusal)) => Some((
                "error",
                json!({"code": refusal.code, "message": refusal.message}),
            )),
            Outcome::Running if !state.asks.is_empty() => {
                let requests: Map<String, Value> = state
                    .asks
                    .iter()
                    .map(|(ask, _)| (ask.key.clone(), input_request(ask)))
                    .collect();
                Some(("inputRequests", Value::Object(requests)))
            }
            Outcome::Running | Outcome::Cancelled => None,
        };
        if let (Some(members), Some((name, value))) = (view.as_object_mut(), more) {
            members.insert(name.to_owned(), value);
        }
        view
    }
}

impl State {
    fn status(&self) -> &'static str {
        match &self.outcome {
            Outcome::Running if self.asks.is_empty() => "working",
            Outcome::Running => "input_required",
            Outcome::Cancelled => "cancelled",
            Outcome::Done(Ok(_)) => "completed",
            Outcome::Done(Err(_)) => "failed",
        }
    }
}

fn relate(object: &mut Value, id: &str) {
    if let Some(members) = object.as_object_mut() {
        let meta = members.entry("_meta").or_insert_with(|| json!({}));
        if let Some(meta) = meta.as_object_mut() {
            meta.insert(dialect::RELATED_TASK.to_owned(), json!({"taskId": id}));
        }
    }
}

/// The time of day in ISO 8601, UTC.
fn timestamp() -> String {
    let since = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    let (days, time) = (since.as_secs() / 86_400, since.as_secs() % 86_400);
    // Days since 0000-03-01, in eras of 400 years.
    let shifted = days + 719_468;
    let (era, of_era) = (shifted / 146_097, shifted % 146_097);
    let year_of_era = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 {
        shifted_month + 3
    } else {
        shifted_month - 9
    };
    let year = year_of_era + era * 400 + u64::from(month <= 2);
    format!(
        "{year:04}-{month:02}-{day:02}T{:02}:{:02}:{:02}.{:03}Z",
        time / 3_600,
        time / 60 % 60,
        time % 60,
        since.subsec_millis()
    )
}
