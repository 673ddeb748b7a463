//! Scripted servers in memory, and the connector that reaches them.

use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use mcp_client::ClientBuilder;
use mcp_jsonrpc::RequestId;
use mcp_manager::{Connector, RemoteEndpoint, ServerCommand, ServerConfig, ServerName};
use mcp_transport::{
    BoxError, Closed, Connect, Delivery, Incoming, Outgoing, SendError, Transport, TransportError,
    TransportKind,
};
use parking_lot::Mutex;
use serde_json::{Value, json};
use tokio::sync::Notify;

/// What happens to whoever connects.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Door {
    Open,
    /// Opens after so long.
    Slow(Duration),
    /// No one is there, for now.
    Shut,
    /// As long as this, says the server.
    Busy(Duration),
    /// Nothing ever happens.
    Dead,
    /// It requires authorization.
    Locked,
    /// Not a server at all.
    Wrong,
}

/// What becomes of a call.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Manner {
    /// Answered with its own arguments.
    Echo,
    /// The same, after so long.
    Slowly(Duration),
    /// Never answered.
    Silent,
    /// The connection ends instead.
    Crash,
}

/// One server: all its connections, past and present.
#[derive(Debug)]
pub(crate) struct Fake {
    pub(crate) door: Mutex<Door>,
    pub(crate) manner: Mutex<Manner>,
    /// Whether it answers `tools/list`.
    pub(crate) lists: AtomicBool,
    /// Whether it says that it tells of changes.
    pub(crate) announces: AtomicBool,
    pub(crate) tools: Mutex<Vec<Value>>,
    /// Its skills, and what it says that each of their files is.
    pub(crate) skills: Mutex<Option<(Value, BTreeMap<String, String>)>>,
    /// What it is asked, by method.
    pub(crate) seen: Mutex<BTreeMap<String, usize>>,
    /// Arguments of the calls it acted on.
    pub(crate) acted: Mutex<Vec<Value>>,
    pub(crate) connects: AtomicUsize,
    /// How many are being connected, or called, at the same time, and how many were at most.
    pub(crate) calling: Crowd,
    links: Mutex<Vec<Arc<Connection>>>,
}

/// Counts who is there.
#[derive(Debug, Default)]
pub(crate) struct Crowd {
    now: AtomicUsize,
    most: AtomicUsize,
}

impl Crowd {
    pub(crate) fn enter(&self) {
        let now = self.now.fetch_add(1, Ordering::SeqCst) + 1;
        self.most.fetch_max(now, Ordering::SeqCst);
    }

    pub(crate) fn leave(&self) {
        self.now.fetch_sub(1, Ordering::SeqCst);
    }

    pub(crate) fn most(&self) -> usize {
        self.most.load(Ordering::SeqCst)
    }
}

impl Fake {
    pub(crate) fn new(tools: &[&str]) -> Arc<Self> {
        Arc::new(Self {
            door: Mutex::new(Door::Open),
            manner: Mutex::new(Manner::Echo),
            lists: AtomicBool::new(true),
            announces: AtomicBool::new(true),
            tools: Mutex::new(tools.iter().map(|name| tool(name)).collect()),
            skills: Mutex::default(),
            seen: Mutex::default(),
            acted: Mutex::default(),
            connects: AtomicUsize::new(0),
            calling: Crowd::default(),
            links: Mutex::default(),
        })
    }

    pub(crate) fn set_door(&self, door: Door) {
        *self.door.lock() = door;
    }

    pub(crate) fn set_manner(&self, manner: Manner) {
        *self.manner.lock() = manner;
    }

    pub(crate) fn set_tools(&self, tools: &[&str]) {
        *self.tools.lock() = tools.iter().map(|name| tool(name)).collect();
    }

    /// Ends all its connections.
    pub(crate) fn crash(&self) {
        for link in self.links.lock().drain(..) {
            link.end(Closed::clean());
        }
    }

    /// Tells all who are connected.
    pub(crate) fn notify(&self, method: &str, params: Value) {
        for link in self.links.lock().iter() {
            link.say(&json!({"jsonrpc": "2.0", "method": method, "params": params}));
        }
    }

    /// Asks all who are connected.
    pub(crate) fn ask(&self, id: &str, method: &str, params: Value) {
        for link in self.links.lock().iter() {
            link.say(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        }
    }

    pub(crate) fn seen(&self, method: &str) -> usize {
        self.seen.lock().get(method).copied().unwrap_or_default()
    }

    pub(crate) fn open_links(&self) -> usize {
        self.links
            .lock()
            .iter()
            .filter(|link| link.closed.lock().is_none())
            .count()
    }
}

pub(crate) fn tool(name: &str) -> Value {
    json!({"name": name, "description": format!("does {name}"), "inputSchema": {"type": "object"}})
}

pub(crate) fn read_only(name: &str) -> Value {
    let mut tool = tool(name);
    tool["annotations"] = json!({"readOnlyHint": true});
    tool
}

/// One connection.
pub(crate) struct Connection {
    fake: Arc<Fake>,
    inbox: Mutex<VecDeque<Incoming>>,
    bell: Notify,
    closed: Mutex<Option<Closed>>,
    /// What the client answered to the server's questions.
    answers: Arc<Mutex<Vec<Value>>>,
}

impl Connection {
    fn say(&self, message: &Value) {
        let body = message.to_string().into_bytes();
        self.inbox
            .lock()
            .push_back(Incoming::Message { body, stream: None });
        self.bell.notify_one();
    }

    fn end(&self, closed: Closed) {
        self.closed.lock().get_or_insert(closed);
        self.bell.notify_one();
    }

    fn reply(&self, request: &Value, result: Value) {
        self.say(&json!({"jsonrpc": "2.0", "id": request["id"], "result": result}));
    }

    fn hear(self: &Arc<Self>, message: &Value) {
        let Some(method) = message["method"].as_str() else {
            self.answers.lock().push(message.clone());
            return;
        };
        let fake = &self.fake;
        *fake.seen.lock().entry(method.to_owned()).or_default() += 1;
        let skills = fake.skills.lock().clone();
        match (method, &skills) {
            ("skills/list", Some((skills, _))) => {
                return self.reply(message, json!({ "skills": skills }));
            }
            ("skills/get", Some((skills, _))) => {
                let is_it = |it: &&Value| it["uri"] == message["params"]["uri"];
                let skill = skills.as_array().unwrap().iter().find(is_it);
                return self.reply(message, json!({ "skill": skill.unwrap() }));
            }
            ("resources/read", Some((_, files))) => {
                let uri = message["params"]["uri"].as_str().unwrap();
                let contents = json!({"uri": uri, "text": files[uri]});
                return self.reply(message, json!({"contents": [contents]}));
            }
            _ => {}
        }
        match method {
            "initialize" => {
                let extensions = match skills {
                    Some(_) => json!({"io.modelcontextprotocol/skills": {}}),
                    None => json!({}),
                };
                let reported = json!({"listChanged": fake.announces.load(Ordering::SeqCst)});
                self.reply(
                    message,
                    json!({
                        "protocolVersion": message["params"]["protocolVersion"],
                        "capabilities": {"tools": reported, "prompts": reported, "resources": reported,
                            "extensions": extensions},
                        "serverInfo": {"name": "fake", "version": "1"},
                    }),
                );
            }
            "tools/list" if !fake.lists.load(Ordering::SeqCst) => {}
            "tools/list" => self.reply(message, json!({"tools": *fake.tools.lock()})),
            "prompts/list" => self.reply(message, json!({"prompts": [{"name": "greet"}]})),
            "resources/list" => {
                let resource = json!({"uri": "memo://a", "name": "a"});
                self.reply(message, json!({"resources": [resource]}));
            }
            "resources/read" => {
                let uri = &message["params"]["uri"];
                let count = fake.seen("resources/read");
                let contents = json!({"uri": uri, "text": format!("read {count}")});
                self.reply(message, json!({"contents": [contents]}));
            }
            "prompts/get" => self.reply(message, json!({"messages": []})),
            "tools/call" => self.call(message),
            "ping" => self.reply(message, json!({})),
            _ if message.get("id").is_some() => {
                let error = json!({"code": -32601, "message": "no such method"});
                self.say(&json!({"jsonrpc": "2.0", "id": message["id"], "error": error}));
            }
            _ => {}
        }
    }

    fn call(self: &Arc<Self>, message: &Value) {
        let fake = Arc::clone(&self.fake);
        let arguments = message["params"]["arguments"].clone();
        let text = json!({"content": [{"type": "text", "text": arguments.to_string()}]});
        let manner = *fake.manner.lock();
        fake.calling.enter();
        match manner {
            Manner::Echo => {
                fake.acted.lock().push(arguments);
                self.reply(message, text);
                fake.calling.leave();
            }
            Manner::Slowly(time) => {
                let (link, message) = (Arc::clone(self), message.clone());
                tokio::spawn(async move {
                    tokio::time::sleep(time).await;
                    fake.acted.lock().push(arguments);
                    link.reply(&message, text);
                    fake.calling.leave();
                });
            }
            Manner::Silent => fake.calling.leave(),
            Manner::Crash => {
                fake.acted.lock().push(arguments);
                self.end(Closed::clean());
                fake.calling.leave();
            }
        }
    }
}

impl fmt::Debug for Connection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Connection")
    }
}

/// The client's end of a connection.
#[derive(Debug)]
struct End(Arc<Connection>);

#[async_trait]
impl Transport for End {
    async fn send(&self, message: Outgoing) -> Result<(), SendError> {
        if self.0.closed.lock().is_some() {
            return Err(SendError::new(TransportError::Closed, Delivery::NotSent));
        }
        self.0.hear(&serde_json::from_slice(&message.body).unwrap());
        Ok(())
    }

    async fn recv(&self) -> Incoming {
        loop {
            let bell = self.0.bell.notified();
            if let Some(next) = self.0.inbox.lock().pop_front() {
                return next;
            }
            if let Some(closed) = self.0.closed.lock().clone() {
                return Incoming::Closed(closed);
            }
            bell.await;
        }
    }

    fn release(&self, _: &RequestId) {}

    async fn close(&self) {
        self.0.end(Closed::clean());
    }

    fn kind(&self) -> TransportKind {
        TransportKind::Pipe
    }

    fn is_alive(&self) -> bool {
        self.0.closed.lock().is_none()
    }
}

impl Drop for End {
    fn drop(&mut self) {
        self.0.end(Closed::clean());
    }
}

#[derive(Clone, Debug)]
struct Way {
    fake: Arc<Fake>,
    connecting: Arc<Crowd>,
    answers: Arc<Mutex<Vec<Value>>>,
}

#[async_trait]
impl Connect for Way {
    async fn connect(&self) -> Result<Arc<dyn Transport>, TransportError> {
        self.fake.connects.fetch_add(1, Ordering::SeqCst);
        self.connecting.enter();
        let door = *self.fake.door.lock();
        if let Door::Slow(time) = door {
            tokio::time::sleep(time).await;
        }
        if door == Door::Dead {
            // A cancelled attempt leaves.
            let _leave = Leave(Arc::clone(&self.connecting));
            std::future::pending::<()>().await;
        }
        self.connecting.leave();
        let http = |status| mcp_transport::HttpFailure::new(status, "http://fake");
        match door {
            Door::Shut => Err(TransportError::Io {
                action: "connecting to the fake server".to_owned(),
                source: "no one is there".into(),
            }),
            Door::Busy(wait) => {
                let mut failure = http(503);
                failure.retry_after = Some(wait);
                Err(TransportError::Http(failure))
            }
            Door::Locked => Err(TransportError::Unauthorized {
                status: 401,
                source: None,
            }),
            Door::Wrong => Err(TransportError::Malformed {
                detail: "a web page".to_owned(),
            }),
            Door::Open | Door::Slow(_) | Door::Dead => {
                let link = Arc::new(Connection {
                    fake: Arc::clone(&self.fake),
                    inbox: Mutex::default(),
                    bell: Notify::new(),
                    closed: Mutex::default(),
                    answers: Arc::clone(&self.answers),
                });
                let mut links = self.fake.links.lock();
                links.retain(|link| link.closed.lock().is_none());
                links.push(Arc::clone(&link));
                Ok(Arc::new(End(link)))
            }
        }
    }

    fn target(&self) -> String {
        "fake".to_owned()
    }

    fn kind(&self) -> TransportKind {
        TransportKind::Pipe
    }
}

struct Leave(Arc<Crowd>);

impl Drop for Leave {
    fn drop(&mut self) {
        self.0.leave();
    }
}

/// Reaches fake servers by their names.
#[derive(Clone, Debug, Default)]
pub(crate) struct Fakes {
    servers: Arc<Mutex<BTreeMap<String, Arc<Fake>>>>,
    /// How many programs, and how many remote servers, are being connected at the same time.
    pub(crate) stdio: Arc<Crowd>,
    pub(crate) remote: Arc<Crowd>,
    pub(crate) answers: Arc<Mutex<Vec<Value>>>,
}

impl Fakes {
    pub(crate) fn add(&self, name: &str, tools: &[&str]) -> Arc<Fake> {
        let fake = Fake::new(tools);
        self.servers
            .lock()
            .insert(name.to_owned(), Arc::clone(&fake));
        fake
    }
}

#[async_trait]
impl Connector for Fakes {
    fn builder(&self, config: &ServerConfig) -> Result<ClientBuilder, BoxError> {
        let fake = self.servers.lock().get(config.name().as_str()).cloned();
        let connecting = match config.endpoint() {
            mcp_manager::Endpoint::Stdio(_) => &self.stdio,
            _ => &self.remote,
        };
        Ok(ClientBuilder::new(Arc::new(Way {
            fake: fake.ok_or("there is no such fake")?,
            connecting: Arc::clone(connecting),
            answers: Arc::clone(&self.answers),
        })))
    }
}

pub(crate) fn name(name: &str) -> ServerName {
    name.parse().unwrap()
}

pub(crate) fn remote(server: &str) -> ServerConfig {
    ServerConfig::remote(name(server), RemoteEndpoint::new("http://127.0.0.1/fake"))
}

pub(crate) fn stdio(server: &str) -> ServerConfig {
    ServerConfig::stdio(name(server), ServerCommand::new("fake"))
}
