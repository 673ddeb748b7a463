//! Tools that are Rust functions.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;

use async_trait::async_trait;
use mcp_jsonrpc::RawObject;
use mcp_jsonrpc::model::CallToolResult;
#[cfg(feature = "schemars")]
use mcp_jsonrpc::{IntoToolResult, model::Tool, schema_of};
#[cfg(feature = "schemars")]
use serde::de::DeserializeOwned;
use tokio::sync::RwLock;
#[cfg(feature = "schemars")]
use tool_policy::Fingerprint;
use tool_policy::ToolInfo;

use crate::toolbox::context::CallContext;
use crate::toolbox::{FailureKind, Invocation, Outcome, Toolbox};

type Function = Arc<
    dyn Fn(RawObject, CallContext) -> Pin<Box<dyn Future<Output = Outcome> + Send>> + Send + Sync,
>;

/// Tools that are functions of this program.
///
/// Calls run one after the other, in the model's order, except those of read-only tools and of tools
/// that are marked [`parallel`](ToolInfo::parallel).
///
#[cfg_attr(
    feature = "schemars",
    doc = r#"
```
use agent_loop::LocalTools;
use schemars::JsonSchema;
use serde::Deserialize;

#[derive(Deserialize, JsonSchema)]
struct Weather {
    /// The city's name.
    city: String,
}

let tools = LocalTools::new("local")
    .tool("weather", "The weather of a city", |it: Weather| async move {
        match it.city.as_str() {
            "Paris" => Ok("sunny"),
            city => Err(format!("there is no weather in {city}")),
        }
    })
    .read_only();
```
"#
)]
#[derive(Clone)]
pub struct LocalTools {
    server: String,
    tools: Arc<[ToolInfo]>,
    functions: Vec<Function>,
    /// Calls of read-only tools share it, others have it alone. It is fair: calls run in order.
    gate: Arc<RwLock<()>>,
}

impl LocalTools {
    /// Creates an empty toolbox; `server` is the server name of its tools.
    pub fn new(server: impl Into<String>) -> Self {
        Self {
            server: server.into(),
            tools: Arc::from([]),
            functions: Vec::new(),
            gate: Arc::default(),
        }
    }

    /// Adds a tool with a Rust type as its arguments. The type's schema becomes the tool's, and its doc comments
    /// describe the arguments to the model.
    ///
    /// The function returns text, [`Json`](mcp_jsonrpc::Json), content blocks, a [`Value`](serde_json::Value), or a
    /// `Result` of one of these. An error becomes the result of a failed tool, with its text for the model.
    #[cfg(feature = "schemars")]
    #[must_use]
    pub fn tool<A, F, R>(
        self,
        name: impl Into<String>,
        description: impl Into<String>,
        function: impl Fn(A) -> F + Send + Sync + 'static,
    ) -> Self
    where
        A: DeserializeOwned + schemars::JsonSchema + Send + 'static,
        F: Future<Output = R> + Send + 'static,
        R: IntoToolResult<ToolError> + 'static,
    {
        let mut tool = Tool::new(name, schema_of::<A>());
        tool.description = Some(description.into());
        tool.output_schema = R::output_schema();
        let fingerprint = Fingerprint::of(&tool).to_string();
        let mut info = ToolInfo::new(&self.server, tool.name, tool.input_schema);
        info.description = tool.description;
        let info = info.with_fingerprint(fingerprint);
        self.with(info, move |arguments, _| {
            // The future of a call must not borrow the function.
            let running = arguments.parse::<A>().map(&function);
            async move {
                match running {
                    Ok(running) => running.await.into_tool_result(),
                    Err(error) => Err(ToolError(format!("invalid arguments: {error}"))),
                }
            }
        })
    }

    /// Marks the last added tool as read-only.
    #[must_use]
    pub fn read_only(mut self) -> Self {
        let mut tools = self.tools.to_vec();
        if let Some(last) = tools.pop() {
            tools.push(last.read_only());
        }
        self.tools = tools.into();
        self
    }

    /// Adds a tool with a custom schema. Its arguments are validated against the schema before it is called.
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

/// The error of a tool's function, as shown to the model. Anything with `Display` converts into it.
#[derive(Debug)]
pub struct ToolError(String);

impl<E: fmt::Display> From<E> for ToolError {
    fn from(error: E) -> Self {
        Self(error.to_string())
    }
}

/// A function's error is the result of a tool that failed.
impl<T: Into<Self>, E: Into<ToolError>> From<Result<T, E>> for Outcome {
    fn from(result: Result<T, E>) -> Self {
        match result.map_err(Into::into) {
            Ok(answer) => answer.into(),
            Err(ToolError(error)) => Self::error(error),
        }
    }
}
