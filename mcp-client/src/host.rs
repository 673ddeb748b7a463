//! The host: answers server-to-client requests, in every form they are sent.

pub(crate) mod form;
pub(crate) mod input;
pub(crate) mod on_form;
pub(crate) mod server_request;

use std::error::Error;
use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use mcp_jsonrpc::model::{
    ClientCapabilities, CreateMessageParams, CreateMessageResult, ElicitAction, ElicitFormParams,
    ElicitResult, ElicitUrlParams, ElicitationCapability, FlagCapability, Root, RootsCapability,
    SamplingCapability,
};
use mcp_transport::BoxError;

use crate::call::caller::Origin;

/// Answers server-to-client requests: elicitation, sampling, roots.
///
/// The same methods serve requests of legacy servers, `input_required` results of modern ones, and the input requests
/// of tasks. Implement what you support and declare it in [`HostCapabilities`]: only that is advertised, and only that
/// is called.
///
/// A future is dropped when the server or the caller no longer needs the answer.
#[async_trait]
pub trait Host: Send + Sync {
    /// Shows the user a form and returns their answer. It is completed with the form's defaults and validated before it
    /// is sent; strings that contain a number or a boolean are converted where the form expects one.
    async fn elicit_form(
        &self,
        question: ServerRequest<ElicitFormParams>,
    ) -> Result<ElicitResult, HostError> {
        let _ = question;
        Err(HostError::Unsupported)
    }

    /// Asks the user to visit a URL. Show the whole URL and the server's name; open it only with consent, and in a
    /// context that neither this crate nor the model can inspect. Accepting means consent, not completion.
    async fn elicit_url(
        &self,
        question: ServerRequest<ElicitUrlParams>,
    ) -> Result<ElicitAction, HostError> {
        let _ = question;
        Err(HostError::Unsupported)
    }

    /// Samples the model. Keep a human in the loop.
    async fn sample(
        &self,
        question: ServerRequest<CreateMessageParams>,
    ) -> Result<CreateMessageResult, HostError> {
        let _ = question;
        Err(HostError::Unsupported)
    }

    /// Lists the roots the server may access.
    async fn list_roots(&self, question: ServerRequest<()>) -> Result<Vec<Root>, HostError> {
        let _ = question;
        Err(HostError::Unsupported)
    }
}

/// A server-to-client request, with its server and the call it belongs to.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ServerRequest<P> {
    /// Our name for the server.
    pub server: Arc<str>,
    /// The params.
    pub params: P,
    /// The calls it belongs to, as far as the protocol tells.
    pub origin: Origin,
    /// Whether the call that caused it can be parked, and its caller allows that
    /// ([`CallOptions::with_parking`](crate::CallOptions::with_parking)).
    pub can_park: bool,
}

impl<P> ServerRequest<P> {
    /// Creates a request of `server`, on a channel shared by all calls.
    pub fn new(server: impl Into<Arc<str>>, params: P) -> Self {
        Self {
            server: server.into(),
            params,
            origin: Origin::Shared,
            can_park: false,
        }
    }

    /// Sets the calls it belongs to.
    #[must_use]
    pub fn with_origin(mut self, origin: Origin) -> Self {
        self.origin = origin;
        self
    }

    /// Sets whether the call that caused it can be parked.
    #[must_use]
    pub fn with_can_park(mut self, can_park: bool) -> Self {
        self.can_park = can_park;
        self
    }
}

/// The reason why a host did not answer.
#[derive(Debug)]
#[non_exhaustive]
pub enum HostError {
    /// The host does not support requests of this kind.
    Unsupported,
    /// A person declined.
    Refused {
        /// The reason, for the server.
        reason: String,
    },
    /// The answer will come later. Where the protocol allows it, the call is parked
    /// ([`CallError::Parked`](crate::CallError::Parked)); otherwise the request is cancelled.
    Later,
    /// The host failed.
    Failed(BoxError),
}

impl fmt::Display for HostError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unsupported => f.write_str("this host cannot answer such questions"),
            Self::Refused { reason } => write!(f, "refused: {reason}"),
            Self::Later => f.write_str("the answer will come later"),
            Self::Failed(_) => f.write_str("the host failed to answer"),
        }
    }
}

impl Error for HostError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Failed(source) => Some(source.as_ref()),
            _ => None,
        }
    }
}

/// The capabilities of a [`Host`]: exactly these are advertised to servers.
///
/// ```
/// let can = mcp_client::HostCapabilities::default().with_forms().with_roots();
/// assert!(can.forms() && !can.sampling());
/// ```
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct HostCapabilities {
    forms: bool,
    urls: bool,
    sampling: bool,
    sampling_tools: bool,
    roots: bool,
}

/// Declares the getter and the setter of each capability.
macro_rules! capabilities {
    ($($(#[$meta:meta])* $name:ident / $with:ident;)*) => {
        impl HostCapabilities {$(
            $(#[$meta])*
            pub fn $name(&self) -> bool {
                self.$name
            }

            #[doc = concat!("Adds [`", stringify!($name), "`](Self::", stringify!($name), ").")]
            #[must_use]
            pub fn $with(mut self) -> Self {
                self.$name = true;
                self
            }
        )*}
    };
}

capabilities! {
    /// It shows forms.
    forms / with_forms;
    /// It sends the user to URLs.
    urls / with_urls;
    /// It samples a model.
    sampling / with_sampling;
    /// It lets that model use tools.
    sampling_tools / with_sampling_tools;
    /// It lists roots.
    roots / with_roots;
}

impl HostCapabilities {
    /// The capabilities on the wire.
    pub(crate) fn advertised(self) -> ClientCapabilities {
        let flag = |on: bool| on.then(FlagCapability::default);
        let mut all = ClientCapabilities::default();
        if self.forms || self.urls {
            let mut elicitation = ElicitationCapability::default();
            elicitation.form = flag(self.forms);
            elicitation.url = flag(self.urls);
            all.elicitation = Some(elicitation);
        }
        if self.sampling || self.sampling_tools {
            let mut sampling = SamplingCapability::default();
            sampling.tools = flag(self.sampling_tools);
            all.sampling = Some(sampling);
        }
        all.roots = self.roots.then(RootsCapability::default);
        all
    }
}
