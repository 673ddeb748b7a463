//! Conversations: listed, begun, changed, forked, exported.

use axum::Json;
use axum::extract::{Path, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::chat::{export_html, export_json, export_markdown};
use crate::conversation::attachment::Files;
use crate::conversation::{fork, transcript, views};
use crate::models::Wanted;
use crate::serve::app::App;
use crate::serve::error::ApiError;
use crate::serve::extractor::Owned;
use crate::serve::input::{Body, Params, User, present};
use crate::serve::routes::Routes;
use crate::serve::runs::{Command, Edit, Request};
use crate::setup::{self, SwitchedOff, is_bounded, named_mode};
use crate::store::{
    AssistantId, BlobId, Change, Conversation, ConversationId, ModelOptions, NewEvent, SearchWords,
    Standing, UserId,
};

/// The most conversations on a page.
const PAGE: u32 = 200;
/// How many pages are looked through for words at a time.
const SEARCHED: usize = 50;
/// The most messages that are found at a time.
const FOUND: u32 = 100;
/// The longest title.
const TITLE: usize = 500;

pub(super) fn routes() -> Routes {
    Routes::new()
        .get("/api/conversations", list)
        .post("/api/conversations", begin)
        .get("/api/conversations/{id}", show)
        .patch("/api/conversations/{id}", change)
        .delete("/api/conversations/{id}", remove)
        .post("/api/conversations/{id}/cancel", cancel)
        .post("/api/conversations/{id}/continue", proceed)
        .post("/api/conversations/{id}/fork", copy)
        .post("/api/conversations/{id}/compact", compact)
        .get("/api/search", find)
        .get("/api/conversations/{id}/export", export)
        .get("/api/conversations/{id}/questions", questions)
        .get("/api/conversations/{id}/blobs/{blob}", blob)
}

/// A conversation as it stands.
async fn describe(app: &App, row: &Conversation) -> Result<Value, ApiError> {
    let standings = app.store.standings(std::slice::from_ref(&row.id)).await?;
    let standing = standings.into_iter().next();
    let standing = standing.unwrap_or_else(|| Standing::new(row.id.clone()));
    Ok(views::conversation(row, &standing))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Page {
    limit: Option<u32>,
    after: Option<String>,
    /// What stands in the title, in any case.
    q: Option<String>,
    /// Only those that are pinned, or only the others.
    pinned: Option<bool>,
}

async fn list(
    State(app): State<App>,
    User(user): User,
    Params(page): Params<Page>,
) -> Result<Json<Value>, ApiError> {
    let after = Owned::maybe(&app, &user, page.after).await?;
    let filter = Filter {
        words: page.q.unwrap_or_default().trim().to_lowercase(),
        pinned: page.pinned,
    };
    let limit = page.limit.unwrap_or(50).clamp(1, PAGE);
    let (rows, next) = search(&app, &user, after, &filter, limit).await?;
    let ids: Vec<ConversationId> = rows.iter().map(|row| row.id.clone()).collect();
    let standings = app.store.standings(&ids).await?;
    let items: Vec<Value> = rows
        .iter()
        .filter_map(|row| {
            let standing = standings.iter().find(|it| it.conversation_id == row.id)?;
            Some(views::conversation(row, standing))
        })
        .collect();
    Ok(Json(json!({ "items": items, "next": next })))
}

/// Which conversations are listed.
struct Filter {
    /// What their titles have in them, in lower case.
    words: String,
    pinned: Option<bool>,
}

impl Filter {
    fn takes(&self, row: &Conversation) -> bool {
        let pinned = self
            .pinned
            .is_none_or(|pinned| pinned == views::is_pinned(row));
        pinned && row.title.to_lowercase().contains(&self.words)
    }

    fn takes_all(&self) -> bool {
        self.words.is_empty() && self.pinned.is_none()
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Sought {
    q: String,
    limit: Option<u32>,
}

/// Messages that hold all words of a query, with the part around the first of them.
async fn find(
    State(app): State<App>,
    User(user): User,
    Params(sought): Params<Sought>,
) -> Result<Json<Value>, ApiError> {
    let words = SearchWords::of(&sought.q);
    let limit = sought.limit.unwrap_or(30).clamp(1, FOUND);
    let mut items = Vec::new();
    for message in app.store.search(&user, &words, limit).await? {
        let id = &message.conversation_id;
        let conversation = app.store.conversation(&user, id).await?;
        // It may have been removed meanwhile.
        if let Some(row) = conversation {
            items.push(json!({
                "conversationId": row.id,
                "title": row.title,
                "messageId": message.id,
                "seq": message.seq,
                "role": message.role,
                "excerpt": words.excerpt(&message.content).unwrap_or_default(),
                "createdAt": message.created_at.rfc3339(),
            }));
        }
    }
    Ok(Json(json!({ "items": items, "next": null })))
}

/// The next conversations that are sought, and where to go on.
async fn search(
    app: &App,
    user: &UserId,
    mut after: Option<Conversation>,
    filter: &Filter,
    limit: u32,
) -> Result<(Vec<Conversation>, Option<ConversationId>), ApiError> {
    let size = match filter.takes_all() {
        true => limit,
        false => PAGE,
    };
    let mut found = Vec::new();
    for _ in 0..SEARCHED {
        let rows = app.store.conversations(user, after.as_ref(), size).await?;
        let is_last = rows.len() < size as usize;
        for row in rows {
            after = Some(row.clone());
            if filter.takes(&row) {
                found.push(row);
            }
            if found.len() == limit as usize {
                return Ok((found, after.map(|row| row.id)));
            }
        }
        if is_last {
            return Ok((found, None));
        }
    }
    Ok((found, after.map(|row| row.id)))
}

/// A partial update of a conversation. Absent members stay; `null` resets one.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Wish {
    #[serde(default)]
    title: Option<String>,
    #[serde(default)]
    pinned: Option<bool>,
    #[serde(default, deserialize_with = "present")]
    assistant_id: Option<Option<AssistantId>>,
    #[serde(default, deserialize_with = "present")]
    model: Option<Option<String>>,
    #[serde(default, deserialize_with = "present")]
    approval_mode: Option<Option<String>>,
    #[serde(default, deserialize_with = "present")]
    model_options: Option<Option<ModelOptions>>,
    #[serde(default, deserialize_with = "present")]
    switched_off: Option<Option<Vec<SwitchedOff>>>,
}

impl Wish {
    /// The change it means, if it makes sense.
    async fn edit(
        self,
        app: &App,
        user: &UserId,
        row: Option<&Conversation>,
    ) -> Result<Edit, ApiError> {
        if let Some(Some(id)) = &self.assistant_id {
            let all = app.store.assistants(user).await?;
            if !all.iter().any(|assistant| assistant.id == *id) {
                return Err(ApiError::not_found("assistant"));
            }
        }
        if let Some(Some(mode)) = &self.approval_mode {
            let named = named_mode(mode);
            named.map_err(|failure| ApiError::unfit_for(failure).at("approvalMode"))?;
        }
        if let Some((member, wants)) = self.model_options.flatten().and_then(|it| it.unfit()) {
            let field = format!("modelOptions.{member}");
            return Err(ApiError::unfit(format!("it should be {wants}")).at(&field));
        }
        if !is_bounded(self.switched_off.iter().flatten().flatten()) {
            return Err(ApiError::unfit("too much is switched off").at("switchedOff"));
        }
        let kept = row.and_then(|row| row.options.get("model")?.as_str());
        if let Some(Some(model)) = &self.model
            && kept != Some(model.as_str())
        {
            // A chat with a model that cannot be asked is not begun.
            let settings = app.server_pool.settings(user).await?;
            let choice = setup::choice(&Wanted::model(Some(model.clone())), &settings).await;
            choice.map_err(|failure| ApiError::unfit_for(failure).at("model"))?;
        }
        if self.title.as_ref().is_some_and(|title| title.len() > TITLE) {
            return Err(ApiError::unfit("the title is too long"));
        }
        Ok(Edit {
            title: self.title,
            pinned: self.pinned,
            assistant: self.assistant_id,
            model: self.model,
            approval_mode: self.approval_mode,
            model_options: self
                .model_options
                .map(|it| it.and_then(ModelOptions::given)),
            switched_off: self.switched_off.map(|it| it.filter(|off| !off.is_empty())),
        })
    }
}

async fn begin(
    State(app): State<App>,
    User(user): User,
    Body(wish): Body<Wish>,
) -> Result<(StatusCode, Json<Value>), ApiError> {
    let edit = wish.edit(&app, &user, None).await?;
    let mut row = Conversation::new(user, "");
    edit.make(&mut row);
    let reported = put(&app, row).await?;
    Ok((StatusCode::CREATED, Json(reported)))
}

/// Stores a new conversation, with an event.
async fn put(app: &App, row: Conversation) -> Result<Value, ApiError> {
    let reported = views::conversation(&row, &Standing::new(row.id.clone()));
    let (user, id) = (row.user_id.clone(), row.id.clone());
    let data = json!({ "conversation": reported });
    let event = NewEvent::new(user, Some(id), "conversation.updated", data);
    let changes = vec![Change::PutConversation(row), Change::AppendEvent(event)];
    app.store.commit(changes).await?;
    Ok(reported)
}

async fn show(
    State(app): State<App>,
    Owned(row): Owned<Conversation>,
) -> Result<Json<Value>, ApiError> {
    Ok(Json(describe(&app, &row).await?))
}

async fn change(
    State(app): State<App>,
    Owned(row): Owned<Conversation>,
    Body(wish): Body<Wish>,
) -> Result<Json<Value>, ApiError> {
    let edit = wish.edit(&app, &row.user_id, Some(&row)).await?;
    let edit = Request::Edit(edit);
    app.runs.request(&row.user_id, &row.id, &edit).await?;
    let Owned(row) = Owned::find(&app, &row.user_id, row.id.to_string()).await?;
    Ok(Json(describe(&app, &row).await?))
}

async fn remove(
    State(app): State<App>,
    Owned(row): Owned<Conversation>,
) -> Result<StatusCode, ApiError> {
    // One that cannot be stopped because it cannot be read can be removed all the same.
    let cancel = app.runs.request(&row.user_id, &row.id, &Request::Cancel);
    let _ = cancel.await;
    let data = json!({ "id": row.id });
    let event = NewEvent::new(row.user_id.clone(), None, "conversation.deleted", data);
    let removed = Change::DeleteConversation(row.user_id, row.id);
    let changes = vec![removed, Change::AppendEvent(event)];
    app.store.commit(changes).await?;
    Ok(StatusCode::NO_CONTENT)
}

async fn cancel(
    State(app): State<App>,
    Owned(row): Owned<Conversation>,
) -> Result<Json<Value>, ApiError> {
    app.runs
        .request(&row.user_id, &row.id, &Request::Cancel)
        .await?;
    let Owned(row) = Owned::find(&app, &row.user_id, row.id.to_string()).await?;
    Ok(Json(describe(&app, &row).await?))
}

async fn proceed(
    State(app): State<App>,
    Owned(row): Owned<Conversation>,
) -> Result<(StatusCode, Json<Value>), ApiError> {
    let command = |reply| Command::Continue { reply };
    app.runs.send(&row.user_id, &row.id, command).await?;
    Ok((StatusCode::ACCEPTED, Json(describe(&app, &row).await?)))
}

/// Removes what is oldest from what the model gets; the messages stay.
async fn compact(
    State(app): State<App>,
    Owned(row): Owned<Conversation>,
) -> Result<(StatusCode, Json<Value>), ApiError> {
    let command = |reply| Command::Compact { reply };
    let begun = app.runs.send(&row.user_id, &row.id, command).await?;
    Ok((StatusCode::ACCEPTED, Json(json!({ "begun": begun }))))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Fork {
    /// The number of the last message to copy.
    upto: Option<u64>,
}

async fn copy(
    State(app): State<App>,
    Owned(row): Owned<Conversation>,
    Body(Fork { upto }): Body<Fork>,
) -> Result<(StatusCode, Json<Value>), ApiError> {
    let copy = fork(&app.store, &row.user_id, &row.id, upto).await?;
    let reported = describe(&app, &copy).await?;
    let data = json!({ "conversation": reported });
    let event = NewEvent::new(row.user_id, Some(copy.id), "conversation.updated", data);
    app.store.commit(vec![Change::AppendEvent(event)]).await?;
    Ok((StatusCode::CREATED, Json(reported)))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Format {
    #[serde(default)]
    format: FormatName,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "lowercase")]
enum FormatName {
    #[default]
    Md,
    Json,
    Html,
}

async fn export(
    State(app): State<App>,
    Owned(row): Owned<Conversation>,
    Params(Format { format }): Params<Format>,
) -> Result<Response, ApiError> {
    let messages = transcript(&*app.store, &row.id).await?;
    let files = Files::read(&*app.store, &messages).await?;
    let (kind, ending, text) = match format {
        FormatName::Md => {
            let text = export_markdown(&row, &messages, &files);
            ("text/markdown; charset=utf-8", "md", text)
        }
        FormatName::Json => {
            let text = format!("{:#}", export_json(&row, &messages, &files));
            ("application/json", "json", text)
        }
        FormatName::Html => {
            let text = export_html(&row, &messages, &files);
            ("text/html; charset=utf-8", "html", text)
        }
    };
    let name = format!("attachment; filename=\"conversation-{}.{ending}\"", row.id);
    let headers = [
        (header::CONTENT_TYPE, kind.to_owned()),
        (header::CONTENT_DISPOSITION, name),
    ];
    Ok((headers, text).into_response())
}

async fn questions(
    State(app): State<App>,
    Owned(row): Owned<Conversation>,
) -> Result<Json<Value>, ApiError> {
    let open = app.store.open_questions(&row.id).await?;
    let items: Vec<Value> = open.iter().map(views::question).collect();
    Ok(Json(json!({ "items": items, "next": null })))
}

async fn blob(
    State(app): State<App>,
    Owned(row): Owned<Conversation>,
    Path((_, blob)): Path<(String, String)>,
) -> Result<Response, ApiError> {
    let found = app.store.blob(&row.id, &BlobId::new(blob)).await?;
    let blob = found.ok_or_else(|| ApiError::not_found("blob"))?;
    let unknown = HeaderValue::from_static("application/octet-stream");
    let kind = HeaderValue::from_str(&blob.mime).unwrap_or(unknown);
    // Whatever it is, it is nothing that runs.
    let headers = [
        (header::CONTENT_TYPE, kind),
        (
            header::CONTENT_DISPOSITION,
            HeaderValue::from_static("attachment"),
        ),
        (
            header::CONTENT_SECURITY_POLICY,
            HeaderValue::from_static("sandbox; default-src 'none'"),
        ),
    ];
    Ok((headers, blob.bytes).into_response())
}
