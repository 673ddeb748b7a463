//! Resources, prompts and completion: what else a server can be asked.

use mcp_jsonrpc::model::{
    Complete, CompleteParams, CompleteResult, GetPrompt, GetPromptParams, GetPromptResult,
    ListPrompts, ListPromptsResult, ListResourceTemplates, ListResourceTemplatesResult,
    ListResources, ListResourcesResult, Prompt, ReadResource, ReadResourceParams,
    ReadResourceResult, Resource, ResourceTemplate, ServerCapabilities,
};
use mcp_jsonrpc::{Method, OrderedMap};

use crate::client::Client;
use crate::error::CallError;
use crate::listing::Listed;
use crate::request::Call;
use crate::session::Session;

impl Client {
    /// Lists the resources: all pages, within [`Limits`](crate::Limits).
    ///
    /// # Errors
    ///
    /// [`CallError::Unsupported`] if the server has no resources; else as for any call.
    pub async fn list_resources(&self) -> Result<Listed<Resource>, CallError> {
        self.require(ListResources::NAME, "resources", |can| {
            can.resources.is_some()
        })?;
        self.list::<ListResourcesResult>(ListResources::NAME).await
    }

    /// Lists the patterns of resources: all pages, within [`Limits`](crate::Limits).
    ///
    /// # Errors
    ///
    /// As [`list_resources`](Self::list_resources).
    pub async fn list_resource_templates(&self) -> Result<Listed<ResourceTemplate>, CallError> {
        self.require(ListResourceTemplates::NAME, "resources", |can| {
            can.resources.is_some()
        })?;
        self.list::<ListResourceTemplatesResult>(ListResourceTemplates::NAME)
            .await
    }

    /// Reads a resource.
    ///
    /// # Errors
    ///
    /// As [`list_resources`](Self::list_resources).
    pub async fn read_resource(&self, uri: &str) -> Result<ReadResourceResult, CallError> {
        self.require(ReadResource::NAME, "resources", |can| {
            can.resources.is_some()
        })?;
        let params = ReadResourceParams::new(uri);
        self.call(&Call::new(ReadResource::NAME, &params).about(uri))
            .await
    }

    /// Lists the prompts: all pages, within [`Limits`](crate::Limits).
    ///
    /// # Errors
    ///
    /// [`CallError::Unsupported`] if the server has no prompts; else as for any call.
    pub async fn list_prompts(&self) -> Result<Listed<Prompt>, CallError> {
        self.require(ListPrompts::NAME, "prompts", |can| can.prompts.is_some())?;
        self.list::<ListPromptsResult>(ListPrompts::NAME).await
    }

    /// Fills a prompt in.
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

    /// Asks how an argument of a prompt or resource template could go on.
    ///
    /// # Errors
    ///
    /// [`CallError::Unsupported`] if the server does not complete; else as for any call.
    pub async fn complete(&self, params: &CompleteParams) -> Result<CompleteResult, CallError> {
        if self.revision().has_completions_capability() {
            self.require(Complete::NAME, "completions", |can| {
                can.completions.is_some()
            })?;
        }
        self.call(&Call::new(Complete::NAME, params)).await
    }

    /// Fails where the server does not have what a call needs.
    pub(crate) fn require(
        &self,
        method: &str,
        capability: &'static str,
        has: impl FnOnce(&ServerCapabilities) -> bool,
    ) -> Result<(), CallError> {
        self.require_of(&self.link().session(), method, capability, has)
    }

    /// As [`require`](Self::require), by what is known in this session.
    pub(crate) fn require_of(
        &self,
        session: &Session,
        method: &str,
        capability: &'static str,
        has: impl FnOnce(&ServerCapabilities) -> bool,
    ) -> Result<(), CallError> {
        if has(&session.facts.capabilities) {
            Ok(())
        } else {
            Err(CallError::Unsupported {
                call: self.call_name(method),
                capability,
            })
        }
    }
}
