//! Tools that are Rust functions.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;

use async_trait::async_trait;
use mcp_jsonrpc::RawObject;
use mcp_jsonrpc::model::CallToolResult;
use tokio::sync::RwLock;
use tool_policy::ToolInfo;

use crate::toolbox::context::CallContext;
use crate::toolbox::{FailureKind, Invocation, Outcome, Toolbox};

type Function = Arc<
    dyn Fn(RawObject, CallContext) -> Pin<Box<dyn Future<Output = Outcome> + Send>> + Send + Sync,
>;

/// Tools that are functions of this program.
///
/// They run one after the other, in the model's order, except read-only ones and those that are marked
/// [`parallel`](ToolInfo::parallel).
///
/// ```
/// use agent_loop::{LocalTools, ToolInfo};
///
/// let schema = serde_json::from_str(r#"{"type":"object","properties":{}}"#)?;
/// let dice = ToolInfo::new("local", "roll", schema).with_description("Rolls a die.").read_only();
/// let tools = LocalTools::new("local").with(dice, |_arguments, _context| async { "4" });
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone)]
pub struct LocalTools {
    server: String,
    tools: Arc<[ToolInfo]>,
    functions: Vec<Function>,
    /// Calls of read-only tools share it, others have it alone. It is fair: calls run in order.
    gate: Arc<RwLock<()>>,
}

impl LocalTools {
    /// No tools yet; `server` is the name they go by as a whole.
    pub fn new(server: impl Into<String>) -> Self {
        Self {
            server: server.into(),
            tools: Arc::from([]),
            functions: Vec::new(),
            gate: Arc::default(),
        }
    }

    /// Adds a tool. Its arguments are checked against its schema before it is called.
    #[must_use]
    pub fn with<F, R>(
        mut self,
        mut tool: ToolInfo,
        function: impl Fn(RawObject, CallContext) -> F + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = R> + Send + 'static,
        R: Into<Outcome>,
    {
        tool.server.clone_from(&self.server);
        tool.server_id.clone_from(&self.server);
        self.tools = self.tools.iter().cloned().chain([tool]).collect();
        self.functions.push(Arc::new(move |arguments, context| {
            let running = function(arguments, context);
            Box::pin(async move { running.await.into() })
        }));
        self
    }
}

#[async_trait]
impl Toolbox for LocalTools {
    async fn tools(&self) -> Arc<[ToolInfo]> {
        Arc::clone(&self.tools)
    }

    async fn call(&self, call: Invocation, context: CallContext) -> Outcome {
        let at = self.tools.iter().position(|tool| tool.tool == call.tool);
        let Some((tool, function)) =
            at.and_then(|at| Some((self.tools.get(at)?, self.functions.get(at)?)))
        else {
            let message = format!("there is no tool {:?}", call.tool);
            return Outcome::failed(FailureKind::NoTool, message);
        };
        let (mut _shared, mut _alone) = (None, None);
        if tool.is_read_only() {
            _shared = Some(self.gate.read().await);
        } else if !tool.parallel {
            _alone = Some(self.gate.write().await);
        }
        let running = function(call.arguments, context.clone());
        context
            .enforce_timeouts(&self.server, &call.tool, running)
            .await
    }
}

impl fmt::Debug for LocalTools {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = self.tools.iter().map(|tool| &tool.name);
        f.debug_list().entries(names).finish()
    }
}

impl From<&str> for Outcome {
    fn from(text: &str) -> Self {
        Self::text(text)
    }
}

impl From<String> for Outcome {
    fn from(text: String) -> Self {
        Self::text(text)
    }
}

impl From<CallToolResult> for Outcome {
    fn from(result: CallToolResult) -> Self {
        Self::Result(result)
    }
}

/// A function's error is the tool's answer that it failed.
impl<T: Into<Self>, E: fmt::Display> From<Result<T, E>> for Outcome {
    fn from(result: Result<T, E>) -> Self {
        match result {
            Ok(answer) => answer.into(),
            Err(error) => Self::error(error.to_string()),
        }
    }
}
