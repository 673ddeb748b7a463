//! The gateway: what runs, who calls, what waits for an answer. It is the machine owner's.

use axum::Json;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::gateway::approvals::{Question, Unanswerable, answer, waiting};
use crate::gateway::audit_list::{AuditedCall, latest};
use crate::gateway::client_file::Client;
use crate::gateway::process::Process;
use crate::gateway::records::{Kind, Records};
use crate::gateway::token::Token;
use crate::serve::app::App;
use crate::serve::error::ApiError;
use crate::serve::input::{Body, Params, User};
use crate::serve::routes::Routes;
use crate::servers::Host;
use crate::store::{Timestamp, UserId};

/// Calls of one answer, at most and by default.
const MAX_CALLS: usize = 500;
const CALLS: usize = 100;

pub(super) fn routes() -> Routes {
    Routes::new()
        .get("/api/gateway", show)
        .get("/api/gateway/audit", audit)
        .post("/api/gateway/questions/{id}", settle)
}

async fn show(State(app): State<App>, User(user): User) -> Result<Json<Value>, ApiError> {
    permitted(&app, &user)?;
    let now = Timestamp::now();
    let records = Records::read(&*app.store).await?;
    let processes = records.all::<Process>(Kind::Process);
    let alive = processes.values().filter(|process| process.is_alive(now));
    let gateways: Vec<Value> = alive.map(gateway).collect();
    let tokens = records.all::<Token>(Kind::Token);
    let assistants = app.store.assistants(&UserId::local()).await?;
    let tokens = tokens.iter().map(|(name, token)| {
        let id = token.assistant.as_deref();
        let assistant = assistants.iter().find(|it| Some(it.id.as_str()) == id);
        json!({
            "name": name,
            "assistant": assistant.map(|it| &it.name),
            "approve": token.approve,
            "createdAt": token.created.rfc3339(),
        })
    });
    let questions = waiting(&records);
    let clients = <Client as clap::ValueEnum>::value_variants().iter();
    Ok(Json(json!({
        "gateways": gateways,
        "tokens": tokens.collect::<Vec<_>>(),
        "questions": questions.iter().map(question).collect::<Vec<_>>(),
        "clients": clients.map(|client| client.name()).collect::<Vec<_>>(),
    })))
}

fn gateway(process: &Process) -> Value {
    let running = process.running.iter().map(|call| {
        json!({
            "caller": call.caller, "client": call.client, "server": call.server,
            "tool": call.tool, "since": call.since.rfc3339(),
        })
    });
    json!({
        "pid": process.pid,
        "startedAt": process.started.rfc3339(),
        "aliveAt": process.alive.rfc3339(),
        "transport": process.transport,
        "url": process.url,
        "assistant": process.assistant,
        "servers": process.servers,
        "sessions": process.sessions,
        "calls": process.calls,
        "running": running.collect::<Vec<_>>(),
    })
}

fn question((id, question): (&String, &Question)) -> Value {
    json!({
        "id": id,
        "digest": question.digest,
        "caller": question.caller,
        "client": question.client,
        "server": question.server,
        "tool": question.tool,
        "arguments": question.arguments,
        "askedAt": question.asked.rfc3339(),
        "expiresAt": question.expires.rfc3339(),
    })
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Asked {
    search: Option<String>,
    limit: Option<usize>,
}

async fn audit(
    State(app): State<App>,
    User(user): User,
    Params(asked): Params<Asked>,
) -> Result<Json<Value>, ApiError> {
    permitted(&app, &user)?;
    let limit = asked.limit.unwrap_or(CALLS).min(MAX_CALLS);
    let text = asked.search.unwrap_or_default();
    let read = tokio::task::spawn_blocking(move || latest(&text, limit)).await;
    let read = read.map_err(std::io::Error::other).and_then(|read| read);
    let calls = read.map_err(|error| {
        let message = format!("the audit log cannot be read: {error}");
        ApiError::new(
            StatusCode::INTERNAL_SERVER_ERROR,
            "audit_unreadable",
            message,
        )
    })?;
    let items: Vec<Value> = calls.iter().map(AuditedCall::to_json).collect();
    Ok(Json(json!({ "items": items, "next": null })))
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Answered {
    /// The digest of the question that was shown.
    digest: String,
    allow: bool,
}

async fn settle(
    State(app): State<App>,
    User(user): User,
    Path(id): Path<String>,
    Body(said): Body<Answered>,
) -> Result<StatusCode, ApiError> {
    permitted(&app, &user)?;
    let records = Records::read(&*app.store).await?;
    let shown = waiting(&records).remove(&id);
    if shown.is_some_and(|question| question.digest != said.digest) {
        let message = "the question is another one than was answered";
        return Err(ApiError::conflict("changed", message));
    }
    let answered = answer(&*app.store, &records, &id, said.allow).await?;
    answered.map_err(|why| match why {
        Unanswerable::Unknown => ApiError::not_found("waiting call"),
        Unanswerable::Answered => ApiError::conflict("answered", "the call was answered already"),
    })?;
    Ok(StatusCode::NO_CONTENT)
}

fn permitted(app: &App, user: &UserId) -> Result<(), ApiError> {
    match app.server_pool.host(user) {
        Host::Allowed => Ok(()),
        Host::Forbidden => {
            let message = "the gateway is for those who use this machine";
            Err(ApiError::not_permitted(message, user.as_str()))
        }
    }
}
