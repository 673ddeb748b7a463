//! Assistants: a model, instructions, and servers of their own.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::serve::app::App;
use crate::serve::error::ApiError;
use crate::serve::extractor::Owned;
use crate::serve::input::{Body, User};
use crate::serve::routes::Routes;
use crate::setup::assistant_draft::Draft;
use crate::store::{Assistant, Change, ServerId, ToolSelection};

pub(super) fn routes() -> Routes {
    Routes::new()
        .get("/api/assistants", list)
        .post("/api/assistants", add)
        .get("/api/assistants/{id}", show)
        .put("/api/assistants/{id}", change)
        .delete("/api/assistants/{id}", remove)
        .get("/api/assistants/{id}/mcp-servers", servers)
        .put("/api/assistants/{id}/mcp-servers", choose)
}

async fn shown(app: &App, row: &Assistant) -> Result<Value, ApiError> {
    Ok(json!({
        "id": row.id,
        "name": row.name,
        "model": row.model,
        "system": row.system,
        "toolSelection": row.tool_selection,
        "mcpMode": row.mcp_mode,
        "serverIds": app.store.assistant_servers(&row.id).await?,
        "maxRounds": row.max_rounds,
        "onLimit": row.on_limit,
        "approvalMode": row.approval_mode,
        "modelOptions": row.model_options,
        "createdAt": row.created_at.rfc3339(),
    }))
}

async fn list(State(app): State<App>, User(user): User) -> Result<Json<Value>, ApiError> {
    let mut items = Vec::new();
    for row in app.store.assistants(&user).await? {
        items.push(shown(&app, &row).await?);
    }
    Ok(Json(json!({ "items": items, "next": null })))
}

async fn show(
    State(app): State<App>,
    Owned(row): Owned<Assistant>,
) -> Result<Json<Value>, ApiError> {
    Ok(Json(shown(&app, &row).await?))
}

/// Stores an assistant whose servers are the user's own.
async fn store(app: &App, row: &Assistant, changes: Vec<Change>) -> Result<(), ApiError> {
    for change in &changes {
        if let Change::SetAssistantServers(_, ids) = change {
            let own = app.store.servers(&row.user_id).await?;
            let known = |id: &&ServerId| own.iter().any(|server| server.id == **id);
            if let Some(id) = ids.iter().find(|id| !known(id)) {
                let error = ApiError::unfit("an assistant can use its user's servers only");
                return Err(error.with_details(json!({ "serverId": id })));
            }
        }
    }
    let same = |other: &Assistant| other.name == row.name && other.id != row.id;
    if app.store.assistants(&row.user_id).await?.iter().any(same) {
        let message = format!("there is an assistant {:?} already", row.name);
        return Err(ApiError::conflict("name_taken", message).at("name"));
    }
    app.store.commit(changes).await?;
    Ok(())
}

async fn add(
    State(app): State<App>,
    User(user): User,
    Body(draft): Body<Draft>,
) -> Result<(StatusCode, Json<Value>), ApiError> {
    let mut row = Assistant::new(user, "");
    let changes = draft.apply(&mut row).map_err(ApiError::unfit_for)?;
    store(&app, &row, changes).await?;
    Ok((StatusCode::CREATED, Json(shown(&app, &row).await?)))
}

async fn change(
    State(app): State<App>,
    Owned(mut row): Owned<Assistant>,
    Body(draft): Body<Draft>,
) -> Result<Json<Value>, ApiError> {
    let changes = draft.apply(&mut row).map_err(ApiError::unfit_for)?;
    store(&app, &row, changes).await?;
    Ok(Json(shown(&app, &row).await?))
}

async fn remove(
    State(app): State<App>,
    Owned(row): Owned<Assistant>,
) -> Result<StatusCode, ApiError> {
    app.store
        .commit(vec![Change::DeleteAssistant(row.user_id, row.id)])
        .await?;
    Ok(StatusCode::NO_CONTENT)
}

async fn servers(
    State(app): State<App>,
    Owned(row): Owned<Assistant>,
) -> Result<Json<Value>, ApiError> {
    let ids = app.store.assistant_servers(&row.id).await?;
    Ok(Json(json!({ "mode": row.tool_selection, "ids": ids })))
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Chosen {
    mode: Option<ToolSelection>,
    ids: Option<Vec<ServerId>>,
}

async fn choose(
    State(app): State<App>,
    Owned(mut row): Owned<Assistant>,
    Body(chosen): Body<Chosen>,
) -> Result<Json<Value>, ApiError> {
    let draft = Draft {
        tool_selection: chosen.mode,
        server_ids: chosen.ids,
        ..Draft::default()
    };
    let changes = draft.apply(&mut row).map_err(ApiError::unfit_for)?;
    store(&app, &row, changes).await?;
    let ids = app.store.assistant_servers(&row.id).await?;
    Ok(Json(json!({ "mode": row.tool_selection, "ids": ids })))
}
