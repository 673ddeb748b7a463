//! The tools of a session's own servers.

use std::collections::BTreeSet;
use std::error::Error;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use mcp_client::{CallError, CallOptions, Client, Interests, Started};
use mcp_jsonrpc::model::CallTool;
use mcp_manager::{Catalog, Connector, Endpoint, Listing, ManagerLimits, ServerConfig, ServerName};
use parking_lot::Mutex;
use tokio::sync::{RwLock, RwLockReadGuard, RwLockWriteGuard, Semaphore};
use tokio::task::{AbortHandle, JoinSet};
use tool_policy::{Alarm, ScanPolicy, ToolInfo};
use tracing::Instrument as _;

use crate::run::messages;
use crate::session::trace;
use crate::toolbox::context::{CallContext, CallProgress};
use crate::toolbox::managed::{call_failed, info};
use crate::toolbox::{FailureKind, Invocation, Outcome, Start, Toolbox};

/// The tools of servers that belong to one session: connected for it, closed with it.
///
/// It holds one [`Client`] per server, and no manager: a lost server is not reconnected, and nothing is shared with
/// other sessions. The tools have the same names as with a manager. Processes are registered by the [`Connector`] that
/// starts them (by default with
/// [`ProcessTracker`](https://docs.rs/mcp-transport/latest/mcp_transport/struct.ProcessTracker.html)).
/// [`close`](Self::close) ends all of them and waits for that; dropping the last handle ends them as well, in the
/// background.
///
/// ```no_run
/// use agent_loop::DirectTools;
/// use mcp_manager::{DefaultConnector, ServerConfig, ServerCommand};
///
/// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
/// let files = ServerCommand::new("npx").with_args(["-y", "some-server", "."]);
/// let servers = [ServerConfig::stdio("files".parse()?, files)];
/// let tools = DirectTools::connect(DefaultConnector::new(), servers).await;
/// for (server, error) in tools.failures() {
///     eprintln!("{server} is left out: {error}");
/// }
/// tools.close().await;
/// # Ok(()) }
/// ```
pub struct DirectTools {
    servers: Vec<Direct>,
    failures: Vec<(ServerName, Failure)>,
    connector: Option<Arc<dyn Connector>>,
    tools: Mutex<Arc<[ToolInfo]>>,
    scan: Mutex<ScanPolicy>,
}

type Failure = Box<dyn Error + Send + Sync>;

/// One server.
struct Direct {
    name: ServerName,
    config: Option<ServerConfig>,
    client: Client,
    listed: Mutex<Listed>,
    /// Calls that may run at the same time share it, others have it alone. It is fair: calls run in
    /// order.
    gate: RwLock<()>,
    /// Hears of changes where that has to be subscribed to; ends with the server.
    subscription: Option<AbortHandle>,
}

/// A call's turn at its server, held while it runs.
enum Turn<'a> {
    Shared(#[expect(dead_code, reason = "held")] RwLockReadGuard<'a, ()>),
    Alone(#[expect(dead_code, reason = "held")] RwLockWriteGuard<'a, ()>),
}

/// A server's tools, and how many changes of them it had announced when they were requested.
struct Listed {
    listing: Arc<Listing>,
    changes: u64,
}

impl DirectTools {
    /// Connects these servers, within a manager's limits on starts, and lists their tools. A server that cannot be
    /// connected or listed is among the [`failures`](Self::failures) and does not affect the others.
    ///
    /// The settings of the connector's builder apply: set a host there to answer the servers' questions, which are
    /// cancelled otherwise.
    pub async fn connect(
        connector: impl Connector + 'static,
        servers: impl IntoIterator<Item = ServerConfig>,
    ) -> Self {
        let connector: Arc<dyn Connector> = Arc::new(connector);
        let limits = ManagerLimits::default();
        let programs = Arc::new(Semaphore::new(limits.stdio_starts()));
        let remote = Arc::new(Semaphore::new(limits.remote_starts()));
        let mut connecting = JoinSet::new();
        for (at, config) in servers.into_iter().enumerate() {
            let gate = Arc::clone(match config.endpoint() {
                Endpoint::Stdio(_) => &programs,
                _ => &remote,
            });
            let connector = Arc::clone(&connector);
            connecting.spawn(async move {
                let _turn = gate.acquire_owned().await;
                let client = connect(connector.as_ref(), &config).await;
                (at, config, client)
            });
        }
        let mut connected = connecting.join_all().await;
        connected.sort_by_key(|(at, ..)| *at);
        let connected = connected
            .into_iter()
            .map(|(_, config, client)| (config.name().clone(), Some(config), client));
        Self::list(Some(connector), connected).await
    }

    /// The tools of servers that are already connected.
    pub async fn of(clients: impl IntoIterator<Item = (ServerName, Client)>) -> Self {
        let connected = clients.into_iter();
        let connected = connected.map(|(name, client)| (name, None, Ok(client)));
        Self::list(None, connected).await
    }

    async fn list(
        connector: Option<Arc<dyn Connector>>,
        connected: impl Iterator<Item = (ServerName, Option<ServerConfig>, Result<Client, Failure>)>,
    ) -> Self {
        let (mut failures, mut names) = (Vec::new(), BTreeSet::new());
        let mut listing = JoinSet::new();
        for (at, (name, config, client)) in connected.enumerate() {
            match client {
                Ok(_) if !names.insert(name.clone()) => {
                    let error = "another server has the same name; rename one of them";
                    failures.push((name, error.into()));
                }
                Ok(client) => {
                    listing.spawn(async move { (at, Direct::new(name, config, client).await) });
                }
                Err(error) => failures.push((name, error)),
            }
        }
        let mut listed = listing.join_all().await;
        listed.sort_by_key(|(at, _)| *at);
        let mut servers = Vec::new();
        for (_, server) in listed {
            match server {
                Ok(server) => servers.push(server),
                Err((name, error)) => failures.push((name, error.into())),
            }
        }
        let tools = Mutex::new(infos(&servers));
        Self {
            servers,
            failures,
            connector,
            tools,
            scan: Mutex::default(),
        }
    }

    /// Sets what is done about results that look like an attack, from the next result on.
    pub fn set_scan(&self, scan: ScanPolicy) {
        *self.scan.lock() = scan;
    }

    /// The servers that could not be connected, with the errors.
    pub fn failures(&self) -> &[(ServerName, Box<dyn Error + Send + Sync>)] {
        &self.failures
    }

    /// Ends all servers, all at the same time, and returns when they have ended. Calls in flight fail.
    pub async fn close(&self) {
        let mut closing = JoinSet::new();
        for server in &self.servers {
            let (client, name) = (server.client.clone(), server.name.clone());
            let connector = self.connector.clone();
            closing.spawn(async move {
                client.close().await;
                if let Some(connector) = connector {
                    connector.ended(&name).await;
                }
            });
        }
        closing.join_all().await;
    }

    /// Whether the tool of a call is still defined as it was approved.
    fn is_as_approved(&self, call: &Invocation) -> bool {
        let tools = Arc::clone(&self.tools.lock());
        tools
            .iter()
            .any(|tool| tool.definition() == call.definition)
    }

    async fn perform(
        &self,
        server: &Direct,
        call: &Invocation,
        context: CallContext,
    ) -> Result<Outcome, CallError> {
        let mut options = CallOptions::default()
            .with_idle_timeout(context.idle_timeout())
            .with_deadline(context.deadline())
            .with_meta(context.meta().clone());
        if let Some(caller) = context.caller() {
            options = options.with_caller(caller.clone());
        }
        if context.may_park() {
            options = options.with_parking();
        }
        let options = options.with_progress(move |report| {
            let progress = CallProgress::new(report.progress, report.total, report.message);
            context.progress(progress);
        });
        let client = server.client.with(options);
        let result = match &call.start {
            Start::Call if client.may_become_task(&call.tool) => {
                match client.start_tool(&call.tool, &call.arguments, None).await? {
                    Started::Done(result) => result,
                    Started::Task(task) => return Ok(Outcome::Task(task.ticket().clone())),
                }
            }
            Start::Call => client.call_tool(&call.tool, &call.arguments).await?,
            Start::Resume { parked, answers } => {
                let parked = parked.as_ref().clone();
                client.resume::<CallTool>(parked, answers.clone()).await?
            }
            Start::Await(ticket) => client.task(ticket.clone()).wait().await?,
            Start::Continue { .. } => return Ok(Outcome::no_run()),
        };
        Ok(Outcome::Result(result))
    }
}

async fn connect(connector: &dyn Connector, config: &ServerConfig) -> Result<Client, Failure> {
    let mut limits = mcp_client::ClientLimits::default();
    if let Some(time) = config.connect_timeout() {
        limits = limits.with_connect_timeout(time);
    }
    let builder = connector.builder(config)?;
    let builder = builder.name(config.name().as_str()).limits(limits);
    Ok(builder.connect().await?)
}

impl Direct {
    async fn new(
        name: ServerName,
        config: Option<ServerConfig>,
        client: Client,
    ) -> Result<Self, (ServerName, CallError)> {
        let mut listing = Listing::new(name.clone());
        if let Some(info) = client.server().info {
            listing = listing.with_title(info.title.unwrap_or(info.name));
        }
        let listed = Listed {
            listing: Arc::new(listing),
            changes: 0,
        };
        let server = Self {
            subscription: subscribe(&client),
            name,
            config,
            client,
            listed: Mutex::new(listed),
            gate: RwLock::default(),
        };
        match server.list().await {
            Ok(()) => Ok(server),
            Err(error) => {
                server.client.close().await;
                Err((server.name.clone(), error))
            }
        }
    }

    /// Requests the tools.
    async fn list(&self) -> Result<(), CallError> {
        // A change that is announced from here on may be missing from the reply.
        let changes = self.client.tool_list_changes();
        let tools = match self.client.server().capabilities.tools {
            Some(_) => self.client.list_tools().await.map(|listed| listed.items),
            None => Ok(Vec::new()),
        };
        let mut listed = self.listed.lock();
        listed.changes = changes;
        let policy = self.config.as_ref().map(ServerConfig::tools);
        let policy = policy.cloned().unwrap_or_default();
        let listing = Listing::clone(&listed.listing).with_tools(tools?, &policy);
        listed.listing = Arc::new(listing);
        Ok(())
    }

    /// Waits until a call may be sent.
    async fn turn(&self, call: &Invocation) -> Turn<'_> {
        let config = self.config.as_ref();
        let is_read_only = || {
            let listing = Arc::clone(&self.listed.lock().listing);
            let mut tools = listing.tools().iter();
            tools.any(|entry| entry.name() == call.tool && entry.is_read_only())
        };
        let shares = config
            .is_some_and(|config| config.is_parallel() || (config.is_trusted() && is_read_only()));
        match shares {
            true => Turn::Shared(self.gate.read().await),
            false => Turn::Alone(self.gate.write().await),
        }
    }

    fn is_outdated(&self) -> bool {
        self.client.is_alive() && self.client.tool_list_changes() > self.listed.lock().changes
    }
}

impl Drop for Direct {
    fn drop(&mut self) {
        if let Some(subscription) = &self.subscription {
            subscription.abort();
        }
    }
}

/// Servers from 2026-07-28 on announce changes only to subscribers. One that rejects the subscription keeps its tools.
fn subscribe(client: &Client) -> Option<AbortHandle> {
    let announces = client.server().capabilities.tools?.list_changed == Some(true);
    if !announces || !client.revision().is_modern() {
        return None;
    }
    let client = client.clone();
    let task = tokio::spawn(async move {
        if let Ok(mut changes) = client.subscribe(Interests::default().with_tools()).await {
            // The client counts them.
            while changes.next().await.is_some() {}
        }
    });
    Some(task.abort_handle())
}

/// All tools that are switched on, under the names that the servers' catalogue gives them.
fn infos(servers: &[Direct]) -> Arc<[ToolInfo]> {
    let listings = servers
        .iter()
        .map(|server| Arc::clone(&server.listed.lock().listing));
    let catalog = Catalog::new(0, listings);
    let entries = catalog.enabled_tools().map(|entry| {
        let server = servers.iter().find(|server| server.name == *entry.server());
        info(entry, server.and_then(|server| server.config.as_ref()))
            .with_alarm(Alarm::of(catalog.findings(entry)))
    });
    entries.collect()
}

#[async_trait]
impl Toolbox for DirectTools {
    async fn tools(&self) -> Arc<[ToolInfo]> {
        Arc::clone(&self.tools.lock())
    }

    async fn refresh(&self) {
        let outdated = self.servers.iter().filter(|server| server.is_outdated());
        let mut changed = false;
        for server in outdated {
            // One that does not answer keeps what it offered last.
            let listed = tokio::time::timeout(LIST_WAIT, server.list()).await;
            changed |= matches!(listed, Ok(Ok(())));
        }
        if changed {
            let tools = infos(&self.servers);
            *self.tools.lock() = tools;
        }
    }

    async fn call(&self, call: Invocation, context: CallContext) -> Outcome {
        let mut servers = self.servers.iter();
        let Some(server) = servers.find(|server| server.name.as_str() == call.server) else {
            let message = format!("there is no server {:?}", call.server);
            return Outcome::failed(FailureKind::NoTool, message);
        };
        let span = trace::mcp_call(&call);
        let _turn = match call.start {
            Start::Call => Some(server.turn(&call).await),
            _ => None,
        };
        if call.start == Start::Call && !self.is_as_approved(&call) {
            return Outcome::failed(FailureKind::NotSent, messages::changed());
        }
        let performed = self.perform(server, &call, context).instrument(span).await;
        let scan = *self.scan.lock();
        performed.unwrap_or_else(call_failed).screened(&scan)
    }
}

/// How long a changed list is waited for before the model is asked.
const LIST_WAIT: Duration = Duration::from_secs(5);

impl fmt::Debug for DirectTools {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = self.servers.iter().map(|server| server.name.as_str());
        f.debug_list().entries(names).finish()
    }
}
