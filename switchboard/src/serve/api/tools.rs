//! Tools of a server: definition, policy and trial calls.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Instant;

use axum::Json;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use mcp_manager::{CallOptions, Entry, Manager};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use tool_policy::{Definition, consent_digest};

use crate::conversation::Decided;
use crate::models::Audience;
use crate::serve::api::resources::ready;
use crate::serve::api::servers::refusal;
use crate::serve::app::App;
use crate::serve::error::ApiError;
use crate::serve::extractor::OwnedServer;
use crate::serve::input::{Body, Params};
use crate::serve::routes::Routes;
use crate::serve::server_pool::{UserServers, Wanted, tools_event};
use crate::servers::{Approval, Switch, ToolPolicy, decide, identity, scan, switch};
use crate::store::Server;

pub(super) fn routes() -> Routes {
    Routes::new()
        .get("/api/mcp-servers/{id}/tools", list)
        .patch("/api/mcp-servers/{id}/tools", switch_all)
        .patch("/api/mcp-servers/{id}/tools/{name}", govern)
        .post("/api/mcp-servers/{id}/tools/{name}/call", call)
        .get("/api/mcp-servers/{id}/tools/{name}/schema", schema)
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Asked {
    refresh: Option<String>,
}

async fn list(
    State(app): State<App>,
    OwnedServer { user_servers, row }: OwnedServer,
    Params(asked): Params<Asked>,
) -> Result<Json<Value>, ApiError> {
    let wanted = match asked.refresh.as_deref() {
        None | Some("0" | "false" | "") => Wanted::Known,
        Some(_) => Wanted::Newest,
    };
    let tools = user_servers.tools(&row, wanted).await?;
    if let (Some(finding), true) = (&tools.problem, tools.entries.is_empty()) {
        return Err(refusal(&row, finding));
    }
    Ok(Json(json!({
        "items": all_shown(&app, &user_servers, &row, tools.entries).await?,
        "next": null,
        "live": tools.live,
        "problem": tools.problem.map(|finding| finding.to_json()),
        "incomplete": tools.incomplete,
    })))
}

/// Tools with their server, and what may be done with them.
async fn all_shown(
    app: &App,
    user_servers: &UserServers,
    row: &Server,
    tools: Vec<Arc<Entry>>,
) -> Result<Vec<Value>, ApiError> {
    let policy = judge(app, row).await?;
    let entries = tools.clone();
    // Thousands of tools take a while.
    let out = tokio::task::spawn_blocking(move || left_out(&entries)).await;
    let out = out.unwrap_or_default();
    let manager = user_servers.manager();
    let shown = tools
        .iter()
        .map(|tool| shown(row, tool, &policy, &out, manager));
    Ok(shown.collect())
}

/// What the user decided for good about a server's tools.
async fn judge(app: &App, row: &Server) -> Result<ToolPolicy, ApiError> {
    let decided = Decided::read(&*app.store, &row.user_id).await?;
    let settings = app.server_pool.settings(&row.user_id).await?;
    Ok(ToolPolicy::new(row, &decided).with_scan(scan::policy(&settings)))
}

/// A tool with its server, and what may be done with it.
fn shown(
    row: &Server,
    tool: &Entry,
    policy: &ToolPolicy,
    out: &LeftOut,
    manager: &Manager,
) -> Value {
    let found = scan::of_tool(manager, tool);
    let approval = policy.approval(tool, &found);
    let enabled = !row.disabled_tools.iter().any(|name| name == tool.name());
    let mut reported = json!({
        "serverId": row.id,
        "serverName": row.name,
        "name": tool.name(),
        "displayName": tool.exposed_name(),
        "title": tool.tool().title,
        "description": tool.description(),
        "inputSchema": tool.input_schema(),
        "outputSchema": tool.tool().output_schema,
        "annotations": tool.annotations(),
        "enabled": enabled,
        "isEnabled": enabled,
        "approval": approval,
        "isAutoApprove": approval == Approval::Auto,
        "tokens": tool.tokens(),
        "hash": digest(row, tool),
    });
    if let (false, Some(members)) = (found.is_empty(), reported.as_object_mut()) {
        let found: Vec<Value> = found.iter().map(scan::to_json).collect();
        members.insert("findings".to_owned(), found.into());
    }
    let reasons = out.get(tool.exposed_name().as_str());
    if let (Some(reasons), Some(members)) = (reasons, reported.as_object_mut()) {
        members.insert("quarantined".to_owned(), json!(reasons));
    }
    reported
}

/// What a yes to a tool is for: its definition, at the server as it is configured.
fn digest(row: &Server, tool: &Entry) -> String {
    let fingerprint = tool.fingerprint().to_string();
    let shown = Definition::new(&*row.name, identity(row), tool.name(), fingerprint);
    consent_digest(&[], &shown, "")
}

/// Why some providers cannot be offered a tool, by tool and provider.
type LeftOut = BTreeMap<String, BTreeMap<&'static str, String>>;

fn left_out(tools: &[Arc<Entry>]) -> LeftOut {
    let mut out = LeftOut::new();
    for audience in Audience::ALL {
        for (tool, reason) in audience.left_out(tools) {
            out.entry(tool)
                .or_default()
                .insert(audience.as_str(), reason);
        }
    }
    out
}

/// A tool of a server, as it is or was last seen.
async fn tool(
    user_servers: &UserServers,
    row: &Server,
    name: &str,
) -> Result<Arc<Entry>, ApiError> {
    let tools = user_servers.tools(row, Wanted::Known).await?;
    let found = tools.entries.iter().find(|tool| tool.name() == name);
    match (found, &tools.problem) {
        (Some(tool), _) => Ok(Arc::clone(tool)),
        (None, Some(finding)) => Err(refusal(row, finding)),
        (None, None) => Err(ApiError::not_found("tool")),
    }
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Governed {
    enabled: Option<bool>,
    approval: Option<Approval>,
    /// The `hash` of the tool that was shown: a yes is for that definition at that server.
    hash: Option<String>,
}

/// Sets the policy of a tool.
async fn govern(
    State(app): State<App>,
    OwnedServer { user_servers, row }: OwnedServer,
    Path((_, name)): Path<(String, String)>,
    Body(said): Body<Governed>,
) -> Result<Json<Value>, ApiError> {
    let found = tool(&user_servers, &row, &name).await?;
    let (app, servers, tool, said) = (&app, &user_servers, &found, &said);
    let changed = servers.update(row, |mut row| async move {
        if let Some(enabled) = said.enabled {
            switch(&mut row, tool.name(), Switch::to(enabled));
        }
        let mut changes = vec![tools_event(&row.user_id, &row.id)];
        if let Some(approval) = said.approval {
            if approval == Approval::Auto {
                agreed(app, servers, &row, tool, said).await?;
            }
            let allowed = (approval == Approval::Auto).then_some(&**tool);
            let rules = app.store.rules(&row.user_id).await?;
            let decision = approval.decision();
            changes.extend(decide(&mut row, &rules, tool.name(), decision, allowed));
        }
        Ok((row, changes))
    });
    let row = changed.await?.row;
    let shown = all_shown(app, servers, &row, vec![found.clone()]).await?;
    Ok(Json(shown.into_iter().next().unwrap_or_default()))
}

/// Whether the tool that a yes is for is what was shown.
async fn agreed(
    app: &App,
    user_servers: &UserServers,
    row: &Server,
    tool: &Arc<Entry>,
    said: &Governed,
) -> Result<(), ApiError> {
    match &said.hash {
        Some(shown) if *shown == digest(row, tool) => Ok(()),
        Some(_) => {
            let name = tool.name();
            let message = format!("tool {name:?} is not what was shown: look at it again");
            let now = all_shown(app, user_servers, row, vec![Arc::clone(tool)]).await?;
            Err(ApiError::conflict("stale", message)
                .with_hint("`tool` is what the tool is now.")
                .with_details(json!({ "tool": now.into_iter().next() })))
        }
        None => Err(ApiError::unfit(
            "`hash` is missing: the hash of the tool that was shown",
        )),
    }
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Switched {
    names: Vec<String>,
    enabled: bool,
}

/// Switches many tools of a server, in one change.
async fn switch_all(
    State(app): State<App>,
    OwnedServer { user_servers, row }: OwnedServer,
    Body(said): Body<Switched>,
) -> Result<Json<Value>, ApiError> {
    let known = user_servers.tools(&row, Wanted::Known).await?.entries;
    let names: BTreeSet<&str> = said.names.iter().map(String::as_str).collect();
    let its = known.into_iter().filter(|tool| names.contains(tool.name()));
    let tools: Vec<Arc<Entry>> = its.collect();
    if tools.len() < names.len() {
        return Err(ApiError::not_found("tool").at("names"));
    }
    let (tools, to) = (&tools, Switch::to(said.enabled));
    let changed = user_servers.update(row, |mut row| async move {
        for tool in tools {
            switch(&mut row, tool.name(), to);
        }
        let changes = vec![tools_event(&row.user_id, &row.id)];
        Ok((row, changes))
    });
    let row = changed.await?.row;
    let items = all_shown(&app, &user_servers, &row, tools.clone()).await?;
    Ok(Json(json!({ "items": items })))
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Call {
    #[serde(default)]
    arguments: Map<String, Value>,
}

/// Calls a tool manually.
async fn call(
    State(app): State<App>,
    OwnedServer { user_servers, row }: OwnedServer,
    Path((_, name)): Path<(String, String)>,
    Body(call): Body<Call>,
) -> Result<Json<Value>, ApiError> {
    ready(&user_servers, &row).await?;
    let tool = tool(&user_servers, &row, &name).await?;
    let found = scan::of_tool(user_servers.manager(), &tool);
    let policy = judge(&app, &row).await?;
    // A denial also applies to manual calls.
    let denied = |message: String| ApiError::new(StatusCode::FORBIDDEN, "denied", message);
    if policy.denies(&name) {
        let message = format!("you denied tool {name:?} of server {:?}", row.name);
        return Err(denied(message).with_hint("Set it to ask first."));
    }
    if policy.approval(&tool, &found) == Approval::Deny {
        let reason = found.first().map(ToString::to_string).unwrap_or_default();
        let message = format!("your settings block tool {name:?}: {reason}");
        return Err(
            denied(message).with_hint("`switchboard config set scan.high ask` asks instead.")
        );
    }
    let began = Instant::now();
    let options = CallOptions::default();
    let manager = user_servers.manager();
    let called = manager.call_tool_with(&row.name, &name, &call.arguments, options);
    let result = called.await;
    let result = result.map_err(|error| refusal(&row, &user_servers.diagnose(&row, &error)))?;
    Ok(Json(json!({
        "isError": result.failed(),
        "tookMs": began.elapsed().as_millis() as u64,
        "result": result,
    })))
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Shown {
    r#for: Audience,
}

/// A tool as a provider's models will see it, and what gets lost on the way.
async fn schema(
    OwnedServer { user_servers, row }: OwnedServer,
    Path((_, name)): Path<(String, String)>,
    Params(asked): Params<Shown>,
) -> Result<Json<Value>, ApiError> {
    let tool = tool(&user_servers, &row, &name).await?;
    let view = asked.r#for.view(&[tool]);
    let left_out = view.left_out.first().map(|(_, reason)| reason);
    Ok(Json(json!({
        "tool": name,
        "for": asked.r#for.as_str(),
        "wire": view.wire,
        "definitions": view.definitions,
        "losses": view.losses,
        "leftOut": left_out,
    })))
}
