//! One request, relayed to an upstream server whatever eras the two sides speak.
//!
//! The upstream server may ask something first. A legacy one sends a request while the call runs;
//! a modern one ends the call with questions and continues it with the answers. Downstream both
//! become [`Context::ask`], which does the same for the client's era. A call runs in *legs*: the
//! first call, and one for each time a modern server has asked.

use std::collections::BTreeSet;
use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use futures_util::future::{BoxFuture, join_all};
use mcp_client::{CallError, Caller, Parked};
use mcp_jsonrpc::model::{
    ElicitParams, ElicitResult, InputRequest, InputResponses, ListRootsResult, Meta,
};
use mcp_jsonrpc::{Method, RawJson, RawObject};
use mcp_manager::{CallOptions, Manager, ManagerError, ServerName};
use mcp_server::{Context, Error, Roots};
use tokio::sync::mpsc;

use crate::error;
use crate::live_call::{Event, LiveCall, QUEUE};
use crate::questions::{Asking, OpenCalls};

/// The prefix of the `_meta` members that the protocol defines for one hop.
const PROTOCOL_META: &str = "io.modelcontextprotocol/";

/// Numbers calls so that no other process has the same.
pub(crate) struct CallIds {
    process: u64,
    next: AtomicU64,
}

impl Default for CallIds {
    fn default() -> Self {
        Self {
            process: RandomState::new().hash_one(std::process::id()),
            next: AtomicU64::new(0),
        }
    }
}

impl CallIds {
    pub(crate) fn next(&self) -> String {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        format!("{:016x}-{number}", self.process)
    }
}

/// What all relayed calls share.
pub(crate) struct Relay<'a> {
    pub(crate) manager: &'a Manager,
    pub(crate) calls: &'a Arc<OpenCalls>,
    pub(crate) ids: &'a CallIds,
    pub(crate) server: &'a ServerName,
    pub(crate) cx: &'a Context,
}

/// How a leg ended, other than with questions.
enum End<T> {
    Done(T),
    Failed(Error),
}

/// A call to be made with these options.
pub(crate) type Start<T> =
    Box<dyn FnOnce(LegOptions) -> BoxFuture<'static, Result<T, ManagerError>> + Send>;

/// The options of one leg, for whoever makes the call.
pub(crate) struct LegOptions {
    id: String,
    meta: Option<Meta>,
    progress: Option<mpsc::Sender<Event>>,
}

macro_rules! call_options {
    ($self:ident, $Options:ty) => {{
        let mut options = <$Options>::default()
            .with_caller(Caller::new(&*$self.id, &*$self.id))
            .with_parking();
        if let Some(meta) = $self.meta {
            options = options.with_meta(meta);
        }
        if let Some(events) = $self.progress {
            options = options.with_progress(move |report| {
                // A slow client misses reports, never the result.
                let _ = events.try_send(Event::Progress(report));
            });
        }
        options
    }};
}

impl LegOptions {
    pub(crate) fn for_manager(self) -> CallOptions {
        call_options!(self, CallOptions)
    }

    pub(crate) fn for_client(self) -> mcp_client::CallOptions {
        call_options!(self, mcp_client::CallOptions)
    }
}

impl Relay<'_> {
    /// Makes a call of method `M` that `first` starts, and returns its result.
    pub(crate) async fn call<M>(
        &self,
        params: &RawObject,
        first: Start<M::Output>,
    ) -> Result<M::Output, Error>
    where
        M: Method,
        M::Output: Send + 'static,
    {
        let (mut start, mut used) = (first, BTreeSet::new());
        for leg in 0_u32.. {
            let parked = match self
                .cx
                .step(&format!("leg-{leg}"), self.leg(leg, params, start))
                .await
            {
                Ok(parked) => parked,
                Err(End::Done(result)) => return Ok(result),
                Err(End::Failed(error)) => return Err(error),
            };
            let answers = self.ask(&parked, &mut used).await?;
            let (manager, params) = (self.manager.clone(), params.clone());
            start = Box::new(move |options| {
                let mut parked = parked;
                if parked.params.get() == "{}" {
                    parked.params = params;
                }
                let options = options.for_manager();
                Box::pin(async move { manager.resume_with::<M>(parked, answers, options).await })
            });
        }
        Err(Error::internal("too many rounds"))
    }

    /// Runs one leg: once, however often the handler starts again.
    async fn leg<T: Send + 'static>(
        &self,
        leg: u32,
        params: &RawObject,
        start: Start<T>,
    ) -> Result<Parked, End<T>> {
        let mut is_new = false;
        let name = async {
            is_new = true;
            Ok::<_, End<T>>(self.ids.next())
        };
        let id = self.cx.step(&format!("call-{leg}"), name).await?;
        let call = match self.cx.held::<LiveCall<T>>(&id) {
            Some(call) => call,
            None if is_new => {
                let call = self.start(&id, start);
                self.cx.hold(&id, Arc::clone(&call));
                call
            }
            None => return Err(End::Failed(self.interrupted())),
        };
        match call.wait(self.cx).await {
            Some(Ok(result)) => Err(End::Done(result)),
            Some(Err(ManagerError::Call(CallError::Parked(mut parked)))) => {
                // The client sends them again with each round, so they need not be in the state.
                if is_same(&parked.params, params) {
                    parked.params = RawObject::empty();
                }
                Ok(*parked)
            }
            Some(Err(error)) => Err(End::Failed(error::upstream(self.server, &error))),
            None => Err(End::Failed(self.interrupted())),
        }
    }

    fn interrupted(&self) -> Error {
        Error::internal(format!(
            "server '{}': the call was interrupted and may have run; it was not sent again",
            self.server
        ))
    }

    fn start<T: Send + 'static>(&self, id: &str, start: Start<T>) -> Arc<LiveCall<T>> {
        let (sender, events) = mpsc::channel(QUEUE);
        let client = self.manager.client(self.server.as_str());
        let asking = Asking::of(client.as_ref());
        let registration = self.calls.register(id, self.server, asking, sender.clone());
        let wants_progress = self.cx.meta().progress_token().is_some();
        let options = LegOptions {
            id: id.to_owned(),
            meta: forwarded(self.cx.meta()),
            progress: wants_progress.then_some(sender),
        };
        LiveCall::start(start(options), events, registration)
    }

    /// Has the downstream client answer what the server asked, all at once and by the server's keys.
    async fn ask(
        &self,
        parked: &Parked,
        used: &mut BTreeSet<String>,
    ) -> Result<InputResponses, Error> {
        let open = parked.open();
        let keyed: Vec<(&str, String, &InputRequest)> = open
            .iter()
            .map(|(key, request)| {
                // A key that was asked before has its answer already: this is another question.
                let mut unique = key.to_owned();
                while !used.insert(unique.clone()) {
                    unique = format!("{key}-{}", used.len());
                }
                (key, unique, request)
            })
            .collect();
        let asking = keyed
            .iter()
            .map(|(_, unique, request)| self.ask_one(unique, request));
        let answered = join_all(asking).await;
        let mut answers = InputResponses::new();
        for ((key, ..), answer) in keyed.iter().zip(answered) {
            answers.insert(*key, answer?);
        }
        Ok(answers)
    }

    async fn ask_one(&self, key: &str, request: &InputRequest) -> Result<RawJson, Error> {
        let cx = self.cx;
        let answer = match request {
            InputRequest::Elicitation(input) => match &input.params {
                ElicitParams::Form(form) => {
                    RawJson::from_serialize(&cx.ask(key, form.clone()).await?)
                }
                ElicitParams::Url(url) => {
                    let action = cx.ask(key, url.clone()).await?;
                    RawJson::from_serialize(&ElicitResult::new(action))
                }
                _ => return Err(self.unknown_question()),
            },
            InputRequest::Sampling(input) => {
                RawJson::from_serialize(&cx.ask(key, input.params.clone()).await?)
            }
            InputRequest::Roots(_) => {
                let roots = cx.ask(key, Roots::new()).await?;
                RawJson::from_serialize(&ListRootsResult::new(roots))
            }
            _ => return Err(self.unknown_question()),
        };
        Ok(answer?)
    }

    fn unknown_question(&self) -> Error {
        Error::internal(format!(
            "server '{}': unknown kind of question",
            self.server
        ))
    }
}

fn is_same(one: &RawObject, other: &RawObject) -> bool {
    let value = |params: &RawObject| params.parse::<serde_json::Value>().ok();
    value(one).is_some_and(|params| Some(params) == value(other))
}

/// The members of `_meta` that are not about one hop only.
fn forwarded(meta: &Meta) -> Option<Meta> {
    let mut forwarded = Meta::default();
    for (key, value) in meta.iter() {
        if key != "progressToken" && !key.starts_with(PROTOCOL_META) {
            forwarded.insert(key, value.clone());
        }
    }
    (!forwarded.is_empty()).then_some(forwarded)
}
