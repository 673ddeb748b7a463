//! A user's servers.

mod draft;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::doctor::{Finding, Problem};
use crate::import::{Plan, State as Compared, take_over};
use crate::serve::app::App;
use crate::serve::error::ApiError;
use crate::serve::fleet::{Crew, event};
use crate::serve::input::{Body, User};
use crate::serve::own::Member;
use crate::serve::routes::Routes;
use crate::servers::{Keeping, ServerLog, auto_approved, log_out, next_place};
use crate::store::{Change, Server, ServerKind, StoreError, UserId};
use draft::Draft;

/// The largest text that can be pasted.
const PASTED: usize = 4 << 20;

pub(super) fn routes() -> Routes {
    Routes::new()
        .get("/api/mcp-servers", list)
        .post_up_to(PASTED, "/api/mcp-servers", add)
        .get("/api/mcp-servers/{id}", show)
        .put("/api/mcp-servers/{id}", change)
        .delete("/api/mcp-servers/{id}", remove)
}

/// What is wrong with a server, as the reason why something was not done.
pub(super) fn refusal(row: &Server, finding: &Finding) -> ApiError {
    let message = format!("server {:?}: {}", row.name, finding.message);
    let (status, code, hint) = match finding.problem {
        Problem::Pending => {
            let hint = "See what it runs, then agree to it.";
            (StatusCode::CONFLICT, "pending_trust", hint)
        }
        Problem::NotPermitted => (StatusCode::FORBIDDEN, "not_permitted", &*finding.advice),
        Problem::Disabled => (StatusCode::CONFLICT, "disabled", "Switch it on first."),
        Problem::BadConfig => (StatusCode::CONFLICT, "bad_config", &*finding.advice),
        Problem::MissingValue => (StatusCode::CONFLICT, "missing_value", &*finding.advice),
        Problem::AuthNeeded | Problem::WrongKey => {
            (StatusCode::CONFLICT, "needs_auth", &*finding.advice)
        }
        Problem::Refused => (StatusCode::BAD_GATEWAY, "refused", &*finding.advice),
        _ => (StatusCode::BAD_GATEWAY, "unreachable", &*finding.advice),
    };
    let details = json!({ "problem": finding.problem.as_str() });
    let error = ApiError::new(status, code, message).with_hint(hint);
    error.with_details(details)
}

async fn list(State(app): State<App>, User(user): User) -> Result<Json<Value>, ApiError> {
    let crew = app.fleet.crew(&user);
    let mut items = Vec::new();
    for row in app.store.servers(&user).await? {
        items.push(crew.shown(&row).await?);
    }
    Ok(Json(json!({ "items": items, "next": null })))
}

async fn show(Member { crew, row }: Member) -> Result<Json<Value>, ApiError> {
    Ok(Json(crew.shown(&row).await?))
}

/// A body that has been read as JSON already, as one of its shapes.
fn read<T: DeserializeOwned>(body: Value) -> Result<T, ApiError> {
    serde_json::from_value(body)
        .map_err(|error| ApiError::bad_request(format!("the body cannot be read: {error}")))
}

async fn add(
    State(app): State<App>,
    User(user): User,
    Body(new): Body<Value>,
) -> Result<(StatusCode, Json<Value>), ApiError> {
    if new.get("paste").is_some() {
        return pasted(&app, &user, read(new)?).await;
    }
    let draft: Draft = read(new)?;
    let rows = app.store.servers(&user).await?;
    // The draft says what it is.
    let mut row = Server::new(user.clone(), "", ServerKind::Auto);
    row.sort = next_place(&rows);
    draft.apply(&mut row).await?;
    let crew = app.fleet.crew(&user);
    store(&crew, &row, &rows).await?;
    Ok((StatusCode::CREATED, Json(crew.shown(&row).await?)))
}

/// A text with servers in the words of another program.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Pasted {
    paste: String,
    /// Whether values that are no references may be kept readable in the store.
    #[serde(default)]
    plain_values: bool,
}

/// Takes over what is good of a pasted text. What is not stops nothing else.
async fn pasted(
    app: &App,
    user: &UserId,
    said: Pasted,
) -> Result<(StatusCode, Json<Value>), ApiError> {
    let rows = app.store.servers(user).await?;
    let mut plan = Plan::of(user);
    plan.paste(&said.paste, &rows);
    let fresh = |state| matches!(state, Compared::New | Compared::NeedsInput);
    let crew = app.fleet.crew(user);
    let problem = |name: &str, message: &str| json!({ "name": name, "message": message });
    let problems = plan.problems.iter();
    let mut problems: Vec<Value> = problems.map(|(name, text)| problem(name, text)).collect();
    let mut items = Vec::new();
    let mut refused = None;
    // The same rule as for a server whose fields are filled in.
    let keeping = match said.plain_values {
        true => Keeping::Plain,
        false => Keeping::Keyring,
    };
    let wanted = plan.items.iter().filter(|item| fresh(item.state));
    let taken = take_over(wanted, &rows, keeping).await;
    for (name, failure) in &taken.refused {
        let hint = format!(
            "{}. Write \"env:NAME\" in place of the value, or agree that it is kept readable.",
            failure.chain()
        );
        problems.push(problem(name, &hint));
    }
    for row in &taken.rows {
        if let Some(objection) = crew.host().objection(row) {
            problems.push(problem(&row.name, &objection.message));
            refused = Some(refusal(row, &objection));
            continue;
        }
        let put = vec![Change::PutServer(Box::new(row.clone()))];
        match crew.commit(row, put).await {
            Ok(()) => items.push(crew.shown(row).await?),
            Err(error) => problems.push(problem(&row.name, &error.to_string())),
        }
    }
    if let (Some(refusal), true) = (refused, items.is_empty()) {
        return Err(refusal);
    }
    for item in plan.items.iter().filter(|item| !fresh(item.state)) {
        let message = match item.state {
            Compared::Same => "it is there already",
            _ => "there is another server of this name: rename or remove one of them",
        };
        problems.push(problem(&item.row.name, message));
    }
    let told = json!({ "items": items, "problems": problems, "notices": [] });
    Ok((StatusCode::OK, Json(told)))
}

async fn change(
    State(app): State<App>,
    Member { crew, mut row }: Member,
    Body(draft): Body<Draft>,
) -> Result<Json<Value>, ApiError> {
    let old = row.name.clone();
    draft.apply(&mut row).await?;
    store(&crew, &row, &app.store.servers(&row.user_id).await?).await?;
    crew.changed(&old, &row).await;
    Ok(Json(crew.shown(&row).await?))
}

/// Stores a server whose name is free, and tells of it.
async fn store(crew: &Crew, row: &Server, rows: &[Server]) -> Result<(), ApiError> {
    let taken = || {
        let message = format!("there is a server {:?} already", row.name);
        let error = ApiError::conflict("name_taken", message).at("name");
        error.with_hint("Take another name.")
    };
    if let Some(objection) = crew.host().objection(row) {
        return Err(refusal(row, &objection));
    }
    let same = |other: &Server| other.name == row.name && other.id != row.id;
    if rows.iter().any(same) {
        return Err(taken());
    }
    let mut put = vec![Change::PutServer(Box::new(row.clone()))];
    put.extend(auto_approved(row, crew.manager()));
    match crew.commit(row, put).await {
        Ok(()) => Ok(()),
        // Somebody else was a moment earlier.
        Err(StoreError::Conflict { .. }) => Err(taken()),
        Err(error) => Err(error.into()),
    }
}

async fn remove(
    State(app): State<App>,
    Member { crew, row }: Member,
) -> Result<StatusCode, ApiError> {
    crew.disconnect(&row).await;
    // A login that cannot be forgotten must not keep the server.
    let forgotten = log_out(&row, crew.host()).await;
    // Another server of this name begins with a log of its own; without that it begins with more.
    let _ = ServerLog::of(&row.user_id, &row.name).remove();
    let changes = vec![
        event(&row.user_id, "server.deleted", json!({ "id": row.id })),
        Change::DeleteServer(row.user_id, row.id),
    ];
    app.store.commit(changes).await?;
    forgotten?;
    Ok(StatusCode::NO_CONTENT)
}
