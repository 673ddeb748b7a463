//! Messages: read page by page, said, and their calls confirmed.

use std::collections::BTreeMap;

use axum::Json;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use mcp_jsonrpc::RawObject;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::conversation::attachment::MAX_BYTES;
use crate::conversation::version::versions;
use crate::conversation::{Attachment, UserMessage, views};
use crate::serve::app::App;
use crate::serve::error::ApiError;
use crate::serve::extractor::Owned;
use crate::serve::input::{Body, Params, User};
use crate::serve::routes::Routes;
use crate::serve::runs::{Command, Confirm, Request, Scope, Verdict};
use crate::store::{
    CallStatus, Conversation, Message, MessageId, Role, Span, ToolCall, UsageTotal,
};

/// The most messages on a page.
const PAGE: u32 = 200;
/// The largest body of a message: its files in base64, and its words.
const BODY: usize = MAX_BYTES / 3 * 4 + (2 << 20);

pub(super) fn routes() -> Routes {
    Routes::new()
        .get("/api/conversations/{id}/messages", list)
        .post_up_to(BODY, "/api/conversations/{id}/messages", say)
        .post("/api/conversations/{id}/regenerate", regenerate)
        .post("/api/conversations/{id}/show", show)
        .post("/api/messages/{id}/tool-confirm", confirm)
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Page {
    before: Option<u64>,
    limit: Option<u32>,
}

async fn list(
    State(app): State<App>,
    Owned(row): Owned<Conversation>,
    Params(page): Params<Page>,
) -> Result<Json<Value>, ApiError> {
    let limit = page.limit.unwrap_or(50).clamp(1, PAGE);
    // Read first, so that later changes have events with greater numbers.
    let latest = app.store.event_bounds(&row.user_id).await?.latest;
    let span = match page.before {
        Some(seq) => Span::Before(seq, limit),
        None => Span::Last(limit),
    };
    let messages = app.store.messages(&row.id, span).await?;
    let questions = app.store.open_questions(&row.id).await?;
    let next = messages
        .first()
        .map(|first| first.seq)
        .filter(|seq| *seq > 1 && messages.len() == limit as usize);
    let versions = versions(&app.store.places(&row.id).await?);
    let answers = messages.iter().filter(|row| row.role == Role::Assistant);
    let answers: Vec<MessageId> = answers.map(|row| row.id.clone()).collect();
    let mut used: BTreeMap<MessageId, Vec<UsageTotal>> = BTreeMap::new();
    for (id, total) in app.store.usage_of(&answers).await? {
        used.entry(id).or_default().push(total);
    }
    let view = |row: &Message| {
        let mut view = views::message(row, &questions);
        let Some(members) = view.as_object_mut() else {
            return view;
        };
        if let Some(ids) = versions.get(&row.id) {
            members.insert("versions".to_owned(), json!(ids));
        }
        if let Some(totals) = used.get(&row.id) {
            members.insert("usage".to_owned(), views::usage(totals));
        }
        view
    };
    let items: Vec<Value> = messages.iter().map(view).collect();
    let reported = json!({ "items": items, "next": next, "lastEventId": latest });
    Ok(Json(reported))
}

/// What is said. Words may be missing where there are files.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Words {
    #[serde(default)]
    content: String,
    #[serde(default)]
    attachments: Vec<File>,
    /// The user's message that it stands for.
    #[serde(default)]
    instead: Option<String>,
}

/// A file that is sent with a message.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    name: String,
    /// Its bytes in base64.
    data: String,
}

impl Words {
    fn message(self) -> Result<UserMessage, ApiError> {
        let mut attachments = Vec::new();
        for (index, File { name, data }) in self.attachments.into_iter().enumerate() {
            let field = format!("attachments[{index}].data");
            let bytes = STANDARD.decode(data).map_err(|error| {
                ApiError::unfit(format!("{name} is not base64: {error}")).at(&field)
            })?;
            let read = Attachment::new(&name, bytes);
            attachments.push(read.map_err(|error| ApiError::from(error.at(index)))?);
        }
        let message = UserMessage::new(self.content, attachments)?;
        match message.is_empty() {
            true => Err(ApiError::unfit("nothing was said").at("content")),
            false => Ok(message),
        }
    }
}

async fn say(
    State(app): State<App>,
    Owned(row): Owned<Conversation>,
    Body(mut words): Body<Words>,
) -> Result<(StatusCode, Json<Value>), ApiError> {
    let instead = words.instead.take().map(MessageId::new);
    let message = Box::new(words.message()?);
    let command = |reply| Command::Say {
        message,
        instead,
        reply,
    };
    let said = app.runs.send(&row.user_id, &row.id, command).await?;
    let reported = json!({
        "userMessage": views::message(&said.said, &[]),
        "assistantMessage": views::message(&said.begun.answer, &[]),
        "runId": said.begun.run,
    });
    Ok((StatusCode::ACCEPTED, Json(reported)))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Which {
    message: String,
}

/// Answers anew; the answer before stays as another version.
async fn regenerate(
    State(app): State<App>,
    Owned(row): Owned<Conversation>,
    Body(Which { message }): Body<Which>,
) -> Result<(StatusCode, Json<Value>), ApiError> {
    let message = MessageId::new(message);
    let command = |reply| Command::Regenerate { message, reply };
    let begun = app.runs.send(&row.user_id, &row.id, command).await?;
    let reported = json!({
        "assistantMessage": views::message(&begun.answer, &[]),
        "runId": begun.run,
    });
    Ok((StatusCode::ACCEPTED, Json(reported)))
}

/// Shows another version of a message, with what followed it.
async fn show(
    State(app): State<App>,
    Owned(row): Owned<Conversation>,
    Body(Which { message }): Body<Which>,
) -> Result<StatusCode, ApiError> {
    let message = MessageId::new(message);
    let command = |reply| Command::Show { message, reply };
    app.runs.send(&row.user_id, &row.id, command).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// An answer to whether a call may run.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Answer {
    /// The model's name for the call, or its position.
    #[serde(default)]
    tool_call_id: Option<Value>,
    /// Its position in the message.
    #[serde(default)]
    position: Option<u32>,
    decision: Verdict,
    #[serde(default)]
    scope: Scope,
    #[serde(default)]
    args: Option<RawObject>,
    /// The digest of the question that was shown.
    digest: String,
    #[serde(default)]
    reason: Option<String>,
}

async fn confirm(
    State(app): State<App>,
    User(user): User,
    Path(id): Path<String>,
    Body(answer): Body<Answer>,
) -> Result<Json<Value>, ApiError> {
    let found = app.store.message(&MessageId::new(id)).await?;
    let message = found.ok_or_else(|| ApiError::not_found("message"))?;
    let conversation = app
        .store
        .conversation(&user, &message.conversation_id)
        .await?;
    let conversation = conversation.ok_or_else(|| ApiError::not_found("message"))?;
    let call = answer.call(&message)?;
    if call.status != CallStatus::Pending {
        let message = "this call is not waiting for an answer";
        return Err(ApiError::conflict("already_answered", message));
    }
    let confirm = Confirm {
        message: message.id.clone(),
        number: u64::from(call.position).into(),
        verdict: answer.decision,
        scope: answer.scope,
        arguments: answer.args,
        digest: answer.digest,
        reason: answer.reason,
    };
    let confirm = Request::Confirm(Box::new(confirm));
    let request = app.runs.request(&user, &conversation.id, &confirm);
    Ok(Json(request.await?))
}

impl Answer {
    /// The call it is about. A model may use a name twice: then the latest is meant.
    fn call<'m>(&self, message: &'m Message) -> Result<&'m ToolCall, ApiError> {
        let mut calls = message.tool_calls.iter().rev();
        let found = match (self.position, &self.tool_call_id) {
            (Some(position), _) => calls.find(|call| call.position == position),
            (None, Some(Value::Number(number))) => {
                calls.find(|call| number.as_u64() == Some(call.position.into()))
            }
            (None, Some(Value::String(id))) => calls.find(|call| call.call_id == *id),
            _ => {
                let message = "the call is not named: send `toolCallId` or `position`";
                return Err(ApiError::bad_request(message));
            }
        };
        found.ok_or_else(|| ApiError::not_found("tool call"))
    }
}
