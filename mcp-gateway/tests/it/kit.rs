//! A client, a gateway and upstream servers in one process.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use async_trait::async_trait;
use mcp_client::{
    Client, ClientBuilder, EraMode, Host, HostCapabilities, HostError, ServerRequest,
};
use mcp_gateway::{AuditLog, CallOutcome, CallRecord, Gateway, GatewayBuilder, Upstream};
use mcp_jsonrpc::model::{
    CallToolResult, CreateMessageParams, CreateMessageResult, ElicitAction, ElicitFormParams,
    ElicitResult, ElicitUrlParams, FormSchema, Implementation, Prompt, Resource, ResourceTemplate,
    Role, Root, SamplingMessage, TextContent, Tool,
};
use mcp_jsonrpc::{RawObject, Revision};
use mcp_manager::{Connector, Manager, RemoteEndpoint, ServerConfig};
use mcp_server::{Context, Eras, Error, Roots, Server, Service};
use mcp_transport::BoxError;
use mcp_transport::memory::{self, MemoryConnect};
use parking_lot::Mutex;
use serde_json::{Value, json};
use tokio::task::AbortHandle;

pub(crate) const MODERN: EraMode = EraMode::Pinned(Revision::V2026_07_28);
/// What the client speaks, and what the server behind the gateway does.
pub(crate) const CELLS: [(EraMode, Eras); 4] = [
    (EraMode::Legacy, Eras::Legacy),
    (EraMode::Legacy, Eras::Modern),
    (MODERN, Eras::Legacy),
    (MODERN, Eras::Modern),
];

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

/// Reaches servers of this process by their names.
#[derive(Clone, Default)]
pub(crate) struct Net {
    services: Arc<Mutex<HashMap<String, Service>>>,
    connections: Arc<Mutex<HashMap<String, Vec<AbortHandle>>>>,
}

impl Net {
    pub(crate) fn add(&self, name: &str, service: &Service) {
        self.services
            .lock()
            .insert(name.to_owned(), service.clone());
    }

    /// No new connection to a server can be made.
    pub(crate) fn remove(&self, name: &str) {
        self.services.lock().remove(name);
    }

    /// Ends all connections to a server, as if it had crashed.
    pub(crate) fn cut(&self, name: &str) {
        for connection in self.connections.lock().remove(name).unwrap_or_default() {
            connection.abort();
        }
    }

    /// How many connections to a server are open.
    pub(crate) fn open(&self, name: &str) -> usize {
        let connections = self.connections.lock();
        let own = connections.get(name).map(Vec::as_slice).unwrap_or_default();
        own.iter().filter(|it| !it.is_finished()).count()
    }
}

impl std::fmt::Debug for Net {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Net")
    }
}

impl Connector for Net {
    fn builder(&self, config: &ServerConfig) -> Result<ClientBuilder, BoxError> {
        let name = config.name().as_str().to_owned();
        let service = self.services.lock().get(&name).cloned();
        let service = service.ok_or("no such server")?;
        let (connect, mut listener) = memory::listen();
        let connections = Arc::clone(&self.connections);
        tokio::spawn(async move {
            while let Some(transport) = listener.accept().await {
                let service = service.clone();
                let serving = tokio::spawn(async move { service.serve(transport).await });
                let mut connections = connections.lock();
                let own = connections.entry(name.clone()).or_default();
                own.push(serving.abort_handle());
            }
        });
        Ok(Client::builder(connect).era(EraMode::Auto))
    }
}

/// A server behind a gateway.
pub(crate) fn upstream(name: &str, prefix: Option<&str>) -> Upstream {
    let endpoint = RemoteEndpoint::new("http://in-process.invalid/mcp");
    let upstream = Upstream::new(ServerConfig::remote(name.parse().unwrap(), endpoint));
    match prefix {
        Some(prefix) => upstream.with_prefix(prefix),
        None => upstream,
    }
}

/// A gateway of these servers, each with its prefix.
pub(crate) async fn gateway(servers: &[(&str, Option<&str>, &Service)]) -> Gateway {
    gateway_with(servers, |builder| builder).await
}

/// As [`gateway`], with settings of its own.
pub(crate) async fn gateway_with(
    servers: &[(&str, Option<&str>, &Service)],
    set: impl FnOnce(GatewayBuilder) -> GatewayBuilder,
) -> Gateway {
    gateway_on(&Net::default(), servers, set).await
}

/// As [`gateway_with`], on a net that the test keeps.
pub(crate) async fn gateway_on(
    net: &Net,
    servers: &[(&str, Option<&str>, &Service)],
    set: impl FnOnce(GatewayBuilder) -> GatewayBuilder,
) -> Gateway {
    let mut builder = Gateway::builder(Implementation::new("gateway", "1"));
    for (name, prefix, service) in servers {
        net.add(name, service);
        builder = builder.upstream(upstream(name, *prefix));
    }
    let manager = Manager::builder().connector(net.clone());
    let (gateway, startup) = set(builder.manager(manager)).start().await;
    assert!(startup.errors.is_empty(), "{:?}", startup.errors);
    gateway
}

/// Answers everything, and counts.
#[derive(Clone, Default)]
pub(crate) struct Obliging(pub(crate) Arc<AtomicUsize>);

#[async_trait]
impl Host for Obliging {
    async fn elicit_form(
        &self,
        _: ServerRequest<ElicitFormParams>,
    ) -> Result<ElicitResult, HostError> {
        self.0.fetch_add(1, Ordering::SeqCst);
        let content = json!({"name": "Ann"});
        Ok(ElicitResult::accept(content.as_object().cloned().unwrap()))
    }

    async fn elicit_url(
        &self,
        _: ServerRequest<ElicitUrlParams>,
    ) -> Result<ElicitAction, HostError> {
        self.0.fetch_add(1, Ordering::SeqCst);
        Ok(ElicitAction::Accept)
    }

    async fn sample(
        &self,
        _: ServerRequest<CreateMessageParams>,
    ) -> Result<CreateMessageResult, HostError> {
        self.0.fetch_add(1, Ordering::SeqCst);
        let text = TextContent::new("hi");
        Ok(CreateMessageResult::new(Role::Assistant, text, "model"))
    }

    async fn list_roots(&self, _: ServerRequest<()>) -> Result<Vec<Root>, HostError> {
        self.0.fetch_add(1, Ordering::SeqCst);
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

/// A client that answers everything.
pub(crate) async fn connect(service: &Service, era: EraMode) -> (Client, Obliging) {
    let host = Obliging::default();
    let client = Client::builder(listen(service))
        .era(era)
        .host(host.clone(), everything())
        .connect()
        .await
        .unwrap();
    (client, host)
}

pub(crate) fn text(result: &CallToolResult) -> &str {
    let first = result.content.first();
    first.and_then(|block| block.as_text()).unwrap_or_default()
}

/// A tool that takes any object.
pub(crate) fn any(name: &str) -> Tool {
    let schema = RawObject::from_serialize(&json!({"type": "object"})).unwrap();
    Tool::new(name, schema)
}

pub(crate) fn name_form() -> ElicitFormParams {
    let schema: FormSchema = serde_json::from_value(json!({
        "type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"],
    }))
    .unwrap();
    ElicitFormParams::new("Your name?", schema)
}

fn sampling() -> CreateMessageParams {
    let message = SamplingMessage::new(Role::User, TextContent::new("Hello"));
    CreateMessageParams::new(vec![message], 10)
}

pub(crate) async fn name(cx: &Context) -> Result<String, Error> {
    let answer = cx.ask("name", name_form()).await?;
    let content = answer.content.unwrap_or_default();
    Ok(content["name"].as_str().unwrap_or_default().to_owned())
}

/// Keeps records, unless it is full.
#[derive(Clone, Default)]
pub(crate) struct Log(
    pub(crate) Arc<Mutex<Vec<CallRecord>>>,
    pub(crate) Arc<AtomicBool>,
);

impl Log {
    /// What was recorded of each call's end.
    pub(crate) fn outcomes(&self) -> Vec<CallOutcome> {
        let records = self.0.lock();
        let ends = records.iter().filter_map(|it| it.end.as_ref());
        ends.map(|end| end.outcome).collect()
    }
}

impl AuditLog for Log {
    fn record(&self, record: &CallRecord) -> std::io::Result<()> {
        if self.1.load(Ordering::SeqCst) {
            return Err(std::io::Error::other("full"));
        }
        self.0.lock().push(record.clone());
        Ok(())
    }
}

/// Counts what runs.
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

/// Lets every other task run until `done`.
pub(crate) async fn until(done: impl Fn() -> bool) {
    for _ in 0..1_000_000 {
        if done() {
            return;
        }
        tokio::task::yield_now().await;
    }
    panic!("it never came to that");
}

/// A server with one of everything; `runs` counts the calls of `ask_all` that passed its step.
pub(crate) fn server(eras: Eras, runs: &Arc<AtomicUsize>, alive: &Alive) -> Server {
    let (runs, alive) = (Arc::clone(runs), alive.clone());
    Server::new(Implementation::new("upstream", "1"))
        .tool_with_schema(any("zeta"), |arguments: Value, _: Context| async move {
            arguments.to_string()
        })
        .tool_with_schema(any("alpha"), |_: Value, _: Context| async {
            Err::<(), _>(Error::failed("broken"))
        })
        .tool_with_schema(any("refuse"), |_: Value, _: Context| async {
            let code = mcp_jsonrpc::ErrorCode::new(-7);
            Err::<(), _>(Error::code(code, "refused"))
        })
        .tool_with_schema(any("progress"), |_: Value, cx: Context| async move {
            for step in 1..=3 {
                cx.progress(f64::from(step), Some(3.0), None);
                tokio::task::yield_now().await;
            }
            "done"
        })
        .tool_with_schema(any("ask_all"), move |_: Value, cx: Context| {
            let runs = Arc::clone(&runs);
            async move {
                let count = async { Ok::<_, Error>(runs.fetch_add(1, Ordering::SeqCst)) };
                cx.step("count", count).await?;
                let name = name(&cx).await?;
                let url = ElicitUrlParams::new("Look", "https://example.com/");
                let (model, roots) =
                    tokio::join!(cx.ask("model", sampling()), cx.ask("roots", Roots::new()));
                let visited = cx.ask("url", url).await?;
                let (model, roots) = (model?.model, roots?.len());
                Ok::<_, Error>(format!("{name} {model} {roots} {visited:?}"))
            }
        })
        .tool_with_schema(any("hang"), move |_: Value, _: Context| {
            let guard = alive.enter();
            async move {
                let _guard = guard;
                std::future::pending::<()>().await;
            }
        })
        .prompt(Prompt::new("greet"), |_, cx| async move {
            Ok::<_, Error>(format!("Greet {}", name(&cx).await?))
        })
        .resource(Resource::new("test://note", "note"), |cx| async move {
            Ok::<_, Error>(format!("by {}", name(&cx).await?))
        })
        .resource_template(
            ResourceTemplate::new("test://item/{id}", "item"),
            |variables, _| async move { variables.get("id").cloned().unwrap_or_default() },
        )
        .completion(|params, _| async move { Ok(vec![format!("{}!", params.argument.value)]) })
        .eras(eras)
}
