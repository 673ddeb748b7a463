//! Questions of upstream servers, on their way to the downstream client whose call caused them.

use std::collections::BTreeMap;
use std::sync::Arc;

use async_trait::async_trait;
use mcp_client::{Client, Host, HostCapabilities, HostError, Origin, ServerRequest};
use mcp_jsonrpc::model::{
    CreateMessageParams, CreateMessageResult, ElicitAction, ElicitFormParams, ElicitResult,
    ElicitUrlParams, Root,
};
use mcp_manager::ServerName;
use mcp_server::{AskError, Context, Question as Ask, Roots};
use mcp_transport::TransportKind;
use parking_lot::Mutex;
use tokio::sync::{mpsc, oneshot};

use crate::live_call::Event;

/// The calls that run upstream, by their ids.
#[derive(Default)]
pub(crate) struct OpenCalls(Mutex<BTreeMap<String, OpenCall>>);

struct OpenCall {
    server: ServerName,
    asking: Asking,
    events: mpsc::Sender<Event>,
}

/// How a server asks something during a call.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Asking {
    /// In the call's result (modern).
    Result,
    /// By a request on the call's own stream (legacy, Streamable HTTP).
    OwnStream,
    /// By a request on a channel that all calls share (legacy, stdio).
    SharedChannel,
}

impl Asking {
    /// `None` for a server that is not connected yet.
    pub(crate) fn of(client: Option<&Client>) -> Self {
        match client {
            Some(client) if client.revision().is_modern() => Self::Result,
            Some(client) if client.transport_kind() == TransportKind::Http => Self::OwnStream,
            _ => Self::SharedChannel,
        }
    }
}

/// A call's place among the open ones.
pub(crate) struct Registration {
    calls: Arc<OpenCalls>,
    id: String,
}

impl OpenCalls {
    pub(crate) fn register(
        self: &Arc<Self>,
        id: &str,
        server: &ServerName,
        asking: Asking,
        events: mpsc::Sender<Event>,
    ) -> Registration {
        let call = OpenCall {
            server: server.clone(),
            asking,
            events,
        };
        self.0.lock().insert(id.to_owned(), call);
        Registration {
            calls: Arc::clone(self),
            id: id.to_owned(),
        }
    }

    /// The call that a question belongs to. On a shared channel it must be the only one of its
    /// server: no client is ever asked what another one's call has caused.
    fn find(&self, server: &str, origin: &Origin) -> Option<(mpsc::Sender<Event>, Asking)> {
        let calls = self.0.lock();
        let named = match origin {
            Origin::Calls(callers) => callers.iter().find_map(|caller| calls.get(&caller.call)),
            _ => None,
        };
        let found = match named {
            Some(call) if call.asking != Asking::SharedChannel => call,
            _ => {
                let mut own = calls.values().filter(|call| call.server.as_str() == server);
                own.next().filter(|_| own.next().is_none())?
            }
        };
        Some((found.events.clone(), found.asking))
    }
}

impl Drop for Registration {
    fn drop(&mut self) {
        self.calls.0.lock().remove(&self.id);
    }
}

/// The host that all upstream servers ask.
pub(crate) struct QuestionRelay(pub(crate) Arc<OpenCalls>);

/// What the gateway declares to upstream servers. Which of it the downstream client supports is
/// known when it is asked.
pub(crate) fn capabilities() -> HostCapabilities {
    HostCapabilities::default()
        .with_forms()
        .with_urls()
        .with_sampling()
        .with_sampling_tools()
        .with_roots()
}

/// A question of a server that waits for its answer.
pub(crate) enum Question {
    Form(Pending<ElicitFormParams, ElicitResult>),
    Url(Pending<ElicitUrlParams, ElicitAction>),
    Sample(Box<Pending<CreateMessageParams, CreateMessageResult>>),
    Roots(Pending<Roots, Vec<Root>>),
}

pub(crate) struct Pending<P, A> {
    params: P,
    answer: Option<oneshot::Sender<Result<A, HostError>>>,
}

impl QuestionRelay {
    async fn relay<P, A>(
        &self,
        server: &str,
        origin: &Origin,
        params: P,
        question: impl FnOnce(Pending<P, A>) -> Question,
    ) -> Result<A, HostError> {
        let refused = |reason: &str| HostError::Refused {
            reason: reason.to_owned(),
        };
        let Some((events, asking)) = self.0.find(server, origin) else {
            return Err(refused("it is unclear which call this is for"));
        };
        if asking == Asking::Result {
            // The call ends with its questions, and is resumed with their answers.
            return Err(HostError::Later);
        }
        let (answer, answered) = oneshot::channel();
        let pending = Pending {
            params,
            answer: Some(answer),
        };
        let sent = events.send(Event::Question(question(pending))).await;
        sent.map_err(|_| refused("the call has ended"))?;
        answered
            .await
            .unwrap_or_else(|_| Err(refused("the call has ended")))
    }
}

#[async_trait]
impl Host for QuestionRelay {
    async fn elicit_form(
        &self,
        question: ServerRequest<ElicitFormParams>,
    ) -> Result<ElicitResult, HostError> {
        let ServerRequest {
            server,
            params,
            origin,
            ..
        } = question;
        self.relay(&server, &origin, params, Question::Form).await
    }

    async fn elicit_url(
        &self,
        question: ServerRequest<ElicitUrlParams>,
    ) -> Result<ElicitAction, HostError> {
        let ServerRequest {
            server,
            params,
            origin,
            ..
        } = question;
        self.relay(&server, &origin, params, Question::Url).await
    }

    async fn sample(
        &self,
        question: ServerRequest<CreateMessageParams>,
    ) -> Result<CreateMessageResult, HostError> {
        let ServerRequest {
            server,
            params,
            origin,
            ..
        } = question;
        let sample = |pending| Question::Sample(Box::new(pending));
        self.relay(&server, &origin, params, sample).await
    }

    async fn list_roots(&self, question: ServerRequest<()>) -> Result<Vec<Root>, HostError> {
        let ServerRequest { server, origin, .. } = question;
        self.relay(&server, &origin, Roots::new(), Question::Roots)
            .await
    }
}

impl Question {
    /// Puts the question to the downstream client and returns its answer to the server.
    pub(crate) async fn put(&mut self, key: &str, cx: &Context) {
        match self {
            Self::Form(pending) => pending.put(key, cx).await,
            Self::Url(pending) => pending.put(key, cx).await,
            Self::Sample(pending) => pending.put(key, cx).await,
            Self::Roots(pending) => pending.put(key, cx).await,
        }
    }
}

impl<P: Ask<Answer = A> + Clone, A> Pending<P, A> {
    async fn put(&mut self, key: &str, cx: &Context) {
        let Some(waiting) = &mut self.answer else {
            return;
        };
        let answer = tokio::select! {
            // The server no longer waits for it.
            () = waiting.closed() => return,
            answer = cx.ask(key, self.params.clone()) => answer,
        };
        let answer = answer.map_err(|error| match error {
            AskError::Unsupported { .. } => HostError::Unsupported,
            error => HostError::Refused {
                reason: error.to_string(),
            },
        });
        if let Some(waiting) = self.answer.take() {
            let _ = waiting.send(answer);
        }
    }
}
