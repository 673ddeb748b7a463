//! Exchanges the one-time code of a link for the token it stands for.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::serve::app::App;
use crate::serve::error::ApiError;
use crate::serve::guard::EXCHANGE;
use crate::serve::input::Body;
use crate::serve::routes::Routes;

pub(super) fn routes() -> Routes {
    Routes::new().post(EXCHANGE, exchange)
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Held {
    code: String,
}

async fn exchange(
    State(app): State<App>,
    Body(Held { code }): Body<Held>,
) -> Result<Json<Value>, ApiError> {
    let token = app.access.redeem(&code).ok_or_else(|| {
        let message = "this link was used already, or is too old";
        let error = ApiError::new(StatusCode::FORBIDDEN, "code_used", message);
        error.with_hint("Open the link that `switchboard serve` printed.")
    })?;
    Ok(Json(json!({ "token": token })))
}
