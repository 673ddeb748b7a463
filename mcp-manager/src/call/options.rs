//! Options for a single call.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use mcp_client::{Caller, Client, Queued};
use mcp_jsonrpc::model::{
    ClientCapabilities, LogMessageParams, LoggingLevel, Meta, ProgressParams,
};

/// Called with the reason why a call is queued, and with `None` when it is no longer queued.
pub(crate) type QueueHandler = Arc<dyn Fn(Option<&Queued>) + Send + Sync>;

/// The options of one call.
///
/// ```
/// use std::time::Duration;
///
/// let options = mcp_manager::CallOptions::default()
///     .with_idle_timeout(Duration::from_secs(5))
///     .with_progress(|report| println!("{} done", report.progress));
/// ```
#[derive(Clone, Default)]
pub struct CallOptions {
    idle_timeout: Option<Duration>,
    usual_idle_timeout: Option<Duration>,
    client: mcp_client::CallOptions,
    pub(crate) caller: Option<Arc<Caller>>,
    pub(crate) on_queued: Option<QueueHandler>,
    pub(crate) fingerprint: Option<String>,
    pub(crate) connection: Option<Client>,
}

impl CallOptions {
    /// Sets the idle timeout: the time the call may go without a response or progress. Every progress report restarts
    /// it. The default is the configured one of the tool, else of its server, else
    /// [`ManagerLimits::call_idle_timeout`](crate::ManagerLimits::call_idle_timeout).
    #[must_use]
    pub fn with_idle_timeout(mut self, timeout: Duration) -> Self {
        self.idle_timeout = Some(timeout);
        self
    }

    /// Sets the idle timeout where neither the tool nor its server has one of its own, in place of
    /// [`ManagerLimits::call_idle_timeout`](crate::ManagerLimits::call_idle_timeout): for calls on behalf of others, who
    /// have their own limits.
    #[must_use]
    pub fn with_usual_idle_timeout(mut self, timeout: Duration) -> Self {
        self.usual_idle_timeout = Some(timeout);
        self
    }

    /// Sets the deadline: the total time limit of the call, regardless of progress; by default ten times its idle
    /// timeout.
    #[must_use]
    pub fn with_deadline(mut self, deadline: Duration) -> Self {
        self.client = self.client.with_deadline(deadline);
        self
    }

    /// Sets the handler of the call's progress, which is reported in order, before its response.
    #[must_use]
    pub fn with_progress(
        mut self,
        on_progress: impl Fn(ProgressParams) + Send + Sync + 'static,
    ) -> Self {
        self.client = self.client.with_progress(on_progress);
        self
    }

    /// Adds members to the `_meta` of the request, for instance a trace context.
    #[must_use]
    pub fn with_meta(mut self, meta: Meta) -> Self {
        self.client = self.client.with_meta(meta);
        self
    }

    /// Sets the minimum level of the call's log messages. Only modern servers support this per call.
    #[must_use]
    pub fn with_log_level(mut self, level: LoggingLevel) -> Self {
        self.client = self.client.with_log_level(level);
        self
    }

    /// Sets the handler of the log messages known to belong to the call, which are passed in order, before its
    /// response. They are not reported as [events](crate::ManagerEvent::Log) then.
    #[must_use]
    pub fn with_log(mut self, on_log: impl Fn(LogMessageParams) + Send + Sync + 'static) -> Self {
        self.client = self.client.with_log(on_log);
        self
    }

    /// Declares these capabilities with the call instead of the manager's: for calls on behalf of others. Only modern
    /// servers receive capabilities per call.
    #[must_use]
    pub fn with_capabilities(mut self, capabilities: impl Into<Arc<ClientCapabilities>>) -> Self {
        self.client = self.client.with_capabilities(capabilities);
        self
    }

    /// Makes the call on this connection ([`Manager::connection`](crate::Manager::connection)) instead of the managed
    /// one. It is not queued with other calls.
    #[must_use]
    pub fn with_connection(mut self, connection: Client) -> Self {
        self.connection = Some(connection);
        self
    }

    /// Sets the caller of the call. Calls of one conversation run sequentially, unless they may share, and their
    /// server's questions are asked only in their conversation ([`Elicitation::calls`](crate::Elicitation)). Calls
    /// without a caller belong to one shared conversation.
    #[must_use]
    pub fn with_caller(mut self, caller: Caller) -> Self {
        // Each call has its own value, even if two have equal names.
        let caller = Arc::new(caller);
        self.client = self.client.with_caller(Arc::clone(&caller));
        self.caller = Some(caller);
        self
    }

    /// Sets a callback for queued calls: it receives the reason each time the reason changes, and `None` when the call
    /// is no longer queued. It is not called if the call does not have to wait.
    #[must_use]
    pub fn with_queued(
        mut self,
        on_queued: impl Fn(Option<&Queued>) + Send + Sync + 'static,
    ) -> Self {
        self.on_queued = Some(Arc::new(on_queued));
        self
    }

    /// Allows the call to be parked: questions in its result have [`Elicitation::can_park`](crate::Elicitation) set, so
    /// that the handler may answer [`HostError::Later`](mcp_client::HostError::Later).
    #[must_use]
    pub fn with_parking(mut self) -> Self {
        self.client = self.client.with_parking();
        self
    }

    /// Rejects the call with [`ManagerError::ToolChanged`](crate::ManagerError::ToolChanged) if the tool's definition
    /// has another [fingerprint](crate::Entry::fingerprint) when it is sent: an approved call runs as approved, or not
    /// at all.
    #[must_use]
    pub fn with_fingerprint(mut self, fingerprint: impl Into<String>) -> Self {
        self.fingerprint = Some(fingerprint.into());
        self
    }

    /// The client's options, with the idle timeout that is `configured`, or else with the manager's `limit`.
    pub(crate) fn for_client(
        &self,
        configured: Option<Duration>,
        limit: Duration,
    ) -> mcp_client::CallOptions {
        let own = self.idle_timeout.or(configured);
        let timeout = own.or(self.usual_idle_timeout).unwrap_or(limit);
        self.client.clone().with_idle_timeout(timeout)
    }
}

impl fmt::Debug for CallOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CallOptions")
            .field("idle_timeout", &self.idle_timeout)
            .field("client", &self.client)
            .field("queued", &self.on_queued.is_some())
            .field("own_connection", &self.connection.is_some())
            .finish()
    }
}
