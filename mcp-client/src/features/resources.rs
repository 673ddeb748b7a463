//! Resources: listing and reading them.

use mcp_jsonrpc::Method;
use mcp_jsonrpc::model::{
    ListResourceTemplates, ListResourceTemplatesResult, ListResources, ListResourcesResult,
    ReadResource, ReadResourceParams, ReadResourceResult, Resource, ResourceTemplate,
};

use crate::call::error::CallError;
use crate::call::request::Call;
use crate::client::Client;
use crate::features::listing::Listed;

impl Client {
    /// Lists the resources: all pages, within [`ClientLimits`](crate::ClientLimits).
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

    /// Lists the resource templates: all pages, within [`ClientLimits`](crate::ClientLimits).
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
}
