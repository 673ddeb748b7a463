//! The running upstream calls, and the owners of questions and log messages.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use mcp_client::{Client, Origin};
use mcp_jsonrpc::model::LogMessageParams;
use mcp_server::Context;
use mcp_transport::TransportKind;
use parking_lot::Mutex;
use tokio::sync::mpsc;

use crate::call::live_call::Event;
use crate::call::questions::Question;

/// Questions that wait for a call.
const MAX_WAITING: usize = 256;

/// A connection to a server.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum Channel {
    /// The manager's connection, shared by all clients.
    Managed(String),
    /// A per-client connection, by its number.
    Own(u64),
}

/// How a server asks something during a call.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Asking {
    /// In the call's result, which is passed on (modern).
    Result,
    /// In a way that identifies the call: on its own stream (legacy, HTTP), or in its result.
    OwnStream,
    /// As a request on a channel that all calls share (legacy, stdio).
    SharedChannel,
}

impl Asking {
    /// `parks` tells whether questions in results are passed on as such.
    pub(crate) fn of(client: &Client, parks: bool) -> Self {
        match client.revision().is_modern() {
            true if parks => Self::Result,
            true => Self::OwnStream,
            false if client.transport_kind() == TransportKind::Http => Self::OwnStream,
            false => Self::SharedChannel,
        }
    }
}

/// A downstream client, as far as it differs from others.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(crate) enum Holder {
    /// A legacy session.
    Session(u64),
    /// Modern clients have no sessions: the owner is any request with the same name and capabilities.
    Requests {
        caller: Option<String>,
        client: Option<String>,
        capabilities: String,
    },
}

impl Holder {
    pub(crate) fn of(cx: &Context) -> Self {
        match cx.session_id() {
            Some(session) => Self::Session(session),
            None => Self::Requests {
                caller: cx.caller().map(|caller| caller.id.clone()),
                client: cx.client_info().map(|client| client.name.clone()),
                capabilities: serde_json::to_string(cx.client_capabilities()).unwrap_or_default(),
            },
        }
    }
}

/// The calls that run upstream, by their ids.
#[derive(Default)]
pub(crate) struct OpenCalls {
    calls: Mutex<BTreeMap<String, OpenCall>>,
    /// What one client's servers ask of it between its calls, until its next one there.
    waiting: Mutex<VecDeque<(Channel, Question)>>,
}

pub(crate) struct OpenCall {
    pub(crate) channel: Channel,
    pub(crate) asking: Asking,
    pub(crate) holder: Holder,
    /// Who makes it, where callers are authenticated.
    pub(crate) caller: Option<String>,
    pub(crate) events: mpsc::Sender<Event>,
}

/// A call's place among the open ones.
pub(crate) struct Registration {
    calls: Arc<OpenCalls>,
    id: String,
}

impl OpenCalls {
    pub(crate) fn register(self: &Arc<Self>, id: &str, call: OpenCall) -> Registration {
        let (channel, events) = (call.channel.clone(), call.events.clone());
        self.calls.lock().insert(id.to_owned(), call);
        let mut waiting = self.waiting.lock();
        for (of, question) in std::mem::take(&mut *waiting) {
            match of == channel {
                // It may be one more than the call takes: its server is refused then.
                true => drop(events.try_send(Event::Question(question))),
                false => waiting.push_back((of, question)),
            }
        }
        drop(waiting);
        Registration {
            calls: Arc::clone(self),
            id: id.to_owned(),
        }
    }

    /// Keeps a question for the next call on this channel; the oldest goes where there are too many.
    pub(crate) fn wait(&self, channel: &Channel, question: Question) {
        let mut waiting = self.waiting.lock();
        if waiting.len() >= MAX_WAITING {
            waiting.pop_front();
        }
        waiting.push_back((channel.clone(), question));
    }

    /// The call that a question belongs to. On a channel that clients share it must be the only one: no client
    /// is ever asked what another one's call has caused.
    pub(crate) fn find(
        &self,
        channel: &Channel,
        origin: &Origin,
    ) -> Option<(mpsc::Sender<Event>, Asking)> {
        let calls = self.calls.lock();
        let named = match origin {
            Origin::Calls(callers) => callers.iter().find_map(|caller| calls.get(&caller.call)),
            _ => None,
        };
        let found = match named {
            Some(call) if call.asking != Asking::SharedChannel => call,
            _ => {
                let mut own = calls.values().filter(|call| call.channel == *channel);
                let first = own.next()?;
                let is_clear = matches!(channel, Channel::Own(_)) || own.next().is_none();
                Some(first).filter(|_| is_clear)?
            }
        };
        Some((found.events.clone(), found.asking))
    }

    /// Passes a log message on that may be of any call on this channel; returns it if no call is
    /// open there. Each client gets it once. If the calls are of several callers it is dropped: one
    /// must not read what is logged for another.
    pub(crate) fn log(
        &self,
        channel: &Channel,
        message: LogMessageParams,
    ) -> Option<LogMessageParams> {
        let calls = self.calls.lock();
        let own = || calls.values().filter(|call| call.channel == *channel);
        let first = match own().next() {
            Some(first) => first,
            None => return Some(message),
        };
        if own().all(|call| call.caller == first.caller) {
            let clients: BTreeMap<_, _> = own().map(|call| (&call.holder, &call.events)).collect();
            for events in clients.into_values() {
                // A slow client misses messages, never the result.
                let _ = events.try_send(Event::Log(message.clone()));
            }
        }
        None
    }
}

impl Drop for Registration {
    fn drop(&mut self) {
        self.calls.calls.lock().remove(&self.id);
    }
}
