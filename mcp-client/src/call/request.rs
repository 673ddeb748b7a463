//! A call to make, and the few failures it recovers from: those where the server rejected the request before acting on
//! it, with a reason.

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
use crate::connection::snapshot::{CallDefaults, Snapshot};
use crate::dialect::verdict::mutual;
use crate::dialect::{Extras, Params};

/// A call to make.
pub(crate) struct Call<'a> {
    pub(crate) method: Cow<'static, str>,
    pub(crate) params: &'a dyn Params,
    /// The value of the `Mcp-Name` header: a tool, a prompt, a resource, a task.
    pub(crate) name: Option<&'a str>,
    /// The `Mcp-Param-*` headers, from the tool's current schema.
    pub(crate) headers: &'a (dyn Fn() -> Vec<(String, String)> + Sync),
    /// Members of `_meta` that replace those in the handle's options.
    pub(crate) meta: Option<&'a RawMap>,
}

/// The recoveries used in one call; each at most once.
#[derive(Debug, Default)]
pub(crate) struct Recoveries {
    session: bool,
    version: bool,
    headers: bool,
}

/// A way to recover from a failure.
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
    /// Creates a call without extra headers.
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

    /// Sets the name.
    pub(crate) fn about(mut self, name: &'a str) -> Self {
        self.name = Some(name);
        self
    }
}

impl Client {
    /// The request for the next round of `call`.
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
                capabilities: options.and_then(|options| options.capabilities.as_deref()),
            },
            name: call.name,
            headers: if mirrors {
                (call.headers)()
            } else {
                Vec::new()
            },
            deadlines: self.deadlines(tuning),
            on_progress: options.and_then(|options| options.progress.as_ref()),
            on_log: options.and_then(|options| options.on_log.as_ref()),
            on_acknowledged: None,
            noted_id: None,
        }
    }

    /// The time limits of this handle's calls.
    pub(crate) fn deadlines(&self, tuning: &CallDefaults) -> Deadlines {
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

    /// Recovers from a failure, so that the call can be repeated; otherwise returns it.
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
            // The tool list is stale even if it is marked as fresh, and the call was not executed.
            Some(Recovery::NewHeaders) => {
                // Boxed: listing the tools is a separate call.
                Box::pin(self.list_tools()).await.map(drop)
            }
        }
    }

    /// The name of a call of `method`, for errors.
    pub(crate) fn call_name(&self, method: &str) -> CallName {
        CallName {
            server: Arc::clone(&self.connection().settings.name),
            method: Cow::Owned(method.to_owned()),
            about: None,
            task_id: None,
        }
    }

    /// The name of `call`, for errors.
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
