//! Tools: closures, and the validation around them.

use std::pin::Pin;
use std::sync::Arc;

use mcp_jsonrpc::model::{CallToolResult, Tool};
use mcp_jsonrpc::{IntoToolResult, RawObject};
use serde::de::DeserializeOwned;

use crate::handler::context::Context;
use crate::handler::error::Error;
use crate::registry::schema::Checker;

pub(crate) type BoxFuture<T> = Pin<Box<dyn Future<Output = T> + Send>>;

type ToolFn = dyn Fn(RawObject, Context) -> BoxFuture<Result<CallToolResult, Error>> + Send + Sync;

/// A registered tool.
pub(crate) struct ToolEntry {
    pub(crate) tool: Arc<Tool>,
    run: Arc<ToolFn>,
    /// `None` if the types say all that the schemas do.
    checkers: Option<Checkers>,
}

#[derive(Default)]
struct Checkers {
    input: Checker,
    output: Checker,
}

impl ToolEntry {
    /// `checked`: whether the schemas are more than what the types say anyway.
    pub(crate) fn new<A, F, Fut, R>(tool: Tool, run: F, checked: bool) -> Self
    where
        A: DeserializeOwned + Send + 'static,
        F: Fn(A, Context) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = R> + Send + 'static,
        R: IntoToolResult<Error> + 'static,
    {
        let run = move |arguments: RawObject, cx: Context| -> BoxFuture<_> {
            match arguments.parse::<A>() {
                Ok(arguments) => {
                    let work = run(arguments, cx);
                    Box::pin(async move { work.await.into_tool_result() })
                }
                // For the model to read: it wrote the arguments.
                Err(error) => {
                    let error = Error::failed(format!("invalid arguments: {error}"));
                    Box::pin(async move { Err(error) })
                }
            }
        };
        Self {
            checkers: checked.then(Checkers::default),
            tool: Arc::new(tool),
            run: Arc::new(run),
        }
    }

    pub(crate) async fn call(
        &self,
        arguments: Option<RawObject>,
        cx: Context,
    ) -> Result<CallToolResult, Error> {
        let arguments = arguments.unwrap_or_else(RawObject::empty);
        if let Some(checkers) = &self.checkers {
            checkers
                .input
                .check(&self.tool.input_schema, arguments.as_json())
                .map_err(|why| Error::failed(format!("invalid arguments: {why}")))?;
        }
        let result = (self.run)(arguments, cx).await?;
        if result.failed() {
            return Ok(result);
        }
        match (&self.tool.output_schema, &result.structured_content) {
            (Some(_), None) => Err(Error::internal(format!(
                "tool {} returned no structured content, but has an output schema",
                self.tool.name
            ))),
            (Some(schema), Some(content)) => {
                let checkers = self.checkers.as_ref();
                if let Some(Err(why)) = checkers.map(|it| it.output.check(schema, content)) {
                    return Err(Error::internal(format!(
                        "tool {} returned structured content that does not fit its output schema: {why}",
                        self.tool.name
                    )));
                }
                Ok(result)
            }
            (None, _) => Ok(result),
        }
    }
}
