//! The manager's tools, with a recorder.

use std::sync::Arc;

use agent_loop::{CallContext, Invocation, ManagedTools, Outcome, Start, ToolInfo, Toolbox};
use async_trait::async_trait;

use crate::recorder::{Ending, Recorder, id_of};

/// Records the calls of the toolbox and their outcomes.
pub(crate) struct Witness {
    pub(crate) tools: ManagedTools,
    pub(crate) recorder: Arc<Recorder>,
}

#[async_trait]
impl Toolbox for Witness {
    async fn tools(&self) -> Arc<[ToolInfo]> {
        self.tools.tools().await
    }

    async fn refresh(&self) {
        self.tools.refresh().await;
    }

    async fn call(&self, call: Invocation, context: CallContext) -> Outcome {
        let Some(id) = id_of(call.arguments.get()) else {
            return self.tools.call(call, context).await;
        };
        if matches!(call.start, Start::Call) {
            self.recorder.begun(id, &call.server);
        }
        let mut entry = Entry {
            id,
            recorder: &self.recorder,
            ending: Ending::Dropped,
        };
        let outcome = self.tools.call(call, context).await;
        entry.ending = Ending::of(&outcome);
        outcome
    }

    fn search(&self, tools: &[ToolInfo], query: &str, limit: usize) -> Vec<usize> {
        self.tools.search(tools, query, limit)
    }
}

/// Written on drop, so that dropped calls are recorded, too.
struct Entry<'a> {
    id: u64,
    recorder: &'a Recorder,
    ending: Ending,
}

impl Drop for Entry<'_> {
    fn drop(&mut self) {
        self.recorder.ended(self.id, self.ending);
    }
}
