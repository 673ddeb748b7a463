//! One call, with the few failures that are put right without asking: those where the server
//! refused the request before acting on it, and said what is wrong.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use mcp_jsonrpc::model::{CallTool, UnsupportedVersionData};
use mcp_jsonrpc::{ErrorCode, Method, Revision};
use mcp_transport::TransportError;

use crate::call::{Attempt, Miss};
use crate::client::Client;
use crate::clock::Allowance;
use crate::dialect::verdict::mutual;
use crate::dialect::{Extras, Params};
use crate::error::{CallError, CallName};
use crate::handshake::Refusal;
use crate::link::Body;

/// What a caller wants done.
pub(crate) struct Call<'a> {
    pub(crate) method: Cow<'static, str>,
    pub(crate) params: &'a dyn Params,
    /// What the call is about, for the `Mcp-Name` header: a tool, a prompt, a resource, a task.
    pub(crate) name: Option<&'a str>,
    /// The `Mcp-Param-*` headers, by what is known of the tool at present.
    pub(crate) headers: &'a (dyn Fn() -> Vec<(String, String)> + Sync),
}

/// What has been put right for one call; each only once.
#[derive(Default)]
struct Remedies {
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
        Self {
            method: Cow::Borrowed(method),
            params,
            name: None,
            headers: &no_headers,
        }
    }

    /// Says what it is about.
    pub(crate) fn about(mut self, name: &'a str) -> Self {
        self.name = Some(name);
        self
    }
}

impl Client {
    /// Makes a call and returns its raw result.
    ///
    /// `began` is when the caller's call began by the clock, of which this may be a further round.
    pub(crate) async fn perform(
        &self,
        call: &Call<'_>,
        round: Round<'_>,
        began: Duration,
    ) -> Result<Body, CallError> {
        let link = self.link();
        let mut remedies = Remedies::default();
        loop {
            let session = link.session();
            let extras = Extras {
                meta: round.meta.or_else(|| self.options()?.meta.as_deref()),
                responses: round.responses,
                state: round.state,
                log_level: self.log_level(),
            };
            let headers = if session.dialect.mirrors_params(link.shape) {
                (call.headers)()
            } else {
                Vec::new()
            };
            let attempt = Attempt {
                method: &call.method,
                params: call.params,
                extras,
                name: call.name,
                headers,
                allowance: self.allowance(),
                began,
                on_progress: self.options().and_then(|options| options.progress.as_ref()),
                on_acknowledged: None,
            };
            let miss = match link.exchange(&session.dialect, attempt).await {
                Ok(body) => return Ok(body),
                Err(miss) => miss,
            };
            match remedies.find(&miss, &call.method, session.dialect.is_modern()) {
                None => return Err(miss.into_error(self.named(call))),
                Some(Remedy::SameAgain) => {}
                Some(Remedy::NewSession) => {
                    if let Err(refusal) = link.initialize_again(&session).await {
                        return Err(refusal.into_error(self.call_name("initialize")));
                    }
                }
                Some(Remedy::NewHeaders) => {
                    // Listing the tools makes a call of its own.
                    Box::pin(self.list_tools()).await?;
                }
            }
        }
    }

    pub(crate) fn call_name(&self, method: &str) -> CallName {
        CallName {
            server: Arc::clone(&self.link().settings.name),
            method: Cow::Owned(method.to_owned()),
            about: None,
        }
    }

    /// What errors call `call`.
    pub(crate) fn named(&self, call: &Call<'_>) -> CallName {
        CallName {
            about: call.name.map(str::to_owned),
            ..self.call_name(&call.method)
        }
    }

    pub(crate) fn allowance(&self) -> Allowance {
        let tuning = *self.link().tuning.lock();
        let options = self.options();
        match options.and_then(|options| options.timeout) {
            Some(idle) => {
                let cap = options.and_then(|options| options.timeout_cap);
                Allowance {
                    idle,
                    total: cap.unwrap_or(idle.saturating_mul(10)),
                }
            }
            None => {
                let cap = options.and_then(|options| options.timeout_cap);
                Allowance {
                    idle: tuning.call_time,
                    total: cap.unwrap_or(tuning.call_time_cap),
                }
            }
        }
    }
}

/// What goes back to the server in a further round of a call.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Round<'a> {
    pub(crate) meta: Option<&'a mcp_jsonrpc::RawMap>,
    pub(crate) responses: Option<&'a mcp_jsonrpc::RawMap>,
    pub(crate) state: Option<&'a str>,
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
