//! One client's session: its capabilities, open questions, and cancellations.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use mcp_jsonrpc::Revision;
use parking_lot::Mutex;
use serde_json::{Value, json};
use tokio::sync::oneshot;
use tokio::task::AbortHandle;

use super::listen::{Listening, listen};
use super::world::Change;
use super::{Out, Piece, Reply, World, dialect, error, method, request, result, task};
use crate::fault::{Asked, Kind};
use crate::wire::Headers;
use crate::{Era, Refusal, Seen};

/// A client of the legacy era since its `initialize`, or a connection of the modern one.
#[derive(Debug)]
pub(crate) struct Session {
    pub(crate) world: Arc<World>,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    revision: Option<Revision>,
    capabilities: Value,
    level: Option<String>,
    subscribed: BTreeSet<String>,
    general: Option<Out>,
    listening: Option<Listening>,
    next_ask: u64,
    asked: BTreeMap<String, oneshot::Sender<Value>>,
    running: BTreeMap<String, AbortHandle>,
}

impl Session {
    pub(crate) fn new(world: &Arc<World>) -> Arc<Self> {
        Arc::new(Self {
            world: Arc::clone(world),
            state: Mutex::default(),
        })
    }

    /// Sets the stream for messages that belong to no request.
    pub(crate) fn set_general(&self, out: Out) {
        self.state.lock().general = Some(out);
    }

    pub(crate) fn general(&self) -> Option<Out> {
        self.state.lock().general.clone()
    }

    fn is_initialized(&self) -> bool {
        self.state.lock().revision.is_some()
    }

    /// Handles any message of a client whose responses all go to the same stream.
    pub(crate) async fn handle(self: &Arc<Self>, message: Value, out: &Out) {
        let (Some(id), Some(method)) = (message.get("id"), message.get("method")) else {
            self.accept(&message);
            return;
        };
        let early = dialect::era_of(&message) == Era::Legacy
            && self.world.script().speaks(Era::Legacy)
            && !matches!(method.as_str(), Some("initialize" | "ping"))
            && !self.is_initialized();
        if early {
            let refusal = Refusal::new(-32600, format!("{method} came before initialize"));
            self.world.log.refused(&refusal);
            out.send(&error(id, &refusal)).await;
            return;
        }
        if self.is_quick(&message) {
            self.reply(&message, out).await;
            return;
        }
        let id = id.clone();
        let (session, out) = (Arc::clone(self), out.clone());
        let task = tokio::spawn(async move {
            tokio::select! {
                () = session.reply(&message, &out) => {}
                () = session.world.stopped() => {}
            }
        });
        self.began(&id, task.abort_handle());
    }

    async fn reply(self: &Arc<Self>, request: &Value, out: &Out) {
        let reply = self.answer(request, out, None).await;
        for piece in reply.pieces {
            out.send(piece).await;
        }
    }

    /// Answers a request. Messages before the response go to `out`.
    pub(crate) async fn answer(
        self: &Arc<Self>,
        request: &Value,
        out: &Out,
        headers: Option<&Headers>,
    ) -> Reply {
        let era = dialect::era_of(request);
        let script = self.world.script();
        let name = request
            .get("method")
            .and_then(Value::as_str)
            .unwrap_or_default();
        let id = request.get("id").cloned().unwrap_or_default();
        let nth = self.world.nth(name);
        if let Some(Kind::Question(question)) = self.world.fault_kind()
            && question.applies(name, nth)
        {
            question.ask(self, request, out).await;
        }
        let outcome = match dialect::check(&script, request, headers) {
            Ok(()) => self.dispatch(era, name, request, out).await,
            Err(refusal) => {
                self.world.log.refused(&refusal);
                Err(refusal)
            }
        };
        let good = match outcome {
            Ok(mut value) => {
                if era == Era::Modern {
                    dialect::stamp(&script, name, &mut value);
                }
                result(&id, &value)
            }
            Err(refusal) => error(&id, &refusal),
        };
        let pieces = match self.world.fault_kind() {
            Some(Kind::Twist(twist)) if twist.applies(name, nth) => (twist.make)(&Asked {
                request,
                good: &good,
                nth,
            }),
            _ => {
                let status = dialect::status(era, &good);
                let pieces = vec![(&good).into()];
                return Reply { status, pieces };
            }
        };
        let status = match pieces.as_slice() {
            [Piece::Message(twisted)] => serde_json::from_slice(twisted)
                .map_or(200, |message: Value| dialect::status(era, &message)),
            _ => 200,
        };
        Reply { status, pieces }
    }

    async fn dispatch(
        self: &Arc<Self>,
        era: Era,
        name: &str,
        request: &Value,
        out: &Out,
    ) -> Result<Value, Refusal> {
        match name {
            "initialize" => {
                self.initialize(request);
                method::initialize(&self.world.script(), request)
            }
            "logging/setLevel" => {
                let level = request.pointer("/params/level").and_then(Value::as_str);
                self.state.lock().level = level.map(str::to_owned);
                Ok(json!({}))
            }
            "resources/subscribe" | "resources/unsubscribe" => {
                let uri = request
                    .pointer("/params/uri")
                    .and_then(Value::as_str)
                    .unwrap_or_default();
                let mut state = self.state.lock();
                if name == "resources/subscribe" {
                    state.subscribed.insert(uri.to_owned());
                } else {
                    state.subscribed.remove(uri);
                }
                Ok(json!({}))
            }
            "tools/call" => self.call(era, request, out).await,
            "prompts/get" | "resources/read" => self.get(era, name, request, out).await,
            "subscriptions/listen" if era == Era::Modern => listen(self, request, out).await,
            "tasks/result" if era == Era::Legacy => task::result(self, request, out).await,
            _ => method::answer(&self.world, era, name, request),
        }
    }

    fn initialize(self: &Arc<Self>, request: &Value) {
        let params = request.get("params").cloned().unwrap_or_default();
        let requested = params.get("protocolVersion").cloned().unwrap_or_default();
        let listening = self.world.listeners.add_session(self);
        let mut state = self.state.lock();
        state.revision = Some(dialect::negotiate(&self.world.script(), &requested));
        state.capabilities = params.get("capabilities").cloned().unwrap_or_default();
        let old = state.listening.replace(listening);
        drop(state);
        drop(old);
    }

    /// Handles a notification, or the response to a question.
    pub(crate) fn accept(&self, message: &Value) {
        match message.get("method").and_then(Value::as_str) {
            Some("notifications/cancelled") => {
                let id = message
                    .pointer("/params/requestId")
                    .cloned()
                    .unwrap_or_default();
                if self.cancel(&id) {
                    self.world.log.record(Seen::Cancelled { id });
                }
            }
            Some(_) => {}
            None => {
                let id = message.get("id").map(Value::to_string).unwrap_or_default();
                if let Some(asker) = self.state.lock().asked.remove(&id) {
                    // The asking request may have been cancelled meanwhile.
                    let _ = asker.send(message.clone());
                }
            }
        }
    }

    /// Records a running request, so that it can be cancelled.
    pub(crate) fn began(&self, id: &Value, task: AbortHandle) {
        let mut state = self.state.lock();
        if !task.is_finished() {
            state.running.insert(id.to_string(), task);
        }
        state.running.retain(|_, task| !task.is_finished());
    }

    /// Stops a running request; `false` if there is none of this id.
    pub(crate) fn cancel(&self, id: &Value) -> bool {
        let task = self.state.lock().running.remove(&id.to_string());
        match task {
            Some(task) if !task.is_finished() => {
                task.abort();
                true
            }
            _ => false,
        }
    }

    /// Stops all running requests.
    pub(crate) fn cancel_all(&self) {
        for task in std::mem::take(&mut self.state.lock().running).into_values() {
            task.abort();
        }
    }

    /// Whether the client declares support for this kind of question.
    pub(super) fn can(&self, capability: &str) -> bool {
        self.state.lock().capabilities.get(capability).is_some()
    }

    /// Sends our own request and waits for the whole response.
    pub(super) async fn ask(&self, out: &Out, method: &str, params: &Value) -> Value {
        let number = {
            let mut state = self.state.lock();
            state.next_ask += 1;
            state.next_ask
        };
        self.ask_as(&format!("server-{number}").into(), out, method, params)
            .await
    }

    pub(crate) async fn ask_as(
        &self,
        id: &Value,
        out: &Out,
        method: &str,
        params: &Value,
    ) -> Value {
        let (asker, answer) = oneshot::channel();
        let general = {
            let mut state = self.state.lock();
            state.asked.insert(id.to_string(), asker);
            state.general.clone()
        };
        let script = self.world.script();
        let out = general
            .filter(|_| script.asks_on_get)
            .unwrap_or_else(|| out.clone());
        out.send(&request(id, method, params)).await;
        let answer = answer.await.unwrap_or_default();
        let reported = answer
            .get("result")
            .or_else(|| answer.get("error"))
            .cloned();
        self.world.log.record(Seen::Answered {
            method: method.to_owned(),
            answer: reported,
        });
        answer
    }

    /// Whether the client requested log messages of this level.
    pub(super) fn wants_log(&self, request: &Value, level: &str) -> bool {
        let rank = |level: &str| super::LEVELS.iter().position(|known| *known == level);
        match dialect::era_of(request) {
            Era::Modern => dialect::meta(request, dialect::LOG_LEVEL)
                .and_then(Value::as_str)
                .is_some_and(|least| rank(level) >= rank(least)),
            Era::Legacy => {
                let state = self.state.lock();
                state
                    .level
                    .as_deref()
                    .is_none_or(|least| rank(level) >= rank(least))
            }
        }
    }

    /// Notifies this session of a change, if it is subscribed to it.
    pub(super) fn hear(&self, change: Change<'_>) {
        let state = self.state.lock();
        let wanted = match change {
            Change::List(_) | Change::Other(..) => true,
            Change::Resource(uri) => state.subscribed.contains(uri),
            Change::Task(_) => false,
        };
        if let (true, Some(out)) = (wanted, &state.general) {
            out.try_send(&change.message());
        }
    }
}
