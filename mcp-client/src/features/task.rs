//! Tasks: tool calls that continue at the server, in both forms of the protocol.

use std::collections::BTreeSet;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use mcp_jsonrpc::model::task::{
    Task, TaskCancel, TaskGet, TaskIdParams, TaskStatus, TaskUpdate, TaskUpdateParams,
};
use mcp_jsonrpc::model::{
    CallTool, CallToolResult, EmptyResult, InputRequests, InputResponses,
    experimental_task as legacy, extension,
};
use mcp_jsonrpc::{Method, RawMap, RawObject, RawRef, Reply, ResultBody, TaskForm};
use serde::{Deserialize, Serialize};
use tokio::time::Instant;

use crate::call::error::{CallError, CallName};
use crate::call::mrtr::{Answer, MrtrState};
use crate::call::request::Call;
use crate::client::Client;
use crate::connection::Connection;
use crate::connection::clock::TimeoutKind;
use crate::dialect::ToolParams;
use crate::features::listing::Listed;

/// The default poll interval, if the server names none.
const DEFAULT_POLL_INTERVAL: Duration = Duration::from_secs(1);
/// The bounds of a server's poll interval.
const MIN_POLL_INTERVAL: Duration = Duration::from_millis(50);
const MAX_POLL_INTERVAL: Duration = Duration::from_secs(60);
/// The time before the deadline of the last poll.
const LAST_POLL_MARGIN: Duration = Duration::from_secs(1);
const YEAR: Duration = Duration::from_secs(365 * 24 * 60 * 60);

/// Identifies a task: everything that must be stored to resume it, possibly in another process.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[non_exhaustive]
pub struct TaskTicket {
    /// Our name for the server.
    pub server: String,
    /// The server's id for the task.
    pub task_id: String,
}

impl TaskTicket {
    /// Creates the ticket of this task at this server.
    pub fn new(server: impl Into<String>, task_id: impl Into<String>) -> Self {
        Self {
            server: server.into(),
            task_id: task_id.into(),
        }
    }
}

/// A tool call that continues at the server as a task.
///
/// Dropping it does not affect the task, which can be resumed by its [`ticket`](Self::ticket) with [`Client::task`].
#[derive(Clone, Debug)]
pub struct TaskHandle {
    client: Client,
    ticket: TaskTicket,
    created: Option<Arc<Task>>,
}

/// The outcome of starting a tool call that may become a task.
#[derive(Debug)]
#[allow(clippy::exhaustive_enums, reason = "it is done or it is not")]
pub enum Started {
    /// The call is complete.
    Done(CallToolResult),
    /// The call continues as a task.
    Task(TaskHandle),
}

/// The state of a task.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct TaskState {
    /// Its status.
    pub status: TaskStatus,
    /// The server's status message.
    pub message: Option<String>,
    /// The poll interval.
    pub interval: Duration,
}

/// A task of either form.
enum View {
    Legacy(legacy::Task),
    Modern(Box<Task>),
}

impl Client {
    /// Calls a tool and returns as soon as the server has responded or created a task.
    ///
    /// For servers of 2025-11-25 the client requests a task; later ones decide, if the client was built with
    /// [`tasks`](crate::ClientBuilder::tasks). `keep` is the time the server should keep the result, where the protocol
    /// supports that.
    ///
    /// # Errors
    ///
    /// As [`call_tool`](Self::call_tool).
    pub async fn start_tool(
        &self,
        name: &str,
        arguments: impl Serialize + Sync,
        keep: Option<Duration>,
    ) -> Result<Started, CallError> {
        if !self.asks_for_tasks() {
            let snapshot = self.connection().snapshot();
            let answer = self.answer_tool(snapshot, name, &arguments).await?;
            return Ok(match answer {
                Answer::Result(result, _) => Started::Done(result),
                Answer::Task(task) => Started::Task(self.created(*task)),
            });
        }
        let mut task = legacy::TaskMetadata::default();
        task.ttl = keep.map(|keep| keep.as_millis().try_into().unwrap_or(i64::MAX));
        let arguments = &arguments;
        let params = ToolParams {
            name,
            arguments,
            task: Some(task),
        };
        let call = Call::new(CallTool::NAME, &params).about(name);
        let created: legacy::CreateTaskResult = self.call(&call).await?;
        Ok(Started::Task(self.handle(created.task.task_id)))
    }

    /// Whether the server may turn a call of `tool` into a task, so that [`start_tool`](Self::start_tool) should be
    /// used. Servers of 2025-11-25 do so for every call that requests it, so only tools that require a task count,
    /// according to the last list of tools.
    pub fn may_become_task(&self, tool: &str) -> bool {
        match self.revision().has_tasks() {
            TaskForm::Extension => true,
            TaskForm::Experimental => self.connection().snapshot().task_tools.contains(tool),
            _ => false,
        }
    }

    /// Resumes a task.
    pub fn task(&self, ticket: TaskTicket) -> TaskHandle {
        TaskHandle {
            client: self.clone(),
            ticket,
            created: None,
        }
    }

    /// Lists the server's tasks. Only servers of 2025-11-25 support this.
    ///
    /// # Errors
    ///
    /// [`CallError::Unsupported`] if the server does not; else as for any call.
    pub async fn list_tasks(&self) -> Result<Listed<TaskHandle>, CallError> {
        let form = self.revision().has_tasks();
        self.require(legacy::TaskList::NAME, "tasks.list", |capabilities| {
            let tasks = capabilities.tasks.as_ref();
            form == TaskForm::Experimental && tasks.is_some_and(|tasks| tasks.list.is_some())
        })?;
        let listed = self
            .list::<legacy::ListTasksResult>(legacy::TaskList::NAME)
            .await?;
        Ok(listed.map(|task| self.handle(task.task_id)))
    }

    /// Whether a task has to be requested, and can be.
    fn asks_for_tasks(&self) -> bool {
        let tasks = self.server().capabilities.tasks;
        let requests = tasks.and_then(|tasks| tasks.requests);
        let tools = requests.and_then(|requests| requests.tools);
        self.revision().has_tasks() == TaskForm::Experimental
            && tools.is_some_and(|tools| tools.call.is_some())
    }

    /// The handle of a task that the server has just created.
    pub(crate) fn created(&self, task: Task) -> TaskHandle {
        TaskHandle {
            created: Some(Arc::new(task.clone())),
            ..self.handle(task.task_id)
        }
    }

    pub(crate) fn handle(&self, task_id: String) -> TaskHandle {
        self.task(TaskTicket {
            server: self.name().to_owned(),
            task_id,
        })
    }
}

impl TaskHandle {
    /// Identifies the task, for storage.
    pub fn ticket(&self) -> &TaskTicket {
        &self.ticket
    }

    /// The task in the reply that created it; `None` for a resumed task, and for servers of 2025-11-25.
    pub fn created(&self) -> Option<&Task> {
        self.created.as_deref()
    }

    /// The whole current task, with its result, its error or its input requests. For a client that passes it on; others
    /// use [`wait`](Self::wait).
    ///
    /// # Errors
    ///
    /// [`CallError::Unsupported`] for servers without the tasks extension; else as
    /// [`state`](Self::state).
    pub async fn get(&self) -> Result<Task, CallError> {
        self.require_extension(TaskGet::NAME)?;
        match self.look().await? {
            View::Modern(task) => Ok(*task),
            View::Legacy(_) => Err(CallError::InvalidReply {
                call: self.call_name(),
                detail: "it is a task of 2025-11-25".to_owned(),
            }),
        }
    }

    /// Supplies the task's input, by its keys and without validation.
    ///
    /// # Errors
    ///
    /// As [`get`](Self::get).
    pub async fn update(&self, answers: InputResponses) -> Result<(), CallError> {
        self.require_extension(TaskUpdate::NAME)?;
        self.supply(answers).await
    }

    /// Boxed and type-erased: it is a call, and calls wait for tasks.
    fn supply(
        &self,
        answers: InputResponses,
    ) -> Pin<Box<dyn Future<Output = Result<(), CallError>> + Send + '_>> {
        Box::pin(async move {
            let update = TaskUpdateParams::new(self.ticket.task_id.clone(), answers);
            let call = Call::new(TaskUpdate::NAME, &update).about(&self.ticket.task_id);
            self.client.call::<EmptyResult>(&call).await.map(drop)
        })
    }

    fn require_extension(&self, method: &str) -> Result<(), CallError> {
        let form = self.client.revision().has_tasks();
        self.client
            .require(method, extension::TASKS, |_| form == TaskForm::Extension)
    }

    /// Polls the task's state.
    ///
    /// # Errors
    ///
    /// As for any call; [`CallError::Peer`] for a task that the server no longer knows.
    pub async fn state(&self) -> Result<TaskState, CallError> {
        Ok(self.look().await?.state())
    }

    /// Waits for the result, polling at the server's interval and answering the task's input requests.
    ///
    /// Dropping the future does not affect the task. Waits for at most
    /// [`ClientLimits::task_timeout`](crate::ClientLimits::task_timeout).
    ///
    /// # Errors
    ///
    /// [`CallError::TaskCancelled`] if it was cancelled; else as for any call.
    pub async fn wait(&self) -> Result<CallToolResult, CallError> {
        self.finish(Instant::now(), &mut false).await
    }

    /// Asks the server to cancel the task. It may still end otherwise: see [`state`](Self::state).
    ///
    /// # Errors
    ///
    /// As for any call; [`CallError::Peer`] for a task that has ended.
    pub async fn cancel(&self) -> Result<(), CallError> {
        let params = self.params();
        let call = Call::new(TaskCancel::NAME, &params).about(&self.ticket.task_id);
        match self.client.revision().has_tasks() {
            TaskForm::Experimental => self.client.call::<legacy::Task>(&call).await.map(drop),
            _ => self.client.call::<EmptyResult>(&call).await.map(drop),
        }
    }

    /// Waits for the result of the task's request, which started at `began`. Sets `is_over` if the task has ended,
    /// whatever this returns.
    pub(crate) async fn finish<T: ResultBody>(
        &self,
        began: Instant,
        is_over: &mut bool,
    ) -> Result<T, CallError> {
        let _awaited = self.awaited();
        let options = self.client.options();
        let own = options.and_then(|options| options.deadline);
        let limit = own.unwrap_or_else(|| self.client.connection().settings.limits.task_timeout());
        // Far in the future, where an addition would overflow.
        let deadline = began.checked_add(limit).unwrap_or(began + YEAR);
        let late = || CallError::Timeout {
            call: self.call_name(),
            limit,
            kind: TimeoutKind::Deadline,
            trouble: None,
        };
        let mut answered = BTreeSet::new();
        loop {
            let looked = tokio::time::timeout_at(deadline, self.look()).await;
            let view = looked.map_err(|_| late())??;
            let TaskState {
                status, interval, ..
            } = view.state();
            *is_over = matches!(
                status,
                TaskStatus::Cancelled | TaskStatus::Completed | TaskStatus::Failed
            );
            if status == TaskStatus::Cancelled {
                let call = self.call_name();
                return Err(CallError::TaskCancelled { call });
            }
            match view {
                View::Legacy(_) if status != TaskStatus::Working => return self.result().await,
                View::Modern(task) => match status {
                    TaskStatus::Completed | TaskStatus::Failed => return self.read(*task),
                    TaskStatus::InputRequired => self.give_input(&task, &mut answered).await?,
                    _ => {}
                },
                View::Legacy(_) => {}
            }
            let now = Instant::now();
            // Once more before the deadline, even if the interval is longer.
            let last = deadline.checked_sub(LAST_POLL_MARGIN).unwrap_or(now);
            let next = match now + interval {
                next if next > last && now < last => last,
                next => next,
            };
            tokio::time::sleep_until(next.min(deadline)).await;
            if next >= deadline {
                return Err(late());
            }
        }
    }

    /// Registers the caller that waits for the task, for the lifetime of the result.
    fn awaited(&self) -> Option<Awaited<'_>> {
        let caller = self.client.options()?.caller.clone()?;
        let (connection, id) = (self.client.connection(), &self.ticket.task_id);
        connection.tasks.lock().insert(id.clone(), caller);
        Some(Awaited { connection, id })
    }

    async fn look(&self) -> Result<View, CallError> {
        let params = self.params();
        let call = Call::new(TaskGet::NAME, &params).about(&self.ticket.task_id);
        if self.client.revision().has_tasks() == TaskForm::Experimental {
            return self.client.call(&call).await.map(View::Legacy);
        }
        let mut progress = MrtrState::default();
        // Servers tag this response as a task or as complete.
        let answer =
            self.client
                .answer::<Task>(self.client.connection().snapshot(), &call, &mut progress);
        match Box::pin(answer).await? {
            Answer::Result(task, _) => Ok(View::Modern(Box::new(task))),
            Answer::Task(task) => Ok(View::Modern(task)),
        }
    }

    /// The result of a legacy task. Waits for it if the task still needs input, for which the server then sends
    /// requests.
    async fn result<T: ResultBody>(&self) -> Result<T, CallError> {
        let params = self.params();
        let call = Call::new(legacy::TaskResult::NAME, &params).about(&self.ticket.task_id);
        Box::pin(self.client.call(&call)).await
    }

    /// Reads the content of a finished modern task.
    fn read<T: ResultBody>(&self, task: Task) -> Result<T, CallError> {
        let call = self.call_name();
        if let Some(error) = task.error {
            let error = Box::new(error);
            return Err(CallError::Peer { call, error });
        }
        let Some(result) = task.result else {
            return Err(CallError::InvalidReply {
                call,
                detail: "the task is over but has no result".to_owned(),
            });
        };
        let detail = match RawRef::from_text(result.get()).and_then(Reply::read) {
            Ok(Reply::Complete(_)) if task.status == TaskStatus::Failed && !is_failure(&result) => {
                "the task failed but has a result instead of an error".to_owned()
            }
            Ok(Reply::Complete(result)) => return Ok(result),
            Ok(_) => "the task is over but its result is not complete".to_owned(),
            Err(error) => error.to_string(),
        };
        Err(CallError::InvalidReply { call, detail })
    }

    /// Answers the task's input requests, each once.
    async fn give_input(
        &self,
        task: &Task,
        answered: &mut BTreeSet<String>,
    ) -> Result<(), CallError> {
        let asked = task.input_requests.clone().unwrap_or_default();
        let open: InputRequests = asked
            .into_iter()
            .filter(|(key, _)| !answered.contains(key))
            .collect();
        if open.is_empty() {
            return Ok(());
        }
        let params = self.params();
        let call = Call::new(TaskGet::NAME, &params).about(&self.ticket.task_id);
        let answers: InputResponses = self.client.answers(&call, &open, None, 0).await?;
        self.supply(answers).await?;
        answered.extend(open.iter().map(|(key, _)| key.to_owned()));
        Ok(())
    }

    fn call_name(&self) -> CallName {
        CallName {
            task_id: Some(self.ticket.task_id.as_str().into()),
            ..self.client.call_name(TaskGet::NAME)
        }
    }

    fn params(&self) -> TaskIdParams {
        TaskIdParams::new(self.ticket.task_id.clone())
    }
}

impl View {
    fn state(&self) -> TaskState {
        let (status, message, interval) = match self {
            Self::Legacy(task) => (task.status, &task.status_message, task.poll_interval),
            Self::Modern(task) => (task.status, &task.status_message, task.poll_interval_ms),
        };
        let interval = interval.and_then(|ms| u64::try_from(ms).ok());
        TaskState {
            status,
            message: message.clone(),
            interval: interval.map_or(DEFAULT_POLL_INTERVAL, |ms| {
                Duration::from_millis(ms).clamp(MIN_POLL_INTERVAL, MAX_POLL_INTERVAL)
            }),
        }
    }
}

/// Whether a result is that of a failed tool.
fn is_failure(result: &RawObject) -> bool {
    let result = result.parse::<RawMap>();
    result.is_ok_and(|result| result.read_as("isError") == Some(true))
}

/// A caller that waits for a task.
struct Awaited<'a> {
    connection: &'a Connection,
    id: &'a str,
}

impl Drop for Awaited<'_> {
    fn drop(&mut self) {
        self.connection.tasks.lock().remove(self.id);
    }
}

/// Cancels a task whose caller was dropped before its end.
pub(crate) struct CancelOnDrop(pub(crate) Option<TaskHandle>);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        if let Some(task) = self.0.take()
            && let Ok(runtime) = tokio::runtime::Handle::try_current()
        {
            runtime.spawn(async move {
                if let Err(error) = task.cancel().await {
                    tracing::debug!(%error, "a task no one waits for");
                }
            });
        }
    }
}
