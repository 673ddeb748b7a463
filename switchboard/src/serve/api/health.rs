//! Health check.

use axum::Json;
use axum::extract::State;
use serde_json::{Value, json};

use crate::models::Wanted;
use crate::serve::app::App;
use crate::serve::error::ApiError;
use crate::serve::identity::Caller;
use crate::serve::routes::Routes;
use crate::setup;

pub(super) fn routes() -> Routes {
    Routes::new().get("/api/health", health)
}

async fn health(
    State(app): State<App>,
    axum::Extension(caller): axum::Extension<Caller>,
) -> Result<Json<Value>, ApiError> {
    let user = &caller.user;
    let settings = app.server_pool.settings(user).await?;
    let choice = setup::choice(&Wanted::default(), &settings).await;
    let demo = choice
        .as_ref()
        .is_ok_and(|choice| choice.provider.is_demo());
    Ok(Json(json!({
        "ok": true,
        "version": env!("CARGO_PKG_VERSION"),
        "demo": demo,
        "model": choice.ok().map(|choice| choice.name()),
        "user": user,
        "role": caller.role,
        "by": caller.by.as_str(),
    })))
}
