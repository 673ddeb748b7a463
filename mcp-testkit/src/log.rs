//! The log of what a server saw, in order, for assertions in tests.

use std::fs::File;
use std::io::{self, Write as _};
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::sync::Notify;

use crate::Refusal;

/// The default number of events kept; later ones are dropped.
const MAX_EVENTS: usize = 100_000;
/// Messages longer than this are logged without their params or result.
const MAX_MESSAGE: usize = 64 << 10;

/// Everything a server saw, in order. A cheap handle: clones share one log.
///
/// ```
/// # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
/// let server = mcp_testkit::Server::default().start_http().await?;
/// assert!(server.log().methods().is_empty());
/// # Ok::<(), mcp_testkit::StartError>(()) }).unwrap();
/// ```
#[derive(Clone, Debug)]
pub struct Log {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    started: Instant,
    most: usize,
    events: Mutex<Vec<Event>>,
    file: Option<File>,
    grown: Notify,
}

/// An event that a server saw or caused.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct Event {
    /// Milliseconds since the server started.
    pub at_ms: f64,
    /// The event.
    #[serde(flatten)]
    pub seen: Seen,
}

/// What a server can see or cause.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(
    tag = "seen",
    rename_all = "kebab-case",
    rename_all_fields = "kebab-case"
)]
#[non_exhaustive]
pub enum Seen {
    /// The server's process started.
    Started {
        /// Its process id.
        pid: u32,
        /// The names of the environment variables it was given.
        environment: Vec<String>,
    },
    /// A TCP connection was accepted.
    Connected {
        /// The origin that accepted it.
        origin: Origin,
        /// Its number, from 1.
        connection: u64,
    },
    /// An HTTP request arrived.
    Http {
        /// The origin that received it.
        origin: Origin,
        /// The connection it arrived on.
        connection: u64,
        /// `POST`, `GET`, `DELETE`.
        method: String,
        /// The request target.
        path: String,
        /// All header fields, names in lower case.
        headers: Vec<(String, String)>,
        /// The JSON-RPC method in its body, if any.
        rpc: Option<String>,
    },
    /// A JSON-RPC message arrived.
    Message {
        /// The origin that received it.
        origin: Origin,
        /// The message, without params and result if it was very long.
        message: Value,
        /// Its length.
        bytes: usize,
    },
    /// The server rejected a message: the client violated a rule.
    Refused {
        /// The JSON-RPC error code.
        code: i64,
        /// The error message.
        message: String,
    },
    /// The client answered a request of the server, or did not in time.
    Answered {
        /// The method of the request.
        method: String,
        /// The response: its result or its error. `None` if none arrived.
        answer: Option<Value>,
    },
    /// The client cancelled a request that was still running.
    Cancelled {
        /// The request's id.
        id: Value,
    },
    /// The client closed the connection of a request that was still running.
    Abandoned {
        /// The request's id.
        id: Value,
    },
    /// A signal arrived at the server's process.
    Signal {
        /// Its name, such as `SIGTERM`.
        name: String,
    },
    /// The client closed its end.
    Eof,
    /// A milestone that a fault reached.
    Milestone {
        /// The milestone's name.
        name: String,
        /// A number that belongs to it.
        number: u64,
    },
}

/// The server's listening port of an event.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Origin {
    /// The server's own address.
    First,
    /// The address that redirects and forged endpoints point to: no secret may arrive here.
    Second,
}

impl Default for Log {
    fn default() -> Self {
        Self::new()
    }
}

impl Log {
    /// Creates an empty log.
    #[must_use]
    pub fn new() -> Self {
        Self::keeping(MAX_EVENTS)
    }

    /// Creates a log of the first `count` events only, for long-lived servers.
    #[must_use]
    pub fn keeping(count: usize) -> Self {
        Self::with(count, None)
    }

    /// Creates a log that also appends each event to a file, as a line of JSON.
    pub fn to_file(path: &Path) -> io::Result<Self> {
        let file = File::options().append(true).create(true).open(path)?;
        Ok(Self::with(MAX_EVENTS, Some(file)))
    }

    fn with(most: usize, file: Option<File>) -> Self {
        Self {
            inner: Arc::new(Inner {
                started: Instant::now(),
                most,
                events: Mutex::new(Vec::new()),
                file,
                grown: Notify::new(),
            }),
        }
    }

    /// All events so far.
    pub fn events(&self) -> Vec<Event> {
        self.inner.events.lock().clone()
    }

    /// All JSON-RPC messages that arrived so far.
    pub fn messages(&self) -> Vec<Value> {
        self.collect(|seen| match seen {
            Seen::Message { message, .. } => Some(message.clone()),
            _ => None,
        })
    }

    /// The methods of all requests and notifications that arrived so far.
    pub fn methods(&self) -> Vec<String> {
        self.collect(|seen| match seen {
            Seen::Message { message, .. } => Some(message.get("method")?.as_str()?.to_owned()),
            _ => None,
        })
    }

    /// The messages with this method.
    pub fn of_method(&self, method: &str) -> Vec<Value> {
        let mut found = self.messages();
        found.retain(|message| message.get("method").is_some_and(|m| m == method));
        found
    }

    /// The first matching event; waits for it if it has not happened yet.
    pub async fn wait_for(&self, fits: impl Fn(&Event) -> bool) -> Event {
        let mut at = 0;
        loop {
            let grown = self.inner.grown.notified();
            tokio::pin!(grown);
            grown.as_mut().enable();
            // Not under the lock: the predicate may read the log.
            while let Some(event) = self.event(at) {
                if fits(&event) {
                    return event;
                }
                at += 1;
            }
            grown.await;
        }
    }

    fn event(&self, at: usize) -> Option<Event> {
        self.inner.events.lock().get(at).cloned()
    }

    /// The first message with this method; waits for it if it has not arrived yet.
    pub async fn wait_for_method(&self, method: &str) -> Value {
        let event = self
            .wait_for(|event| match &event.seen {
                Seen::Message { message, .. } => message.get("method").is_some_and(|m| m == method),
                _ => false,
            })
            .await;
        match event.seen {
            Seen::Message { message, .. } => message,
            _ => Value::Null,
        }
    }

    pub(crate) fn record(&self, seen: Seen) {
        let at_ms = self.inner.started.elapsed().as_secs_f64() * 1000.0;
        let event = Event { at_ms, seen };
        {
            let mut events = self.inner.events.lock();
            if events.len() >= self.inner.most {
                return;
            }
            if let Some(mut file) = self.inner.file.as_ref()
                && let Ok(mut line) = serde_json::to_vec(&event)
            {
                line.push(b'\n');
                // A full disk must not change what the server does.
                let _ = file.write_all(&line);
            }
            events.push(event);
        }
        self.inner.grown.notify_waiters();
    }

    pub(crate) fn message(&self, origin: Origin, message: &Value, bytes: usize) {
        let message = if bytes > MAX_MESSAGE {
            without_payload(message)
        } else {
            message.clone()
        };
        self.record(Seen::Message {
            origin,
            message,
            bytes,
        });
    }

    pub(crate) fn refused(&self, refusal: &Refusal) {
        self.record(Seen::Refused {
            code: refusal.code,
            message: refusal.message.clone(),
        });
    }

    pub(crate) fn mark(&self, name: &str, number: u64) {
        self.record(Seen::Milestone {
            name: name.to_owned(),
            number,
        });
    }

    fn collect<T>(&self, pick: impl Fn(&Seen) -> Option<T>) -> Vec<T> {
        let events = self.inner.events.lock();
        events
            .iter()
            .filter_map(|event| pick(&event.seen))
            .collect()
    }
}

fn without_payload(message: &Value) -> Value {
    match message {
        Value::Object(members) => members
            .iter()
            .filter(|(name, _)| !matches!(name.as_str(), "params" | "result"))
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect(),
        _ => Value::Null,
    }
}
