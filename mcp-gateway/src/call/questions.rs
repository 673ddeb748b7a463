//! Questions of upstream servers, on their way to the downstream client whose call caused them.

use std::collections::BTreeSet;
use std::sync::Arc;

use async_trait::async_trait;
use mcp_client::{Host, HostCapabilities, HostError, Origin, ServerRequest};
use mcp_jsonrpc::model::{
    ClientCapabilities, CreateMessageParams, CreateMessageResult, ElicitAction, ElicitFormParams,
    ElicitResult, ElicitUrlParams, Root,
};
use mcp_server::{AskError, Context, Question as Ask, Roots};
use parking_lot::Mutex;
use tokio::sync::oneshot;

use crate::call::completions::Completions;
use crate::call::live_call::Event;
use crate::call::open_calls::{Asking, Channel, OpenCalls};

/// The legacy servers that have asked something: they get a connection for each client.
#[derive(Default)]
pub(crate) struct AskingServers(Mutex<BTreeSet<String>>);

impl AskingServers {
    fn note(&self, server: &str) {
        let mut servers = self.0.lock();
        if !servers.contains(server) {
            servers.insert(server.to_owned());
        }
    }

    pub(crate) fn contains(&self, server: &str) -> bool {
        self.0.lock().contains(server)
    }
}

/// The host that servers ask.
pub(crate) struct QuestionRelay {
    pub(crate) calls: Arc<OpenCalls>,
    /// The connection; `None` for the managed one of whichever server asks.
    pub(crate) own: Option<Channel>,
    /// Noted here: legacy servers that ask.
    pub(crate) asking: Arc<AskingServers>,
    /// Noted here: who was asked to visit a URL.
    pub(crate) completions: Arc<Completions>,
}

/// What the gateway declares on the connections that clients share. Which of it the downstream client
/// supports is known when it is asked.
pub(crate) fn everything() -> HostCapabilities {
    HostCapabilities::default()
        .with_forms()
        .with_urls()
        .with_sampling()
        .with_sampling_tools()
        .with_roots()
}

/// What a client declares, for a connection of its own.
pub(crate) fn declared(client: &ClientCapabilities) -> HostCapabilities {
    let mut can = HostCapabilities::default();
    if let Some(elicitation) = &client.elicitation {
        if elicitation.has_form() {
            can = can.with_forms();
        }
        if elicitation.has_url() {
            can = can.with_urls();
        }
    }
    if let Some(sampling) = &client.sampling {
        can = can.with_sampling();
        if sampling.tools.is_some() {
            can = can.with_sampling_tools();
        }
    }
    if client.roots.is_some() {
        can = can.with_roots();
    }
    can
}

/// A question of a server that waits for its answer.
pub(crate) enum Question {
    Form(Pending<ElicitFormParams, ElicitResult>),
    Url(Visit),
    Sample(Box<Pending<CreateMessageParams, CreateMessageResult>>),
    Roots(Pending<Roots, Vec<Root>>),
}

/// A URL to visit. Its server says later that the user is done there.
pub(crate) struct Visit {
    pending: Pending<ElicitUrlParams, ElicitAction>,
    server: String,
    completions: Arc<Completions>,
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
        let channel = match &self.own {
            Some(own) => own.clone(),
            None => Channel::Managed(server.to_owned()),
        };
        let found = self.calls.find(&channel, origin);
        if let Some((_, Asking::Result)) = found {
            // The call ends with its questions, and is resumed with their answers.
            return Err(HostError::Later);
        }
        self.asking.note(server);
        let (answer, answered) = oneshot::channel();
        let pending = Pending {
            params,
            answer: Some(answer),
        };
        let question = question(pending);
        match found {
            Some((events, _)) => {
                let sent = events.send(Event::Question(question)).await;
                sent.map_err(|_| refused("the call has ended"))?;
            }
            // Servers ask for roots when they have started, and when those have changed.
            None if self.own.is_some() && matches!(question, Question::Roots(_)) => {
                self.calls.wait(&channel, question);
            }
            None => return Err(refused("it is unclear which call this is for")),
        }
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
        let visit = |pending| {
            Question::Url(Visit {
                pending,
                server: server.to_string(),
                completions: Arc::clone(&self.completions),
            })
        };
        self.relay(&server, &origin, params, visit).await
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
    /// Puts the question to the downstream client and returns its answer to the server. The result
    /// is what the client would have to declare, if it cannot be asked.
    pub(crate) async fn put(&mut self, key: &str, cx: &Context) -> Option<Box<ClientCapabilities>> {
        match self {
            Self::Form(pending) => pending.put(key, cx).await,
            Self::Url(visit) => visit.put(key, cx).await,
            Self::Sample(pending) => pending.put(key, cx).await,
            Self::Roots(pending) => pending.put(key, cx).await,
        }
    }
}

impl Visit {
    async fn put(&mut self, key: &str, cx: &Context) -> Option<Box<ClientCapabilities>> {
        if let (Some(session), Some(id)) = (cx.session_id(), &self.pending.params.elicitation_id) {
            self.completions.asked(&self.server, id, session);
        }
        self.pending.put(key, cx).await
    }
}

impl<P: Ask<Answer = A> + Clone, A> Pending<P, A> {
    async fn put(&mut self, key: &str, cx: &Context) -> Option<Box<ClientCapabilities>> {
        let waiting = self.answer.as_mut()?;
        let answer = tokio::select! {
            // The server no longer waits for it.
            () = waiting.closed() => return None,
            answer = cx.ask(key, self.params.clone()) => answer,
        };
        let mut missing = None;
        let answer = answer.map_err(|error| match error {
            AskError::Unsupported { required } => {
                missing = Some(required);
                HostError::Unsupported
            }
            error => HostError::Refused {
                reason: error.to_string(),
            },
        });
        if let Some(waiting) = self.answer.take() {
            let _ = waiting.send(answer);
        }
        missing
    }
}
