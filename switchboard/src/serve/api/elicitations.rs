//! Answers to what servers ask.

use axum::extract::{Path, State};
use axum::http::StatusCode;
use mcp_jsonrpc::model::{ElicitAction, ElicitResult};
use mcp_manager::Ask;
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::conversation::views;
use crate::serve::app::App;
use crate::serve::error::ApiError;
use crate::serve::input::{Body, User};
use crate::serve::routes::Routes;
use crate::serve::runs::{Command, check};
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
    let elsewhere = |asked: &ConversationId| {
        let given = answer.conversation_id.as_ref();
        let message = "this question was asked in another conversation";
        match given.is_none_or(|given| given == asked) {
            true => Ok(()),
            false => Err(ApiError::conflict("wrong_conversation", message)),
        }
    };
    if let Some((conversation, ask)) = app.questions.find(&user, &id) {
        elsewhere(&conversation)?;
        let form = match &ask {
            Ask::Form(form) => Some(&form.requested_schema),
            _ => None,
        };
        let result = check(form, result)?;
        app.questions.answer(&user, &id, result).await?;
        return Ok(StatusCode::NO_CONTENT);
    }
    let row = app.store.question(&id).await?;
    let row = row.filter(|row| row.kind == PendingKind::Elicitation);
    let row = row.ok_or_else(|| ApiError::not_found("question"))?;
    let conversation = app.store.conversation(&user, &row.conversation_id).await?;
    let conversation = conversation.ok_or_else(|| ApiError::not_found("question"))?;
    elsewhere(&conversation.id)?;
    if row.state != PendingState::Open {
        return Err(answered());
    }
    if views::is_live(&row) {
        let message = "this question is asked by another program that uses the same database";
        let error = ApiError::conflict("asked_elsewhere", message);
        return Err(error.with_hint("Answer it there."));
    }
    let command = |reply| Command::Supply {
        question: id,
        result: Box::new(result),
        reply,
    };
    app.runs.send(&user, &conversation.id, command).await?;
    Ok(StatusCode::NO_CONTENT)
}
