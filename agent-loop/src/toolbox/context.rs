//! The context of a call.

use std::fmt;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use mcp_client::{Caller, Queued};
use mcp_jsonrpc::model::Meta;
use serde::{Deserialize, Serialize};
use tokio::sync::{Notify, mpsc, oneshot};
use tokio::time::{Instant, sleep_until};

use crate::event::RunEvent;
use crate::run::number::CallNumber;
use crate::run::{Run, messages};
use crate::session::queue::Queues;
use crate::toolbox::{FailureKind, Outcome};

/// A progress report of a call.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[non_exhaustive]
pub struct CallProgress {
    /// The progress so far.
    pub progress: f64,
    /// The total, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total: Option<f64>,
    /// A message for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}

impl CallProgress {
    /// Creates a report.
    pub fn new(progress: f64, total: Option<f64>, message: Option<String>) -> Self {
        Self {
            progress,
            total,
            message,
        }
    }
}

/// A progress report, and the call it is about.
pub(crate) type Report = (CallNumber, CallProgress);

/// An event of a sub-agent's run.
#[derive(Debug)]
pub(crate) struct Delegated {
    /// The call that the run belongs to.
    pub(crate) number: CallNumber,
    pub(crate) event: RunEvent,
    /// The run, where it is to be stored with its parent.
    pub(crate) run: Option<Box<Run>>,
    /// Let go once the event was returned: only then the sub-agent goes on.
    pub(crate) taken: oneshot::Sender<()>,
}

/// The context of a call: its time-outs, its caller, and its reporting.
#[derive(Clone)]
pub struct CallContext {
    pub(crate) number: CallNumber,
    pub(crate) reports: Option<mpsc::Sender<Report>>,
    pub(crate) touched: Arc<Notify>,
    pub(crate) queues: Option<Arc<Queues>>,
    pub(crate) delegated: Option<mpsc::Sender<Delegated>>,
    pub(crate) caller: Option<Caller>,
    pub(crate) parking: bool,
    pub(crate) meta: Meta,
    pub(crate) idle_timeout: Duration,
    pub(crate) deadline: Duration,
}

impl CallContext {
    /// Creates a context without listeners, for calls outside of a run.
    pub fn detached(idle_timeout: Duration) -> Self {
        Self {
            number: CallNumber::default(),
            reports: None,
            touched: Arc::default(),
            queues: None,
            delegated: None,
            caller: None,
            parking: false,
            meta: Meta::default(),
            idle_timeout,
            deadline: idle_timeout.saturating_mul(10),
        }
    }

    /// Reports progress, and restarts the idle timeout. A report that is not consumed in time is
    /// dropped.
    pub fn progress(&self, progress: CallProgress) {
        self.touched.notify_one();
        if let Some(reports) = &self.reports {
            let _ = reports.try_send((self.number, progress));
        }
    }

    /// Reports the reason why the call waits in its server's queue; `None` once it no longer waits.
    pub fn queued(&self, queued: Option<&Queued>) {
        if let Some(queues) = &self.queues {
            queues.set(self.number, queued.cloned());
        }
    }

    /// Passes an event of a sub-agent's run on, and returns once it was taken.
    pub(crate) async fn delegated(&self, run: &Run, event: RunEvent) {
        let Some(delegated) = &self.delegated else {
            return;
        };
        let kept = event.is_milestone() || matches!(event, RunEvent::Usage { .. });
        let (taken, is_taken) = oneshot::channel();
        let event = Delegated {
            number: self.number,
            run: kept.then(|| Box::new(run.clone())),
            event,
            taken,
        };
        if delegated.send(event).await.is_ok() {
            let _ = is_taken.await;
        }
    }

    /// The caller, if the agent belongs to a conversation.
    pub fn caller(&self) -> Option<&Caller> {
        self.caller.as_ref()
    }

    /// Whether the call may be parked.
    pub fn may_park(&self) -> bool {
        self.parking
    }

    /// The `_meta` of the request: the trace context.
    pub fn meta(&self) -> &Meta {
        &self.meta
    }

    /// The maximum time without a response and without progress.
    pub fn idle_timeout(&self) -> Duration {
        self.idle_timeout
    }

    /// The maximum time in total.
    pub fn deadline(&self) -> Duration {
        self.deadline
    }

    /// Runs a call and drops it once it exceeds its idle timeout or its deadline. For toolboxes without their own
    /// time-outs; MCP clients have them.
    pub async fn enforce_timeouts(
        &self,
        server: &str,
        tool: &str,
        call: impl Future<Output = Outcome>,
    ) -> Outcome {
        let last = Instant::now() + self.deadline;
        let mut due = (Instant::now() + self.idle_timeout).min(last);
        let mut call = pin!(call);
        loop {
            tokio::select! {
                biased;
                outcome = &mut call => return outcome,
                () = self.touched.notified() => due = (Instant::now() + self.idle_timeout).min(last),
                () = sleep_until(due) => {
                    let message = match due == last {
                        true => messages::deadline(server, tool, self.deadline),
                        false => messages::idle_timeout(server, tool, self.idle_timeout),
                    };
                    return Outcome::failed(FailureKind::Timeout, message);
                }
            }
        }
    }
}

impl fmt::Debug for CallContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CallContext")
            .field("number", &self.number)
            .field("idle_timeout", &self.idle_timeout)
            .finish_non_exhaustive()
    }
}
