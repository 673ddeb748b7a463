//! Servers and clients for tests.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use async_trait::async_trait;
use mcp_client::{Client, EraMode, Host, HostCapabilities, HostError, ServerRequest};
use mcp_jsonrpc::model::{
    CallToolResult, CreateMessageParams, CreateMessageResult, ElicitAction, ElicitFormParams,
    ElicitResult, ElicitUrlParams, FormSchema, Implementation, Role, Root, SamplingMessage,
    TextContent, Tool,
};
use mcp_jsonrpc::{RawObject, Revision};
use mcp_server::{Server, Service};
use mcp_transport::memory::{self, MemoryConnect};
use serde_json::{Value, json};

pub(crate) const MODERN: EraMode = EraMode::Pinned(Revision::V2026_07_28);
pub(crate) const ERAS: [EraMode; 2] = [EraMode::Legacy, MODERN];

pub(crate) fn server() -> Server {
    Server::new(Implementation::new("test", "1.0.0"))
}

/// A tool that takes any object.
pub(crate) fn any(name: &str) -> Tool {
    Tool::new(
        name,
        RawObject::from_serialize(&json!({"type": "object"})).unwrap(),
    )
}

/// Serves every connection that the returned end opens.
pub(crate) fn listen(service: &Service) -> MemoryConnect {
    let (connect, mut listener) = memory::listen();
    let service = service.clone();
    tokio::spawn(async move {
        while let Some(transport) = listener.accept().await {
            let service = service.clone();
            tokio::spawn(async move { service.serve(transport).await });
        }
    });
    connect
}

/// Answers everything: forms with `name: Ann`.
#[derive(Default)]
pub(crate) struct Obliging {
    pub(crate) asked: Arc<AtomicUsize>,
}

#[async_trait]
impl Host for Obliging {
    async fn elicit_form(
        &self,
        _: ServerRequest<ElicitFormParams>,
    ) -> Result<ElicitResult, HostError> {
        self.asked.fetch_add(1, Ordering::SeqCst);
        let content = json!({"name": "Ann"});
        Ok(ElicitResult::accept(content.as_object().cloned().unwrap()))
    }

    async fn elicit_url(
        &self,
        _: ServerRequest<ElicitUrlParams>,
    ) -> Result<ElicitAction, HostError> {
        self.asked.fetch_add(1, Ordering::SeqCst);
        Ok(ElicitAction::Accept)
    }

    async fn sample(
        &self,
        _: ServerRequest<CreateMessageParams>,
    ) -> Result<CreateMessageResult, HostError> {
        self.asked.fetch_add(1, Ordering::SeqCst);
        Ok(CreateMessageResult::new(
            Role::Assistant,
            TextContent::new("hi"),
            "model",
        ))
    }

    async fn list_roots(&self, _: ServerRequest<()>) -> Result<Vec<Root>, HostError> {
        self.asked.fetch_add(1, Ordering::SeqCst);
        Ok(vec![Root::new("file:///tmp")])
    }
}

pub(crate) fn everything() -> HostCapabilities {
    HostCapabilities::default()
        .with_forms()
        .with_urls()
        .with_sampling()
        .with_roots()
}

/// A client that answers everything and knows tasks.
pub(crate) async fn connect(service: &Service, era: EraMode) -> Client {
    Client::builder(listen(service))
        .era(era)
        .host(Obliging::default(), everything())
        .tasks()
        .connect()
        .await
        .unwrap()
}

/// The text of a result's first block.
pub(crate) fn text(result: &CallToolResult) -> &str {
    result
        .content
        .first()
        .and_then(|block| block.as_text())
        .unwrap_or_default()
}

/// A form that asks for a name.
pub(crate) fn name_form() -> ElicitFormParams {
    let schema: FormSchema = serde_json::from_value(json!({
        "type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"],
    }))
    .unwrap();
    ElicitFormParams::new("Your name?", schema)
}

/// A question to the client's model.
pub(crate) fn sampling() -> CreateMessageParams {
    let message = SamplingMessage::new(Role::User, TextContent::new("Hello"));
    CreateMessageParams::new(vec![message], 10)
}

/// Counts how many are alive.
#[derive(Clone, Default)]
pub(crate) struct Alive(Arc<AtomicUsize>);

pub(crate) struct AliveGuard(Alive);

impl Alive {
    pub(crate) fn enter(&self) -> AliveGuard {
        self.0.fetch_add(1, Ordering::SeqCst);
        AliveGuard(self.clone())
    }

    pub(crate) fn count(&self) -> usize {
        self.0.load(Ordering::SeqCst)
    }
}

impl Drop for AliveGuard {
    fn drop(&mut self) {
        self.0.0.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Lets every other task run until `done`, without a clock.
pub(crate) async fn until(done: impl Fn() -> bool) {
    for _ in 0..100_000 {
        if done() {
            return;
        }
        tokio::task::yield_now().await;
    }
    panic!("it never came to that");
}

pub(crate) fn arguments() -> Value {
    json!({})
}
