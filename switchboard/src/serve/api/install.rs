//! Installing and updating servers. What would be done is shown first.

use std::collections::BTreeMap;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use futures_util::StreamExt as _;
use mcp_config::Input;
use serde::Deserialize;
use serde_json::{Value, json};

use super::servers::{contain, refusal};
use crate::serve::app::App;
use crate::serve::error::ApiError;
use crate::serve::extractor::OwnedServer;
use crate::serve::input::{Body, User, present};
use crate::serve::routes::Routes;
use crate::serve::server_pool::UserServers;
use crate::servers::install::{
    Answers, Difference, Download, Finder, Found, Plan, Registry, Source, Standing, apply, check,
    default_values, merged, shown_kind, standing, stored_answers,
};
use crate::servers::sandbox::not_contained;
use crate::servers::{Host, PlainSecrets, next_place, shown_url};
use crate::store::{Change, Installed, Server, StoredValue, UserId};

/// The largest request: a bundle of 48 MiB.
const LARGEST: usize = 64 << 20;
/// How many servers are looked up at once.
const AT_ONCE: usize = 8;

pub(super) fn routes() -> Routes {
    Routes::new()
        .post_up_to(LARGEST, "/api/mcp-servers/install", install)
        .get("/api/mcp-servers/outdated", outdated)
        .post("/api/mcp-servers/{id}/update", update)
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
struct Wanted {
    what: Option<String>,
    server_json: Option<String>,
    bundle: Option<String>,
    package: Option<String>,
    name: Option<String>,
    inputs: BTreeMap<String, Vec<String>>,
    #[serde(deserialize_with = "present")]
    sandbox: Option<Option<Value>>,
    plain_values: bool,
    apply: bool,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
struct Renewed {
    inputs: BTreeMap<String, Vec<String>>,
    plain_values: bool,
    apply: bool,
}

/// What was found, and what would be done.
#[derive(Default)]
struct Shown {
    asks: Vec<Value>,
    problem: Option<String>,
    plan: Value,
    changes: Vec<Difference>,
    server: Value,
}

impl Shown {
    fn json(self, state: &str) -> Json<Value> {
        let changes = self.changes.iter();
        let changes =
            changes.map(|it| json!({"what": it.what, "before": it.before, "after": it.after}));
        Json(json!({
            "state": state,
            "asks": self.asks,
            "problem": self.problem,
            "plan": self.plan,
            "changes": changes.collect::<Vec<_>>(),
            "server": self.server,
        }))
    }
}

async fn install(
    State(app): State<App>,
    User(user): User,
    Body(wanted): Body<Wanted>,
) -> Result<(StatusCode, Json<Value>), ApiError> {
    let user_servers = app.server_pool.user_servers(&user);
    let found = find(&user, &user_servers, &wanted).await?;
    let answers = read(&found.inputs, &wanted.inputs)?;
    let mut shown = Shown {
        asks: found.inputs.iter().map(ask).collect(),
        ..Shown::default()
    };
    let rows = app.store.servers(&user).await?;
    let planned = Plan::new(found, wanted.name.as_deref(), &answers, &rows, None, &user);
    let mut plan = match planned {
        Ok(plan) => plan,
        Err(failure) if wanted.apply => return Err(ApiError::unfit_for(failure)),
        Err(failure) => {
            shown.problem = Some(failure.chain());
            return Ok((StatusCode::OK, shown.json("planned")));
        }
    };
    if let Some(said) = wanted.sandbox {
        contain(&mut plan.row, said).map_err(|why| ApiError::unfit(why).at("sandbox"))?;
    }
    plan.row.sort = next_place(&rows);
    if let Some(objection) = user_servers.host().objection(&plan.row) {
        return Err(refusal(&plan.row, &objection));
    }
    shown.plan = to_json(&plan);
    if !wanted.apply {
        return Ok((StatusCode::OK, shown.json("planned")));
    }
    let id = plan.row.id.clone();
    let plain = PlainSecrets::allowed_if(wanted.plain_values);
    let commit = async |row: Server| {
        let put = vec![Change::PutServer(Box::new(row.clone()))];
        Ok::<_, ApiError>(user_servers.commit(&row, put).await?)
    };
    apply(plan, &app.database, &rows, plain, commit).await?;
    let row = app.store.server(&user, &id).await?;
    if let Some(row) = row {
        shown.server = user_servers.shown(&row).await?;
    }
    Ok((StatusCode::CREATED, shown.json("installed")))
}

/// What is to be installed. Users who may not use this machine install no programs on it.
async fn find(
    user: &UserId,
    user_servers: &UserServers,
    wanted: &Wanted,
) -> Result<Found, ApiError> {
    let is_guest = user_servers.host() == Host::Forbidden;
    let kind = match is_guest {
        true => Some("remote"),
        false => wanted.package.as_deref(),
    };
    let finder = finder(user_servers, None)?;
    match (&wanted.what, &wanted.server_json, &wanted.bundle) {
        (Some(what), None, None) => match Source::of(what).map_err(ApiError::unfit_for)? {
            // Files of this machine are not the page's to name.
            Source::Bundle(_) | Source::Description(_) => {
                Err(ApiError::unfit("a file is sent, and not named").at("what"))
            }
            source => Ok(finder.find(&source, kind).await?),
        },
        (None, Some(text), None) => Ok(finder.of_text(text, kind).await?),
        (None, None, Some(_)) if is_guest => {
            let message = "a bundle is a program for this machine";
            Err(ApiError::not_permitted(message, user.as_str()))
        }
        (None, None, Some(encoded)) => {
            let bytes = STANDARD.decode(encoded);
            let bytes = bytes.map_err(|_| ApiError::unfit("it is no Base64").at("bundle"))?;
            Ok(Download::of(bytes).await?)
        }
        _ => Err(ApiError::unfit("it is one of what, serverJson and bundle")),
    }
}

/// Looks things up where the user's requests may go.
fn finder(user_servers: &UserServers, base: Option<&str>) -> Result<Finder, ApiError> {
    let registry = Registry::at(base);
    let network = user_servers.network().of(registry.base());
    Ok(Finder::new(registry, network)?)
}

/// The answers of a request.
fn read(inputs: &[Input], said: &BTreeMap<String, Vec<String>>) -> Result<Answers, ApiError> {
    let mut answers = Answers::new();
    for (id, texts) in said {
        let input = inputs.iter().find(|input| input.id == *id);
        let texts = texts.iter().filter(|text| !text.trim().is_empty());
        let mut values: Vec<StoredValue> = Vec::new();
        for text in texts {
            values.push(match input {
                Some(input) => check(input, text, None).map_err(|why| {
                    ApiError::unfit(format!("{id}: {why}")).at(&format!("inputs.{id}"))
                })?,
                None => StoredValue::Plain(text.clone()),
            });
        }
        let most = if input.is_some_and(|input| input.multiple) {
            50
        } else {
            1
        };
        if values.len() > most {
            return Err(ApiError::unfit(format!("{id} takes {most} values at most")));
        }
        if !values.is_empty() {
            answers.insert(id.clone(), values);
        }
    }
    Ok(answers)
}

async fn outdated(State(app): State<App>, User(user): User) -> Result<Json<Value>, ApiError> {
    let user_servers = app.server_pool.user_servers(&user);
    let rows = app.store.servers(&user).await?;
    let installed = rows.into_iter().filter(|row| row.installed.is_some());
    let looked_up = installed.map(|row| one(&user_servers, row));
    let items: Vec<Value> = futures_util::stream::iter(looked_up)
        .buffered(AT_ONCE)
        .collect()
        .await;
    Ok(Json(json!({ "items": items, "next": null })))
}

/// How one server compares with its registry.
async fn one(user_servers: &UserServers, row: Server) -> Value {
    let installed = row.installed.unwrap_or_default();
    let found = match finder(user_servers, installed.registry.as_deref()) {
        Ok(finder) => standing(&finder, &installed)
            .await
            .map_err(|failure| failure.chain()),
        Err(error) => Err(error.to_string()),
    };
    let (state, latest) = match &found {
        Ok(standing) => said(standing),
        Err(_) => ("unreachable", None),
    };
    json!({
        "id": row.id,
        "name": row.name,
        "version": installed.version,
        "latest": latest,
        "state": state,
        "problem": found.err(),
    })
}

fn said(standing: &Standing) -> (&'static str, Option<&String>) {
    match standing {
        Standing::Current => ("current", None),
        Standing::Outdated(latest) => ("outdated", Some(latest)),
        Standing::Withdrawn(latest) => ("withdrawn", Some(latest)),
        Standing::Gone => ("gone", None),
        Standing::Unknown => ("unknown", None),
    }
}

async fn update(
    State(app): State<App>,
    OwnedServer { user_servers, row }: OwnedServer,
    Body(wanted): Body<Renewed>,
) -> Result<Json<Value>, ApiError> {
    let Some(Installed {
        name,
        kind,
        registry,
        ..
    }) = row.installed.clone()
    else {
        return Err(ApiError::conflict(
            "not_installed",
            "it was not installed from anywhere",
        ));
    };
    let finder = finder(&user_servers, registry.as_deref())?;
    let installed = row.installed.clone().unwrap_or_default();
    let version = match standing(&finder, &installed).await? {
        Standing::Outdated(version) => version,
        other => return Ok(Shown::default().json(said(&other).0)),
    };
    let source = Source::Registry {
        name,
        version: Some(version),
    };
    let found = finder.find(&source, Some(&kind)).await?;
    let mut answers = stored_answers(&row);
    answers.retain(|id, _| found.inputs.iter().any(|input| input.id == *id));
    answers.extend(read(&found.inputs, &wanted.inputs)?);
    let open = found
        .inputs
        .iter()
        .filter(|input| !answers.contains_key(&input.id));
    let mut shown = Shown {
        asks: open.map(ask).collect(),
        ..Shown::default()
    };
    let rows = app.store.servers(&row.user_id).await?;
    let plan = match Plan::new(found, None, &answers, &rows, Some(&row), &row.user_id) {
        Ok(plan) => plan,
        Err(failure) if wanted.apply => return Err(ApiError::unfit_for(failure)),
        Err(failure) => {
            shown.problem = Some(failure.chain());
            return Ok(shown.json("outdated"));
        }
    };
    if let Some(objection) = user_servers.host().objection(&plan.row) {
        return Err(refusal(&plan.row, &objection));
    }
    let tools = app.store.server_tools(&row.id).await?;
    let tools: Vec<String> = tools.into_iter().map(|tool| tool.name).collect();
    shown.changes = plan.differences(&row, &tools);
    shown.plan = to_json(&plan);
    if !wanted.apply {
        return Ok(shown.json("outdated"));
    }
    let plain = PlainSecrets::allowed_if(wanted.plain_values);
    let commit = async |planned: Server| {
        let planned = &planned;
        let changed = user_servers.update(row.clone(), |now| async move {
            Ok((merged(&now, planned.clone()), Vec::new()))
        });
        changed.await.map(drop)
    };
    apply(plan, &app.database, &rows, plain, commit).await?;
    if let Some(row) = app.store.server(&row.user_id, &row.id).await? {
        shown.server = user_servers.shown(&row).await?;
    }
    Ok(shown.json("updated"))
}

fn ask(input: &Input) -> Value {
    let defaults = default_values(input).into_iter().map(|value| match value {
        StoredValue::Plain(text) => text,
        reference => reference.to_string(),
    });
    json!({
        "id": input.id,
        "text": input.description.as_deref().unwrap_or(&input.id),
        "kind": shown_kind(input.kind),
        "required": input.required,
        "multiple": input.multiple,
        "secret": input.password,
        "options": input.options,
        "defaults": defaults.collect::<Vec<_>>(),
        "min": input.min,
        "max": input.max,
    })
}

fn to_json(plan: &Plan) -> Value {
    let command = match plan.row.base_url {
        Some(_) => shown_url(&plan.command),
        None => plan.command.clone(),
    };
    let values: BTreeMap<&String, &String> =
        plan.values.iter().map(|(name, it)| (name, it)).collect();
    json!({
        "name": plan.row.name,
        "description": plan.description(),
        "from": plan.row.installed,
        "command": command,
        "values": values,
        "files": plan.files.as_ref().map(|(count, bytes, folder)| {
            json!({"count": count, "bytes": bytes, "folder": folder})
        }),
        "tools": plan.tools,
        "sandbox": plan.row.sandbox,
        "notContained": plan.row.sandbox.as_ref().map(not_contained).unwrap_or_default(),
        "notes": plan.notes,
    })
}
