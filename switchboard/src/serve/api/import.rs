//! Servers from other programs, and for them.

use axum::Json;
use axum::extract::State;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::serve::app::App;
use crate::serve::error::ApiError;
use crate::serve::input::{Body, Params, User};
use crate::serve::routes::Routes;
use crate::servers::import::{Item, Plan, Refused, State as Compared, take_over, usual};
use crate::servers::{Exported, Host, PlainSecrets, Program, export, forget_unused, shown_url};
use crate::store::{Change, Server, StoredValue};

pub(super) fn routes() -> Routes {
    Routes::new()
        .post("/api/mcp-servers/import", import)
        .get("/api/mcp-servers/export", file)
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct ImportRequest {
    /// Whether to take over what is shown.
    #[serde(default)]
    apply: bool,
    /// Whether secrets may be stored as plain text.
    #[serde(default)]
    plain_values: bool,
    /// Import only these; all new ones by default. Choosing one that differs from a stored one
    /// replaces it.
    servers: Option<Vec<Chosen>>,
}

/// One of the servers that were listed.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Chosen {
    name: String,
    source: String,
}

impl Chosen {
    fn is(&self, item: &Item) -> bool {
        (self.name.as_str(), self.source.as_str()) == (item.row.name.as_str(), item.from.as_str())
    }
}

/// Lists the servers of the other programs on this machine, and takes them over if asked to.
async fn import(
    State(app): State<App>,
    User(user): User,
    Body(request): Body<ImportRequest>,
) -> Result<Json<Value>, ApiError> {
    if app.server_pool.host(&user) == Host::Forbidden {
        let message = "the other programs' files are read on this machine";
        return Err(ApiError::not_permitted(message, user.as_str()));
    }
    let stored = app.store.servers(&user).await?;
    let (whose, known) = (user.clone(), stored.clone());
    let plan = tokio::task::spawn_blocking(move || {
        let here = std::env::current_dir().unwrap_or_default();
        Plan::read(&whose, &usual(&here), &known)
    });
    let plan = plan.await.unwrap_or_else(|_| Plan::of(&user));
    let mut imported = Vec::new();
    let problem =
        |source: Option<&str>, message: &str| json!({ "source": source, "message": message });
    let problems = plan.problems.iter();
    let mut problems: Vec<Value> = problems
        .map(|(file, text)| problem(Some(file), text))
        .collect();
    if request.apply {
        let chosen = request.servers.iter().flatten();
        let gone = chosen.filter(|it| !plan.items.iter().any(|item| it.is(item)));
        problems.extend(gone.map(|it| {
            let message = format!("there is no server {} any more", it.name);
            problem(Some(&it.source), &message)
        }));
        let wanted = |item: &&Item| match (&request.servers, item.state) {
            (_, Compared::Same) => false,
            (Some(servers), _) => servers.iter().any(|it| it.is(item)),
            (None, state) => state != Compared::Conflict,
        };
        let plain = PlainSecrets::allowed_if(request.plain_values);
        let taken = take_over(plan.items.iter().filter(wanted), &stored, plain).await;
        for Refused { name, from, why } in &taken.refused {
            let message = format!("{name} was not imported: {}", why.chain());
            problems.push(problem(Some(from), &message));
        }
        let user_servers = app.server_pool.user_servers(&user);
        for row in &taken.rows {
            let put = vec![Change::PutServer(Box::new(row.clone()))];
            user_servers.commit(row, put).await?;
            user_servers.apply(&row.name, row).await;
            imported.push(user_servers.shown(row).await?);
            if let Some(before) = stored.iter().find(|other| other.id == row.id) {
                forget_unused(before, Some(row)).await?;
            }
        }
    }
    Ok(Json(json!({
        "items": plan.items.iter().map(shown).collect::<Vec<_>>(),
        "problems": problems,
        "imported": imported,
    })))
}

fn shown(item: &Item) -> Value {
    json!({
        "name": item.row.name,
        "what": item.endpoint,
        "source": item.from,
        "state": item.state.as_str().replace(' ', "_"),
        "trust": item.row.trust,
        "problem": Some(&item.note).filter(|note| !note.is_empty()),
    })
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ExportParams {
    to: Program,
}

/// The servers as a program's file, and what that file cannot express. A value that the store has
/// in plain text is a variable in it.
async fn file(
    State(app): State<App>,
    User(user): User,
    Params(params): Params<ExportParams>,
) -> Result<Json<Value>, ApiError> {
    let rows = app.store.servers(&user).await?;
    let rows: Vec<Server> = rows.into_iter().map(without_secrets).collect();
    let Exported {
        text,
        names,
        notices,
    } = export(&rows, params.to);
    Ok(Json(json!({
        "fileName": params.to.file_name(),
        "text": text,
        "servers": names,
        "notices": notices,
    })))
}

/// A server with a variable in place of each value that is kept in the store itself.
fn without_secrets(mut row: Server) -> Server {
    for (name, value) in row.env.iter_mut().chain(&mut row.headers) {
        if matches!(value, StoredValue::Plain(text) if !text.contains("${")) {
            let legal = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
            let variable = name.to_ascii_uppercase().chars().map(legal).collect();
            *value = StoredValue::Env(variable);
        }
    }
    row.base_url = row.base_url.as_deref().map(shown_url);
    row.args = crate::serve::server_pool::args(&row);
    row
}
