//! Tools that are Rust functions.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;

use async_trait::async_trait;
use mcp_jsonrpc::RawObject;
use mcp_jsonrpc::model::CallToolResult;

use crate::toolbox::{CallContext, FailureKind, Invocation, Outcome, Toolbox};
use tool_policy::ToolInfo;

type Function = Arc<
    dyn Fn(RawObject, CallContext) -> Pin<Box<dyn Future<Output = Outcome> + Send>> + Send + Sync,
>;

/// Tools that are functions of this program.
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
}

impl LocalTools {
    /// No tools yet; `server` is the name they go by as a whole.
    pub fn new(server: impl Into<String>) -> Self {
        Self {
            server: server.into(),
            tools: Arc::from([]),
            functions: Vec::new(),
        }
    }

    /// With one more tool. Its arguments are checked against its schema before it is called.
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
        match at.and_then(|at| self.functions.get(at)) {
            Some(function) => function(call.arguments, context).await,
            None => Outcome::failed(
                FailureKind::NoTool,
                format!("there is no tool {:?}", call.tool),
            ),
        }
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
