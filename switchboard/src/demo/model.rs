//! The demo model behind a loopback endpoint that speaks every provider's wire.

use std::convert::Infallible;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{DefaultBodyLimit, State};
use axum::http::{Method, StatusCode, Uri, header};
use axum::response::{IntoResponse as _, Response};
use futures_util::StreamExt as _;
use provider_adapters::server::{Asked, failure};
use provider_adapters::{
    Anthropic, Gemini, HttpModel, Model, ModelError, OpenAiChat, OpenAiResponses, PromptMode, Wire,
};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

use super::script::{DemoScript, MODEL, Played};

/// The largest request it reads.
const BODY: usize = 64 << 20;

/// A running demo model. Dropping it stops it.
#[derive(Debug)]
pub struct DemoModel {
    address: SocketAddr,
    task: JoinHandle<()>,
}

impl DemoModel {
    /// Serves on this port of 127.0.0.1; 0 is a free one.
    pub async fn start(script: DemoScript, port: u16) -> io::Result<Self> {
        Self::paced(script, port, Duration::ZERO).await
    }

    /// Like [`start`](Self::start), with a delay before each piece of a reply.
    pub async fn paced(script: DemoScript, port: u16, step: Duration) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await?;
        let address = listener.local_addr()?;
        let router = Router::new()
            .fallback(answer)
            .layer(DefaultBodyLimit::max(BODY))
            .with_state(Arc::new(Stage { script, step }));
        let task = tokio::spawn(async move {
            // It serves until the task is aborted; a connection's failure is its own.
            let _ = axum::serve(listener, router).await;
        });
        Ok(Self { address, task })
    }

    /// What a client of this wire takes for the provider's base URL.
    pub fn base_url(&self, wire: Wire) -> String {
        match wire {
            Wire::Anthropic | Wire::Gemini | Wire::Vertex => format!("http://{}", self.address),
            _ => format!("http://{}/v1", self.address),
        }
    }

    /// A client of it on this wire.
    pub fn client(&self, wire: Wire) -> Result<Arc<dyn Model>, ModelError> {
        let base = self.base_url(wire);
        Ok(match wire {
            Wire::OpenAiResponses => {
                Arc::new(HttpModel::new(OpenAiResponses::default())?.with_base_url(base))
            }
            Wire::Anthropic => Arc::new(HttpModel::new(Anthropic::default())?.with_base_url(base)),
            Wire::Gemini => Arc::new(HttpModel::new(Gemini::developer())?.with_base_url(base)),
            Wire::Vertex => {
                Arc::new(HttpModel::new(Gemini::vertex("demo", "global"))?.with_base_url(base))
            }
            Wire::Prompt => Arc::new(
                HttpModel::new(PromptMode::new(OpenAiChat::default()))?.with_base_url(base),
            ),
            _ => Arc::new(HttpModel::new(OpenAiChat::default())?.with_base_url(base)),
        })
    }

    /// Stops it.
    pub async fn stop(mut self) {
        self.task.abort();
        // Aborted or not, it is over.
        let _ = (&mut self.task).await;
    }
}

impl Drop for DemoModel {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// What is played, and how fast.
struct Stage {
    script: DemoScript,
    step: Duration,
}

async fn answer(
    State(stage): State<Arc<Stage>>,
    method: Method,
    uri: Uri,
    body: Bytes,
) -> Response {
    if method != Method::POST {
        let known =
            serde_json::json!({"object": "list", "data": [{"id": MODEL, "object": "model"}]});
        return reply(
            StatusCode::OK,
            "application/json",
            Body::from(known.to_string()),
        );
    }
    let path = uri.path();
    let asked = match Asked::read(path, &body) {
        Ok(asked) => asked,
        Err(error) => return refuse(Wire::OpenAiChat, StatusCode::NOT_FOUND, &error.to_string()),
    };
    match stage.script.play(&asked) {
        Played::Reply(played) => {
            // About four letters make a token.
            let whole = played.whole(asked.wire).len() as u64;
            let played = played.with_usage(body.len() as u64 / 4, whole / 8 + 1);
            let answer = asked.answer(&played);
            let step = stage.step;
            let chunks = futures_util::stream::iter(answer.chunks).then(move |chunk| async move {
                if !step.is_zero() {
                    tokio::time::sleep(step).await;
                }
                Ok::<_, Infallible>(chunk)
            });
            let body = Body::from_stream(chunks);
            reply(StatusCode::OK, answer.content_type, body)
        }
        Played::Failure { status, message } => {
            let status = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
            refuse(asked.wire, status, &message)
        }
    }
}

fn refuse(wire: Wire, status: StatusCode, message: &str) -> Response {
    let body = Body::from(failure(wire, status.as_u16(), message));
    reply(status, "application/json", body)
}

fn reply(status: StatusCode, content_type: &'static str, body: Body) -> Response {
    (status, [(header::CONTENT_TYPE, content_type)], body).into_response()
}
