//! A user's servers.

mod draft;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use parking_lot::Mutex;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::serve::app::App;
use crate::serve::error::ApiError;
use crate::serve::extractor::OwnedServer;
use crate::serve::input::{Body, User};
use crate::serve::routes::Routes;
use crate::serve::server_pool::{UserServers, event};
use crate::servers::doctor::{Finding, Problem};
use crate::servers::import::{Plan, Refused, State as Compared, take_over};
use crate::servers::install::remove_bundle;
use crate::servers::sandbox::remove_folder;
use crate::servers::suggest::suggest;
use crate::servers::{
    PlainSecrets, ServerLog, auto_approved, follow_shared, forget_unused, is_built_in, log_out,
    next_place,
};
use crate::store::{Change, Server, ServerKind, StoreError, Trust, UserId};
use draft::Draft;
pub(super) use draft::contain;

/// The largest text that can be pasted.
const PASTED: usize = 4 << 20;

pub(super) fn routes() -> Routes {
    Routes::new()
        .get("/api/mcp-servers", list)
        .post_up_to(PASTED, "/api/mcp-servers", add)
        .get("/api/mcp-servers/known", known)
        .get("/api/suggestions", suggestions)
        .get("/api/mcp-servers/{id}", show)
        .put("/api/mcp-servers/{id}", change)
        .delete("/api/mcp-servers/{id}", remove)
}

/// What is wrong with a server, as the reason why something was not done.
pub(super) fn refusal(row: &Server, finding: &Finding) -> ApiError {
    let message = format!("server {:?}: {}", row.name, finding.message);
    let (status, code, hint) = match finding.problem {
        Problem::Pending => {
            let hint = "Review what it runs, then approve it.";
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
    follow_shared(&*app.store, &user).await?;
    let user_servers = app.server_pool.user_servers(&user);
    let mut items = Vec::new();
    for row in app.server_pool.servers(&user).await? {
        items.push(user_servers.shown(&row).await?);
    }
    Ok(Json(json!({ "items": items, "next": null })))
}

/// Well-known servers, to choose from.
async fn known() -> Result<Json<Value>, ApiError> {
    let items: Value = serde_json::from_str(include_str!("../../servers/known.json"))
        .map_err(|error| ApiError::unfit(error.to_string()))?;
    Ok(Json(json!({ "items": items, "next": null })))
}

/// What could be asked, by the tools and prompts there are.
async fn suggestions(State(app): State<App>, User(user): User) -> Result<Json<Value>, ApiError> {
    let user_servers = app.server_pool.user_servers(&user);
    let mut offered = Vec::new();
    for row in app.server_pool.servers(&user).await? {
        if row.is_active && row.trust != Trust::Pending {
            let its = user_servers.suggested(&row).await?;
            offered.push((row.name, its));
        }
    }
    Ok(Json(json!({ "items": suggest(offered), "next": null })))
}

async fn show(OwnedServer { user_servers, row }: OwnedServer) -> Result<Json<Value>, ApiError> {
    Ok(Json(user_servers.shown(&row).await?))
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
    let user_servers = app.server_pool.user_servers(&user);
    if let Err(error) = store(&user_servers, &row, &rows).await {
        forget_unused(&row, None).await?;
        return Err(error);
    }
    Ok((StatusCode::CREATED, Json(user_servers.shown(&row).await?)))
}

/// A pasted text with servers in another program's format.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Pasted {
    paste: String,
    /// Whether secrets may be stored as plain text.
    #[serde(default)]
    plain_values: bool,
}

/// Imports the valid servers of a pasted text, and reports the others.
async fn pasted(
    app: &App,
    user: &UserId,
    said: Pasted,
) -> Result<(StatusCode, Json<Value>), ApiError> {
    let rows = app.store.servers(user).await?;
    let mut plan = Plan::of(user);
    plan.paste(&said.paste, &rows);
    let fresh = |state| matches!(state, Compared::New | Compared::NeedsInput);
    let user_servers = app.server_pool.user_servers(user);
    let problem = |name: &str, message: &str| json!({ "name": name, "message": message });
    let problems = plan.problems.iter();
    let mut problems: Vec<Value> = problems.map(|(name, text)| problem(name, text)).collect();
    let mut items = Vec::new();
    let mut refused = None;
    let plain = PlainSecrets::allowed_if(said.plain_values);
    let wanted = plan.items.iter().filter(|item| fresh(item.state));
    let taken = take_over(wanted, &rows, plain).await;
    for Refused { name, why, .. } in &taken.refused {
        let hint = format!(
            "{}. Write \"env:NAME\" in place of the value, or allow it to be stored as plain text.",
            why.chain()
        );
        problems.push(problem(name, &hint));
    }
    for row in &taken.rows {
        if let Some(objection) = user_servers.host().objection(row) {
            problems.push(problem(&row.name, &objection.message));
            refused = Some(refusal(row, &objection));
            continue;
        }
        let put = vec![Change::PutServer(Box::new(row.clone()))];
        match user_servers.commit(row, put).await {
            Ok(()) => items.push(user_servers.shown(row).await?),
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
    let reply = json!({ "items": items, "problems": problems });
    Ok((StatusCode::OK, Json(reply)))
}

async fn change(
    State(app): State<App>,
    OwnedServer { user_servers, row }: OwnedServer,
    Body(draft): Body<Draft>,
) -> Result<Json<Value>, ApiError> {
    let (app, servers, draft) = (&app, &user_servers, &draft);
    let tried = &Mutex::new(None);
    let changed = servers.update(row, |before| async move {
        let mut row = before.clone();
        draft.clone().apply(&mut row).await?;
        *tried.lock() = Some((row.clone(), before));
        acceptable(servers, &row, &app.store.servers(&row.user_id).await?)?;
        let changes = auto_approved(&row, servers.manager());
        Ok((row, changes))
    });
    let changed = match changed.await {
        Ok(changed) => changed,
        Err(error) => {
            let tried = tried.lock().take();
            if let Some((row, before)) = tried {
                forget_unused(&row, Some(&before)).await?;
            }
            return Err(error);
        }
    };
    forget_unused(&changed.before, Some(&changed.row)).await?;
    Ok(Json(user_servers.shown(&changed.row).await?))
}

fn taken(row: &Server) -> ApiError {
    let message = format!("there is a server {:?} already", row.name);
    let error = ApiError::conflict("name_taken", message).at("name");
    error.with_hint("Take another name.")
}

/// Whether the user may have such a server, and its name is free.
fn acceptable(user_servers: &UserServers, row: &Server, rows: &[Server]) -> Result<(), ApiError> {
    if let Some(objection) = user_servers.host().objection(row) {
        return Err(refusal(row, &objection));
    }
    let same = |other: &Server| other.name == row.name && other.id != row.id;
    match rows.iter().any(same) {
        true => Err(taken(row)),
        false => Ok(()),
    }
}

/// Adds a server whose name is free, with an event.
async fn store(user_servers: &UserServers, row: &Server, rows: &[Server]) -> Result<(), ApiError> {
    acceptable(user_servers, row, rows)?;
    let mut put = vec![Change::PutServer(Box::new(row.clone()))];
    put.extend(auto_approved(row, user_servers.manager()));
    match user_servers.commit(row, put).await {
        Ok(()) => Ok(()),
        // Another request was faster.
        Err(StoreError::Conflict { .. }) => Err(taken(row)),
        Err(error) => Err(error.into()),
    }
}

async fn remove(
    State(app): State<App>,
    OwnedServer { user_servers, row }: OwnedServer,
) -> Result<StatusCode, ApiError> {
    if is_built_in(&row) {
        let message = "the demo server is built in, and not stored";
        let error = ApiError::conflict("built_in", message);
        return Err(error.with_hint("Switch it off, add a server of yours, or choose a model."));
    }
    user_servers.disconnect(&row).await;
    // A failed logout must not keep the server.
    let forgotten = log_out(&row, (user_servers.host(), user_servers.network())).await;
    // A failure here is harmless.
    let _ = ServerLog::of(&row).remove();
    let _ = remove_folder(&row);
    let _ = remove_bundle(&row);
    let changes = vec![
        event(&row.user_id, "server.deleted", json!({ "id": row.id })),
        Change::DeleteServer(row.user_id.clone(), row.id.clone()),
    ];
    app.store.commit(changes).await?;
    forget_unused(&row, None).await?;
    forgotten?;
    Ok(StatusCode::NO_CONTENT)
}
