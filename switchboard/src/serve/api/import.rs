//! Servers from other programs, and for them.

use axum::Json;
use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse as _, Response};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::import::{Item, Plan, State as Compared, take_over, usual};
use crate::serve::app::App;
use crate::serve::error::ApiError;
use crate::serve::input::{Body, Params, User};
use crate::serve::routes::Routes;
use crate::servers::{Host, Keeping, Program, export, shown_url};
use crate::store::{Change, Server, StoredValue};

pub(super) fn routes() -> Routes {
    Routes::new()
        .post("/api/mcp-servers/import", import)
        .get("/api/mcp-servers/export", file)
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Wishes {
    /// Whether to take over what is shown.
    #[serde(default)]
    apply: bool,
    /// These only; all that are new if none are named. Whoever names one that differs from a
    /// stored one replaces that.
    names: Option<Vec<String>>,
}

/// Shows the servers of the other programs on this machine, and takes them over if it is told to.
async fn import(
    State(app): State<App>,
    User(user): User,
    Body(wishes): Body<Wishes>,
) -> Result<Json<Value>, ApiError> {
    if app.fleet.host(&user) == Host::Forbidden {
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
    let mut notices = Vec::new();
    if wishes.apply {
        let wanted = |item: &&Item| match (&wishes.names, item.state) {
            (_, Compared::Same) => false,
            (Some(names), _) => names.contains(&item.row.name),
            (None, state) => state != Compared::Conflict,
        };
        let taken = take_over(
            plan.items.iter().filter(wanted),
            &stored,
            Keeping::KeyringOrPlain,
        )
        .await;
        notices = taken.notices;
        let crew = app.fleet.crew(&user);
        for row in &taken.rows {
            let put = vec![Change::PutServer(Box::new(row.clone()))];
            crew.commit(row, put).await?;
            crew.changed(&row.name, row).await;
            imported.push(crew.shown(row).await?);
        }
    }
    let problems = plan.problems.iter();
    let problems = problems.map(|(file, text)| json!({ "source": file, "message": text }));
    Ok(Json(json!({
        "items": plan.items.iter().map(shown).collect::<Vec<_>>(),
        "problems": problems.collect::<Vec<_>>(),
        "imported": imported,
        "notices": notices,
    })))
}

fn shown(item: &Item) -> Value {
    json!({
        "name": item.row.name,
        "what": item.endpoint,
        "source": item.row.source,
        "state": item.state.as_str().replace(' ', "_"),
        "trust": item.row.trust,
        "problem": Some(&item.note).filter(|note| !note.is_empty()),
    })
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Wanted {
    to: Program,
}

/// The servers as a program's file. What is kept readable in the store is a variable in it.
async fn file(
    State(app): State<App>,
    User(user): User,
    Params(wanted): Params<Wanted>,
) -> Result<Response, ApiError> {
    let rows = app.store.servers(&user).await?;
    let rows: Vec<Server> = rows.into_iter().map(without_secrets).collect();
    let text = export(&rows, wanted.to).text;
    let (kind, name) = match wanted.to {
        Program::Codex => ("application/toml", "config.toml"),
        _ => ("application/json", "mcp.json"),
    };
    let headers = [
        (header::CONTENT_TYPE, kind.to_owned()),
        (
            header::CONTENT_DISPOSITION,
            format!("attachment; filename=\"{name}\""),
        ),
    ];
    Ok((headers, text).into_response())
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
    row.args = crate::serve::fleet::args(&row);
    row
}
