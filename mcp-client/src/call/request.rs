//! What a caller wants done, and the few failures that are put right without asking: those where
//! the server refused the request before acting on it, and said what is wrong.

use std::borrow::Cow;
use std::sync::Arc;

use mcp_jsonrpc::model::{CallTool, UnsupportedVersionData};
use mcp_jsonrpc::{ErrorCode, Method, RawMap, Revision};
use mcp_transport::TransportError;

use crate::call::error::{CallError, CallName};
use crate::call::exchange::{Attempt, RequestFailure};
use crate::call::mrtr::MrtrState;
use crate::client::Client;
use crate::connect::handshake::Refusal;
use crate::connection::clock::Deadlines;
use crate::connection::session::Session;
use crate::connection::snapshot::{Snapshot, Tuning};
use crate::dialect::verdict::mutual;
use crate::dialect::{Extras, Params};

/// What a caller wants done.
pub(crate) struct Call<'a> {
    pub(crate) method: Cow<'static, str>,
    pub(crate) params: &'a dyn Params,
    /// What the call is about, for the `Mcp-Name` header: a tool, a prompt, a resource, a task.
    pub(crate) name: Option<&'a str>,
    /// The `Mcp-Param-*` headers, by what is snapshot of the tool at present.
    pub(crate) headers: &'a (dyn Fn() -> Vec<(String, String)> + Sync),
    /// Goes into `_meta`; in place of what the handle's options say.
    pub(crate) meta: Option<&'a RawMap>,
}

/// What has been put right for one call; each only once.
#[derive(Debug, Default)]
pub(crate) struct Recoveries {
    session: bool,
    version: bool,
    headers: bool,
}

/// What would put a failure right.
enum Recovery {
    NewSession,
    SameAgain,
    NewHeaders,
}

/// No `Mcp-Param-*` headers.
pub(crate) fn no_headers() -> Vec<(String, String)> {
    Vec::new()
}

impl<'a> Call<'a> {
    /// A call without headers of its own.
    pub(crate) fn new(method: &'static str, params: &'a dyn Params) -> Self {
        let method = Cow::Borrowed(method);
        Self {
            method,
            params,
            name: None,
            headers: &no_headers,
            meta: None,
        }
    }

    /// Says what it is about.
    pub(crate) fn about(mut self, name: &'a str) -> Self {
        self.name = Some(name);
        self
    }
}

impl Client {
    /// The request that is the next round of `call`.
    pub(crate) fn attempt<'a>(
        &'a self,
        call: &'a Call<'_>,
        Snapshot {
            session, tuning, ..
        }: &Snapshot,
        state: &'a MrtrState,
    ) -> Attempt<'a> {
        let options = self.options();
        let mirrors = session.dialect.mirrors_params(self.connection().shape);
        Attempt {
            method: &call.method,
            params: call.params,
            extras: Extras {
                meta: call.meta.or_else(|| options?.meta.as_deref()),
                responses: state.responses.as_ref(),
                state: state.request_state.as_deref(),
                log_level: options
                    .and_then(|options| options.log_level)
                    .or(tuning.log_level),
                caller: options.and_then(|options| options.caller.as_ref()),
            },
            name: call.name,
            headers: if mirrors {
                (call.headers)()
            } else {
                Vec::new()
            },
            deadlines: self.deadlines(tuning),
            on_progress: options.and_then(|options| options.progress.as_ref()),
            on_acknowledged: None,
            noted_id: None,
        }
    }

    /// How long a call through this handle may take.
    pub(crate) fn deadlines(&self, tuning: &Tuning) -> Deadlines {
        let options = self.options();
        let idle = options.and_then(|options| options.idle_timeout);
        let deadline = options.and_then(|options| options.deadline);
        Deadlines {
            idle: idle.unwrap_or(tuning.idle_timeout),
            total: match (deadline, idle) {
                (Some(deadline), _) => deadline,
                (None, Some(idle)) => idle.saturating_mul(10),
                (None, None) => tuning.deadline,
            },
        }
    }

    /// Puts a failure right, so that the call can be made again; or tells it.
    pub(crate) async fn recover(
        &self,
        call: &Call<'_>,
        session: &Session,
        failure: RequestFailure,
        recoveries: &mut Recoveries,
    ) -> Result<(), CallError> {
        match recoveries.find(&failure, &call.method, session.dialect.is_modern()) {
            None => Err(failure.into_error(self.named(call))),
            Some(Recovery::SameAgain) => Ok(()),
            Some(Recovery::NewSession) => match self.connection().initialize_again(session).await {
                Ok(()) => Ok(()),
                Err(refusal) => Err(refusal.into_error(self.call_name("initialize"))),
            },
            // The refusal says that the list we went by is stale, however fresh it claims to be,
            // and that the call was not executed.
            Some(Recovery::NewHeaders) => {
                // Listing the tools makes a call of its own.
                Box::pin(self.list_tools()).await.map(drop)
            }
        }
    }

    /// What errors call a call of `method`.
    pub(crate) fn call_name(&self, method: &str) -> CallName {
        CallName {
            server: Arc::clone(&self.connection().settings.name),
            method: Cow::Owned(method.to_owned()),
            about: None,
            task_id: None,
        }
    }

    /// What errors call `call`.
    pub(crate) fn named(&self, call: &Call<'_>) -> CallName {
        CallName {
            about: call.name.map(Into::into),
            ..self.call_name(&call.method)
        }
    }
}

impl Recoveries {
    fn find(&mut self, failure: &RequestFailure, method: &str, modern: bool) -> Option<Recovery> {
        match failure {
            RequestFailure::Lost { error, .. }
                if matches!(**error, TransportError::SessionExpired) =>
            {
                once(&mut self.session).then_some(Recovery::NewSession)
            }
            RequestFailure::Peer(error)
                if modern && error.code == ErrorCode::UNSUPPORTED_PROTOCOL_VERSION =>
            {
                let data = error.data_as::<UnsupportedVersionData>()?;
                let is_ours = mutual(&data.supported) == Some(Revision::LATEST);
                (is_ours && once(&mut self.version)).then_some(Recovery::SameAgain)
            }
            RequestFailure::Peer(error) if modern && error.code == ErrorCode::HEADER_MISMATCH => {
                let tool = method == CallTool::NAME;
                (tool && once(&mut self.headers)).then_some(Recovery::NewHeaders)
            }
            _ => None,
        }
    }
}

fn once(done: &mut bool) -> bool {
    !std::mem::replace(done, true)
}

impl Refusal {
    fn into_error(self, call: CallName) -> CallError {
        match self {
            Self::RequestFailure(failure) => failure.into_error(call),
            Self::Version(offered) => CallError::InvalidReply {
                call,
                detail: format!("the server now speaks {}", offered.join(", ")),
            },
        }
    }
}
