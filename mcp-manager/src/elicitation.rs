//! What servers ask of the user: one question at a time, the asker always named, no secrets.

mod queue;
mod secret;

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use mcp_client::{Host, HostCapabilities, HostError, Question};
use mcp_jsonrpc::model::{
    CreateMessageParams, CreateMessageResult, ElicitAction, ElicitFormParams, ElicitResult,
    ElicitUrlParams, Root,
};
use tokio::sync::broadcast;

pub(crate) use self::queue::Queue;
use self::secret::secret_fields;
use crate::event::Event;
use crate::name::ServerName;

/// Asks the user on behalf of servers (seeds M4).
///
/// Questions of all servers come one after the other, in the order they were asked. A future that
/// is dropped was given up: nobody wants the answer any more.
#[async_trait]
pub trait ElicitationHandler: Send + Sync {
    /// Asks, and returns what the user did. Show who asks: [`Elicitation`] prints that.
    ///
    /// What a form is answered with is completed with its defaults and checked against it before
    /// the server gets it.
    async fn elicit(&self, elicitation: Elicitation) -> Result<ElicitResult, HostError>;

    /// What can be asked; only that is advertised. By default forms and URLs.
    fn capabilities(&self) -> HostCapabilities {
        HostCapabilities::default().with_forms().with_urls()
    }
}

/// Something a server asks of the user.
///
/// Prints as the question with its asker: `server 'files' asks: Which folder?`
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Elicitation {
    /// The server's name with us.
    pub server: ServerName,
    /// What it asks.
    pub ask: Ask,
}

/// The two ways of asking.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Ask {
    /// By a form.
    Form(Box<ElicitFormParams>),
    /// By a URL to visit. Show all of it; accepting means consent, not completion.
    Url(Box<ElicitUrlParams>),
}

impl Elicitation {
    /// The server's words.
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

/// Cancels whatever is asked: for hosts without a user.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoopElicitation;

#[async_trait]
impl ElicitationHandler for NoopElicitation {
    async fn elicit(&self, _: Elicitation) -> Result<ElicitResult, HostError> {
        Ok(ElicitResult::cancel())
    }
}

/// Who answers the questions of all servers.
pub(crate) struct Answers {
    pub(crate) elicitation: Option<Arc<dyn ElicitationHandler>>,
    pub(crate) host: Option<(Arc<dyn Host>, HostCapabilities)>,
    pub(crate) queue: Queue,
    pub(crate) events: broadcast::Sender<Event>,
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
}

impl ServerHost {
    async fn ask(&self, ask: Ask) -> Result<ElicitResult, HostError> {
        let Some(_turn) = self.answers.queue.turn(&self.server).await else {
            tracing::warn!(server = %self.server, "a question too many: cancelled");
            return Ok(ElicitResult::cancel());
        };
        let elicitation = Elicitation {
            server: self.server.clone(),
            ask,
        };
        match (
            &self.answers.elicitation,
            &self.answers.host,
            elicitation.ask,
        ) {
            (Some(user), _, ask) => user.elicit(Elicitation { ask, ..elicitation }).await,
            (None, Some((host, _)), Ask::Form(form)) => {
                host.elicit_form(Question::new(self.server.as_str(), *form))
                    .await
            }
            (None, Some((host, _)), Ask::Url(url)) => {
                let action = host
                    .elicit_url(Question::new(self.server.as_str(), *url))
                    .await?;
                Ok(ElicitResult::new(action))
            }
            (None, None, _) => Err(HostError::Unsupported),
        }
    }

    fn host(&self) -> Result<&Arc<dyn Host>, HostError> {
        let host = self.answers.host.as_ref();
        host.map(|(host, _)| host).ok_or(HostError::Unsupported)
    }
}

#[async_trait]
impl Host for ServerHost {
    async fn elicit_form(
        &self,
        question: Question<ElicitFormParams>,
    ) -> Result<ElicitResult, HostError> {
        let fields = secret_fields(&question.params.requested_schema);
        if !fields.is_empty() {
            let server = self.server.clone();
            let _ = self
                .answers
                .events
                .send(Event::SecretRefused { server, fields });
            return Ok(ElicitResult::decline());
        }
        self.ask(Ask::Form(Box::new(question.params))).await
    }

    async fn elicit_url(
        &self,
        question: Question<ElicitUrlParams>,
    ) -> Result<ElicitAction, HostError> {
        let answer = self.ask(Ask::Url(Box::new(question.params))).await?;
        Ok(answer.action)
    }

    async fn sample(
        &self,
        question: Question<CreateMessageParams>,
    ) -> Result<CreateMessageResult, HostError> {
        self.host()?.sample(question).await
    }

    async fn list_roots(&self, question: Question<()>) -> Result<Vec<Root>, HostError> {
        self.host()?.list_roots(question).await
    }
}
