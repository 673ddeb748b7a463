//! Assistants: a model, instructions, and servers of their own (seeds H1).

use axum::Json;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use serde::{Deserialize, Deserializer};
use serde_json::{Value, json};

use crate::serve::app::App;
use crate::serve::error::ApiError;
use crate::serve::input::{Body, User};
use crate::serve::routes::Routes;
use crate::store::{Assistant, Change, McpMode, ServerId, UserId};
use crate::workbench::parse_mode;

/// The longest name, in characters.
const NAME: usize = 200;

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

async fn find(app: &App, user: &UserId, id: &str) -> Result<Assistant, ApiError> {
    let mut all = app.store.assistants(user).await?.into_iter();
    let found = all.find(|assistant| assistant.id.as_str() == id);
    found.ok_or_else(|| ApiError::not_found("assistant"))
}

async fn shown(app: &App, row: &Assistant) -> Result<Value, ApiError> {
    Ok(json!({
        "id": row.id,
        "name": row.name,
        "model": row.model,
        "system": row.system,
        "mcpMode": row.mcp_mode,
        "serverIds": app.store.assistant_servers(&row.id).await?,
        "maxRounds": row.max_rounds,
        "approvalMode": row.approval_mode,
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
    User(user): User,
    Path(id): Path<String>,
) -> Result<Json<Value>, ApiError> {
    let row = find(&app, &user, &id).await?;
    Ok(Json(shown(&app, &row).await?))
}

/// What is said about an assistant. What is not said stays.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Draft {
    name: Option<String>,
    #[serde(deserialize_with = "said")]
    model: Option<Option<String>>,
    #[serde(deserialize_with = "said")]
    system: Option<Option<String>>,
    mcp_mode: Option<McpMode>,
    server_ids: Option<Vec<ServerId>>,
    #[serde(deserialize_with = "said")]
    max_rounds: Option<Option<u32>>,
    #[serde(deserialize_with = "said")]
    approval_mode: Option<Option<String>>,
}

/// `null` is said, too.
fn said<'de, T: Deserialize<'de>, D: Deserializer<'de>>(from: D) -> Result<Option<T>, D::Error> {
    T::deserialize(from).map(Some)
}

impl Draft {
    /// Makes an assistant what is said about it; the changes that store it.
    fn apply(self, row: &mut Assistant) -> Result<Vec<Change>, ApiError> {
        if let Some(name) = self.name {
            row.name = name.trim().to_owned();
        }
        if row.name.is_empty() || row.name.chars().count() > NAME {
            return Err(ApiError::unfit(
                "an assistant needs a name, and a short one",
            ));
        }
        let text = |said: Option<String>| said.filter(|text| !text.trim().is_empty());
        if let Some(model) = self.model {
            row.model = text(model);
        }
        if let Some(system) = self.system {
            row.system = text(system);
        }
        row.mcp_mode = self.mcp_mode.unwrap_or(row.mcp_mode);
        row.max_rounds = self.max_rounds.unwrap_or(row.max_rounds);
        if let Some(mode) = self.approval_mode {
            let mode = text(mode);
            if mode
                .as_deref()
                .is_some_and(|mode| parse_mode(mode).is_none())
            {
                let error = ApiError::unfit("there is no such approval mode");
                return Err(error.with_hint("There are ask, auto-read, auto and plan."));
            }
            row.approval_mode = mode;
        }
        let mut changes = vec![Change::PutAssistant(row.clone())];
        if let Some(ids) = self.server_ids {
            changes.push(Change::SetAssistantServers(row.id.clone(), ids));
        }
        Ok(changes)
    }
}

/// Stores an assistant whose servers are the user's own.
async fn store(
    app: &App,
    user: &UserId,
    row: &Assistant,
    changes: Vec<Change>,
) -> Result<(), ApiError> {
    for change in &changes {
        if let Change::SetAssistantServers(_, ids) = change {
            let own = app.store.servers(user).await?;
            let known = |id: &&ServerId| own.iter().any(|server| server.id == **id);
            if let Some(id) = ids.iter().find(|id| !known(id)) {
                let error = ApiError::unfit("an assistant can use its user's servers only");
                return Err(error.with_details(json!({ "serverId": id })));
            }
        }
    }
    let same = |other: &Assistant| other.name == row.name && other.id != row.id;
    if app.store.assistants(user).await?.iter().any(same) {
        let message = format!("there is an assistant {:?} already", row.name);
        return Err(ApiError::conflict("name_taken", message));
    }
    app.store.commit(changes).await?;
    Ok(())
}

async fn add(
    State(app): State<App>,
    User(user): User,
    Body(draft): Body<Draft>,
) -> Result<(StatusCode, Json<Value>), ApiError> {
    let mut row = Assistant::new(user.clone(), "");
    let changes = draft.apply(&mut row)?;
    store(&app, &user, &row, changes).await?;
    Ok((StatusCode::CREATED, Json(shown(&app, &row).await?)))
}

async fn change(
    State(app): State<App>,
    User(user): User,
    Path(id): Path<String>,
    Body(draft): Body<Draft>,
) -> Result<Json<Value>, ApiError> {
    let mut row = find(&app, &user, &id).await?;
    let changes = draft.apply(&mut row)?;
    store(&app, &user, &row, changes).await?;
    Ok(Json(shown(&app, &row).await?))
}

async fn remove(
    State(app): State<App>,
    User(user): User,
    Path(id): Path<String>,
) -> Result<StatusCode, ApiError> {
    let row = find(&app, &user, &id).await?;
    app.store
        .commit(vec![Change::DeleteAssistant(user, row.id)])
        .await?;
    Ok(StatusCode::NO_CONTENT)
}

async fn servers(
    State(app): State<App>,
    User(user): User,
    Path(id): Path<String>,
) -> Result<Json<Value>, ApiError> {
    let row = find(&app, &user, &id).await?;
    let ids = app.store.assistant_servers(&row.id).await?;
    Ok(Json(json!({ "mode": row.mcp_mode, "ids": ids })))
}

#[derive(Debug, Deserialize)]
struct Chosen {
    mode: Option<McpMode>,
    ids: Option<Vec<ServerId>>,
}

async fn choose(
    State(app): State<App>,
    User(user): User,
    Path(id): Path<String>,
    Body(chosen): Body<Chosen>,
) -> Result<Json<Value>, ApiError> {
    let mut row = find(&app, &user, &id).await?;
    let draft = Draft {
        mcp_mode: chosen.mode,
        server_ids: chosen.ids,
        ..Draft::default()
    };
    let changes = draft.apply(&mut row)?;
    store(&app, &user, &row, changes).await?;
    let ids = app.store.assistant_servers(&row.id).await?;
    Ok(Json(json!({ "mode": row.mcp_mode, "ids": ids })))
}
