//! A user's personal access tokens.

use std::time::Duration;

use axum::Json;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::serve::app::App;
use crate::serve::error::ApiError;
use crate::serve::input::{Body, User};
use crate::serve::routes::Routes;
use crate::store::{AccessToken, AccessTokenId, Change, LoginChange, StoreError, TokenScope};
use crate::token;

/// The most tokens of a user.
const MAX_TOKENS: usize = 50;
/// How long a token lasts unless it is said, and at most.
const DAYS: u32 = 90;
const MAX_DAYS: u32 = 3660;

pub(super) fn routes() -> Routes {
    Routes::new()
        .get("/api/tokens", list)
        .post("/api/tokens", add)
        .delete("/api/tokens/{id}", remove)
}

async fn list(State(app): State<App>, User(user): User) -> Result<Json<Value>, ApiError> {
    let tokens = app.store.access_tokens(&user).await?;
    let items: Vec<Value> = tokens.iter().map(shown).collect();
    Ok(Json(json!({ "items": items, "next": null })))
}

/// A token as it may be shown: without its hash.
pub(crate) fn shown(token: &AccessToken) -> Value {
    json!({
        "id": token.id,
        "name": token.name,
        "scope": token.scope,
        "createdAt": token.created_at.rfc3339(),
        "expiresAt": token.expires_at.map(|at| at.rfc3339()),
        "usedAt": token.used_at.map(|at| at.rfc3339()),
    })
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct New {
    name: String,
    scope: TokenScope,
    /// In how many days it ends.
    expires_in_days: Option<u32>,
}

async fn add(
    State(app): State<App>,
    User(user): User,
    Body(new): Body<New>,
) -> Result<(StatusCode, Json<Value>), ApiError> {
    let unfit = |why: String| ApiError::unfit(why).at("name");
    token::check_name(&new.name).map_err(unfit)?;
    let days = new.expires_in_days.unwrap_or(DAYS);
    if !(1..=MAX_DAYS).contains(&days) {
        let message = format!("a token lasts from 1 to {MAX_DAYS} days");
        return Err(ApiError::unfit(message).at("expiresInDays"));
    }
    let there = app.store.access_tokens(&user).await?;
    if there.len() >= MAX_TOKENS {
        let message = format!("there are {MAX_TOKENS} tokens already");
        return Err(ApiError::unfit(message).with_hint("Revoke those that are not used."));
    }
    if there.iter().any(|token| token.name == new.name) {
        let message = format!("there is a token {:?} already", new.name);
        return Err(ApiError::conflict("conflict", message).at("name"));
    }
    let span = Duration::from_secs(u64::from(days) * 86_400);
    let (secret, row) = AccessToken::make(user, &new.name, new.scope, Some(span))
        .map_err(|error| StoreError::Failed(error.into()))?;
    let put = LoginChange::PutToken(row.clone());
    app.store.commit(vec![Change::Login(put)]).await?;
    let mut reported = shown(&row);
    if let Some(members) = reported.as_object_mut() {
        members.insert("token".to_owned(), Value::from(secret));
    }
    Ok((StatusCode::CREATED, Json(reported)))
}

async fn remove(
    State(app): State<App>,
    User(user): User,
    Path(id): Path<String>,
) -> Result<StatusCode, ApiError> {
    let tokens = app.store.access_tokens(&user).await?;
    let id = AccessTokenId::new(id);
    if !tokens.iter().any(|token| token.id == id) {
        return Err(ApiError::not_found("token"));
    }
    let revoked = LoginChange::DeleteToken(user, id);
    app.store.commit(vec![Change::Login(revoked)]).await?;
    Ok(StatusCode::NO_CONTENT)
}
