//! A server of either era that keeps the protocol, or breaks it in one named way per request, and
//! records which results it really sent.

use std::collections::{BTreeSet, VecDeque};
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use mcp_jsonrpc::RequestId;
use mcp_transport::{
    Closed, Connect, Delivery, HttpFailure, Incoming, Outgoing, SendError, Transport,
    TransportError, TransportKind,
};
use parking_lot::Mutex;
use serde_json::{Value, json};
use tokio::sync::Notify;
use tokio::time::Instant;

use super::good::{good, is_about_tasks, is_modern};

/// What the server does with one request.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Act {
    /// The right answer.
    Good,
    /// The right answer twice, with different contents.
    Twice,
    /// An error, then the right answer.
    ErrorThenGood,
    /// Cancels the request, which is not the server's to cancel, and answers it.
    CancelThenGood,
    /// Cancels the request, and never answers it.
    Cancel,
    /// Acknowledges it as if it were a subscription, and never answers it.
    Acknowledge,
    /// Nothing.
    Silent,
    /// Does not even read it: sending never ends.
    Unread,
    /// Reports progress for ever.
    Progress,
    /// Asks the user one thing after the other, for ever.
    Ask,
    /// Sends the user to yet another URL first, for ever.
    Visit,
    /// A JSON-RPC error.
    Refuse(i64),
    /// This HTTP status; 202 stands for any reply without an answer.
    Status(u16),
    /// The session is unknown to it.
    SessionGone,
    /// The network fails under way.
    Reset,
    /// The reply ends without an answer; on a pipe the connection does.
    Drop,
    /// The right answer, under another id.
    WrongId,
    /// A result of some other kind.
    WrongShape,
    /// An answer without result and error.
    NoResult,
    /// The right answer, tagged as one that is not complete.
    Tagged(&'static str),
    /// A message that is no JSON.
    Garbage,
}

pub(crate) const ACTS: [Act; 28] = [
    Act::Good,
    Act::Twice,
    Act::ErrorThenGood,
    Act::CancelThenGood,
    Act::Cancel,
    Act::Acknowledge,
    Act::Silent,
    Act::Unread,
    Act::Progress,
    Act::Ask,
    Act::Visit,
    Act::Refuse(-32601),
    Act::Refuse(-32602),
    Act::Refuse(-32020),
    Act::Refuse(-32022),
    Act::Status(401),
    Act::Status(404),
    Act::Status(202),
    Act::Status(503),
    Act::SessionGone,
    Act::Reset,
    Act::Drop,
    Act::WrongId,
    Act::WrongShape,
    Act::NoResult,
    Act::Tagged("input_required"),
    Act::Tagged("task"),
    Act::Garbage,
];

/// What all connections to the server share.
#[derive(Debug, Default)]
pub(crate) struct Record {
    /// What comes next, and what goes on when that is over; nothing but good answers before.
    pub(crate) acts: Mutex<Option<(VecDeque<Act>, Act)>>,
    /// Marks of the results that were the first answer to their request.
    pub(crate) sent: Mutex<BTreeSet<String>>,
    /// Methods whose request was first answered by a complete result, or acknowledged.
    pub(crate) answered: Mutex<BTreeSet<String>>,
    /// How many results there were.
    results: Mutex<u32>,
}

impl Record {
    /// From now on the server misbehaves so, and at last so for ever.
    pub(crate) fn misbehave(&self, acts: &[Act], last: Act) {
        *self.acts.lock() = Some((acts.iter().copied().collect(), last));
    }

    fn act(&self) -> Act {
        match &mut *self.acts.lock() {
            Some((acts, last)) => acts.pop_front().unwrap_or(*last),
            None => Act::Good,
        }
    }

    /// Whether it reads what is not a request.
    fn reads(&self) -> bool {
        !matches!(&*self.acts.lock(), Some((_, Act::Unread)))
    }

    /// A word that is in one result and in no other.
    fn mark(&self) -> String {
        let mut results = self.results.lock();
        *results += 1;
        format!("mark-{results}-")
    }
}

/// Connects to one such server.
#[derive(Clone, Debug)]
pub(crate) struct Scripted {
    pub(crate) shape: TransportKind,
    pub(crate) record: Arc<Record>,
}

#[async_trait]
impl Connect for Scripted {
    async fn connect(&self) -> Result<Arc<dyn Transport>, TransportError> {
        Ok(Arc::new(Connection {
            shape: self.shape,
            record: Arc::clone(&self.record),
            inbox: Mutex::default(),
            bell: Notify::new(),
            reported: Mutex::default(),
            closed: Mutex::default(),
        }))
    }

    fn target(&self) -> String {
        "scripted".to_owned()
    }

    fn kind(&self) -> TransportKind {
        self.shape
    }
}

struct Connection {
    shape: TransportKind,
    record: Arc<Record>,
    inbox: Mutex<VecDeque<Incoming>>,
    bell: Notify,
    /// Requests that report progress every second.
    reported: Mutex<Vec<Value>>,
    closed: Mutex<Option<Closed>>,
}

impl fmt::Debug for Connection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Connection")
    }
}

impl Connection {
    fn push(&self, incoming: Incoming) {
        self.inbox.lock().push_back(incoming);
        self.bell.notify_one();
    }

    fn say(&self, message: &Value) {
        self.say_bytes(message.to_string().as_bytes());
    }

    fn say_bytes(&self, bytes: &[u8]) {
        let (body, stream) = (bytes.to_vec(), None);
        self.push(Incoming::Message { body, stream });
    }

    fn notify(&self, method: &str, params: Value) {
        self.say(&json!({"jsonrpc": "2.0", "method": method, "params": params}));
    }

    fn end(&self, closed: Closed) {
        self.closed.lock().get_or_insert(closed);
        self.bell.notify_one();
    }

    /// A good answer, recorded if it is the first to its request.
    fn answer(&self, request: &Value, is_first: bool) {
        let mark = self.record.mark();
        if request["method"] == "subscriptions/listen" {
            if is_first {
                self.acknowledge(request);
            }
            return;
        }
        let Some(result) = good(request, &mark) else {
            return self.refuse(request, -32601);
        };
        if is_first {
            self.record.sent.lock().insert(mark);
            self.record_answer(request);
        }
        self.say(&json!({"jsonrpc": "2.0", "id": request["id"], "result": result}));
    }

    fn acknowledge(&self, request: &Value) {
        let meta = json!({"io.modelcontextprotocol/subscriptionId": request["id"]});
        let params = json!({"notifications": {}, "_meta": meta});
        if request["method"] == "subscriptions/listen" {
            self.record_answer(request);
        }
        self.notify("notifications/subscriptions/acknowledged", params);
    }

    fn record_answer(&self, request: &Value) {
        let method = request["method"].as_str().unwrap().to_owned();
        self.record.answered.lock().insert(method);
    }

    fn refuse(&self, request: &Value, code: i64) {
        let data = json!({"supported": ["2026-07-28"], "requested": "2026-07-28"});
        let error = json!({"code": code, "message": "no", "data": data});
        self.say(&json!({"jsonrpc": "2.0", "id": request["id"], "error": error}));
    }

    fn send_away(&self, request: &Value) {
        let mark = self.record.mark();
        let url = format!("https://scripted/{mark}");
        let visit = json!({"mode": "url", "elicitationId": mark, "url": url, "message": "?"});
        let data = json!({"elicitations": [visit]});
        let error = json!({"code": -32042, "message": "first go there", "data": data});
        self.say(&json!({"jsonrpc": "2.0", "id": request["id"], "error": error}));
    }

    fn cancel(&self, request: &Value) {
        self.notify(
            "notifications/cancelled",
            json!({"requestId": request["id"]}),
        );
    }

    fn ask(&self, request: &Value) {
        let form = json!({
            "message": "?", "requestedSchema": {"type": "object", "properties": {}},
        });
        if is_modern(request) {
            let ask = json!({"method": "elicitation/create", "params": form});
            let result = json!({
                "resultType": "input_required", "requestState": "s", "inputRequests": {"a": ask},
            });
            return self.say(&json!({"jsonrpc": "2.0", "id": request["id"], "result": result}));
        }
        let id = self.record.mark();
        let method = "elicitation/create";
        self.say(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": form}));
    }

    async fn play(&self, request: &Value) -> Result<(), SendError> {
        let act = self.record.act();
        let id = &request["id"];
        let failed = |error, delivery| Err(SendError::new(error, delivery));
        match act {
            Act::Good => self.answer(request, true),
            Act::Twice => {
                self.answer(request, true);
                self.answer(request, false);
            }
            Act::ErrorThenGood => {
                self.refuse(request, -32000);
                self.answer(request, false);
            }
            Act::CancelThenGood => {
                self.cancel(request);
                self.answer(request, true);
            }
            Act::Cancel => self.cancel(request),
            Act::Acknowledge => self.acknowledge(request),
            Act::Silent => {}
            Act::Unread => std::future::pending().await,
            Act::Progress => {
                self.reported.lock().push(id.clone());
                self.bell.notify_one();
            }
            Act::Ask => self.ask(request),
            Act::Visit => self.send_away(request),
            Act::Refuse(code) => self.refuse(request, code),
            Act::Status(401) => {
                let (status, source) = (401, None);
                return failed(
                    TransportError::Unauthorized { status, source },
                    Delivery::NotSent,
                );
            }
            Act::Status(202) => {
                let detail = "HTTP 202".to_owned();
                return failed(TransportError::NoResponse { detail }, Delivery::Sent);
            }
            Act::Status(status) => {
                let failure = HttpFailure::new(status, "http://scripted");
                return failed(TransportError::Http(failure), Delivery::Unknown);
            }
            Act::SessionGone => return failed(TransportError::SessionExpired, Delivery::NotSent),
            Act::Reset => return failed(broken(), Delivery::Unknown),
            Act::Drop if self.shape == TransportKind::Http => self.push(Incoming::Ended {
                request: RequestId::from(id.as_i64().unwrap()),
                error: broken().into(),
            }),
            Act::Drop => self.end(Closed::with_error(broken())),
            Act::WrongId => {
                let result = good(request, "mark-of-another");
                let id = id.as_i64().unwrap() + 1000;
                self.say(&json!({"jsonrpc": "2.0", "id": id, "result": result}));
            }
            Act::WrongShape => {
                self.record_answer(request);
                let result = json!({"resultType": "complete", "odd": [1, 2]});
                self.say(&json!({"jsonrpc": "2.0", "id": id, "result": result}));
            }
            Act::NoResult => self.say(&json!({"jsonrpc": "2.0", "id": id})),
            // What becomes of tasks may be tagged so.
            Act::Tagged("task") if is_about_tasks(request) => self.answer(request, true),
            Act::Tagged(tag) if is_modern(request) => {
                let mut result = good(request, "mark-of-no-result").unwrap_or(json!({}));
                result["resultType"] = json!(tag);
                self.say(&json!({"jsonrpc": "2.0", "id": id, "result": result}));
            }
            // It means nothing before.
            Act::Tagged(_) => {}
            Act::Garbage => self.say_bytes(b"]nonsense["),
        }
        Ok(())
    }
}

fn broken() -> TransportError {
    TransportError::Io {
        action: "reading".to_owned(),
        source: "broken".into(),
    }
}

#[async_trait]
impl Transport for Connection {
    async fn send(&self, message: Outgoing) -> Result<(), SendError> {
        if self.closed.lock().is_some() {
            return Err(SendError::new(TransportError::Closed, Delivery::NotSent));
        }
        let message: Value = serde_json::from_slice(&message.body).unwrap();
        match (message.get("id"), message.get("method")) {
            (Some(_), Some(_)) => self.play(&message).await,
            // An answer to a question of ours: we have another one.
            (Some(_), None) if message.get("result").is_some() => {
                self.ask(&json!({}));
                Ok(())
            }
            (Some(_), None) => Ok(()),
            (None, _) if self.record.reads() => Ok(()),
            (None, _) => std::future::pending().await,
        }
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
            let reported = self.reported.lock().last().cloned();
            match reported {
                None => bell.await,
                Some(id) => {
                    let next = Instant::now() + Duration::from_secs(1);
                    if tokio::time::timeout_at(next, bell).await.is_err() {
                        let params = json!({"progressToken": id, "progress": 1});
                        self.notify("notifications/progress", params);
                    }
                }
            }
        }
    }

    fn release(&self, request: &RequestId) {
        let mut reported = self.reported.lock();
        reported.retain(|id| RequestId::from(id.as_i64().unwrap()) != *request);
    }

    async fn close(&self) {
        self.end(Closed::clean());
    }

    fn kind(&self) -> TransportKind {
        self.shape
    }
}
