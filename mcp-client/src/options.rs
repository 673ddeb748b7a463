//! What can be chosen for a single call.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use mcp_jsonrpc::model::{LoggingLevel, Meta, ProgressParams};

use crate::caller::Caller;

/// Called with each progress report of a call, in order, on the caller's task.
pub(crate) type ProgressHandler = Arc<dyn Fn(ProgressParams) + Send + Sync>;

/// What calls through a handle made by [`Client::with`](crate::Client::with) do differently.
///
/// ```
/// use std::time::Duration;
///
/// let options = mcp_client::CallOptions::default()
///     .with_timeout(Duration::from_secs(5))
///     .with_progress(|report| println!("{} done", report.progress));
/// ```
#[derive(Clone, Default)]
pub struct CallOptions {
    pub(crate) timeout: Option<Duration>,
    pub(crate) timeout_cap: Option<Duration>,
    pub(crate) progress: Option<ProgressHandler>,
    pub(crate) meta: Option<Meta>,
    pub(crate) log_level: Option<LoggingLevel>,
    pub(crate) caller: Option<Arc<Caller>>,
}

impl CallOptions {
    /// How long a call may take, and how long after each progress report.
    #[must_use]
    pub fn with_timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    /// How long a call may take in all, whatever progress it reports; by default ten times its
    /// time limit.
    #[must_use]
    pub fn with_timeout_cap(mut self, cap: Duration) -> Self {
        self.timeout_cap = Some(cap);
        self
    }

    /// Hears of a call's progress, in order, before its answer. When reports come faster than
    /// they are taken, the newest replaces the last.
    #[must_use]
    pub fn with_progress(
        mut self,
        on_progress: impl Fn(ProgressParams) + Send + Sync + 'static,
    ) -> Self {
        self.progress = Some(Arc::new(on_progress));
        self
    }

    /// Adds to the `_meta` of each request, a trace context for instance. What the protocol
    /// itself puts there cannot be replaced.
    #[must_use]
    pub fn with_meta(mut self, meta: Meta) -> Self {
        self.meta = Some(meta);
        self
    }

    /// From which level on the server shall log while it works on a call. Only modern servers can
    /// be asked this per call.
    #[must_use]
    pub fn with_log_level(mut self, level: LoggingLevel) -> Self {
        self.log_level = Some(level);
        self
    }

    /// Who makes the call: what its server asks because of it comes with this
    /// ([`Question::origin`](crate::Question)).
    #[must_use]
    pub fn with_caller(mut self, caller: impl Into<Arc<Caller>>) -> Self {
        self.caller = Some(caller.into());
        self
    }
}

impl fmt::Debug for CallOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CallOptions")
            .field("timeout", &self.timeout)
            .field("timeout_cap", &self.timeout_cap)
            .field("progress", &self.progress.is_some())
            .field("meta", &self.meta)
            .field("log_level", &self.log_level)
            .field("caller", &self.caller)
            .finish()
    }
}
