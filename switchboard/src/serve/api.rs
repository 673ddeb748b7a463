//! The REST API: a file a resource.

mod health;

use axum::Router;
use axum::middleware::from_fn_with_state;

use crate::serve::app::App;
use crate::serve::routes::Routes;
use crate::serve::{guard, openapi, page};

/// Everything that is served, behind the guard.
pub(crate) fn router(app: App) -> Router {
    routes()
        .into_router()
        .fallback_service(axum::routing::get(page::file).with_state(()))
        .layer(from_fn_with_state(app.clone(), guard::guard))
        .with_state(app)
}

/// The routes of all resources.
pub(crate) fn routes() -> Routes {
    Routes::new()
        .get("/api/openapi.json", openapi::document)
        .merge(health::routes())
}
