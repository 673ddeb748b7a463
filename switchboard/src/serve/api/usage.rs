//! Tokens and cost.

use axum::Json;
use axum::extract::State;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::conversation::views;
use crate::exit::Failure;
use crate::models::PriceTable;
use crate::serve::app::App;
use crate::serve::error::ApiError;
use crate::serve::extractor::Owned;
use crate::serve::input::{Params, User};
use crate::serve::routes::Routes;
use crate::store::{Conversation, Timestamp};

pub(super) fn routes() -> Routes {
    Routes::new().get("/api/usage", usage)
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Asked {
    conversation: Option<String>,
    since: Option<String>,
}

async fn usage(
    State(app): State<App>,
    User(user): User,
    Params(asked): Params<Asked>,
) -> Result<Json<Value>, ApiError> {
    let conversation: Option<Conversation> = Owned::maybe(&app, &user, asked.conversation).await?;
    let conversation = conversation.map(|row| row.id);
    let since = match asked.since.as_deref() {
        None => None,
        Some(text) => Some(Timestamp::parse(text).ok_or_else(|| {
            ApiError::bad_request("`since` is a moment like 2026-01-31T12:00:00Z")
        })?),
    };
    let totals = app.store.usage(&user, conversation.as_ref(), since).await?;
    let settings = app.server_pool.settings(&user).await?;
    let mut reported = views::usage(&totals);
    if let Some(members) = reported.as_object_mut() {
        let as_of = PriceTable::new(&settings)
            .map_err(Failure::from)?
            .as_of()
            .to_owned();
        members.insert("pricesAsOf".to_owned(), json!(as_of));
    }
    Ok(Json(reported))
}
