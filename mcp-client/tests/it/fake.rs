//! A server in a closure, and the transport to it: no process, no socket, no task of its own.

use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use mcp_jsonrpc::RequestId;
use mcp_transport::{
    Closed, Connect, Delivery, Incoming, Outgoing, SendError, Transport, TransportError,
    TransportKind,
};
use parking_lot::Mutex;
use serde_json::{Value, json};
use tokio::sync::Notify;

/// Answers each message of the client's, or does not.
pub(crate) type Script = dyn Fn(&Fake, &Value) + Send + Sync;

/// One connection to a scripted server.
pub(crate) struct Fake {
    script: Arc<Script>,
    shape: TransportKind,
    inbox: Mutex<VecDeque<Incoming>>,
    bell: Notify,
    seen: Mutex<Vec<Outgoing>>,
    released: Mutex<Vec<RequestId>>,
    refusal: Mutex<Option<SendError>>,
    closed: Mutex<Option<Closed>>,
}

impl Fake {
    /// Says something to the client, on the shared channel.
    pub(crate) fn say(&self, message: Value) {
        self.say_bytes(message.to_string().as_bytes(), None);
    }

    /// Says something on the reply stream of a request.
    pub(crate) fn say_on(&self, stream: &Value, message: Value) {
        self.say_bytes(
            message.to_string().as_bytes(),
            stream.as_i64().map(RequestId::from),
        );
    }

    pub(crate) fn say_bytes(&self, body: &[u8], stream: Option<RequestId>) {
        self.push(Incoming::Message {
            body: body.to_vec(),
            stream,
        });
    }

    /// Answers a request.
    pub(crate) fn reply(&self, request: &Value, result: Value) {
        self.say(json!({"jsonrpc": "2.0", "id": request["id"], "result": result}));
    }

    /// Refuses a request.
    pub(crate) fn error(&self, request: &Value, code: i64, message: &str) {
        let error = json!({"code": code, "message": message});
        self.say(json!({"jsonrpc": "2.0", "id": request["id"], "error": error}));
    }

    pub(crate) fn push(&self, incoming: Incoming) {
        self.inbox.lock().push_back(incoming);
        self.bell.notify_one();
    }

    /// The connection ends.
    pub(crate) fn end(&self, closed: Closed) {
        self.closed.lock().get_or_insert(closed);
        self.bell.notify_one();
    }

    /// The message being sent fails.
    pub(crate) fn refuse(&self, error: TransportError, delivery: Delivery) {
        *self.refusal.lock() = Some(SendError::new(error, delivery));
    }

    /// What the client sent.
    pub(crate) fn seen(&self) -> Vec<Value> {
        self.seen
            .lock()
            .iter()
            .map(|out| serde_json::from_slice(&out.body).unwrap())
            .collect()
    }

    /// What the client sent, with what goes beside the bytes.
    pub(crate) fn outgoing(&self) -> Vec<Outgoing> {
        self.seen.lock().clone()
    }

    /// The methods the client sent, in order.
    pub(crate) fn methods(&self) -> Vec<String> {
        let methods = self.seen();
        methods
            .iter()
            .filter_map(|sent| Some(sent["method"].as_str()?.to_owned()))
            .collect()
    }

    pub(crate) fn released(&self) -> Vec<RequestId> {
        self.released.lock().clone()
    }
}

impl fmt::Debug for Fake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Fake")
    }
}

#[async_trait]
impl Transport for Fake {
    async fn send(&self, message: Outgoing) -> Result<(), SendError> {
        if self.closed.lock().is_some() {
            return Err(SendError::new(TransportError::Closed, Delivery::NotSent));
        }
        let value = serde_json::from_slice(&message.body).unwrap();
        self.seen.lock().push(message);
        (self.script)(self, &value);
        self.refusal.lock().take().map_or(Ok(()), Err)
    }

    async fn recv(&self) -> Incoming {
        loop {
            let bell = self.bell.notified();
            if let Some(next) = self.inbox.lock().pop_front() {
                return next;
            }
            if let Some(closed) = self.closed.lock().clone() {
                return Incoming::Closed(closed);
            }
            bell.await;
        }
    }

    fn release(&self, request: &RequestId) {
        self.released.lock().push(request.clone());
    }

    async fn close(&self) {
        self.end(Closed::clean());
    }

    fn kind(&self) -> TransportKind {
        self.shape
    }
}

/// Connects to scripted servers, and keeps every connection it made.
#[derive(Clone)]
pub(crate) struct FakeConnect {
    script: Arc<Script>,
    shape: TransportKind,
    made: Arc<Mutex<Vec<Arc<Fake>>>>,
    fallback: Option<Arc<dyn Connect>>,
}

impl FakeConnect {
    pub(crate) fn new(
        shape: TransportKind,
        script: impl Fn(&Fake, &Value) + Send + Sync + 'static,
    ) -> Self {
        Self {
            script: Arc::new(script),
            shape,
            made: Arc::default(),
            fallback: None,
        }
    }

    pub(crate) fn with_fallback(mut self, fallback: impl Connect + 'static) -> Self {
        self.fallback = Some(Arc::new(fallback));
        self
    }

    /// The connections made so far.
    pub(crate) fn made(&self) -> Vec<Arc<Fake>> {
        self.made.lock().clone()
    }

    /// The newest connection.
    pub(crate) fn last(&self) -> Arc<Fake> {
        self.made.lock().last().unwrap().clone()
    }
}

impl fmt::Debug for FakeConnect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("FakeConnect")
    }
}

#[async_trait]
impl Connect for FakeConnect {
    async fn connect(&self) -> Result<Arc<dyn Transport>, TransportError> {
        let fake = Arc::new(Fake {
            script: Arc::clone(&self.script),
            shape: self.shape,
            inbox: Mutex::default(),
            bell: Notify::new(),
            seen: Mutex::default(),
            released: Mutex::default(),
            refusal: Mutex::default(),
            closed: Mutex::default(),
        });
        self.made.lock().push(Arc::clone(&fake));
        Ok(fake)
    }

    fn target(&self) -> String {
        "fake".to_owned()
    }

    fn kind(&self) -> TransportKind {
        self.shape
    }

    fn fallback(&self) -> Option<Arc<dyn Connect>> {
        self.fallback.clone()
    }
}

/// A legacy server with every capability; what it does not know goes to `rest`.
pub(crate) fn legacy(rest: impl Fn(&Fake, &Value) + Send + Sync + 'static) -> FakeConnect {
    FakeConnect::new(TransportKind::Pipe, legacy_script(rest))
}

pub(crate) fn legacy_script(
    rest: impl Fn(&Fake, &Value) + Send + Sync + 'static,
) -> impl Fn(&Fake, &Value) + Send + Sync + 'static {
    move |server, message| match message["method"].as_str() {
        Some("initialize") => {
            let version = message["params"]["protocolVersion"].clone();
            server.reply(message, initialize_result(&version));
        }
        Some("notifications/initialized") => {}
        _ => rest(server, message),
    }
}

pub(crate) fn initialize_result(version: &Value) -> Value {
    json!({
        "protocolVersion": version,
        "capabilities": capabilities(),
        "serverInfo": {"name": "fake", "version": "1"},
        "instructions": "be kind",
    })
}

pub(crate) fn capabilities() -> Value {
    json!({"tools": {"listChanged": true}, "resources": {}, "prompts": {}, "logging": {}, "completions": {}})
}

/// A modern server with every capability; what it does not know goes to `rest`.
pub(crate) fn modern(
    shape: TransportKind,
    rest: impl Fn(&Fake, &Value) + Send + Sync + 'static,
) -> FakeConnect {
    FakeConnect::new(shape, move |server, message| {
        match message["method"].as_str() {
            Some("server/discover") => server.reply(message, discover_result(&["2026-07-28"])),
            Some("initialize") => {
                let data = json!({"supported": ["2026-07-28"], "requested": "2025-11-25"});
                let error = json!({"code": -32022, "message": "Unsupported protocol version", "data": data});
                server.say(json!({"jsonrpc": "2.0", "id": message["id"], "error": error}));
            }
            _ => rest(server, message),
        }
    })
}

pub(crate) fn discover_result(versions: &[&str]) -> Value {
    json!({
        "resultType": "complete",
        "supportedVersions": versions,
        "capabilities": capabilities(),
        "instructions": "be kind",
        "ttlMs": 0,
        "cacheScope": "private",
        "_meta": {"io.modelcontextprotocol/serverInfo": {"name": "fake", "version": "1"}},
    })
}

/// Answers `tools/call` with the text it was given.
pub(crate) fn echo(server: &Fake, message: &Value) {
    if message["method"] == "tools/call" {
        server.reply(message, text(&message["params"]["arguments"]["text"]));
    }
}

pub(crate) fn text(text: &Value) -> Value {
    json!({"content": [{"type": "text", "text": text}]})
}
