//! What a caller wants done, and the few failures that are put right without asking: those where
//! the server refused the request before acting on it, and said what is wrong.

use std::borrow::Cow;
use std::sync::Arc;

use mcp_jsonrpc::model::{CallTool, ListTools, UnsupportedVersionData};
use mcp_jsonrpc::{ErrorCode, Method, RawMap, Revision};
use mcp_transport::TransportError;

use crate::call::{Attempt, Miss};
use crate::client::Client;
use crate::clock::Allowance;
use crate::dialect::verdict::mutual;
use crate::dialect::{Extras, Params};
use crate::error::{CallError, CallName};
use crate::handshake::Refusal;
use crate::known::{Known, Tuning};
use crate::rounds::Progress;
use crate::session::Session;

/// What a caller wants done.
pub(crate) struct Call<'a> {
    pub(crate) method: Cow<'static, str>,
    pub(crate) params: &'a dyn Params,
    /// What the call is about, for the `Mcp-Name` header: a tool, a prompt, a resource, a task.
    pub(crate) name: Option<&'a str>,
    /// The `Mcp-Param-*` headers, by what is known of the tool at present.
    pub(crate) headers: &'a (dyn Fn() -> Vec<(String, String)> + Sync),
    /// Goes into `_meta`; in place of what the handle's options say.
    pub(crate) meta: Option<&'a RawMap>,
}

/// What has been put right for one call; each only once.
#[derive(Debug, Default)]
pub(crate) struct Remedies {
    session: bool,
    version: bool,
    headers: bool,
}

/// What would put a failure right.
enum Remedy {
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
        Known {
            session, tuning, ..
        }: &Known,
        progress: &'a Progress,
    ) -> Attempt<'a> {
        let options = self.options();
        let mirrors = session.dialect.mirrors_params(self.link().shape);
        Attempt {
            method: &call.method,
            params: call.params,
            extras: Extras {
                meta: call.meta.or_else(|| options?.meta.as_deref()),
                responses: progress.responses.as_ref(),
                state: progress.state.as_deref(),
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
            allowance: self.allowance(tuning),
            on_progress: options.and_then(|options| options.progress.as_ref()),
            on_acknowledged: None,
            noted_id: None,
        }
    }

    /// How long a call through this handle may take.
    pub(crate) fn allowance(&self, tuning: &Tuning) -> Allowance {
        let options = self.options();
        let idle = options.and_then(|options| options.idle_timeout);
        let deadline = options.and_then(|options| options.deadline);
        Allowance {
            idle: idle.unwrap_or(tuning.idle_timeout),
            total: match (deadline, idle) {
                (Some(deadline), _) => deadline,
                (None, Some(idle)) => idle.saturating_mul(10),
                (None, None) => tuning.deadline,
            },
        }
    }

    /// Puts a failure right, so that the call can be made again; or tells it.
    pub(crate) async fn put_right(
        &self,
        call: &Call<'_>,
        session: &Session,
        miss: Miss,
        remedies: &mut Remedies,
    ) -> Result<(), CallError> {
        match remedies.find(&miss, &call.method, session.dialect.is_modern()) {
            None => Err(miss.into_error(self.named(call))),
            Some(Remedy::SameAgain) => Ok(()),
            Some(Remedy::NewSession) => match self.link().initialize_again(session).await {
                Ok(()) => Ok(()),
                Err(refusal) => Err(refusal.into_error(self.call_name("initialize"))),
            },
            // The refusal says that the list we went by is stale, however fresh it claims to be,
            // and that the call was not executed.
            Some(Remedy::NewHeaders) => {
                let settings = &self.link().settings;
                settings.cache.forget_list(&settings.name, ListTools::NAME);
                // Listing the tools makes a call of its own.
                Box::pin(self.list_tools()).await.map(drop)
            }
        }
    }

    /// What errors call a call of `method`.
    pub(crate) fn call_name(&self, method: &str) -> CallName {
        CallName {
            server: Arc::clone(&self.link().settings.name),
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

impl Remedies {
    fn find(&mut self, miss: &Miss, method: &str, modern: bool) -> Option<Remedy> {
        match miss {
            Miss::Lost { error, .. } if matches!(**error, TransportError::SessionExpired) => {
                once(&mut self.session).then_some(Remedy::NewSession)
            }
            Miss::Peer(error)
                if modern && error.code == ErrorCode::UNSUPPORTED_PROTOCOL_VERSION =>
            {
                let data = error.data_as::<UnsupportedVersionData>()?;
                let ours = mutual(&data.supported) == Some(Revision::LATEST);
                (ours && once(&mut self.version)).then_some(Remedy::SameAgain)
            }
            Miss::Peer(error) if modern && error.code == ErrorCode::HEADER_MISMATCH => {
                let tool = method == CallTool::NAME;
                (tool && once(&mut self.headers)).then_some(Remedy::NewHeaders)
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
            Self::Miss(miss) => miss.into_error(call),
            Self::Version(offered) => CallError::InvalidReply {
                call,
                detail: format!("the server now speaks {}", offered.join(", ")),
            },
        }
    }
}
