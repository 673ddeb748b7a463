//! Calls whose server asks for a form are parked, where the protocol allows: the question then
//! waits in the store, and whoever answers it may do so after a restart.

use std::sync::Arc;

use agent_loop::{CallContext, Invocation, Outcome, Start, ToolInfo, Toolbox};
use async_trait::async_trait;

tokio::task_local! {
    /// Set while a call is made that can be parked.
    static PARKS: ();
}

/// Whether what is asked here and now is asked by a call that can be parked. A server of an older
/// era asks by a request of its own, which no call answers for: that is not asked here.
pub(super) fn can_park() -> bool {
    PARKS.try_with(|()| ()).is_ok()
}

/// Tools whose calls can be parked.
pub(super) struct Parking(pub(super) Arc<dyn Toolbox>);

#[async_trait]
impl Toolbox for Parking {
    async fn tools(&self) -> Arc<[ToolInfo]> {
        self.0.tools().await
    }

    async fn refresh(&self) {
        self.0.refresh().await;
    }

    async fn call(&self, call: Invocation, context: CallContext) -> Outcome {
        match call.start {
            // A task goes on at its server; it has no call to be made again.
            Start::Await(_) => self.0.call(call, context).await,
            _ => PARKS.scope((), self.0.call(call, context)).await,
        }
    }

    fn search(&self, tools: &[ToolInfo], query: &str, limit: usize) -> Vec<usize> {
        self.0.search(tools, query, limit)
    }
}
