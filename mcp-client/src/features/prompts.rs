//! Prompts and completion.

use mcp_jsonrpc::model::{
    Complete, CompleteParams, CompleteResult, GetPrompt, GetPromptParams, GetPromptResult,
    ListPrompts, ListPromptsResult, Prompt,
};
use mcp_jsonrpc::{Method, OrderedMap};

use crate::call::error::CallError;
use crate::call::request::Call;
use crate::client::Client;
use crate::features::listing::Listed;

impl Client {
    /// Lists the prompts: all pages, within [`ClientLimits`](crate::ClientLimits).
    ///
    /// # Errors
    ///
    /// [`CallError::Unsupported`] if the server has no prompts; else as for any call.
    pub async fn list_prompts(&self) -> Result<Listed<Prompt>, CallError> {
        self.require(ListPrompts::NAME, "prompts", |can| can.prompts.is_some())?;
        self.list::<ListPromptsResult>(ListPrompts::NAME).await
    }

    /// Gets a prompt with these arguments.
    ///
    /// # Errors
    ///
    /// As [`list_prompts`](Self::list_prompts).
    pub async fn get_prompt<K: Into<String>, V: Into<String>>(
        &self,
        name: &str,
        arguments: impl IntoIterator<Item = (K, V)>,
    ) -> Result<GetPromptResult, CallError> {
        self.require(GetPrompt::NAME, "prompts", |can| can.prompts.is_some())?;
        let arguments: OrderedMap<String> = arguments
            .into_iter()
            .map(|(name, value)| (name, value.into()))
            .collect();
        let mut params = GetPromptParams::new(name);
        params.arguments = (!arguments.is_empty()).then_some(arguments);
        self.call(&Call::new(GetPrompt::NAME, &params).about(name))
            .await
    }

    /// Completes an argument of a prompt or resource template.
    ///
    /// # Errors
    ///
    /// [`CallError::Unsupported`] if the server does not support completion; else as for any call.
    pub async fn complete(&self, params: &CompleteParams) -> Result<CompleteResult, CallError> {
        if self.revision().has_completions_capability() {
            self.require(Complete::NAME, "completions", |can| {
                can.completions.is_some()
            })?;
        }
        self.call(&Call::new(Complete::NAME, params)).await
    }
}
