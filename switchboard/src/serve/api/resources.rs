//! Resources and prompts of servers.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::Json;
use axum::extract::Path;
use mcp_jsonrpc::model::{
    CompleteParams, CompletionArgument, CompletionContext, CompletionReference, PromptReference,
    ResourceReference,
};
use mcp_manager::Listing;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::serve::api::servers::refusal;
use crate::serve::error::ApiError;
use crate::serve::extractor::OwnedServer;
use crate::serve::input::{Body, Params};
use crate::serve::routes::Routes;
use crate::serve::server_pool::UserServers;
use crate::store::Server;

pub(super) fn routes() -> Routes {
    Routes::new()
        .get("/api/mcp-servers/{id}/resources", resources)
        .get("/api/mcp-servers/{id}/resources/read", read)
        .get("/api/mcp-servers/{id}/prompts", prompts)
        .post("/api/mcp-servers/{id}/prompts/{name}", prompt)
        .post("/api/mcp-servers/{id}/complete", complete)
}

/// Connects a server that is not connected.
pub(super) async fn ready(user_servers: &UserServers, row: &Server) -> Result<(), ApiError> {
    let ready = user_servers.ready(row).await;
    ready.map_err(|finding| refusal(row, &finding))
}

fn listing(user_servers: &UserServers, row: &Server) -> Option<Arc<Listing>> {
    let catalog = user_servers.manager().catalog();
    let mut listings = catalog.listings();
    let its = listings.find(|listing| listing.server().as_str() == row.name);
    its.cloned()
}

fn bare<T>(items: Option<&[Arc<T>]>) -> Vec<&T> {
    let items = items.unwrap_or_default();
    items.iter().map(AsRef::as_ref).collect()
}

async fn resources(
    OwnedServer { user_servers, row }: OwnedServer,
) -> Result<Json<Value>, ApiError> {
    ready(&user_servers, &row).await?;
    let listing = listing(&user_servers, &row);
    let listing = listing.as_deref();
    Ok(Json(json!({
        "items": bare(listing.map(Listing::resources)),
        "templates": bare(listing.map(Listing::resource_templates)),
        "next": null,
    })))
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Which {
    uri: String,
}

async fn read(
    OwnedServer { user_servers, row }: OwnedServer,
    Params(which): Params<Which>,
) -> Result<Json<Value>, ApiError> {
    ready(&user_servers, &row).await?;
    let read = user_servers
        .manager()
        .read_resource(&row.name, &which.uri)
        .await;
    let read = read.map_err(|error| refusal(&row, &user_servers.diagnose(&row, &error)))?;
    Ok(Json(json!({ "uri": which.uri, "contents": read.contents })))
}

async fn prompts(OwnedServer { user_servers, row }: OwnedServer) -> Result<Json<Value>, ApiError> {
    ready(&user_servers, &row).await?;
    let listing = listing(&user_servers, &row);
    let items = bare(listing.as_deref().map(Listing::prompts));
    Ok(Json(json!({ "items": items, "next": null })))
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Filled {
    #[serde(default)]
    arguments: BTreeMap<String, String>,
}

async fn prompt(
    OwnedServer { user_servers, row }: OwnedServer,
    Path((_, name)): Path<(String, String)>,
    Body(filled): Body<Filled>,
) -> Result<Json<Value>, ApiError> {
    ready(&user_servers, &row).await?;
    let arguments: Vec<(String, String)> = filled.arguments.into_iter().collect();
    let result = user_servers
        .manager()
        .get_prompt(&row.name, &name, arguments)
        .await;
    let result = result.map_err(|error| refusal(&row, &user_servers.diagnose(&row, &error)))?;
    Ok(Json(json!(result)))
}

/// What was typed of an argument.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Typed {
    /// The prompt that has the argument.
    prompt: Option<String>,
    /// Or the template of resources.
    template: Option<String>,
    argument: String,
    #[serde(default)]
    value: String,
    /// The other arguments, as far as they are known.
    #[serde(default)]
    arguments: BTreeMap<String, String>,
}

/// What a server proposes for an argument. One that cannot or does not want to proposes nothing.
async fn complete(
    OwnedServer { user_servers, row }: OwnedServer,
    Body(typed): Body<Typed>,
) -> Result<Json<Value>, ApiError> {
    let reference: CompletionReference = match (typed.prompt, typed.template) {
        (Some(name), None) => CompletionReference::Prompt(PromptReference::new(name)),
        (None, Some(uri)) => CompletionReference::Resource(ResourceReference::new(uri)),
        _ => return Err(ApiError::unfit("name either a prompt or a template").at("prompt")),
    };
    ready(&user_servers, &row).await?;
    let argument = CompletionArgument::new(typed.argument, typed.value);
    let mut params = CompleteParams::new(reference, argument);
    if !typed.arguments.is_empty() {
        let mut context = CompletionContext::default();
        context.arguments = Some(typed.arguments.into_iter().collect());
        params.context = Some(context);
    }
    let completed = user_servers.manager().complete(&row.name, &params).await;
    let values = completed.map(|completed| completed.completion.values);
    Ok(Json(json!({ "values": values.unwrap_or_default() })))
}
