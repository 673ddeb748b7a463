//! Lasting decisions about tools.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use serde_json::{Value, json};

use crate::serve::app::App;
use crate::serve::error::ApiError;
use crate::serve::extractor::Owned;
use crate::serve::input::User;
use crate::serve::routes::Routes;
use crate::serve::server_pool::tools_event;
use crate::store::{Change, Rule};

pub(super) fn routes() -> Routes {
    Routes::new()
        .get("/api/approvals", list)
        .delete("/api/approvals/{id}", forget)
}

async fn list(State(app): State<App>, User(user): User) -> Result<Json<Value>, ApiError> {
    let rules = app.store.rules(&user).await?;
    let items: Vec<Value> = rules.iter().map(shown).collect();
    Ok(Json(json!({ "items": items, "next": null })))
}

fn shown(rule: &Rule) -> Value {
    json!({
        "id": rule.id,
        "scope": rule.scope,
        "decision": rule.decision,
        "serverId": rule.server_id,
        "server": rule.server,
        "tool": rule.tool,
        "hash": rule.def_hash,
        "tools": rule.read_only_hashes.keys().collect::<Vec<_>>(),
        "conversationId": rule.conversation_id,
        "createdAt": rule.created_at.rfc3339(),
    })
}

async fn forget(State(app): State<App>, Owned(rule): Owned<Rule>) -> Result<StatusCode, ApiError> {
    let server = rule.server_id.iter();
    let mut changes: Vec<Change> = server.map(|id| tools_event(&rule.user_id, id)).collect();
    changes.push(Change::DeleteRule(rule.user_id, rule.id));
    app.store.commit(changes).await?;
    Ok(StatusCode::NO_CONTENT)
}
