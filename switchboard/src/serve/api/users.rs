//! The users of a team, for its owners.

use axum::Json;
use axum::extract::{Path, State};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::serve::app::App;
use crate::serve::error::ApiError;
use crate::serve::input::{Body, User};
use crate::serve::routes::Routes;
use crate::store::{Change, TeamRole, User as Row, UserEdit, UserId};

pub(super) fn routes() -> Routes {
    Routes::new()
        .get("/api/users", list)
        .patch("/api/users/{id}", change)
}

async fn list(State(app): State<App>) -> Result<Json<Value>, ApiError> {
    let users = app.store.users().await?;
    let people = users.iter().filter(|user| user.id != UserId::team());
    let items: Vec<Value> = people.map(shown).collect();
    Ok(Json(json!({ "items": items, "next": null })))
}

/// A user, as owners see them.
pub(crate) fn shown(user: &Row) -> Value {
    json!({
        "id": user.id,
        "name": user.name,
        "email": user.email,
        "role": user.role,
        "blocked": user.is_blocked,
        "usesHost": user.uses_host,
        "seenAt": user.seen_at.map(|at| at.rfc3339()),
    })
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Edit {
    role: Option<TeamRole>,
    /// Whether they may not come in.
    blocked: Option<bool>,
    /// Whether their servers may use the machine.
    uses_host: Option<bool>,
}

async fn change(
    State(app): State<App>,
    User(caller): User,
    Path(id): Path<String>,
    Body(edit): Body<Edit>,
) -> Result<Json<Value>, ApiError> {
    let id = UserId::new(id);
    let find = async || {
        let users = app.store.users().await?;
        let mut people = users.into_iter().filter(|user| user.id != UserId::team());
        let found = people.find(|user| user.id == id);
        found.ok_or_else(|| ApiError::not_found("user"))
    };
    find().await?;
    if id == caller && (edit.role.is_some() || edit.blocked.is_some()) {
        let message = "owners do not change their own role, so that one is always left";
        return Err(ApiError::unfit(message).with_hint("Another owner can."));
    }
    let edit = UserEdit {
        role: edit.role,
        is_blocked: edit.blocked,
        uses_host: edit.uses_host,
        ..UserEdit::default()
    };
    let edited = Change::EditUser(id.clone(), edit);
    app.store.commit(vec![edited]).await?;
    let user = find().await?;
    app.people.note(&user);
    Ok(Json(shown(&user)))
}
