//! What can be chosen for a single call.

use std::time::Duration;

use mcp_jsonrpc::model::{Meta, ProgressParams};

/// What one call does differently.
///
/// ```
/// use std::time::Duration;
///
/// let options = mcp_manager::CallOptions::default()
///     .with_timeout(Duration::from_secs(5))
///     .with_progress(|report| println!("{} done", report.progress));
/// ```
#[derive(Clone, Debug, Default)]
pub struct CallOptions {
    timeout: Option<Duration>,
    client: mcp_client::CallOptions,
}

impl CallOptions {
    /// How long the call may take, and how long after each progress report. By default what the
    /// configuration says for its tool, else for its server, else
    /// [`Limits::call_time`](crate::Limits::call_time) (X2).
    #[must_use]
    pub fn with_timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    /// How long the call may take in all, whatever progress it reports; by default ten times its
    /// time limit.
    #[must_use]
    pub fn with_timeout_cap(mut self, cap: Duration) -> Self {
        self.client = self.client.with_timeout_cap(cap);
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

    /// The client's options, with `usual` for a time limit where there is none.
    pub(crate) fn for_client(&self, usual: Duration) -> mcp_client::CallOptions {
        self.client
            .clone()
            .with_timeout(self.timeout.unwrap_or(usual))
    }
}
