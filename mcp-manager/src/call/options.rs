//! What can be chosen for a single call.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use mcp_client::{Caller, Client, Queued};
use mcp_jsonrpc::model::{
    ClientCapabilities, LogMessageParams, LoggingLevel, Meta, ProgressParams,
};

/// Hears why a call waits for its turn, and with nothing when it does not any more.
pub(crate) type QueueHandler = Arc<dyn Fn(Option<&Queued>) + Send + Sync>;

/// What one call does differently.
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
    client: mcp_client::CallOptions,
    pub(crate) caller: Option<Arc<Caller>>,
    pub(crate) on_queued: Option<QueueHandler>,
    pub(crate) fingerprint: Option<String>,
    pub(crate) connection: Option<Client>,
}

impl CallOptions {
    /// Sets the idle timeout: how long the call may go without a response and without progress.
    /// Every progress report restarts it. By default the configured one of the tool,
    /// else for its server, else [`ManagerLimits::call_idle_timeout`](crate::ManagerLimits::call_idle_timeout).
    #[must_use]
    pub fn with_idle_timeout(mut self, timeout: Duration) -> Self {
        self.idle_timeout = Some(timeout);
        self
    }

    /// Sets the deadline: how long the call may take in total, whatever progress it reports; by
    /// default ten times its idle timeout.
    #[must_use]
    pub fn with_deadline(mut self, deadline: Duration) -> Self {
        self.client = self.client.with_deadline(deadline);
        self
    }

    /// Hears of the call's progress, in order, before its answer.
    #[must_use]
    pub fn with_progress(
        mut self,
        on_progress: impl Fn(ProgressParams) + Send + Sync + 'static,
    ) -> Self {
        self.client = self.client.with_progress(on_progress);
        self
    }

    /// Adds to the `_meta` of the request, a trace context for instance.
    #[must_use]
    pub fn with_meta(mut self, meta: Meta) -> Self {
        self.client = self.client.with_meta(meta);
        self
    }

    /// Sets the minimum level of the call's log messages. Only modern servers have it per call.
    #[must_use]
    pub fn with_log_level(mut self, level: LoggingLevel) -> Self {
        self.client = self.client.with_log_level(level);
        self
    }

    /// Hears of the log messages that are known to be the call's, in order, before its answer. They
    /// are no [events](crate::ManagerEvent::Log) then.
    #[must_use]
    pub fn with_log(mut self, on_log: impl Fn(LogMessageParams) + Send + Sync + 'static) -> Self {
        self.client = self.client.with_log(on_log);
        self
    }

    /// Declares these capabilities with the call, instead of the manager's own: for calls on behalf
    /// of others. Only modern servers learn of capabilities per call.
    #[must_use]
    pub fn with_capabilities(mut self, capabilities: impl Into<Arc<ClientCapabilities>>) -> Self {
        self.client = self.client.with_capabilities(capabilities);
        self
    }

    /// Makes the call on this connection ([`Manager::connection`](crate::Manager::connection)) instead
    /// of the managed one. It does not queue with the calls of others.
    #[must_use]
    pub fn with_connection(mut self, connection: Client) -> Self {
        self.connection = Some(connection);
        self
    }

    /// Says who makes the call. Calls of one conversation run one after the other, unless they may
    /// share, and what their server asks is asked in their conversation alone
    /// ([`Elicitation::calls`](crate::Elicitation)). Calls without a caller are all of one
    /// conversation.
    #[must_use]
    pub fn with_caller(mut self, caller: Caller) -> Self {
        // Each call has its own, even if two have the same names.
        let caller = Arc::new(caller);
        self.client = self.client.with_caller(Arc::clone(&caller));
        self.caller = Some(caller);
        self
    }

    /// Hears why the call has to wait for its turn at its server, each time the reason changes,
    /// and `None` when it waits no longer. Not called if it does not have to wait.
    #[must_use]
    pub fn with_queued(
        mut self,
        on_queued: impl Fn(Option<&Queued>) + Send + Sync + 'static,
    ) -> Self {
        self.on_queued = Some(Arc::new(on_queued));
        self
    }

    /// Allows the call to be parked: what its server asks in its result comes with
    /// [`Elicitation::can_park`](crate::Elicitation), so that the handler may answer
    /// [`HostError::Later`](mcp_client::HostError::Later).
    #[must_use]
    pub fn with_parking(mut self) -> Self {
        self.client = self.client.with_parking();
        self
    }

    /// Refuses the call with [`ManagerError::ToolChanged`](crate::ManagerError::ToolChanged) if the
    /// tool's definition has another [fingerprint](crate::Entry::fingerprint) by the time it is sent:
    /// a call that was approved runs as it was approved, or not at all.
    #[must_use]
    pub fn with_fingerprint(mut self, fingerprint: impl Into<String>) -> Self {
        self.fingerprint = Some(fingerprint.into());
        self
    }

    /// The client's options, with `usual` for an idle timeout where there is none.
    pub(crate) fn for_client(&self, usual: Duration) -> mcp_client::CallOptions {
        self.client
            .clone()
            .with_idle_timeout(self.idle_timeout.unwrap_or(usual))
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
