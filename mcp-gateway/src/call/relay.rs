//! One request, relayed to an upstream server, for any eras of the two sides.
//!
//! The upstream server may ask something first. A legacy one sends a request while the call runs;
//! a modern one ends the call with questions and continues it with the answers. Downstream both
//! become [`Context::ask`], which does the same for the client's era. A call runs in *legs*: the
//! first call, and one for each time a modern server has asked.

use std::collections::BTreeSet;
use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use futures_util::future::{BoxFuture, join_all};
use mcp_client::{CallError, Parked, Started};
use mcp_jsonrpc::model::{
    CallTool, ElicitParams, ElicitResult, GetPrompt, GetPromptResult, InputRequest, InputResponses,
    ListRootsResult, Meta, ReadResource, ReadResourceResult,
};
use mcp_jsonrpc::{RawJson, RawObject, Revision};
use mcp_manager::{CallOptions, Manager, ManagerError, ServerName};
use mcp_server::{Context, Error, Roots};
use tokio::sync::mpsc;

use crate::call::leg::Leg;
use crate::call::live_call::{LiveCall, QUEUE};
use crate::error::Failure;
use crate::gateway::Shared;

/// How long a relayed request may take, and stay silent. Its client has its own limit, and cancels what it no longer
/// waits for; this one bounds the requests of clients that have none.
pub(crate) const RELAY_TIME: Duration = Duration::from_secs(24 * 3600);

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

/// A request that is relayed.
pub(crate) trait Relayed: Send + 'static {
    type Output: Send + 'static;

    /// Whether a result tells of a failure.
    fn failed(output: &Self::Output) -> bool;

    /// Goes on with a call that a modern server has ended with questions.
    fn resume(
        manager: Manager,
        parked: Parked,
        answers: InputResponses,
        options: CallOptions,
    ) -> BoxFuture<'static, Result<Self::Output, ManagerError>>;
}

macro_rules! relayed {
    ($($Method:ident: $Output:ty, $failed:expr, |$manager:ident, $parked:ident, $answers:ident, $options:ident| $resume:expr;)*) => {$(
        impl Relayed for $Method {
            type Output = $Output;

            fn failed(output: &Self::Output) -> bool {
                $failed(output)
            }

            fn resume(
                $manager: Manager,
                $parked: Parked,
                $answers: InputResponses,
                $options: CallOptions,
            ) -> BoxFuture<'static, Result<Self::Output, ManagerError>> {
                Box::pin(async move { $resume.await })
            }
        }
    )*};
}

relayed! {
    CallTool: Started, tool_failed, |manager, parked, answers, options| manager.resume_tool_with(parked, answers, options);
    GetPrompt: GetPromptResult, |_: &GetPromptResult| false, |manager, parked, answers, options| manager.resume_with::<GetPrompt>(parked, answers, options);
    ReadResource: ReadResourceResult, |_: &ReadResourceResult| false, |manager, parked, answers, options| manager.resume_with::<ReadResource>(parked, answers, options);
}

fn tool_failed(output: &Started) -> bool {
    matches!(output, Started::Done(result) if result.failed())
}

/// A call for one client to one server.
pub(crate) struct Relay<'a> {
    pub(crate) shared: &'a Arc<Shared>,
    pub(crate) server: &'a ServerName,
    pub(crate) cx: &'a Context,
}

/// How a leg ended, other than with questions.
enum End<T> {
    Done(T),
    Failed(Error),
}

/// A call to be made with these options, to a server of this revision.
pub(crate) type Start<T> =
    Box<dyn FnOnce(CallOptions, Revision) -> BoxFuture<'static, Result<T, ManagerError>> + Send>;

impl Relay<'_> {
    /// Makes a call of method `M` that `first` starts, and returns its result.
    pub(crate) async fn call<M: Relayed>(
        &self,
        params: &RawObject,
        first: Start<M::Output>,
    ) -> Result<M::Output, Error> {
        let (mut start, mut used) = (first, BTreeSet::new());
        for leg in 0_u32.. {
            let parked = match self
                .cx
                .step(&format!("leg-{leg}"), self.leg::<M>(leg, params, start))
                .await
            {
                Ok(parked) => parked,
                Err(End::Done(result)) => return Ok(result),
                Err(End::Failed(error)) => return Err(error),
            };
            let answers = self.ask(&parked, &mut used).await?;
            let (manager, params) = (self.shared.manager.clone(), params.clone());
            start = Box::new(move |options, _| {
                let mut parked = parked;
                if parked.params.get() == "{}" {
                    parked.params = params;
                }
                M::resume(manager, parked, answers, options)
            });
        }
        Err(Error::internal("too many rounds"))
    }

    /// Runs one leg: once, however often the handler starts again.
    async fn leg<M: Relayed>(
        &self,
        leg: u32,
        params: &RawObject,
        start: Start<M::Output>,
    ) -> Result<Parked, End<M::Output>> {
        let mut is_new = false;
        let name = async {
            is_new = true;
            Ok::<_, End<M::Output>>(self.shared.ids.next())
        };
        let id = self.cx.step(&format!("call-{leg}"), name).await?;
        let call = match self.cx.held::<LiveCall<M::Output>>(&id) {
            Some(call) => call,
            None if is_new => {
                let call = self.start(&id, start);
                self.cx.hold(&id, Arc::clone(&call));
                call
            }
            None => return Err(End::Failed(self.interrupted())),
        };
        let Some(ended) = call.wait(self.cx).await else {
            return Err(End::Failed(self.interrupted()));
        };
        // The modern era has an error for a question that its client cannot be asked.
        let missing = ended.missing.filter(|_| self.cx.session_id().is_none());
        match ended.outcome {
            Ok(result) => Err(match missing {
                Some(missing) if M::failed(&result) => {
                    End::Failed(Error::missing_capability(*missing))
                }
                _ => End::Done(result),
            }),
            Err(Failure::Manager(ManagerError::Call(CallError::Parked(mut parked)))) => {
                // The client sends them again with each round, so they need not be in the state.
                if is_same(&parked.params, params) {
                    parked.params = RawObject::empty();
                }
                Ok(*parked)
            }
            Err(failure) => Err(End::Failed(match missing {
                Some(missing) => Error::missing_capability(*missing),
                None => failure.to_error(self.server, self.cx),
            })),
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
        let leg = Leg::new(id, self.cx, sender);
        let (shared, server) = (Arc::clone(self.shared), self.server.clone());
        LiveCall::start(
            async move { leg.run(&shared, &server, start).await },
            events,
        )
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
pub(crate) fn forwarded(meta: &Meta) -> Option<Meta> {
    let mut forwarded = Meta::default();
    for (key, value) in meta.iter() {
        if key != "progressToken" && !key.starts_with(PROTOCOL_META) {
            forwarded.insert(key, value.clone());
        }
    }
    (!forwarded.is_empty()).then_some(forwarded)
}
