//! Prompts.

use std::sync::Arc;

use mcp_jsonrpc::OrderedMap;
use mcp_jsonrpc::model::{ContentBlock, GetPromptResult, Prompt, PromptMessage, Role};

use crate::handler::context::Context;
use crate::handler::error::Error;
use crate::registry::tool::BoxFuture;

/// The arguments of a prompt, by name.
pub type PromptArguments = OrderedMap<String>;

/// The return values of a prompt's closure.
pub trait IntoPromptResult {
    /// The prompt, filled in.
    ///
    /// # Errors
    ///
    /// If it could not be filled in.
    fn into_prompt_result(self) -> Result<GetPromptResult, Error>;
}

/// One message of the user's.
impl IntoPromptResult for String {
    fn into_prompt_result(self) -> Result<GetPromptResult, Error> {
        vec![PromptMessage::new(Role::User, ContentBlock::text(self))].into_prompt_result()
    }
}

impl IntoPromptResult for Vec<PromptMessage> {
    fn into_prompt_result(self) -> Result<GetPromptResult, Error> {
        Ok(GetPromptResult::new(self))
    }
}

impl IntoPromptResult for GetPromptResult {
    fn into_prompt_result(self) -> Result<GetPromptResult, Error> {
        Ok(self)
    }
}

impl<T: IntoPromptResult, E: Into<Error>> IntoPromptResult for Result<T, E> {
    fn into_prompt_result(self) -> Result<GetPromptResult, Error> {
        self.map_err(Into::into)?.into_prompt_result()
    }
}

type PromptFn =
    dyn Fn(PromptArguments, Context) -> BoxFuture<Result<GetPromptResult, Error>> + Send + Sync;

/// A registered prompt.
pub(crate) struct PromptEntry {
    pub(crate) prompt: Prompt,
    run: Arc<PromptFn>,
}

impl PromptEntry {
    pub(crate) fn new<F, Fut, R>(prompt: Prompt, run: F) -> Self
    where
        F: Fn(PromptArguments, Context) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = R> + Send + 'static,
        R: IntoPromptResult,
    {
        let run = move |arguments: PromptArguments, cx: Context| -> BoxFuture<_> {
            let work = run(arguments, cx);
            Box::pin(async move { work.await.into_prompt_result() })
        };
        Self {
            prompt,
            run: Arc::new(run),
        }
    }

    pub(crate) async fn get(
        &self,
        arguments: Option<PromptArguments>,
        cx: Context,
    ) -> Result<GetPromptResult, Error> {
        let arguments = arguments.unwrap_or_default();
        for expected in self.prompt.arguments.iter().flatten() {
            if expected.required == Some(true) && !arguments.contains_key(&expected.name) {
                return Err(Error::invalid_params(format!(
                    "missing argument: {}",
                    expected.name
                )));
            }
        }
        let mut result = (self.run)(arguments, cx).await?;
        if result.description.is_none() {
            result.description.clone_from(&self.prompt.description);
        }
        Ok(result)
    }
}
