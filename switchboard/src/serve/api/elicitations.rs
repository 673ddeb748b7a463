//! Answers to what servers ask.

use axum::extract::{Path, State};
use axum::http::StatusCode;
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::conversation::views;
use crate::serve::app::App;
use crate::serve::error::ApiError;
use crate::serve::input::{Body, User};
use crate::serve::routes::Routes;
use crate::serve::runs::{Action, Filled, Request};
use crate::store::{ConversationId, PendingId, PendingKind, PendingState};

pub(super) fn routes() -> Routes {
    Routes::new().post("/api/elicitations/{id}", answer)
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Answer {
    /// Where it was answered: if that is not where it was asked, it does not count.
    #[serde(default)]
    conversation_id: Option<ConversationId>,
    action: Action,
    #[serde(default)]
    content: Option<Map<String, Value>>,
}

async fn answer(
    State(app): State<App>,
    User(user): User,
    Path(id): Path<String>,
    Body(answer): Body<Answer>,
) -> Result<StatusCode, ApiError> {
    let filled = Filled {
        action: answer.action,
        content: answer.content,
    };
    let id = PendingId::new(id);
    let answered = || ApiError::conflict("already_answered", "this question was answered already");
    let elsewhere = |asked: &ConversationId| {
        let given = answer.conversation_id.as_ref();
        let message = "this question was asked in another conversation";
        match given.is_none_or(|given| given == asked) {
            true => Ok(()),
            false => Err(ApiError::conflict("wrong_conversation", message)),
        }
    };
    let row = app.store.question(&id).await?;
    let row = row.filter(|row| row.kind == PendingKind::Elicitation);
    let row = row.ok_or_else(|| ApiError::not_found("question"))?;
    let conversation = app.store.conversation(&user, &row.conversation_id).await?;
    let conversation = conversation.ok_or_else(|| ApiError::not_found("question"))?;
    elsewhere(&conversation.id)?;
    if row.state != PendingState::Open {
        return Err(answered());
    }
    let request = match views::is_live(&row) {
        true => Request::Answer(id, filled),
        false => Request::Supply(id, filled),
    };
    app.runs.request(&user, &conversation.id, &request).await?;
    Ok(StatusCode::NO_CONTENT)
}
