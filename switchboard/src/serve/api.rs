//! The REST API, one file per resource.

mod approvals;
mod assistants;
mod connection;
mod conversations;
mod elicitations;
mod gateway;
mod health;
mod import;
mod install;
mod login;
mod messages;
mod models;
mod resources;
mod servers;
mod settings;
mod shared_servers;
mod skills;
mod token;
mod tokens;
mod tools;
mod usage;
mod users;

use axum::Router;
use axum::middleware::from_fn_with_state;

use crate::serve::app::App;
use crate::serve::routes::Routes;
use crate::serve::{events, guard, openapi, operate, page};

/// Everything that is served, behind the guard.
pub(crate) fn router(app: App) -> Router {
    routes()
        .into_router()
        .merge(operate::routes())
        .fallback_service(axum::routing::get(page::file).with_state(()))
        .layer(from_fn_with_state(app.clone(), guard::guard))
        .layer(from_fn_with_state(app.clone(), operate::count))
        .with_state(app)
}

/// The routes of all resources.
pub(crate) fn routes() -> Routes {
    Routes::new()
        .get("/api/openapi.json", openapi::document)
        .get("/api/events", events::events)
        .merge(health::routes())
        .merge(token::routes())
        .merge(login::routes())
        .merge(tokens::routes())
        .merge(users::routes())
        .merge(shared_servers::routes())
        .merge(servers::routes())
        .merge(connection::routes())
        .merge(tools::routes())
        .merge(resources::routes())
        .merge(skills::routes())
        .merge(import::routes())
        .merge(install::routes())
        .merge(assistants::routes())
        .merge(settings::routes())
        .merge(models::routes())
        .merge(usage::routes())
        .merge(approvals::routes())
        .merge(conversations::routes())
        .merge(messages::routes())
        .merge(elicitations::routes())
        .merge(gateway::routes())
}
