//! The options of a single call.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use mcp_jsonrpc::model::{
    ClientCapabilities, LogMessageParams, LoggingLevel, Meta, ProgressParams,
};

use crate::call::caller::Caller;

/// Called with each progress report of a call, in order, on the caller's task.
pub(crate) type ProgressHandler = Arc<dyn Fn(ProgressParams) + Send + Sync>;

/// Called with each log message of a call, in order, on the caller's task.
pub(crate) type LogHandler = Arc<dyn Fn(LogMessageParams) + Send + Sync>;

/// Options for the calls of a handle; see [`Client::with`](crate::Client::with).
///
/// ```
/// use std::time::Duration;
///
/// let options = mcp_client::CallOptions::default()
///     .with_idle_timeout(Duration::from_secs(5))
///     .with_progress(|report| println!("{} done", report.progress));
/// ```
#[derive(Clone, Default)]
pub struct CallOptions {
    pub(crate) idle_timeout: Option<Duration>,
    pub(crate) deadline: Option<Duration>,
    pub(crate) progress: Option<ProgressHandler>,
    pub(crate) meta: Option<Meta>,
    pub(crate) log_level: Option<LoggingLevel>,
    pub(crate) on_log: Option<LogHandler>,
    pub(crate) capabilities: Option<Arc<ClientCapabilities>>,
    pub(crate) caller: Option<Arc<Caller>>,
    pub(crate) parking: bool,
}

impl CallOptions {
    /// Sets the idle timeout: the time a call may go without a response or progress. Every progress report restarts it,
    /// so that a call may take longer: see [`with_deadline`](Self::with_deadline).
    #[must_use]
    pub fn with_idle_timeout(mut self, timeout: Duration) -> Self {
        self.idle_timeout = Some(timeout);
        self
    }

    /// Sets the deadline: the total time limit of a call regardless of progress, including a task that it may become.
    /// Default: ten times its idle timeout. The time a person takes to answer server-to-client requests does not count.
    #[must_use]
    pub fn with_deadline(mut self, deadline: Duration) -> Self {
        self.deadline = Some(deadline);
        self
    }

    /// Sets the handler of a call's progress reports, which arrive in order and before its response. If they arrive
    /// faster than they are handled, the newest replaces the last.
    #[must_use]
    pub fn with_progress(
        mut self,
        on_progress: impl Fn(ProgressParams) + Send + Sync + 'static,
    ) -> Self {
        self.progress = Some(Arc::new(on_progress));
        self
    }

    /// Adds members to the `_meta` of each request, for instance a trace context. The protocol's own members cannot be
    /// replaced.
    #[must_use]
    pub fn with_meta(mut self, meta: Meta) -> Self {
        self.meta = Some(meta);
        self
    }

    /// Sets the minimum level of log messages during a call. Only modern servers support this per call.
    #[must_use]
    pub fn with_log_level(mut self, level: LoggingLevel) -> Self {
        self.log_level = Some(level);
        self
    }

    /// Sets the handler of the log messages that belong to the call, which arrive in order and before its response:
    /// those on its reply stream and, where all calls share a channel, those that arrive while it is the only call.
    /// They are not reported as events then. If they arrive much faster than they are handled, some are dropped.
    #[must_use]
    pub fn with_log(mut self, on_log: impl Fn(LogMessageParams) + Send + Sync + 'static) -> Self {
        self.on_log = Some(Arc::new(on_log));
        self
    }

    /// Declares these capabilities with the call instead of the connection's: for a client that makes calls on behalf
    /// of others. Only modern servers receive capabilities per call.
    #[must_use]
    pub fn with_capabilities(mut self, capabilities: impl Into<Arc<ClientCapabilities>>) -> Self {
        self.capabilities = Some(capabilities.into());
        self
    }

    /// Sets the caller of the call: server-to-client requests that belong to it carry this value
    /// ([`ServerRequest::origin`](crate::ServerRequest)).
    #[must_use]
    pub fn with_caller(mut self, caller: impl Into<Arc<Caller>>) -> Self {
        self.caller = Some(caller.into());
        self
    }

    /// Allows the call to be parked: requests in its result have [`ServerRequest::can_park`](crate::ServerRequest) set,
    /// so that the host may answer [`HostError::Later`](crate::HostError::Later).
    #[must_use]
    pub fn with_parking(mut self) -> Self {
        self.parking = true;
        self
    }
}

impl fmt::Debug for CallOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CallOptions")
            .field("idle_timeout", &self.idle_timeout)
            .field("deadline", &self.deadline)
            .field("progress", &self.progress.is_some())
            .field("meta", &self.meta)
            .field("log_level", &self.log_level)
            .field("log", &self.on_log.is_some())
            .field("capabilities", &self.capabilities)
            .field("caller", &self.caller)
            .field("parking", &self.parking)
            .finish()
    }
}
