//! What operators and their tools look at: whether the program lives, whether it can serve, and
//! numbers in the text format of Prometheus.

use std::fmt::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use axum::extract::{MatchedPath, Request, State};
use axum::http::{StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use axum::{Json, Router, routing};
use serde_json::json;
use tokio::time::timeout;

use crate::serve::app::App;
use crate::store::statements;

/// Whether the program lives.
pub(crate) const HEALTH: &str = "/healthz";
/// Whether it can serve.
pub(crate) const READY: &str = "/readyz";
/// Numbers, which need a token.
pub(crate) const METRICS: &str = "/metrics";

/// How long the store may take before the program does not count as ready.
const STORE_TIME: Duration = Duration::from_secs(2);
const TEXT: &str = "text/plain; version=0.0.4; charset=utf-8";

/// What has happened since the program was started: a cheap clone.
#[derive(Clone, Debug, Default)]
pub(crate) struct Metrics {
    counts: Arc<Counts>,
}

#[derive(Debug, Default)]
struct Counts {
    /// Responses by the first digit of their status.
    responses: [AtomicU64; 5],
    /// Whether the program is stopping.
    draining: AtomicBool,
    taken_over: AtomicU64,
    sent: AtomicU64,
    received: AtomicU64,
}

impl Metrics {
    /// A response with this status.
    fn responded(&self, status: StatusCode) {
        let class = usize::from(status.as_u16() / 100).saturating_sub(1);
        if let Some(count) = self.counts.responses.get(class) {
            count.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// The program is stopping.
    pub(crate) fn drain(&self) {
        self.counts.draining.store(true, Ordering::Relaxed);
    }

    /// Whether the program is stopping.
    pub(crate) fn is_draining(&self) -> bool {
        self.counts.draining.load(Ordering::Relaxed)
    }

    /// An answer that another process had left behind.
    pub(crate) fn took_over(&self) {
        self.counts.taken_over.fetch_add(1, Ordering::Relaxed);
    }

    /// A request that another process has to do.
    pub(crate) fn sent(&self) {
        self.counts.sent.fetch_add(1, Ordering::Relaxed);
    }

    /// A request of another process.
    pub(crate) fn received(&self) {
        self.counts.received.fetch_add(1, Ordering::Relaxed);
    }

    fn text(&self, app: &App) -> String {
        let mut text = String::new();
        let mut family = |name: &str, kind: &str, help: &str, samples: &[(String, u64)]| {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "# HELP {name} {help}\n# TYPE {name} {kind}");
            for (labels, value) in samples {
                let _ = writeln!(text, "{name}{labels} {value}");
            }
        };
        let one = |value: u64| vec![(String::new(), value)];
        let of = |count: &AtomicU64| one(count.load(Ordering::Relaxed));
        let version = format!("{{version=\"{}\"}}", env!("CARGO_PKG_VERSION"));
        family(
            "switchboard_build_info",
            "gauge",
            "The version that runs.",
            &[(version, 1)],
        );
        let responses: Vec<(String, u64)> = (1..)
            .zip(&self.counts.responses)
            .map(|(class, count)| {
                let labels = format!("{{status=\"{class}xx\"}}");
                (labels, count.load(Ordering::Relaxed))
            })
            .collect();
        let help = "Responses to requests, by the class of their status.";
        family("switchboard_responses_total", "counter", help, &responses);
        family(
            "switchboard_conversations_active",
            "gauge",
            "Conversations that this process drives.",
            &one(app.runs.active() as u64),
        );
        family(
            "switchboard_takeovers_total",
            "counter",
            "Answers that other processes had left behind and this one went on with.",
            &of(&self.counts.taken_over),
        );
        family(
            "switchboard_commands_sent_total",
            "counter",
            "Requests that were handed to the process that drives their conversation.",
            &of(&self.counts.sent),
        );
        family(
            "switchboard_commands_received_total",
            "counter",
            "Requests that other processes handed to this one.",
            &of(&self.counts.received),
        );
        family(
            "switchboard_store_statements_total",
            "counter",
            "SQL statements that this process has sent to the database.",
            &one(statements::count()),
        );
        family(
            "switchboard_draining",
            "gauge",
            "Whether the program is being stopped.",
            &one(u64::from(self.is_draining())),
        );
        text
    }
}

/// The routes, beside those of the API.
pub(crate) fn routes() -> Router<App> {
    Router::new()
        .route(HEALTH, routing::get(async || "ok\n"))
        .route(READY, routing::get(ready))
        .route(METRICS, routing::get(metrics))
}

/// Counts and logs every response.
pub(crate) async fn count(State(app): State<App>, request: Request, next: Next) -> Response {
    let (method, start) = (request.method().clone(), Instant::now());
    let route = request.extensions().get::<MatchedPath>().cloned();
    let response = next.run(request).await;
    let status = response.status();
    app.metrics.responded(status);
    // The route, not the path: ids and tokens in it stay out of logs.
    let route = route.as_ref().map_or("other", MatchedPath::as_str);
    let (status, ms) = (status.as_u16(), start.elapsed().as_millis());
    match status {
        500.. => tracing::warn!(%method, route, status, ms, "response"),
        _ => tracing::debug!(%method, route, status, ms, "response"),
    }
    response
}

async fn ready(State(app): State<App>) -> Response {
    let process = app.store.holder();
    let reason = match app.metrics.is_draining() {
        true => Some("it is being stopped"),
        false => None,
    };
    let usable = async {
        app.store.users().await?;
        match app.store.cluster() {
            Some(cluster) => cluster.takes_changes().await,
            None => Ok(true),
        }
    };
    let reason = match (reason, timeout(STORE_TIME, usable).await) {
        (Some(reason), _) => Some(reason),
        (None, Ok(Ok(true))) => None,
        (None, Ok(Ok(false))) => Some("the store takes no changes"),
        (None, Ok(Err(_))) => Some("the store cannot be read"),
        (None, Err(_)) => Some("the store does not answer"),
    };
    let status = match reason {
        None => StatusCode::OK,
        Some(_) => StatusCode::SERVICE_UNAVAILABLE,
    };
    let report = json!({ "ready": reason.is_none(), "reason": reason, "process": process });
    (status, Json(report)).into_response()
}

async fn metrics(State(app): State<App>) -> Response {
    ([(header::CONTENT_TYPE, TEXT)], app.metrics.text(&app)).into_response()
}
