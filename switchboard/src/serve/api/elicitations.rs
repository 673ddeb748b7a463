//! Answers to what servers ask.

use axum::extract::{Path, State};
use axum::http::StatusCode;
use mcp_jsonrpc::model::{ElicitAction, ElicitResult};
use mcp_manager::Ask;
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::serve::app::App;
use crate::serve::error::ApiError;
use crate::serve::input::{Body, User};
use crate::serve::routes::Routes;
use crate::serve::runs::{Order, check};
use crate::store::{PendingId, PendingKind, PendingState};

pub(super) fn routes() -> Routes {
    Routes::new().post("/api/elicitations/{id}", answer)
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Answer {
    action: Action,
    #[serde(default)]
    content: Option<Map<String, Value>>,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Action {
    Accept,
    Decline,
    Cancel,
}

async fn answer(
    State(app): State<App>,
    User(user): User,
    Path(id): Path<String>,
    Body(answer): Body<Answer>,
) -> Result<StatusCode, ApiError> {
    let mut result = ElicitResult::new(match answer.action {
        Action::Accept => ElicitAction::Accept,
        Action::Decline => ElicitAction::Decline,
        Action::Cancel => ElicitAction::Cancel,
    });
    result.content = answer.content;
    let id = PendingId::new(id);
    let answered = || ApiError::conflict("already_answered", "this question was answered already");
    if let Some(asked) = app.questions.find(&user, &id) {
        let form = match &asked.ask {
            Ask::Form(form) => Some(&form.requested_schema),
            _ => None,
        };
        let result = check(form, result)?;
        return match app.questions.answer(&user, &id, result) {
            true => Ok(StatusCode::NO_CONTENT),
            false => Err(answered()),
        };
    }
    if app.questions.was_asked(&user, &id) {
        return Err(answered());
    }
    let row = app.store.question(&id).await?;
    let row = row.filter(|row| row.kind == PendingKind::Elicitation);
    let row = row.ok_or_else(|| ApiError::not_found("question"))?;
    let conversation = app.store.conversation(&user, &row.conversation_id).await?;
    let conversation = conversation.ok_or_else(|| ApiError::not_found("question"))?;
    if row.state != PendingState::Open {
        return Err(answered());
    }
    let order = |reply| Order::Supply {
        question: id,
        result: Box::new(result),
        reply,
    };
    app.runs.order(&user, &conversation.id, order).await?;
    Ok(StatusCode::NO_CONTENT)
}
