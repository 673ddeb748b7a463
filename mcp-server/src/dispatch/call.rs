//! Requests whose handlers may ask questions: `tools/call`, `prompts/get`, `resources/read`. Drives
//! the handler to its result, to a question, or into a task.

use std::pin::Pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use bytes::Bytes;
use mcp_jsonrpc::model::experimental_task::{self as experimental, TaskSupport};
use mcp_jsonrpc::model::{
    CallToolParams, ClientCapabilities, GetPromptParams, InputRequests, InputRequiredResult,
    InputResponses, Meta, ReadResourceParams, extension,
};
use mcp_jsonrpc::{OrderedMap, RawObject, ResultType, TaskForm};
use parking_lot::Mutex;
use serde_json::{Value, json};
use tokio::time::timeout;

use crate::dispatch::era;
use crate::dispatch::finish::{Finish, finished};
use crate::dispatch::guarded::{caught, timed_out};
use crate::dispatch::held::{Held, HeldTable};
use crate::dispatch::request_state::{Binding, RequestState};
use crate::dispatch::signals::Signal;
use crate::dispatch::{Exchange, Outcome};
use crate::handler::ToolReply;
use crate::handler::context::{Asking, Context, Rounds};
use crate::handler::error::Error;
use crate::server::limits::ServerLimits;
use crate::server::timestamp::unix_seconds;
use crate::task::{self, TaskCell, TaskTable};

/// A handler at work; its output is the result as JSON, and whether it is a tool's failure.
type Work = Pin<Box<dyn Future<Output = Result<Finished, Error>> + Send>>;

struct Finished {
    json: Bytes,
    is_error: bool,
}

/// Why driving stopped.
enum Stopped {
    Done(Result<Finished, Error>),
    Asked(InputRequests),
    Detach(Work),
}

pub(crate) async fn tool(exchange: &Exchange) -> Outcome {
    let mut params: CallToolParams = exchange.params()?;
    let tasks = Tasks::of(exchange, &params).await?;
    let call = Call {
        responses: params.input_responses.take(),
        state: params.request_state.take(),
        meta: params.meta.clone(),
        may_detach: tasks == Tasks::Extension,
    };
    let requested = params.task.take();
    let cx = call.context(exchange)?;
    let (handler, context) = (Arc::clone(&exchange.shared.handler), cx.clone());
    let work: Work = Box::pin(async move {
        let cx = context.clone();
        let result = match handler.call_tool_or_task(params, context).await {
            Ok(ToolReply::Result(result)) => *result,
            Ok(ToolReply::Task(mut task)) => {
                task.result_type = Some(ResultType::Task);
                let json = finished(*task, cx.0.client.revision, &cx.0.shared)?;
                let is_error = false;
                return Ok(Finished { json, is_error });
            }
            Err(error) => error.into_tool_result()?,
        };
        let is_error = result.failed();
        let json = finished(result, cx.0.client.revision, &cx.0.shared)?;
        Ok(Finished { json, is_error })
    });
    if let (Tasks::Experimental, Some(requested)) = (tasks, requested) {
        let ttl = requested.ttl.and_then(|ttl| u64::try_from(ttl).ok());
        let cell = open_task(exchange, ttl.map(Duration::from_millis))?;
        become_task(&cx, &cell);
        run_task(cx, work, &cell);
        return exchange.finished(experimental::CreateTaskResult::new(cell.experimental()));
    }
    drive_rounds(exchange, cx, work).await
}

pub(crate) async fn prompt(exchange: &Exchange) -> Outcome {
    let mut params: GetPromptParams = exchange.params()?;
    let call = Call {
        responses: params.input_responses.take(),
        state: params.request_state.take(),
        meta: params.meta.clone(),
        may_detach: false,
    };
    let handler = Arc::clone(&exchange.shared.handler);
    let get = |cx| async move { handler.get_prompt(params, cx).await };
    in_rounds(exchange, call, get).await
}

pub(crate) async fn resource(exchange: &Exchange) -> Outcome {
    let mut params: ReadResourceParams = exchange.params()?;
    let call = Call {
        responses: params.input_responses.take(),
        state: params.request_state.take(),
        meta: params.meta.clone(),
        may_detach: false,
    };
    let handler = Arc::clone(&exchange.shared.handler);
    let read = |cx| async move { handler.read_resource(params, cx).await };
    in_rounds(exchange, call, read).await
}

/// Runs a handler that can ask, but cannot become a task.
async fn in_rounds<R, F>(exchange: &Exchange, call: Call, run: impl FnOnce(Context) -> F) -> Outcome
where
    R: Finish,
    F: Future<Output = Result<R, Error>> + Send + 'static,
{
    let cx = call.context(exchange)?;
    let (running, client) = (run(cx.clone()), cx.clone());
    let work: Work = Box::pin(async move {
        let json = finished(running.await?, client.0.client.revision, &client.0.shared)?;
        Ok(Finished {
            json,
            is_error: false,
        })
    });
    drive_rounds(exchange, cx, work).await
}

/// What the three methods have in common.
struct Call {
    responses: Option<InputResponses>,
    state: Option<String>,
    meta: Option<Meta>,
    may_detach: bool,
}

impl Call {
    /// What its handler sees.
    fn context(self, exchange: &Exchange) -> Result<Context, Error> {
        let (asking, held) = self.asking(exchange)?;
        let cx = exchange.context_with(self.meta, asking, self.may_detach);
        *cx.0.held.lock() = held;
        Ok(cx)
    }

    /// How its handler can ask, and what the call holds.
    fn asking(&self, exchange: &Exchange) -> Result<(Asking, Held), Error> {
        if let Some(session) = &exchange.session {
            let peer = Arc::clone(&session.peer);
            return Ok((Asking::Requests(peer), Held::new()));
        }
        let shared = &exchange.shared;
        let mut rounds = Rounds::default();
        if let Some(text) = &self.state {
            let (limit, binding) = (shared.limits.state_bytes(), binding(exchange)?);
            rounds.state = shared
                .sealer
                .open(text, &binding, unix_seconds(), limit)
                .ok_or_else(|| {
                    Error::invalid_params(
                        "invalid requestState: it is not of this call, or has expired",
                    )
                })?;
        }
        rounds.responses = self.responses.clone().unwrap_or_default();
        let held = rounds.state.held.take();
        let held = held.map_or_else(Held::new, |token| shared.held.take(&token));
        let asking = Asking::Rounds(Arc::new(Mutex::new(rounds)));
        Ok((asking, held))
    }
}

/// What the call's `requestState` is bound to: all that makes this call this call.
fn binding(exchange: &Exchange) -> Result<Binding, Error> {
    let params: Value = match &exchange.params {
        Some(params) => params.parse()?,
        None => Value::Null,
    };
    let parts = ["name", "uri", "arguments"].map(|key| params.get(key));
    let (method, caller) = (&exchange.method, exchange.caller_id());
    Ok(Binding::new(method, caller, &json!(parts)))
}

/// How a call may become a task.
#[derive(Clone, Copy, Eq, PartialEq)]
enum Tasks {
    Never,
    /// If the client requests it (2025-11-25).
    Experimental,
    /// If the handler decides so (modern).
    Extension,
}

impl Tasks {
    async fn of(exchange: &Exchange, params: &CallToolParams) -> Result<Self, Error> {
        let form = exchange.client.revision.has_tasks();
        if form == TaskForm::None {
            return Ok(Self::Never);
        }
        let tool = exchange.find_tool(&params.name).await?;
        let execution = tool.as_ref().and_then(|tool| tool.execution.as_ref());
        let support = execution
            .and_then(|execution| execution.task_support.clone())
            .unwrap_or(TaskSupport::Forbidden);
        if support == TaskSupport::Forbidden {
            return Ok(Self::Never);
        }
        if form == TaskForm::Experimental {
            return match (&params.task, support) {
                (None, TaskSupport::Required) => Err(Error::method_not_found(
                    "tools/call: this tool has to be called as a task",
                )),
                (None, _) => Ok(Self::Never),
                (Some(_), _) => Ok(Self::Experimental),
            };
        }
        if era::client_has_extension(&exchange.client.capabilities, extension::TASKS) {
            return Ok(Self::Extension);
        }
        match support {
            TaskSupport::Required => Err(tasks_required()),
            _ => Ok(Self::Never),
        }
    }
}

/// The error for a client that does not declare the tasks extension.
pub(crate) fn tasks_required() -> Error {
    let mut required = ClientCapabilities::default();
    let mut extensions = OrderedMap::new();
    extensions.insert(extension::TASKS, RawObject::empty());
    required.extensions = Some(extensions);
    Error::missing_capability(required)
}

async fn drive_rounds(exchange: &Exchange, cx: Context, mut work: Work) -> Outcome {
    let limits = &exchange.shared.limits;
    loop {
        let stopped = timeout(limits.request_time(), drive(&cx, work)).await;
        match stopped.unwrap_or_else(|_| Stopped::Done(Err(timed_out()))) {
            Stopped::Done(outcome) => return outcome.map(|finished| finished.json),
            Stopped::Asked(questions) => {
                // Only modern calls ask in this way.
                let asking = cx.0.asking.lock().clone();
                let Asking::Rounds(rounds) = asking else {
                    return Err(Error::internal("a question came where none can be asked"));
                };
                let mut state = next_state(&rounds, limits);
                let held = std::mem::take(&mut *cx.0.held.lock());
                if !held.is_empty() {
                    let caller = exchange.caller.as_ref().map(|caller| caller.id.as_str());
                    let token = HeldTable::park(&exchange.shared, held, caller)
                        .ok_or_else(|| Error::internal("too many calls wait for an answer"))?;
                    state.held = Some(token);
                }
                let sealed = exchange
                    .shared
                    .sealer
                    .seal(&state, &binding(exchange)?, limits.state_bytes())
                    .ok_or_else(|| Error::internal("the state of this call is too large"))?;
                let mut result = InputRequiredResult::default();
                result.result_type = Some(ResultType::InputRequired);
                result.input_requests = Some(questions);
                result.request_state = Some(sealed);
                return exchange.finished(result);
            }
            Stopped::Detach(rest) => match open_task(exchange, None) {
                Ok(cell) => {
                    become_task(&cx, &cell);
                    run_task(cx, rest, &cell);
                    let mut handle = cell.handle();
                    handle.result_type = Some(ResultType::Task);
                    return exchange.finished(handle);
                }
                Err(_) => {
                    // No room for another task: the call goes on as it is.
                    cx.0.moved.notify_waiters();
                    work = rest;
                }
            },
        }
    }
}

fn next_state(rounds: &Mutex<Rounds>, limits: &ServerLimits) -> RequestState {
    let mut rounds = rounds.lock();
    let mut state = std::mem::take(&mut rounds.state);
    state.round = state.round.saturating_add(1);
    state.expires = unix_seconds().saturating_add(limits.state_time().as_secs());
    state
}

fn open_task(exchange: &Exchange, ttl: Option<Duration>) -> Result<Arc<TaskCell>, Error> {
    TaskTable::open(&exchange.shared, exchange.task_owner(), ttl)
        .ok_or_else(|| Error::internal("too many tasks"))
}

/// From here on the handler's questions are the task's input.
fn become_task(cx: &Context, cell: &Arc<TaskCell>) {
    *cx.0.asking.lock() = Asking::Task(Arc::clone(cell));
    cx.0.moved.notify_waiters();
}

/// Runs the rest of a handler in the background.
fn run_task(cx: Context, work: Work, cell: &Arc<TaskCell>) {
    let task = Arc::clone(cell);
    let running = tokio::spawn(async move {
        let limit = cx.0.shared.limits.task_time();
        let outcome = caught(async {
            let mut work = work;
            loop {
                match timeout(limit, drive(&cx, work)).await {
                    Err(_) => return Err(timed_out()),
                    Ok(Stopped::Done(outcome)) => return outcome,
                    Ok(Stopped::Detach(rest)) => {
                        cx.0.moved.notify_waiters();
                        work = rest;
                    }
                    Ok(Stopped::Asked(_)) => {
                        return Err(Error::internal("a question came where none can be asked"));
                    }
                }
            }
        });
        let outcome = outcome.await;
        task.finish(outcome_of(outcome, &cx));
    });
    cell.set_abort(running.abort_handle());
}

fn outcome_of(outcome: Result<Finished, Error>, cx: &Context) -> task::Outcome {
    let revision = cx.0.client.revision;
    match outcome {
        Ok(Finished { json, is_error }) => match serde_json::from_slice::<RawObject>(&json) {
            Ok(result) => task::Outcome::Result { result, is_error },
            Err(error) => task::Outcome::Error(Error::from(error).object(revision)),
        },
        Err(error) => task::Outcome::Error(error.object(revision)),
    }
}

/// Polls the handler until it is done or signals something.
async fn drive(cx: &Context, work: Work) -> Stopped {
    let mut work = Some(work);
    std::future::poll_fn(|task| {
        let Some(running) = work.as_mut() else {
            return Poll::Pending;
        };
        match running.as_mut().poll(task) {
            Poll::Ready(outcome) => Poll::Ready(Stopped::Done(outcome)),
            Poll::Pending => match cx.0.signals.take(task) {
                None => Poll::Pending,
                Some(Signal::Asked(questions)) => Poll::Ready(Stopped::Asked(questions)),
                Some(Signal::Detach) => match work.take() {
                    Some(rest) => Poll::Ready(Stopped::Detach(rest)),
                    None => Poll::Pending,
                },
            },
        }
    })
    .await
}
