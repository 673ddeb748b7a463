//! Servers that a team shares.

use axum::Json;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::serve::app::App;
use crate::serve::error::ApiError;
use crate::serve::input::Body;
use crate::serve::routes::Routes;
use crate::servers::check_name;
use crate::store::{Change, Server, ServerId, ServerKind, Trust, User, UserId};

/// The most shared servers.
const MAX_SHARED: usize = 100;

pub(super) fn routes() -> Routes {
    Routes::new()
        .get("/api/shared-servers", list)
        .post("/api/shared-servers", add)
        .delete("/api/shared-servers/{id}", remove)
}

async fn list(State(app): State<App>) -> Result<Json<Value>, ApiError> {
    let rows = app.store.servers(&UserId::team()).await?;
    let items: Vec<Value> = rows.iter().map(shown).collect();
    Ok(Json(json!({ "items": items, "next": null })))
}

fn shown(row: &Server) -> Value {
    json!({ "id": row.id, "name": row.name, "type": row.kind, "baseUrl": row.base_url })
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct New {
    name: String,
    r#type: Option<ServerKind>,
    base_url: String,
}

/// Adds a remote server to all users' lists. Each of them logs in to it.
async fn add(
    State(app): State<App>,
    Body(new): Body<New>,
) -> Result<(StatusCode, Json<Value>), ApiError> {
    check_name(&new.name).map_err(|failure| ApiError::unfit_for(failure).at("name"))?;
    let kind = new.r#type.unwrap_or(ServerKind::Auto);
    let is_remote = url::Url::parse(&new.base_url)
        .is_ok_and(|url| ["http", "https"].contains(&url.scheme()) && url.password().is_none());
    if kind == ServerKind::Stdio || !is_remote {
        let message =
            "a shared server is a remote one, at an http or https URL without credentials";
        return Err(ApiError::unfit(message).at("baseUrl"));
    }
    let rows = app.store.servers(&UserId::team()).await?;
    if rows.len() >= MAX_SHARED {
        return Err(ApiError::unfit(format!(
            "{MAX_SHARED} servers are shared already"
        )));
    }
    if rows.iter().any(|row| row.name == new.name) {
        let message = format!("there is a shared server {:?} already", new.name);
        return Err(ApiError::conflict("name_taken", message).at("name"));
    }
    let mut row = Server::new(UserId::team(), new.name, kind);
    row.base_url = Some(new.base_url);
    row.trust = Trust::Allowed;
    row.sort = crate::servers::next_place(&rows);
    let changes = vec![
        Change::PutUser(User::new(UserId::team(), "team")),
        Change::PutServer(Box::new(row.clone())),
    ];
    app.store.commit(changes).await?;
    Ok((StatusCode::CREATED, Json(shown(&row))))
}

async fn remove(State(app): State<App>, Path(id): Path<String>) -> Result<StatusCode, ApiError> {
    let (team, id) = (UserId::team(), ServerId::new(id));
    if app.store.server(&team, &id).await?.is_none() {
        return Err(ApiError::not_found("shared server"));
    }
    app.store
        .commit(vec![Change::DeleteServer(team, id)])
        .await?;
    Ok(StatusCode::NO_CONTENT)
}
