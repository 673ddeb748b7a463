//! Skills of servers.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use mcp_jsonrpc::model::Skill;
use serde::Deserialize;
use serde_json::{Value, json};
use tool_policy::ScanResponse;

use crate::serve::api::resources::ready;
use crate::serve::api::servers::refusal;
use crate::serve::app::App;
use crate::serve::error::ApiError;
use crate::serve::extractor::OwnedServer;
use crate::serve::input::Params;
use crate::serve::routes::Routes;
use crate::servers::{load_skill, scan, skill_file};

pub(super) fn routes() -> Routes {
    Routes::new()
        .get("/api/mcp-servers/{id}/skills", skills)
        .get("/api/mcp-servers/{id}/skills/read", read)
}

async fn skills(OwnedServer { user_servers, row }: OwnedServer) -> Result<Json<Value>, ApiError> {
    ready(&user_servers, &row).await?;
    let listed = user_servers.manager().skills(&row.name).await;
    let listed = listed.map_err(|error| refusal(&row, &user_servers.diagnose(&row, &error)))?;
    let shown = |skill: &Skill| json!({ "uri": skill.uri, "name": skill.name(), "description": skill.description() });
    let items: Vec<Value> = listed.iter().map(shown).collect();
    Ok(Json(json!({ "items": items, "next": null })))
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Which {
    uri: String,
}

/// A skill's text, to be attached to a message, with what a scan found in it.
async fn read(
    State(app): State<App>,
    OwnedServer { user_servers, row }: OwnedServer,
    Params(which): Params<Which>,
) -> Result<Json<Value>, ApiError> {
    ready(&user_servers, &row).await?;
    let refused = |error| refusal(&row, &user_servers.diagnose(&row, &error));
    let manager = user_servers.manager();
    let name = row
        .name
        .parse()
        .map_err(|_| ApiError::not_found("server"))?;
    let policy = scan::policy(&app.server_pool.settings(&row.user_id).await?);
    let listed = manager.skills(&row.name).await.map_err(refused)?;
    let skill = listed.iter().find(|skill| skill.uri == which.uri);
    let skill = skill.ok_or_else(|| ApiError::not_found("skill"))?;
    let loaded = load_skill(manager, &name, &skill.uri, policy).await;
    let loaded = loaded.map_err(refused)?;
    if loaded.response == Some(ScanResponse::Block) {
        let message = format!("your settings block this skill: {}", loaded.reason());
        let error = ApiError::new(StatusCode::FORBIDDEN, "denied", message);
        return Err(error.with_hint("`switchboard config set scan.high ask` asks instead."));
    }
    let findings = loaded.findings.iter().map(scan::to_json);
    Ok(Json(json!({
        "uri": skill.uri,
        "file": skill_file(skill),
        "text": loaded.text,
        "findings": findings.collect::<Vec<_>>(),
    })))
}
