//! The context of a handler: its request, and its means of communication while it runs.

use std::any::Any;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicUsize, Ordering};

use mcp_jsonrpc::model::{
    ClientCapabilities, Implementation, LogMessageParams, LoggingLevel, Meta, ProgressParams,
    extension,
};
use mcp_jsonrpc::{ProgressToken, RawJson, RawMap, Revision, encode_notification};
use parking_lot::Mutex;
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::sync::Notify;

use crate::dispatch::era;
use crate::dispatch::held::Held;
use crate::dispatch::request_state::{Binding, RequestState};
use crate::dispatch::signals::Signals;
use crate::handler::ask::{AskError, Question};
use crate::handler::caller::Caller;
use crate::notifier::Notifier;
use crate::pipe::outlet::Outlet;
use crate::server::shared::Shared;
use crate::session::Session;
use crate::session::peer::SharedPeer;
use crate::task::TaskCell;

/// One request, as its handler sees it. Cheap to clone.
///
/// A handler never learns the client's era: it asks, logs, reports progress and continues as a task in the same way in
/// all of them.
#[derive(Clone)]
pub struct Context(pub(crate) Arc<Inner>);

pub(crate) struct Inner {
    pub(crate) shared: Arc<Shared>,
    pub(crate) client: Arc<ClientFacts>,
    pub(crate) caller: Option<Arc<Caller>>,
    pub(crate) session: Option<Arc<Session>>,
    pub(crate) meta: Meta,
    pub(crate) progress: Option<ProgressToken>,
    pub(crate) level: LevelGate,
    pub(crate) outlet: Arc<dyn Outlet>,
    pub(crate) asking: Mutex<Asking>,
    /// Notified when `asking` changes.
    pub(crate) moved: Notify,
    pub(crate) signals: Signals,
    /// The questions that wait for their answers as requests.
    pub(crate) open_questions: AtomicUsize,
    /// What lives until the call ends.
    pub(crate) held: Mutex<Held>,
    /// Whether this call may become a task.
    pub(crate) may_detach: bool,
}

/// What is known of a client: negotiated for a session, or sent with each request.
#[derive(Clone, Debug)]
pub(crate) struct ClientFacts {
    pub(crate) revision: Revision,
    pub(crate) info: Option<Implementation>,
    pub(crate) capabilities: ClientCapabilities,
}

/// From which level on log messages are sent.
#[derive(Clone)]
pub(crate) enum LevelGate {
    /// Set by this request; `None` means no messages.
    Request(Option<LoggingLevel>),
    /// Set by the session: an index into [`LEVELS`].
    Session(Arc<AtomicU8>),
}

impl LevelGate {
    pub(crate) fn get(&self) -> Option<LoggingLevel> {
        match self {
            Self::Request(wanted) => *wanted,
            Self::Session(index) => LEVELS
                .get(usize::from(index.load(Ordering::Relaxed)))
                .copied(),
        }
    }

    pub(crate) fn lets_through(&self, level: LoggingLevel) -> bool {
        self.get().is_some_and(|wanted| wanted <= level)
    }
}

pub(crate) const LEVELS: [LoggingLevel; 8] = [
    LoggingLevel::Debug,
    LoggingLevel::Info,
    LoggingLevel::Notice,
    LoggingLevel::Warning,
    LoggingLevel::Error,
    LoggingLevel::Critical,
    LoggingLevel::Alert,
    LoggingLevel::Emergency,
];

/// How a question reaches the client.
#[derive(Clone)]
pub(crate) enum Asking {
    /// As a server request (legacy).
    Requests(SharedPeer),
    /// As an `input_required` result; the client repeats the call (modern).
    Rounds(Arc<Mutex<Rounds>>),
    /// As the input of a task.
    Task(Arc<TaskCell>),
    /// Not at all: this method cannot ask.
    Never,
}

/// The rounds of one modern call.
#[derive(Default)]
pub(crate) struct Rounds {
    /// What earlier rounds have established.
    pub(crate) state: RequestState,
    /// What the client sent with this round.
    pub(crate) responses: RawMap,
}

impl Rounds {
    fn answer<Q: Question>(&mut self, key: &str, question: &Q) -> Option<Q::Answer> {
        if let Some(sealed) = self.state.answers.get(key) {
            return question.read(sealed.as_ref()).ok();
        }
        let raw = self.responses.get(key)?;
        let answer = question.read(raw.as_ref()).ok()?;
        self.state.answers.insert(key, raw.clone());
        Some(answer)
    }
}

impl Inner {
    /// Counts a question until its answer, within the limit of each request.
    fn open_question(&self, limit: usize) -> Result<OpenQuestion<'_>, AskError> {
        let before = self.open_questions.fetch_add(1, Ordering::Relaxed);
        let place = OpenQuestion(&self.open_questions);
        match before < limit {
            true => Ok(place),
            false => Err(AskError::TooMany { limit }),
        }
    }
}

/// A counted question.
struct OpenQuestion<'a>(&'a AtomicUsize);

impl Drop for OpenQuestion<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Context {
    /// Asks the client a question and waits for the answer: a form or a URL for the user, a completion by its model,
    /// its roots.
    ///
    /// Clients of the modern era answer by repeating the call. The handler then starts again from the beginning, and
    /// `ask` returns the answers already known by their `key`. Give each question of a handler its own key, and wrap
    /// side effects that must not happen twice in [`step`](Self::step). Questions asked concurrently, for instance with
    /// `tokio::join!`, are sent together.
    ///
    /// # Errors
    ///
    /// [`AskError::Unsupported`] if the client did not declare the capability, which `?` turns into the protocol's
    /// error for it. Declining is an answer, not an error.
    pub async fn ask<Q: Question>(&self, key: &str, question: Q) -> Result<Q::Answer, AskError> {
        let inner = &*self.0;
        let client = &inner.client;
        if !question.is_supported(client.revision, &client.capabilities) {
            return Err(AskError::Unsupported {
                required: Box::new(question.required()),
            });
        }
        let limits = &inner.shared.limits;
        loop {
            let moved = inner.moved.notified();
            let asking = inner.asking.lock().clone();
            match asking {
                Asking::Requests(peer) => {
                    let _place = inner.open_question(limits.questions())?;
                    let request = question.input_request(client.revision);
                    let limit = limits.answer_time();
                    let raw = peer.ask(&request, None, &*inner.outlet, limit).await?;
                    return question
                        .read(raw.as_ref())
                        .map_err(|reason| AskError::Invalid { reason });
                }
                Asking::Rounds(rounds) => {
                    if let Some(answer) = rounds.lock().answer(key, &question) {
                        return Ok(answer);
                    }
                    let request = question.input_request(client.revision);
                    if !inner.signals.ask(key, request, limits.questions()) {
                        return Err(AskError::TooMany {
                            limit: limits.questions(),
                        });
                    }
                    // The driver drops this call, unless it becomes a task meanwhile.
                    moved.await;
                }
                Asking::Task(cell) => {
                    let request = question.input_request(client.revision);
                    let raw = cell.ask(key, request, limits).await?;
                    if let Ok(answer) = question.read(raw.as_ref()) {
                        return Ok(answer);
                    }
                }
                Asking::Never => {
                    return Err(AskError::Unsupported {
                        required: Box::new(question.required()),
                    });
                }
            }
        }
    }

    /// Runs `work` once per call, even if the call takes several rounds of questions: later rounds return the stored
    /// result. The result travels to the client and back, encrypted, so keep it small.
    ///
    /// # Errors
    ///
    /// The errors of `work`, which are not stored.
    pub async fn step<T, E, F>(&self, key: &str, work: F) -> Result<T, E>
    where
        T: Serialize + DeserializeOwned,
        F: Future<Output = Result<T, E>>,
    {
        let asking = self.0.asking.lock().clone();
        let Asking::Rounds(rounds) = asking else {
            return work.await;
        };
        if let Some(known) = rounds.lock().state.steps.read_as(key) {
            return Ok(known);
        }
        let value = work.await?;
        // What cannot be stored would run again.
        let _ = rounds.lock().state.steps.set(key, &value);
        Ok(value)
    }

    /// Keeps a live value until the call ends, even if the call takes several rounds of questions: later rounds get it
    /// from [`held`](Self::held). It is dropped when the call ends or is cancelled, when no answer arrives in time
    /// ([`ServerLimits::answer_time`](crate::ServerLimits::answer_time)), and with the process. Do not store a `Context` in it:
    /// that keeps the call alive.
    pub fn hold<T: Any + Send + Sync>(&self, key: &str, value: Arc<T>) {
        self.0.held.lock().insert(key.to_owned(), value);
    }

    /// The value this call holds under `key`, unless it was lost.
    pub fn held<T: Any + Send + Sync>(&self, key: &str) -> Option<Arc<T>> {
        let held = self.0.held.lock().get(key).cloned()?;
        held.downcast().ok()
    }

    /// Continues the call as a task, if the client supports tasks and the tool allows them (`Tool::execution`): the
    /// client gets a handle at once and polls for the result. Returns whether the call is now a task.
    pub async fn detach(&self) -> bool {
        if !self.0.may_detach {
            return self.is_task();
        }
        let moved = self.0.moved.notified();
        if self.is_task() {
            return true;
        }
        self.0.signals.detach();
        moved.await;
        self.is_task()
    }

    fn is_task(&self) -> bool {
        matches!(*self.0.asking.lock(), Asking::Task(_))
    }

    /// Reports progress, if the client requested it. `progress` must increase from call to call.
    pub fn progress(&self, progress: f64, total: Option<f64>, message: Option<&str>) {
        let Some(token) = &self.0.progress else {
            return;
        };
        let mut params = ProgressParams::new(token.clone(), progress);
        params.total = total;
        if self.0.client.revision.has_progress_message() {
            params.message = message.map(str::to_owned);
        }
        self.notify("notifications/progress", &params);
    }

    /// Sends a log message, if the client requested messages of this level.
    pub fn log(&self, level: LoggingLevel, data: impl Serialize) {
        if !self.0.level.lets_through(level) {
            return;
        }
        if let Ok(data) = RawJson::from_serialize(&data) {
            self.log_message(&LogMessageParams::new(level, data));
        }
    }

    /// Like [`log`](Self::log), with a complete message.
    pub fn log_message(&self, message: &LogMessageParams) {
        if self.0.level.lets_through(message.level) {
            self.notify("notifications/message", message);
        }
    }

    /// The minimum level of log messages the client requested; `None` if it requested none.
    pub fn log_level(&self) -> Option<LoggingLevel> {
        self.0.level.get()
    }

    /// Identifies the client's session; `None` for clients of the modern era, which has none.
    pub fn session_id(&self) -> Option<u64> {
        self.0.session.as_ref().map(|session| session.id)
    }

    /// Whether the client accepts a task as the result of a tool ([`ToolReply::Task`](crate::ToolReply)).
    pub fn takes_tasks(&self) -> bool {
        let client = &self.0.client;
        client.revision.is_modern()
            && era::client_has_extension(&client.capabilities, extension::TASKS)
    }

    /// Encrypts a value for the client to keep. Only this server, or one with the same
    /// [`state_key`](crate::Server::state_key), can decrypt it: for the same caller and the same `purpose`, with
    /// [`open_sealed`](Self::open_sealed). `None` if it would be larger than
    /// [`ServerLimits::state_bytes`](crate::ServerLimits::state_bytes).
    pub fn seal(&self, purpose: &str, value: &impl Serialize) -> Option<String> {
        let shared = &self.0.shared;
        let limit = shared.limits.state_bytes();
        shared
            .sealer
            .seal_value(value, &self.binding(purpose), limit)
    }

    /// Decrypts the output of [`seal`](Self::seal); `None` if it was not made for this caller and this purpose.
    pub fn open_sealed<T: DeserializeOwned>(&self, purpose: &str, text: &str) -> Option<T> {
        let shared = &self.0.shared;
        let limit = shared.limits.state_bytes();
        shared
            .sealer
            .open_value(text, &self.binding(purpose), limit)
    }

    fn binding(&self, purpose: &str) -> Binding {
        let caller = self.caller().map(|caller| caller.id.as_str());
        let purpose = serde_json::Value::from(purpose);
        Binding::new("sealed by the handler", caller, &purpose)
    }

    /// Ends the reply's event stream early, where the client can fetch the result later (Streamable HTTP of
    /// 2025-11-25). For calls that outlast connections.
    pub fn release_stream(&self) {
        self.0.outlet.release();
    }

    /// Announces changes of lists and resources to all clients.
    pub fn notifier(&self) -> Notifier {
        Notifier::new(&self.0.shared)
    }

    /// The client's info: for display, not for trust.
    pub fn client_info(&self) -> Option<&Implementation> {
        self.0.client.info.as_ref()
    }

    /// The client's capabilities.
    pub fn client_capabilities(&self) -> &ClientCapabilities {
        &self.0.client.capabilities
    }

    /// The authenticated caller; `None` where callers are not authenticated.
    pub fn caller(&self) -> Option<&Caller> {
        self.0.caller.as_deref()
    }

    /// The `_meta` of the request.
    pub fn meta(&self) -> &Meta {
        &self.0.meta
    }

    fn notify(&self, method: &str, params: &impl Serialize) {
        let mut out = Vec::new();
        if encode_notification(&mut out, method, params).is_ok() {
            self.0.outlet.push(out);
        }
    }
}

impl fmt::Debug for Context {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Context")
            .field("client", &self.0.client)
            .field("caller", &self.0.caller)
            .finish_non_exhaustive()
    }
}
