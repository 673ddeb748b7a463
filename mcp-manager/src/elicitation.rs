//! Elicitation: servers' questions to the user, one at a time, always with the server's name, never for secrets.

mod queue;
mod secret;

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use mcp_client::{Caller, Host, HostCapabilities, HostError, Origin, ServerRequest};
use mcp_jsonrpc::model::{
    CreateMessageParams, CreateMessageResult, ElicitAction, ElicitFormParams, ElicitResult,
    ElicitUrlParams, Root,
};
use tokio::sync::broadcast;

pub(crate) use self::queue::Queue;
use self::secret::secret_fields;
use crate::call::queue::{Asked, CallQueue, Open};
use crate::event::ManagerEvent;
use mcp_config::ServerName;

/// Asks the user on behalf of servers.
///
/// Questions of one conversation arrive one after the other, in the order they were asked, and so do those outside of
/// any; those of different conversations arrive concurrently. A question that may belong to several conversations is
/// never asked: it is declined ([`ManagerEvent::QuestionDeclined`]). A dropped future means that the question was
/// abandoned: the answer is no longer needed.
#[async_trait]
pub trait ElicitationHandler: Send + Sync {
    /// Asks the user, and returns what they did. Show which server asks: [`Elicitation`]'s `Display` includes it.
    ///
    /// The answer to a form is completed with the form's defaults and validated before the server gets it.
    async fn elicit(&self, elicitation: Elicitation) -> Result<ElicitResult, HostError>;

    /// The supported kinds of questions; only these are advertised. By default forms and URLs.
    fn capabilities(&self) -> HostCapabilities {
        HostCapabilities::default().with_forms().with_urls()
    }
}

/// A server's question to the user.
///
/// Displays as the question with its server: `server 'files' asks: Which folder?`
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Elicitation {
    /// Our name for the server.
    pub server: ServerName,
    /// The question.
    pub ask: Ask,
    /// The calls it may belong to, all of one conversation; mostly exactly one. Empty if no call is known to have
    /// caused it, or only calls without a caller ([`CallOptions::with_caller`](crate::CallOptions::with_caller)).
    pub calls: Vec<Arc<Caller>>,
    /// Whether the call can be parked, and its caller allows that
    /// ([`CallOptions::with_parking`](crate::CallOptions::with_parking)).
    pub can_park: bool,
}

/// The two kinds of questions.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Ask {
    /// A form.
    Form(Box<ElicitFormParams>),
    /// A URL to visit. Show the whole URL; accepting means consent, not completion.
    Url(Box<ElicitUrlParams>),
}

impl Elicitation {
    /// The server's message.
    pub fn message(&self) -> &str {
        match &self.ask {
            Ask::Form(form) => &form.message,
            Ask::Url(url) => &url.message,
        }
    }
}

impl fmt::Display for Elicitation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "server '{}' asks: {}", self.server, self.message())?;
        match &self.ask {
            Ask::Form(_) => Ok(()),
            Ask::Url(url) => write!(f, " ({})", url.url),
        }
    }
}

/// Cancels every question: for hosts without a user.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoopElicitation;

#[async_trait]
impl ElicitationHandler for NoopElicitation {
    async fn elicit(&self, _: Elicitation) -> Result<ElicitResult, HostError> {
        Ok(ElicitResult::cancel())
    }
}

/// Answers the questions of all servers.
pub(crate) struct Answers {
    pub(crate) elicitation: Option<Arc<dyn ElicitationHandler>>,
    pub(crate) host: Option<(Arc<dyn Host>, HostCapabilities)>,
    pub(crate) queue: Queue,
    pub(crate) events: broadcast::Sender<ManagerEvent>,
}

impl Answers {
    pub(crate) fn capabilities(&self) -> HostCapabilities {
        let host = self.host.as_ref().map(|(_, can)| *can).unwrap_or_default();
        let user = self
            .elicitation
            .as_ref()
            .map_or(host, |user| user.capabilities());
        let mut can = HostCapabilities::default();
        if user.forms() {
            can = can.with_forms();
        }
        if user.urls() {
            can = can.with_urls();
        }
        if host.sampling() {
            can = can.with_sampling();
        }
        if host.sampling_tools() {
            can = can.with_sampling_tools();
        }
        if host.roots() {
            can = can.with_roots();
        }
        can
    }
}

impl fmt::Debug for Answers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Answers")
            .field("can", &self.capabilities())
            .finish_non_exhaustive()
    }
}

/// Answers the questions of one server.
#[derive(Debug)]
pub(crate) struct ServerHost {
    pub(crate) server: ServerName,
    pub(crate) answers: Arc<Answers>,
    pub(crate) queue: Arc<CallQueue>,
}

impl ServerHost {
    /// Determines the owner of a question, and asks; cancels when no call waits for it any more.
    async fn ask(
        &self,
        ask: Ask,
        origin: &Origin,
        can_park: bool,
    ) -> Result<ElicitResult, HostError> {
        let (calls, open) = match self.queue.ask(origin) {
            Asked::Owned(calls, open) => (calls, open),
            Asked::Declined(conversations) => {
                self.decline(conversations);
                return Ok(ElicitResult::decline());
            }
        };
        tokio::select! {
            biased;
            answer = self.put(ask, calls, can_park) => answer,
            () = orphaned(open.as_ref()) => Ok(ElicitResult::cancel()),
        }
    }

    /// Reports a question that was declined because it may belong to any of these conversations.
    fn decline(&self, conversations: Vec<String>) {
        tracing::warn!(server = %self.server, "a question that may be anybody's: declined");
        let server = self.server.clone();
        let _ = self.answers.events.send(ManagerEvent::QuestionDeclined {
            server,
            conversations,
        });
    }

    async fn put(
        &self,
        ask: Ask,
        calls: Vec<Arc<Caller>>,
        can_park: bool,
    ) -> Result<ElicitResult, HostError> {
        let conversation = calls.first().map(|caller| caller.conversation.clone());
        let Some(_turn) = self.answers.queue.turn(&self.server, conversation).await else {
            tracing::warn!(server = %self.server, "a question too many: cancelled");
            return Ok(ElicitResult::cancel());
        };
        let origin = Origin::Calls(calls.clone());
        let elicitation = Elicitation {
            server: self.server.clone(),
            ask,
            calls,
            can_park,
        };
        match (
            &self.answers.elicitation,
            &self.answers.host,
            elicitation.ask,
        ) {
            (Some(user), _, ask) => user.elicit(Elicitation { ask, ..elicitation }).await,
            (None, Some((host, _)), Ask::Form(form)) => {
                let question = ServerRequest::new(self.server.as_str(), *form)
                    .with_origin(origin)
                    .with_can_park(can_park);
                host.elicit_form(question).await
            }
            (None, Some((host, _)), Ask::Url(url)) => {
                let question = ServerRequest::new(self.server.as_str(), *url).with_origin(origin);
                Ok(ElicitResult::new(host.elicit_url(question).await?))
            }
            (None, None, _) => Err(HostError::Unsupported),
        }
    }

    fn host(&self) -> Result<&Arc<dyn Host>, HostError> {
        let host = self.answers.host.as_ref();
        host.map(|(host, _)| host).ok_or(HostError::Unsupported)
    }
}

/// Waits until no call waits for a question any more; forever if none did.
async fn orphaned(open: Option<&Open<'_>>) {
    match open {
        Some(open) => open.orphaned().await,
        None => std::future::pending().await,
    }
}

#[async_trait]
impl Host for ServerHost {
    async fn elicit_form(
        &self,
        question: ServerRequest<ElicitFormParams>,
    ) -> Result<ElicitResult, HostError> {
        let fields = secret_fields(&question.params.requested_schema);
        if !fields.is_empty() {
            let server = self.server.clone();
            let _ = self
                .answers
                .events
                .send(ManagerEvent::SecretRefused { server, fields });
            return Ok(ElicitResult::decline());
        }
        let can_park = question.can_park;
        let ServerRequest { params, origin, .. } = question;
        self.ask(Ask::Form(Box::new(params)), &origin, can_park)
            .await
    }

    async fn elicit_url(
        &self,
        question: ServerRequest<ElicitUrlParams>,
    ) -> Result<ElicitAction, HostError> {
        let ServerRequest { params, origin, .. } = question;
        let answer = self.ask(Ask::Url(Box::new(params)), &origin, false).await?;
        Ok(answer.action)
    }

    async fn sample(
        &self,
        question: ServerRequest<CreateMessageParams>,
    ) -> Result<CreateMessageResult, HostError> {
        let host = self.host()?;
        let over = |reason: &str| HostError::Refused {
            reason: reason.to_owned(),
        };
        let (calls, open) = match self.queue.ask(&question.origin) {
            Asked::Owned(calls, open) => (calls, open),
            Asked::Declined(conversations) => {
                self.decline(conversations);
                return Err(over("it is unclear which call this is for"));
            }
        };
        let question = question.with_origin(Origin::Calls(calls));
        tokio::select! {
            biased;
            answer = host.sample(question) => answer,
            () = orphaned(open.as_ref()) => Err(over("the call has ended")),
        }
    }

    async fn list_roots(&self, question: ServerRequest<()>) -> Result<Vec<Root>, HostError> {
        self.host()?.list_roots(question).await
    }
}
