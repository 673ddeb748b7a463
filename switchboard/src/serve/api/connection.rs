//! Connecting, testing, logging in to, and reading the log of a server.

use std::time::Duration;

use axum::Json;
use axum::extract::{RawQuery, State};
use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse as _, Response};
use mcp_manager::NoopElicitation;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::exit::{Exit, Failure};
use crate::serve::api::login::redirect;
use crate::serve::api::servers::refusal;
use crate::serve::app::App;
use crate::serve::callbacks::CALLBACK;
use crate::serve::cookie::{self, Cookie};
use crate::serve::error::ApiError;
use crate::serve::extractor::{Owned, OwnedServer};
use crate::serve::input::{Client, Params};
use crate::serve::routes::Routes;
use crate::servers::doctor::{Examination, Finding, Problem, trial};
use crate::servers::{LOGIN_TIMEOUT, ServerLog, on_this_machine, one_off, pending};
use crate::store::{Server, ServerKind, StoreError, Trust};
use crate::token::fresh;

/// Slower startups are reported.
const SLOW: Duration = Duration::from_secs(5);
/// How many lines of a log are shown, unless another number is asked for.
const LINES: usize = 200;
/// The most lines of a log that are shown.
const MAX_LINES: usize = 5000;

pub(super) fn routes() -> Routes {
    Routes::new()
        .post("/api/mcp-servers/{id}/connect", connect)
        .post("/api/mcp-servers/{id}/disconnect", disconnect)
        .post("/api/mcp-servers/{id}/test", test)
        .post("/api/mcp-servers/{id}/login", log_in)
        .get(CALLBACK, logged_in)
        .post("/api/mcp-servers/{id}/logout", log_out)
        .get("/api/mcp-servers/{id}/logs", logs)
}

/// Returns the server's new state, connected or not.
async fn connect(OwnedServer { user_servers, row }: OwnedServer) -> Result<Json<Value>, ApiError> {
    match user_servers.connect(&row).await {
        Err(finding) if is_decided(&finding) => Err(refusal(&row, &finding)),
        // The server's state shows the reason.
        _ => Ok(Json(user_servers.shown(&row).await?)),
    }
}

/// Whether people decided that the server is not to be used.
fn is_decided(finding: &Finding) -> bool {
    use Problem::{Disabled, NotPermitted, Pending};
    matches!(finding.problem, Disabled | NotPermitted | Pending)
}

async fn disconnect(
    OwnedServer { user_servers, row }: OwnedServer,
) -> Result<Json<Value>, ApiError> {
    user_servers.disconnect(&row).await;
    Ok(Json(user_servers.shown(&row).await?))
}

/// Tests a server without disturbing its users. A disabled server may be tested; one that was not
/// approved may not.
async fn test(OwnedServer { user_servers, row }: OwnedServer) -> Result<Json<Value>, ApiError> {
    if row.trust == Trust::Pending {
        return Err(refusal(&row, &pending(&row)));
    }
    let examination = match user_servers.reach(&row).await {
        Err(finding) if is_decided(&finding) => return Err(refusal(&row, &finding)),
        Ok(config) => {
            let manager = one_off(&row.user_id, NoopElicitation, user_servers.network());
            trial(&row.user_id, manager, config.enabled(), SLOW).await
        }
        Err(finding) => Examination::failed(&row.name, finding),
    };
    user_servers.tried(&row, &examination).await?;
    Ok(Json(tested(&row, &examination)))
}

fn tested(row: &Server, examination: &Examination) -> Value {
    let seen = examination.seen.as_ref();
    let findings = examination.findings.iter().map(Finding::to_json);
    json!({
        "ok": seen.is_some(),
        "server": row.name,
        "findings": findings.collect::<Vec<_>>(),
        "tools": seen.map(|seen| seen.tools),
        "prompts": seen.map(|seen| seen.prompts),
        "resources": seen.map(|seen| seen.resources),
        "tokens": seen.map(|seen| seen.tokens),
        "callsItself": seen.and_then(|seen| seen.calls_itself.as_deref()),
        "era": seen.and_then(|seen| seen.revision),
        "transport": seen.and_then(|seen| seen.transport),
        "tookMs": seen.map(|seen| seen.took.as_millis() as u64),
    })
}

/// Returns the login page; `null` if no login is needed. The server is connected once the login is
/// done: by this machine's browser, or by the one that asks, where others can reach this program.
async fn log_in(
    State(app): State<App>,
    headers: HeaderMap,
    OwnedServer { user_servers, row }: OwnedServer,
) -> Result<Response, ApiError> {
    if row.kind == ServerKind::Stdio {
        let message = format!("server {:?} is a program: it has no login", row.name);
        return Err(ApiError::unfit(message).with_hint("Programs get their keys by variables."));
    }
    let refused = |finding: Finding| refusal(&row, &finding);
    if !app.reach.is_public() {
        let url = user_servers.log_in(&row, on_this_machine).await;
        return Ok(Json(json!({ "url": url.map_err(refused)? })).into_response());
    }
    // A browser may have several logins under way.
    let browser = match cookie::read(&headers, Cookie::ServerLogin.name(app.logins.is_secure)) {
        Some(browser) => browser,
        None => fresh().map_err(|error| StoreError::Failed(error.into()))?,
    };
    let authorizer = app.callbacks.authorizer(&row.user_id, &browser);
    let url = user_servers.log_in(&row, authorizer).await;
    let mut response = Json(json!({ "url": url.map_err(refused)? })).into_response();
    let held = Cookie::ServerLogin.set(app.logins.is_secure, &browser, LOGIN_TIMEOUT);
    let held = held.map(|cookie| (header::SET_COOKIE, cookie));
    response.headers_mut().extend(held);
    Ok(response)
}

/// A login page has sent a browser back.
async fn logged_in(
    State(app): State<App>,
    Client(from): Client,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    let counted = app.rates.count_login(from);
    counted.map_err(ApiError::rate_limited)?;
    let browser = cookie::read(&headers, Cookie::ServerLogin.name(app.logins.is_secure));
    let query = query.unwrap_or_default();
    Ok(match app.callbacks.came_back(&query, browser).await? {
        Ok(()) => redirect("/#/servers", None),
        Err(code) => redirect(&format!("/#problem={code}"), None),
    })
}

async fn log_out(OwnedServer { user_servers, row }: OwnedServer) -> Result<Json<Value>, ApiError> {
    user_servers.log_out(&row).await?;
    Ok(Json(user_servers.shown(&row).await?))
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Wanted {
    lines: Option<usize>,
}

async fn logs(
    Owned(row): Owned<Server>,
    Params(wanted): Params<Wanted>,
) -> Result<Json<Value>, ApiError> {
    let lines = wanted.lines.unwrap_or(LINES).min(MAX_LINES);
    let log = ServerLog::of(&row);
    let read = tokio::task::spawn_blocking(move || log.tail(lines)).await;
    let read = read.unwrap_or_else(|error| Err(std::io::Error::other(error)));
    let read = read.map_err(|error| {
        let text = format!("the log of {} cannot be read", row.name);
        Failure::new(Exit::Other, text).caused_by(error)
    })?;
    Ok(Json(json!({ "lines": read.unwrap_or_default() })))
}
